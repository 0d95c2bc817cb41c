package quota

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

func TestReservationsAreSettledOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = 10_000, 50_000 })
	userID := f.newUserID()
	r := f.newReservation(userID, 3000)
	ctx := db.CountCalls(t.Context())
	f.must(f.reserveContext(ctx, r))
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("Reserve made %d calls, want 1", n)
	}
	f.checkUsage(userID, may, Usage{Taken: 3000, Calls: 1})
	if err := f.reserve(r); slicetest.CodeOf(err) != fault.CodeConflict {
		t.Errorf("second reservation for the same answer: got error %v, want code %s", err, fault.CodeConflict)
	}

	ctx = db.CountCalls(t.Context())
	f.must(f.settleContext(ctx, r, 1000, 200))
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("Settle made %d calls, want 1", n)
	}
	f.must(f.settle(r, 5000, 5000)) // has no effect
	want := Usage{Input: 1000, Output: 200, Taken: 1200, Calls: 1}
	f.checkUsage(userID, may, want)
	f.checkUsage("", may, want)

	cancelledCtx, cancel := context.WithCancel(t.Context())
	second := f.newReservation(userID, 100)
	f.must(f.reserveContext(cancelledCtx, second))
	cancel()
	f.must(f.settleContext(cancelledCtx, second, 150, 0)) // more than was reserved
	f.checkUsage(userID, may, Usage{Input: 1150, Output: 200, Taken: 1350, Calls: 2})
}

func TestConcurrentReservationsDoNotExceedLimits(t *testing.T) {
	t.Parallel()
	const calls = 40 // each reserves 1000 tokens
	for name, tc := range map[string]struct {
		setLimits       func(*Limits)
		users           int
		wantReserved    int // the number of calls that succeed
		wantCode        fault.Code
		wantLeft        int // the number of remaining tokens in the error
		wantTaken       int // by the first user; -1 if it depends on the order of the calls
		wantGlobalTaken int
	}{
		"tokens of a user": {
			setLimits:    func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens = 1000, 10_500 },
			users:        1,
			wantReserved: 10,
			wantCode:     fault.CodeQuotaExceeded,
			wantLeft:     500,
			wantTaken:    10_000,
		},
		"tokens of all users": {
			setLimits:       func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 15_999 },
			users:           4,
			wantReserved:    15,
			wantCode:        fault.CodeQuotaExceeded,
			wantLeft:        999,
			wantTaken:       -1,
			wantGlobalTaken: 15_000,
		},
		"calls per minute": {
			setLimits:    func(l *Limits) { l.CallsPerMinute = 7 },
			users:        1,
			wantReserved: 7,
			wantCode:     fault.CodeRateLimited,
			wantLeft:     -1,
			wantTaken:    7000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, tc.setLimits)
			var userIDs []string
			for range tc.users {
				userIDs = append(userIDs, f.newUserID())
			}
			codes := slicetest.CountCodes(calls, func(i int) error {
				return f.reserve(f.newReservation(userIDs[i%tc.users], 1000))
			})
			wantCodes := map[fault.Code]int{"": tc.wantReserved, tc.wantCode: calls - tc.wantReserved}
			if diff := cmp.Diff(wantCodes, codes); diff != "" {
				t.Errorf("error codes (-want +got):\n%s", diff)
			}
			err := f.reserve(f.newReservation(userIDs[0], 1000))
			if slicetest.CodeOf(err) != tc.wantCode || tokensLeft(err) != tc.wantLeft {
				t.Errorf("next reservation: got error %v with %d tokens left, want code %s with %d tokens left",
					err, tokensLeft(err), tc.wantCode, tc.wantLeft)
			}
			if tc.wantTaken >= 0 {
				f.checkUsage(userIDs[0], may, Usage{Taken: tc.wantTaken, Calls: tc.wantReserved})
			}
			if got := f.usage("", may).Taken; got != tc.wantGlobalTaken {
				t.Errorf("got %d tokens taken by all users, want %d", got, tc.wantGlobalTaken)
			}
			if n := len(f.generations()); n != tc.wantReserved {
				t.Errorf("got %d generations, want %d", n, tc.wantReserved)
			}
		})
	}
}

func TestRefusedReservations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limit, globalLimit int
		used, reserved     int // before the call
		tokens             int // of the call
		wantLeft           int // the number of remaining tokens in the error
		wantMessage        string
	}{
		"all tokens used": {
			limit: 1000, used: 1000, tokens: 1,
			wantMessage: "You have used all of your 1000 tokens for this month. " +
				"The quota is renewed on 2031-06-01 (UTC).",
		},
		"more than all tokens used": {
			limit: 1000, used: 1500, tokens: 1,
			wantMessage: "You have used all of your 1000 tokens for this month.",
		},
		"too few tokens left": {
			limit: 1000, used: 700, tokens: 301, wantLeft: 300,
			wantMessage: "You have 300 of your 1000 tokens left this month, which is too few for this request.",
		},
		"call exceeds the limit": {
			limit: 1000, tokens: 1001, wantLeft: 1000,
			wantMessage: "You have 1000 of your 1000 tokens left this month",
		},
		"too few tokens left for all users": {
			limit: 1000, globalLimit: 900, used: 700, tokens: 201, wantLeft: 200,
			wantMessage: "All users together have used the assistant's tokens for this month. " +
				"The quota is renewed on 2031-06-01",
		},
		"call exceeds the limit for all users": {
			limit: 1000, globalLimit: 900, tokens: 901, wantLeft: 900,
			wantMessage: "All users together",
		},
		"too few tokens left for the user and for all users": {
			limit: 1000, globalLimit: 900, used: 700, tokens: 301, wantLeft: 200,
			wantMessage: "You have 300 of your 1000 tokens left this month",
		},
		"tokens reserved by other answers": {
			limit: 1000, used: 600, reserved: 400, tokens: 1,
			wantMessage: "Your 1000 tokens for this month are used or reserved by answers in progress.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = tc.limit, tc.globalLimit })
			userID := f.newUserID()
			before := Usage{Taken: tc.used + tc.reserved, Input: tc.used}
			if before.Taken > 0 {
				f.put(db.UsageKey(userID, may), before)
				f.put(db.GlobalUsageKey(may, 1), before)
			}
			err := f.reserve(f.newReservation(userID, tc.tokens))
			var clientError *fault.Error
			if !errors.As(err, &clientError) || clientError.Code != fault.CodeQuotaExceeded ||
				!strings.HasPrefix(clientError.Message, tc.wantMessage) {
				t.Errorf("got error %v, want code %s and message %q", err, fault.CodeQuotaExceeded, tc.wantMessage)
			}
			if got := tokensLeft(err); got != tc.wantLeft {
				t.Errorf("got %d tokens left, want %d", got, tc.wantLeft)
			}
			f.checkUsage(userID, may, before)
			if n := len(f.generations()); n != 0 {
				t.Errorf("got %d generations, want 0", n)
			}
		})
	}
}

func TestReservationOfAllRemainingTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = 1000, 1000 })
	userID := f.newUserID()
	f.put(db.UsageKey(userID, may), Usage{Taken: 700, Input: 700})
	f.put(db.GlobalUsageKey(may, 1), Usage{Taken: 700})
	f.must(f.reserve(f.newReservation(userID, 300)))
}

// The rate limit is checked before the quota. Calls that the quota refuses also count.
func TestCallsPerMinute(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens = 2, 200 })
	ada, grace := f.newUserID(), f.newUserID()
	reserve := func(userID string) error { return f.reserve(f.newReservation(userID, 100)) }
	f.must(reserve(ada))
	f.must(reserve(ada))
	// The minute ends in 39.5 seconds (see epoch).
	if err := reserve(ada); slicetest.CodeOf(err) != fault.CodeRateLimited || retryAfter(err) != "40" {
		t.Errorf("third call: got error %v with Retry-After %q, want code %s with Retry-After 40",
			err, retryAfter(err), fault.CodeRateLimited)
	}
	f.must(reserve(grace))
	f.clock.Advance(40 * time.Second)
	for i, want := range []fault.Code{
		fault.CodeQuotaExceeded, fault.CodeQuotaExceeded, fault.CodeRateLimited, fault.CodeRateLimited,
	} {
		if err := reserve(ada); slicetest.CodeOf(err) != want {
			t.Errorf("call %d in the next minute: got error %v, want code %s", i+1, err, want)
		}
	}
}

// The reservations of crashed generations are released once, when their tokens are needed.
func TestCrashedGenerationsAreReleased(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) {
		l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1000, 10_000, 50_000
	})
	ada, grace := f.newUserID(), f.newUserID()
	settled := f.newReservation(ada, 2000)
	f.must(f.reserve(settled))
	f.must(f.settle(settled, 1900, 100))
	var crashed []Reservation
	for range 3 {
		r := f.newReservation(ada, 2000)
		f.must(f.reserve(r))
		crashed = append(crashed, r)
	}
	f.must(f.reserve(f.newReservation(grace, 2000)))
	damaged := f.ids.New(id.Message) // without a month, it cannot be released
	f.put(db.GenerationKey(ada, damaged), generation{ID: damaged, StartedAt: clock.Stamp(epoch)})
	f.clock.Advance(crashedAfter)
	f.must(f.reserve(f.newReservation(ada, 1500))) // is still in progress at the end of the test
	err := f.reserve(f.newReservation(ada, 2000))
	if slicetest.CodeOf(err) != fault.CodeQuotaExceeded || tokensLeft(err) != 500 {
		t.Fatalf("before the generations count as crashed: got error %v, want code %s with 500 tokens left",
			err, fault.CodeQuotaExceeded)
	}

	f.clock.Advance(time.Second)
	codes := slicetest.CountCodes(40, func(int) error { return f.reserve(f.newReservation(ada, 2000)) })
	if diff := cmp.Diff(map[fault.Code]int{"": 3, fault.CodeQuotaExceeded: 37}, codes); diff != "" {
		t.Errorf("error codes (-want +got):\n%s", diff)
	}
	const taken = 2000 + 1500 + 3*2000
	if got := f.usage(ada, may).Taken; got != taken {
		t.Errorf("got %d tokens taken by the user, want %d", got, taken)
	}
	if got := f.usage("", may).Taken; got != taken+2000 {
		t.Errorf("got %d tokens taken by all users, want %d", got, taken+2000)
	}

	// If a generation was only slow, it can still be settled once after its reservation was released.
	f.must(f.settle(crashed[0], 30, 4))
	f.must(f.settle(crashed[0], 30, 4))
	f.checkUsage(ada, may, Usage{Input: 1930, Output: 104, Taken: taken + 34, Calls: 8})
}

// A refused call tries again only if tokens of its month were released. It reads only the generations of its user. The
// last call counts it.
func TestDatabaseCallsOfRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.MonthlyTokens = 1000 })
	ada, grace := f.newUserID(), f.newUserID()
	r := f.newReservation(ada, 1000)
	f.must(f.reserve(r))
	checkRefusal := func(userID string, wantCalls int) {
		t.Helper()
		ctx := db.CountCalls(t.Context())
		err := f.reserveContext(ctx, f.newReservation(userID, 1))
		if slicetest.CodeOf(err) != fault.CodeQuotaExceeded || db.Calls(ctx) != wantCalls {
			t.Errorf("got error %v after %d calls, want code %s after %d calls",
				err, db.Calls(ctx), fault.CodeQuotaExceeded, wantCalls)
		}
	}
	checkRefusal(ada, 3)
	f.must(f.settle(r, 1000, 0))
	f.clock.Advance(time.Hour)
	checkRefusal(ada, 3)
	f.clock.Advance(16 * 24 * time.Hour)
	f.must(f.reserve(f.newReservation(grace, 900))) // in May
	f.clock.Advance(24 * time.Hour)
	f.must(f.reserve(f.newReservation(grace, 1000))) // in June
	checkRefusal(grace, 4)                           // releases the reservation of May, which has no effect on June
	checkRefusal(grace, 3)
}

// The tokens of an answer count in the month in which the answer began.
func TestTokensCountInMonthOfRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = 5000, 5000 })
	userID := f.newUserID()
	f.clock.Advance(time.Date(2031, 5, 31, 23, 59, 59, 999e6, time.UTC).Sub(f.clock.Now()))
	reservedInMay := f.newReservation(userID, 2000)
	crashed := f.newReservation(userID, 1500)
	reservedInJune := f.newReservation(userID, 1500) // begins in May
	f.must(f.reserve(reservedInMay))
	f.must(f.reserve(crashed))
	f.clock.Advance(2 * time.Millisecond)
	f.must(f.reserve(reservedInJune))
	f.must(f.settle(reservedInMay, 100, 20))
	f.must(f.settle(reservedInJune, 1, 2))
	for _, id := range []string{userID, ""} {
		f.checkUsage(id, may, Usage{Input: 101, Output: 22, Taken: 1623, Calls: 3})
		f.checkUsage(id, june, Usage{})
	}

	f.must(f.reserve(f.newReservation(userID, 4500))) // also crashes
	f.clock.Advance(9 * time.Minute)
	f.must(f.settle(f.newReservation(userID, 1), 0, 0)) // was never reserved
	f.clock.Advance(2 * time.Minute)
	// Both crashed reservations are released. This reservation needs the tokens that are released in June.
	f.must(f.reserve(f.newReservation(userID, 600)))
	if got := f.usage(userID, may).Taken; got != 123 {
		t.Errorf("May: got %d tokens taken, want 123", got)
	}
	if got := f.usage(userID, june).Taken; got != 600 {
		t.Errorf("June: got %d tokens taken, want 600", got)
	}
}

// The record of a generation is kept while its reservation can be released, and for 24 hours after its end.
func TestExpiryOfGenerations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.MonthlyTokens = 1000 })
	userID := f.newUserID()
	crashed, ended := f.newReservation(userID, 900), f.newReservation(userID, 100)
	f.must(f.reserve(crashed))
	f.must(f.reserve(ended))
	f.must(f.settle(ended, 100, 0))
	checkExists := func(name string, r Reservation, want bool) {
		t.Helper()
		_, err := f.ledger.table.Get(t.Context(), db.GenerationKey(r.UserID, r.MessageID))
		if got := !errors.Is(err, db.ErrNotFound); got != want {
			t.Errorf("record of the %s generation exists: got %v, want %v", name, got, want)
		}
	}
	f.clock.Advance(keptAfterEnd - time.Second)
	checkExists("crashed", crashed, true)
	checkExists("ended", ended, true)
	f.clock.Advance(time.Second)
	checkExists("crashed", crashed, true)
	checkExists("ended", ended, false)
	f.clock.Advance(15 * 24 * time.Hour) // to May 31
	f.must(f.reserve(f.newReservation(userID, 900)))
}
