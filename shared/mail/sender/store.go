package sender

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/mail"
)

const (
	// claimTime is the time for which a claim keeps other invocations from sending a mail. It is longer than sendTimeout
	// and endTimeout together.
	claimTime = 30 * time.Second
	// endTimeout is the time limit for the write after an attempt to send a mail. The write is made even if the time of
	// the invocation is over.
	endTimeout = 5 * time.Second
	// tryPeriod is the time between two mails to an address at which mail does not arrive.
	tryPeriod = 24 * time.Hour
	// stateRetention is the time for which the service remembers that mail does not arrive at an address.
	stateRetention = 365 * 24 * time.Hour
)

var (
	// errDone reports that a mail was sent, or that it was dropped.
	errDone = errors.New("sender: the mail is done")
	// errClaimed reports that another invocation is sending the mail, or was killed while it did.
	errClaimed = errors.New("sender: another invocation has claimed the mail")
	// errTriedToday reports that a mail was already sent to an undeliverable address within tryPeriod.
	errTriedToday = errors.New("sender: the address was tried within the last day")
)

// outcome is the result of sending a mail. The values are part of the data format.
type outcome string

const (
	sent          outcome = "sent"
	rejected      outcome = "rejected"
	undeliverable outcome = "undeliverable"
)

// progress is the part of a mail's item that the sender writes.
type progress struct {
	Claim        string  `dynamodbav:"claim"`        // random, of the invocation that sends the mail
	ClaimedUntil int64   `dynamodbav:"claimedUntil"` // milliseconds since 1970
	Outcome      outcome `dynamodbav:"outcome"`
}

// Names of the attributes.
var (
	nameClaim        = expression.Name("claim")
	nameClaimedUntil = expression.Name("claimedUntil")
	nameOutcome      = expression.Name("outcome")
	nameSince        = expression.Name("undeliverableSince")
	nameTriedAt      = expression.Name("triedAt")
	nameTriedFor     = expression.Name("triedFor")
)

// store reads and writes the progress of mails and the states of addresses.
type store struct {
	client          *db.Client
	mails, accounts db.Table
	now             clock.Clock
}

// claim claims a mail for an invocation. The argument claim is random. Errors: errDone, also if the item of the mail
// has expired; errClaimed; db.ErrUnavailable.
func (s store) claim(ctx context.Context, mailID, claim string) error {
	now := s.now()
	update := expression.Set(nameClaim, expression.Value(claim)).
		Set(nameClaimedUntil, expression.Value(now.Add(claimTime).UnixMilli()))
	isFree := nameClaimedUntil.AttributeNotExists().Or(nameClaimedUntil.LessThan(expression.Value(now.UnixMilli())))
	_, err := s.client.Do(ctx, s.mails.Update(db.MailKey(mailID), update).
		If(s.mails.Exists()).If(nameOutcome.AttributeNotExists()).If(isFree).
		ElseFunc(func(stored db.Item) error {
			if p, err := db.Decode[progress](stored); stored == nil || err == nil && p.Outcome != "" {
				return errDone
			}
			return errClaimed
		}).
		Recognize(func(stored db.Item) bool {
			p, err := db.Decode[progress](stored)
			return err == nil && p.Claim == claim && p.Outcome == ""
		}))
	return err
}

// finish stores the outcome of a claimed mail. messageID is the ID that SES gave the mail, "" if the mail was not sent.
func (s store) finish(ctx context.Context, mailID string, o outcome, messageID string) error {
	ctx, cancel := async.Detach(ctx, endTimeout)
	defer cancel()
	update := expression.Set(nameOutcome, expression.Value(o)).
		Set(expression.Name("messageId"), expression.Value(messageID)).
		Set(expression.Name("doneAt"), expression.Value(clock.Stamp(s.now()).String())).
		Remove(nameClaim).Remove(nameClaimedUntil)
	_, err := s.client.Do(ctx, s.mails.Update(db.MailKey(mailID), update).If(nameClaim.AttributeExists()))
	return err
}

// release ends a claim, so that the next invocation can send the mail without waiting for the end of claimTime.
func (s store) release(ctx context.Context, mailID, claim string) error {
	ctx, cancel := async.Detach(ctx, endTimeout)
	defer cancel()
	update := expression.Remove(nameClaim).Remove(nameClaimedUntil)
	_, err := s.client.Do(ctx, s.mails.Update(db.MailKey(mailID), update).If(nameClaim.Equal(expression.Value(claim))))
	if errors.Is(err, db.ErrConditionFailed) {
		return nil // an earlier attempt of this write has already ended the claim
	}
	return err
}

// state returns the state of an address. Errors: lambdafn.ErrPoison if the record is damaged; db.ErrUnavailable.
func (s store) state(ctx context.Context, address string) (mail.AddressState, error) {
	item, err := s.accounts.Get(ctx, db.MailStateKey(address))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return mail.AddressState{}, err
	}
	state, err := db.Decode[mail.AddressState](item)
	if err != nil {
		return state, fmt.Errorf("%w: %w", lambdafn.ErrPoison, err)
	}
	return state, nil
}

// tryAddress counts a mail to an address at which mail does not arrive. Errors: errTriedToday, db.ErrUnavailable.
func (s store) tryAddress(ctx context.Context, address, mailID string) error {
	now := s.now()
	update := expression.Set(nameTriedAt, expression.Value(clock.Stamp(now).String())).
		Set(nameTriedFor, expression.Value(mailID))
	isDue := nameTriedAt.AttributeNotExists().
		Or(nameTriedAt.LessThan(expression.Value(clock.Stamp(now.Add(-tryPeriod)).String()))).
		Or(nameTriedFor.Equal(expression.Value(mailID))) // this mail, in an earlier attempt
	_, err := s.client.Do(ctx, s.accounts.Update(db.MailStateKey(address), update).
		If(nameSince.AttributeExists()).If(isDue).Else(errTriedToday))
	return err
}

// setUndeliverable records the time since which mail does not arrive at an address, unless an earlier time is stored.
func (s store) setUndeliverable(ctx context.Context, address string, at time.Time) error {
	since := expression.IfNotExists(nameSince, expression.Value(clock.Stamp(at).String()))
	update := expression.Set(nameSince, since).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(s.now().Add(stateRetention).Unix()))
	_, err := s.client.Do(ctx, s.accounts.Update(db.MailStateKey(address), update))
	return err
}
