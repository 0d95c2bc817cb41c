package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"devplatform/infra/operator/audit"
	"devplatform/infra/operator/suspension"
	"devplatform/shared/account/activity"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/workspace"
)

// lookup finds the account that a query names: by its username, address or ID, or as the owner of a project or a site.
func (o *operator) lookup(ctx context.Context, query string) (u user.User, err error) {
	switch {
	case id.User.Valid(query):
		u, err = o.users.Read(ctx, query)
	case id.Project.Valid(query):
		_, u, err = o.ownerOf(ctx, query)
	case strings.Contains(query, "@"):
		u, err = o.byAddress(ctx, query)
	case !strings.ContainsAny(query, ":/") && user.CheckUsername(query) == "":
		var userID string
		if userID, _, err = o.users.FindByUsername(ctx, query); err == nil {
			return o.users.Read(ctx, userID)
		}
		if !isNotFound(err) {
			return u, err
		}
		_, _, u, err = o.site(ctx, query)
	default:
		_, _, u, err = o.site(ctx, query)
	}
	if isNotFound(err) {
		return u, fmt.Errorf("%s: there is no such account", query)
	}
	return u, err
}

func isNotFound(err error) bool {
	failure, isFault := errors.AsType[*fault.Error](err)
	return errors.Is(err, db.ErrNotFound) || isFault && failure.Code.Status() == http.StatusNotFound
}

// byAddress returns the account that has an address, or has reserved it.
func (o *operator) byAddress(ctx context.Context, email string) (user.User, error) {
	credential, err := o.users.Credential(ctx, user.NormalizeEmail(email))
	if err != nil {
		return user.User{}, err
	}
	return o.users.Read(ctx, credential.UserID)
}

// ownerOf returns the workspace of a project, and the user whose limits apply to it.
func (o *operator) ownerOf(ctx context.Context, projectID string) (workspaceID string, u user.User, err error) {
	if workspaceID, err = o.takedowns.Project(ctx, projectID); err != nil {
		return "", u, err
	}
	userID, err := o.access.Account(ctx, workspaceID)
	if err != nil {
		return "", u, err
	}
	u, err = o.users.Read(ctx, userID)
	return workspaceID, u, err
}

// labelOf returns the label of a site: the first part of the host of a URL.
func labelOf(query string) string {
	if parsed, err := url.Parse(query); err == nil && parsed.Host != "" {
		query = parsed.Hostname()
	}
	label, _, _ := strings.Cut(strings.ToLower(query), ".")
	return label
}

// find prints the account that a query names.
func (o *operator) find(ctx context.Context, r request) error {
	u, err := o.lookup(ctx, r.argument)
	if err != nil {
		return err
	}
	o.print(u)
	return nil
}

func (o *operator) print(u user.User) {
	address, state := u.Email, "active"
	switch {
	case address == "":
		address = "none"
	case u.Verified:
		address += " (confirmed)"
	default:
		address += " (not confirmed)"
	}
	if u.SuspendedAt != nil {
		state = "suspended since " + u.SuspendedAt.String()
	}
	o.printf("username   %s\nuser ID    %s\naddress    %s\nsigned up  %s\nstate      %s\n",
		u.Username, u.ID, address, u.CreatedAt, state)
}

// log prints the audit records about an account.
func (o *operator) log(ctx context.Context, r request) error {
	target := r.argument
	if !id.User.Valid(target) { // the account may have been deleted
		u, err := o.lookup(ctx, target)
		if err != nil {
			return err
		}
		target = u.ID
	}
	records, err := o.audit.List(ctx, target)
	if err != nil {
		return err
	}
	for _, a := range records {
		o.printf("%s  %-15s %s %s by %s: %s\n", a.At, a.Act, a.Username, a.Object, a.Operator, a.Reason)
		if a.IsChanged {
			o.printf("    WARNING: this record was changed after the act\n")
		}
	}
	o.printf("%d acts\n", len(records))
	return nil
}

// record returns the write of the audit record of an act.
func (o *operator) record(r request, act, object string, u user.User) db.Write {
	return o.audit.Write(audit.Record{Act: act, Target: u.ID, Username: u.Username, Object: object, Reason: r.reason})
}

func (o *operator) suspend(ctx context.Context, r request) error {
	return o.setSuspension(ctx, r, "suspend", o.suspensions.Suspend)
}

func (o *operator) lift(ctx context.Context, r request) error {
	return o.setSuspension(ctx, r, "lift", o.suspensions.Lift)
}

func (o *operator) setSuspension(
	ctx context.Context, r request, act string,
	set func(context.Context, string, db.Write) (suspension.Result, error),
) error {
	u, err := o.lookup(ctx, r.argument)
	if err != nil {
		return err
	}
	o.print(u)
	what := "The account will be suspended: its sessions, builds and answers end, and its webhooks are disabled."
	if act == "lift" {
		what = "The suspension will end. The sessions stay ended, and the webhooks stay disabled."
	}
	if err := o.confirm(r, what, u.Username); err != nil {
		return err
	}
	result, err := set(ctx, u.ID, o.record(r, act, "", u))
	if err != nil {
		return err
	}
	if !result.Changed {
		o.printf("Nothing to change in the account. %d memberships were completed.\n", result.Memberships)
		return nil
	}
	o.printf("Done: %s %s, with %d memberships.\n", act, u.Username, result.Memberships)
	return nil
}

// remove deletes an account.
func (o *operator) remove(ctx context.Context, r request) error {
	u, err := o.lookup(ctx, r.argument)
	if err != nil {
		return err
	}
	o.print(u)
	const what = "The account and the workspaces that only its user has will be deleted. This cannot be undone."
	if err := o.confirm(r, what, u.Username); err != nil {
		return err
	}
	if err := o.accounts.Delete(ctx, u.ID, o.record(r, "delete", "", u)); err != nil {
		return err
	}
	o.printf("Done: the account of %s was deleted. Its data is removed within 24 hours.\n", u.Username)
	return nil
}

// sendReset sends a mail with which the user chooses a new password. The limits of such mails do not apply.
func (o *operator) sendReset(ctx context.Context, r request) error {
	u, err := o.lookup(ctx, r.argument)
	if err != nil {
		return err
	}
	o.print(u)
	switch {
	case !o.outbox.Enabled():
		return mail.ErrNotConfigured
	case u.Email == "":
		return errors.New("the account has no address")
	}
	what := "A mail with a link to choose a new password will be sent to " + u.Email + "."
	if err := o.confirm(r, what, u.Username); err != nil {
		return err
	}
	err = db.Retry(ctx, "send a reset", func(ctx context.Context) error {
		items, err := o.db.BatchGet(ctx, o.tokens.Ref(u.ID, mail.Reset))
		if err != nil {
			return err
		}
		set, err := o.tokens.Decode(items, u.ID, mail.Reset)
		if err != nil {
			return err
		}
		link := mailtoken.Link{Set: set, To: u.Email, User: u, TryUndeliverable: true}
		writes, err := o.mails.Send(ctx, link, httpapi.RequestInfo{})
		if err != nil {
			return err
		}
		tx := o.db.Tx(writes...)
		tx.Add(o.record(r, "send-reset", "", u))
		tx.Add(o.activity.Add(u.ID, activity.ResetSent, httpapi.RequestInfo{}, activity.Detail{}))
		return tx.CommitOnce(ctx)
	})
	if err != nil {
		return err
	}
	o.printf("Done: the mail to %s will be sent. Its link is valid for 30 minutes.\n", u.Email)
	return nil
}

// roleOf describes a membership for people.
func roleOf(d workspace.Details) string {
	text := string(d.Membership.Role)
	if d.Membership.Personal {
		text += ", personal"
	}
	if d.Workspace.IsReadOnly() {
		text += ", read-only"
	}
	return text
}
