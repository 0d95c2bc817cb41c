package assistant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// reservation is what a call sets aside of its user's tokens before a model is asked: the most that it may take.
type reservation struct {
	userID    string
	messageID string // names the answer
	tokens    int
	// began is when it was asked for. The month that this lies in is the one that pays, whenever the answer ends.
	began time.Time
}

// month is the one that pays.
func (r reservation) month() month { return monthOf(r.began) }

// month is a month of UTC: its first moment.
type month time.Time

func monthOf(at time.Time) month {
	at = at.UTC()
	return month(time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC))
}

// String is the month as keys and the API have it: 2026-11.
func (m month) String() string { return time.Time(m).Format("2006-01") }

// next is the first moment behind it.
func (m month) next() time.Time { return time.Time(m).AddDate(0, 1, 0) }

const (
	// minuteRule is the name of the limit of calls a minute.
	minuteRule = "ai"
	// crashedAfter is the age at which a generation that has not ended never will: its function is gone.
	crashedAfter = 10 * time.Minute
	// generationKept is how long it can still be said that a generation has ended.
	generationKept = 24 * time.Hour
)

// quotaError says how many tokens are left where there are too few; errors.As finds it beneath QUOTA_EXCEEDED.
type quotaError struct{ left int }

func (e *quotaError) Error() string {
	return fmt.Sprintf("assistant: too few tokens are left: %d", e.left)
}

// reserve counts a call against its user's minute and sets its tokens aside in the months of the user and, if there is a limit for
// them, of all users: all of it or nothing, in one transaction. Where a quota refuses, it first frees what this user's crashed calls
// have left behind. Whoever reserves must finish or settle.
// Errors: RATE_LIMITED with Retry-After; QUOTA_EXCEEDED, a *quotaError beneath; CONFLICT; storage's classes.
func (s *Service) reserve(ctx context.Context, r reservation) error {
	err := s.reserveOnce(ctx, r)
	if _, short := errors.AsType[*quotaError](err); !short {
		return err
	}
	freed, ferr := s.freeCrashed(ctx, r)
	switch {
	case ferr != nil:
		return ferr
	case !freed:
		return err
	}
	return s.reserveOnce(ctx, r)
}

func (s *Service) reserveOnce(ctx context.Context, r reservation) error {
	rule := limit.Rule{Name: minuteRule, Limit: s.limits.CallsPerMinute, Window: time.Minute}
	minute, tooOften := s.counters.Write(rule, r.userID)
	err := s.store.reserve(ctx, r, s.limits, s.now(), minute)
	lack, lacks := errors.AsType[*lackError](err)
	switch {
	case !lacks:
		return err
	case lack.minute:
		return tooOften
	case lack.tokens():
		return s.tooFew(r, lack)
	}
	return errUsedID.WithCause(err)
}

var errUsedID = fault.New(fault.CodeConflict, "This answer is being made already. Please try again.")

// usedUp says that a user has nothing left of their tokens.
func usedUp(tokens int) string {
	return fmt.Sprintf("Your %d tokens of this month are used up. ", tokens)
}

// renewed says when there are new tokens.
func renewed(m month) string { return "New ones come on " + m.next().Format(time.DateOnly) + " (UTC)." }

// tooFew says whose tokens don't suffice, and when there are new ones.
func (s *Service) tooFew(r reservation, lack *lackError) error {
	anew := renewed(r.month())
	if lack.user == nil {
		left := max(0, s.limits.GlobalMonthlyTokens-lack.global.Taken)
		return fault.New(fault.CodeQuotaExceeded, "What all users together may take of the assistant this month is used up. "+anew).
			WithCause(&quotaError{left})
	}
	left := max(0, s.limits.MonthlyTokens-lack.user.Taken)
	said := usedUp(s.limits.MonthlyTokens)
	if lack.user.Taken > lack.user.Input+lack.user.Output {
		said = fmt.Sprintf("Your %d tokens of this month are used up or held by answers that are being made. ", s.limits.MonthlyTokens)
	}
	if left > 0 {
		said = fmt.Sprintf("Of your %d tokens of this month %d are left, which is too few for this. ", s.limits.MonthlyTokens, left)
	}
	if lack.global != nil {
		left = min(left, max(0, s.limits.GlobalMonthlyTokens-lack.global.Taken))
	}
	return fault.New(fault.CodeQuotaExceeded, said+anew).WithCause(&quotaError{left})
}

// freeCrashed gives back what a user's generations have reserved that can't end any more, and reports whether there were any in
// the month of a reservation. Others may do so at once: each is freed once.
func (s *Service) freeCrashed(ctx context.Context, r reservation) (freed bool, err error) {
	crashed, err := s.store.crashed(ctx, r.userID, s.now().Add(-crashedAfter))
	if err != nil {
		return false, err
	}
	for _, g := range crashed {
		if err := s.store.release(ctx, r.userID, g, s.now()); err != nil {
			return freed, err
		}
		freed = freed || g.Month == r.month().String()
	}
	return freed, nil
}

// settle turns a reservation into what was really taken, once: doing it again changes nothing. It is done even if the caller's
// context has ended. Error: storage's classes.
func (s *Service) settle(ctx context.Context, r reservation, used usage) error {
	return s.conclude(ctx, s.settlement(r, used))
}

func (s *Service) settlement(r reservation, used usage) settlement {
	return settlement{reservation: r, global: s.limits.GlobalMonthlyTokens > 0, used: used, at: s.now()}
}

// conclude ends a generation: it settles, and makes more writes in the same transaction. Of a generation that had ended before, nothing
// is written, and that is no error. Where conditions of more failed, the error says so, behind as many writes as the settlement has.
func (s *Service) conclude(ctx context.Context, e settlement, more ...db.Write) error {
	ctx = context.WithoutCancel(ctx) // what was taken was taken
	before, err := s.store.conclude(ctx, e, more)
	if before != released || err != nil {
		return err
	}
	// It was taken for crashed, and what it had reserved was given back.
	e.late = true
	_, err = s.store.conclude(ctx, e, more)
	return err
}

// isCancelled reports whether a user wants a generation of theirs to stop, in one call. Error: storage's classes.
func (s *Service) isCancelled(ctx context.Context, r reservation) (bool, error) {
	g, err := s.store.generation(ctx, r.userID, r.messageID)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return g.Cancelled, err
}
