// Package revocation disables the webhooks of a user who may no longer manage them. It maintains an invariant: the user
// who created or last activated an active webhook is an admin or owner of its workspace. Without it, a former member
// would still receive the events of the workspace.
//
// Two rules maintain it. A transaction that creates or activates a webhook checks the role of the user, and contains
// Activate. A transaction that takes the role away contains the writes of Store.Disable, which fail if a webhook was
// created or activated after Disable read the webhooks. So two concurrent transactions can't both succeed.
//
// The package is separate from package delivery because the function that manages members links it.
package revocation

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/webhook/notice"
	"devplatform/shared/workspace"
)

// Reason is the reason why the webhooks of the user are disabled. mailReason is the same in the mail to the user.
const (
	Reason     = "the user who created or last activated the webhook is no longer an admin or owner of the workspace"
	mailReason = "you are no longer an admin or owner of the workspace"
)

// attrActivations is the number of times that a webhook of the workspace was created or activated. It is an attribute
// of the item that counts the webhooks.
var attrActivations = expression.Name("activations")

// Activate adds an activation to an update of the item that counts the webhooks of a workspace.
func Activate(update expression.UpdateBuilder) expression.UpdateBuilder {
	return update.Add(attrActivations, expression.Value(1))
}

// Store reads and disables webhooks.
type Store struct {
	Webhooks db.Table
	Reason   string // why the webhooks are disabled; "" means the constant Reason
	// Notices stores the mails to the users who lost the right. If it is nil, they get none.
	Notices *notice.Mails
}

// Disable returns the writes that disable the active webhooks that a user created or activated in a workspace, which
// has at most 20 webhooks, and store one mail to the user. If the conditions of the writes fail, the webhooks have
// changed: call Disable again. Disable makes two calls to storage, and a third call if there is a mail to store.
func (s Store) Disable(ctx context.Context, workspaceID, userID string, at time.Time) ([]db.Write, error) {
	// The number of activations must be read before the webhooks. Then the condition on the number fails if a webhook
	// was activated after the webhooks were read.
	countKey := db.WebhookCountKey(workspaceID)
	item, err := s.Webhooks.Get(ctx, countKey)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return nil, err
	}
	count, err := db.Decode[struct {
		Activations int `dynamodbav:"activations"`
	}](item)
	if err != nil {
		return nil, err
	}
	unchanged := attrActivations.Equal(expression.Value(count.Activations))
	if count.Activations == 0 {
		unchanged = attrActivations.AttributeNotExists()
	}
	items, err := s.Webhooks.QueryAll(ctx, db.WebhooksOf(workspaceID), "createdBy", "active", "url", "description")
	if err != nil {
		return nil, err
	}
	writes, disabled := []db.Write{s.Webhooks.Check(countKey, unchanged)}, []notice.Webhook(nil)
	for _, item := range items {
		w, err := db.Decode[struct {
			CreatedBy string `dynamodbav:"createdBy"`
			Active    bool   `dynamodbav:"active"`
			notice.Webhook
		}](item)
		// A webhook that cannot be decoded gets no deliveries, and must not prevent the removal of a member.
		if err == nil && w.Active && w.CreatedBy == userID {
			writes = append(writes, s.disable(db.KeyOf(item), userID, at))
			disabled = append(disabled, w.Webhook)
		}
	}
	mails, err := s.Notices.Disabled(ctx, userID, workspaceID, mailReason, disabled...)
	return append(writes, mails...), err
}

// disable returns the write that disables a webhook. Its condition is that the webhook is active and has this creator.
func (s Store) disable(key db.Key, userID string, at time.Time) db.Write {
	active := expression.Name("active")
	update := expression.Set(active, expression.Value(false)).
		Set(expression.Name("disabledReason"), expression.Value(cmp.Or(s.Reason, Reason))).
		Set(expression.Name("updatedAt"), expression.Value(clock.Stamp(at).String())).
		Add(expression.Name("revision"), expression.Value(1))
	return s.Webhooks.Update(key, update).
		If(active.Equal(expression.Value(true)).And(expression.Name("createdBy").Equal(expression.Value(userID))))
}

// ForgetCreator replaces the name of a user whose account has ended in the webhooks that the user created in a
// workspace. Errors: the errors of storage.
func (s Store) ForgetCreator(ctx context.Context, client *db.Client, workspaceID, userID string) error {
	isCreator := expression.Name("createdBy").Equal(expression.Value(userID))
	update := expression.Set(expression.Name("createdByName"), expression.Value(workspace.DeletedUser))
	return s.Webhooks.Each(ctx, db.WebhooksOf(workspaceID), func(item db.Item) error {
		w, err := db.Decode[struct {
			CreatedBy string `dynamodbav:"createdBy"`
		}](item)
		if err != nil || w.CreatedBy != userID {
			return nil //nolint:nilerr // a webhook that cannot be decoded is not shown
		}
		_, err = client.Do(ctx, s.Webhooks.Update(db.KeyOf(item), update).If(isCreator))
		if errors.Is(err, db.ErrConditionFailed) {
			return nil // another user activated or deleted the webhook
		}
		return err
	}, "createdBy")
}
