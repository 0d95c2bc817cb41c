// Package notice stores the mails about webhooks that the service disabled. The creator of the webhooks receives them.
// It must not decide when a webhook is disabled. It reads the attributes of the user and of the workspace itself,
// because the functions that send requests to webhooks must not link the HTTP edge, which packages account and
// workspace import.
package notice

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/mail"
	"devplatform/shared/workspace/record"
)

// Mails stores mails in the outbox. It is safe for concurrent use. A nil *Mails stores none.
type Mails struct {
	client             *db.Client
	accounts, projects db.Table // only read
	outbox             *mail.Outbox
}

// New returns Mails. It does no I/O.
func New(client *db.Client, tables config.Tables, outbox *mail.Outbox) *Mails {
	return &Mails{
		client: client, accounts: client.Table(tables.Accounts), projects: client.Table(tables.Projects), outbox: outbox,
	}
}

// Webhook has the attributes of a webhook that a mail contains.
type Webhook struct {
	Description string `dynamodbav:"description"`
	URL         string `dynamodbav:"url"`
}

// name returns a name that the creator recognizes. It contains no more of the URL than the host, because the path of
// many endpoints is a secret.
func (w Webhook) name() string {
	host := ""
	if parsed, err := url.Parse(w.URL); err == nil {
		host = parsed.Host
	}
	return cmp.Or(w.Description, host)
}

// Disabled returns the write that stores the mail about webhooks of a workspace that the service disables for a reason.
// It must be part of the transaction that disables them. There is no write if there are no webhooks, the stack sends no
// mail, the user or the workspace no longer exists, or the user has no address. Disabled makes one call to storage.
// Errors: db.ErrUnavailable, config.ErrUnavailable.
func (m *Mails) Disabled(
	ctx context.Context, userID, workspaceID, reason string, webhooks ...Webhook,
) ([]db.Write, error) {
	if m == nil || len(webhooks) == 0 || !m.outbox.Enabled() {
		return nil, nil
	}
	userRef, workspaceRef := m.accounts.Ref(db.UserKey(userID)), m.projects.Ref(db.WorkspaceKey(workspaceID))
	items, err := m.client.BatchGet(ctx, userRef, workspaceRef)
	if err != nil {
		return nil, err
	}
	user, err := db.Decode[struct {
		Email    string `dynamodbav:"email"`
		Username string `dynamodbav:"username"`
	}](items[userRef])
	if err != nil || user.Email == "" {
		return nil, err
	}
	workspace, err := record.Decode(items[workspaceRef])
	if err != nil || workspace == nil {
		return nil, err
	}
	name := webhooks[0].name()
	if others := len(webhooks) - 1; others > 0 {
		name = fmt.Sprintf("%s (and %d more)", name, others)
	}
	w, err := m.outbox.Write(ctx, mail.Message{
		Kind: mail.WebhookDisabled, To: user.Email, UserID: userID, Username: user.Username,
		Values: map[string]string{"name": name, "workspace": workspace.Name, "reason": reason},
	})
	return []db.Write{w}, err
}
