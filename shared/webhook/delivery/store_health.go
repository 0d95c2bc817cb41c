package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// The attributes of a webhook that this package writes.
const (
	attrActive         = "active"
	attrDisabledReason = "disabledReason"
	attrRevision       = "revision"
	attrUpdatedAt      = "updatedAt"
	attrTimeouts       = "timeouts"
	attrFailures       = "failures"
	attrFailingSince   = "failingSince"
	attrLastAt         = "lastAt"
	attrLastStatus     = "lastStatus"
	attrProbeUntil     = "probeUntil"
	attrProbeBy        = "probeBy" // random ID of the latest probe lease: identifies it if the response was lost
)

// endpointUpdate returns a write that updates a webhook on the condition that its endpoint was not changed after w was
// read.
func (s Store) endpointUpdate(w Webhook, update expression.UpdateBuilder) db.Write {
	sameEndpoint := expression.AttributeExists(expression.Name(db.AttrPK)).
		And(expression.Name("generation").Equal(expression.Value(w.Generation)))
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

// takeProbe takes the probe lease of the endpoint until a time. It reports false if another delivery holds the lease,
// or the webhook has a new endpoint.
func (s Store) takeProbe(ctx context.Context, w Webhook, now, until time.Time) (bool, error) {
	by, lease := rand.Text(), expression.Name(attrProbeUntil)
	update := expression.Set(lease, expression.Value(clock.Stamp(until).String())).
		Set(expression.Name(attrProbeBy), expression.Value(by))
	expired := lease.LessThanEqual(expression.Value(clock.Stamp(now).String()))
	return s.writeIf(ctx, s.endpointUpdate(w, update).
		If(expression.AttributeNotExists(lease).Or(expired)).Mine(hasText(attrProbeBy, by)))
}

// saveHealth stores the health of an endpoint after an attempt. w is the webhook as it was read. The counts of
// concurrent attempts are added up. Nothing is written if the webhook has a new endpoint, or was deleted.
func (s Store) saveHealth(ctx context.Context, w Webhook, after Health) error {
	_, err := s.writeIf(ctx, s.endpointUpdate(w, healthUpdate(w.Health, after)))
	return err
}

// disable stores the health and disables the webhook for the reason of the decision. It reports false if the webhook is
// not active any more, the webhook has a new endpoint, or the series of failures has ended.
func (s Store) disable(ctx context.Context, w Webhook, after Health, v decision, now time.Time) (bool, error) {
	update := healthUpdate(w.Health, after).
		Set(expression.Name(attrActive), expression.Value(false)).
		Set(expression.Name(attrDisabledReason), expression.Value(v.reason)).
		Set(expression.Name(attrUpdatedAt), expression.Value(clock.Stamp(now).String())).
		Add(expression.Name(attrRevision), expression.Value(1))
	write := s.endpointUpdate(w, update).If(expression.Name(attrActive).Equal(expression.Value(true)))
	if v.failingSince != nil {
		write = write.If(expression.Name(attrFailingSince).Equal(expression.Value(v.failingSince.String())))
	}
	return s.writeIf(ctx, write)
}

// healthUpdate returns the update that changes the stored health from before to after.
func healthUpdate(before, after Health) expression.UpdateBuilder {
	update := expression.Set(expression.Name(attrLastAt), expression.Value(after.LastAt.String())).
		Set(expression.Name(attrLastStatus), expression.Value(string(after.LastStatus)))
	if after.LastStatus == Succeeded { // also resets the failures that were counted after the webhook was read
		for _, attribute := range []string{attrTimeouts, attrFailures, attrFailingSince, attrProbeUntil} {
			update = update.Remove(expression.Name(attribute))
		}
		return update
	}
	update = countUpdate(update, attrTimeouts, before.Timeouts, after.Timeouts)
	update = countUpdate(update, attrFailures, before.Failures, after.Failures)
	// The time of the first failure is kept. If a success has ended the series in the meantime, this failure is the
	// first one of a new series.
	since := expression.Name(attrFailingSince)
	update = update.Set(since, since.IfNotExists(expression.Value(after.LastAt.String())))
	if before.ProbeUntil != nil && after.ProbeUntil == nil {
		update = update.Remove(expression.Name(attrProbeUntil))
	}
	return update
}

// countUpdate adds the difference to a counter, or removes a counter that is 0. It never subtracts: concurrent attempts
// that read the same value would all subtract the difference.
func countUpdate(update expression.UpdateBuilder, attribute string, before, after int) expression.UpdateBuilder {
	switch {
	case after > before:
		return update.Add(expression.Name(attribute), expression.Value(after-before))
	case after == 0 && before > 0:
		return update.Remove(expression.Name(attribute))
	}
	return update
}
