package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// The attributes of a webhook that the expressions of this package use.
const (
	attrActive         = "active"
	attrDisabledReason = "disabledReason"
	attrRevision       = "revision"
	attrUpdatedAt      = "updatedAt"
	attrPrompt         = "prompt"
	attrFailures       = "failures"
	attrFailingSince   = "failingSince"
	attrLastAt         = "lastAt"
	attrLastStatus     = "lastStatus"
	attrGeneration     = "generation" // only read
)

// endpointUpdate returns a write that updates a webhook on the condition that its endpoint was not changed after w was
// read.
func (s Store) endpointUpdate(w Webhook, update expression.UpdateBuilder) db.Write {
	sameEndpoint := expression.AttributeExists(expression.Name(db.AttrPK)).
		And(expression.Name(attrGeneration).Equal(expression.Value(w.Generation)))
	return s.Table.Update(db.WebhookKey(w.WorkspaceID, w.ID), update).If(sameEndpoint)
}

// writeIf executes a write. It reports false if the condition of the write does not hold.
func (s Store) writeIf(ctx context.Context, write db.Write) (bool, error) {
	_, err := s.Client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}

// putHealth stores the health of an endpoint after attempts. w is the webhook as it was read, and succeeded reports
// whether one of the attempts succeeded. The failures of concurrent attempts are added up. Nothing is written if the
// webhook has a new endpoint, or was deleted.
func (s Store) putHealth(ctx context.Context, w Webhook, after Health, succeeded bool) error {
	_, err := s.writeIf(ctx, s.endpointUpdate(w, healthUpdate(w.Health, after, succeeded)))
	return err
}

// disable stores the health, disables the webhook for the reason of the decision, and stores the mails that report it,
// in one transaction. It reports false if the webhook is no longer active, the webhook has a new endpoint, or the
// series of failures has ended.
func (s Store) disable(
	ctx context.Context, w Webhook, after Health, decision decision, now time.Time, mails ...db.Write,
) (bool, error) {
	update := healthUpdate(w.Health, after, false).
		Set(expression.Name(attrActive), expression.Value(false)).
		Set(expression.Name(attrDisabledReason), expression.Value(decision.reason)).
		Set(expression.Name(attrUpdatedAt), expression.Value(clock.Stamp(now).String())).
		Add(expression.Name(attrRevision), expression.Value(1))
	write := s.endpointUpdate(w, update).If(expression.Name(attrActive).Equal(expression.Value(true)))
	if decision.failingSince != nil {
		write = write.If(expression.Name(attrFailingSince).Equal(expression.Value(decision.failingSince.String())))
	}
	err := s.Client.Tx(append(mails, write)...).Commit(ctx)
	if errors.Is(err, db.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}

// healthUpdate returns the update that changes the stored health from before to after. succeeded reports whether one of
// the attempts succeeded.
func healthUpdate(before, after Health, succeeded bool) expression.UpdateBuilder {
	update := expression.Set(expression.Name(attrLastAt), expression.Value(after.LastAt.String())).
		Set(expression.Name(attrLastStatus), expression.Value(string(after.LastStatus)))
	switch {
	case !after.Prompt:
		update = update.Remove(expression.Name(attrPrompt))
	case succeeded: // a failure does not set it, because a concurrent attempt may have removed it
		update = update.Set(expression.Name(attrPrompt), expression.Value(true))
	}
	failures, since := expression.Name(attrFailures), expression.Name(attrFailingSince)
	switch {
	case after.LastStatus == Succeeded: // also resets the failures that were counted after the webhook was read
		return update.Remove(failures).Remove(since)
	case succeeded: // the failures after the success are a new series
		return update.Set(failures, expression.Value(after.Failures)).
			Set(since, expression.Value(after.FailingSince.String()))
	case after.Failures > before.Failures:
		update = update.Add(failures, expression.Value(after.Failures-before.Failures))
	}
	// The time of the first failure is kept. If a success has ended the series in the meantime, this failure is the
	// first one of a new series.
	return update.Set(since, since.IfNotExists(expression.Value(after.LastAt.String())))
}
