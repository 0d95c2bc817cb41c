package quota

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

func TestReservationsAreSettledOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = 10_000, 50_000 })
	ada := w.user()
	r := w.reservation(ada, 3000)
	ctx := db.CountCalls(t.Context())
	w.must(w.reserveIn(ctx, r))
	if diff := cmp.Diff(Usage{Taken: 3000, Calls: 1}, w.taken(ada, may)); diff != "" || db.Calls(ctx) != 1 {
		t.Errorf("%s in %d calls", diff, db.Calls(ctx))
	}
	if err := w.reserve(r); slicetest.CodeOf(err) != fault.CodeConflict {
		t.Errorf("second reservation for the same answer: %v", err)
	}
	ctx = db.CountCalls(t.Context())
	w.must(w.settleIn(ctx, r, 1000, 200))
	if db.Calls(ctx) != 1 {
		t.Errorf("settled in %d calls", db.Calls(ctx))
	}
	w.must(w.settle(r, 5000, 5000))
	want := Usage{Input: 1000, Output: 200, Taken: 1200, Calls: 1}
	if diff := cmp.Diff([]Usage{want, want}, []Usage{w.taken(ada, may), w.taken("", may)}); diff != "" {
		t.Error(diff)
	}
	canceled, cancel := context.WithCancel(t.Context())
	more := w.reservation(ada, 100)
	w.must(w.reserveIn(canceled, more))
	cancel()
	w.must(w.settleIn(canceled, more, 150, 0)) // more than was reserved
	if diff := cmp.Diff(Usage{Input: 1150, Output: 200, Taken: 1350, Calls: 2}, w.taken(ada, may)); diff != "" {
		t.Error(diff)
	}
}

// Without a limit for all users, there is no item that all users write.
func TestGlobalUsageIsNotCountedWithoutALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ada := w.user()
	r := w.reservation(ada, 3000)
	w.must(w.reserve(r))
	w.must(w.settle(r, 10, 0))
	if item := slicetest.Dump(t, w.sdk, w.table)[db.GlobalUsageKey(may)]; item != nil {
		t.Errorf("%v", item)
	}
}

func TestConcurrentReservationsDoNotExceedLimits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limits          func(*Limits)
		users, passed   int
		refusal         fault.Code
		left            int
		perUser, global int // taken
	}{
		"tokens of a user": {func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens = 1000, 10_500 }, 1, 10, fault.CodeQuotaExceeded, 500, 10_000, 0},
		"tokens of all users": {func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 15_999 }, 4, 15,
			fault.CodeQuotaExceeded, 999, -1, 15_000},
		"calls per minute": {func(l *Limits) { l.CallsPerMinute = 7 }, 1, 7, fault.CodeRateLimited, -1, 7000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.limits)
			var users []string
			for range tc.users {
				users = append(users, w.user())
			}
			got := slicetest.CountCodes(40, func(i int) error {
				return w.reserve(w.reservation(users[i%tc.users], 1000))
			})
			if diff := cmp.Diff(map[fault.Code]int{"": tc.passed, tc.refusal: 40 - tc.passed}, got); diff != "" {
				t.Error(diff)
			}
			err := w.reserve(w.reservation(users[0], 1000))
			if slicetest.CodeOf(err) != tc.refusal || leftOf(err) != tc.left {
				t.Errorf("next reservation: %v, left %d", err, leftOf(err))
			}
			if u := w.taken(users[0], may); tc.perUser >= 0 && (u.Taken != tc.perUser || u.Calls != tc.passed) {
				t.Errorf("usage of the user: %+v", u)
			}
			if u := w.taken("", may); u.Taken != tc.global {
				t.Errorf("usage of all users: %+v", u)
			}
			if n := len(w.generations()); n != tc.passed {
				t.Errorf("%d generations", n)
			}
		})
	}
}

func TestRefusalMessages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		user, global int // limits
		taken        int // before
		tokens       int
		left         int
		message      string
		reserved     int // part of taken, for answers in progress
	}{
		"used up":                   {1000, 0, 1000, 1, 0, "You have used all of your 1000 tokens for this month. The quota is renewed on 2031-06-01 (UTC).", 0},
		"more than used up":         {1000, 0, 1500, 1, 0, "You have used all of your 1000 tokens for this month.", 0},
		"too few left":              {1000, 0, 700, 301, 300, "You have 300 of your 1000 tokens left this month, which is too few for this request.", 0},
		"more than the limit":       {1000, 0, -1, 1001, 1000, "You have 1000 of your 1000 tokens left this month", 0},
		"all users":                 {1000, 900, 700, 201, 200, "All users together have used the assistant's tokens for this month. The quota is renewed on 2031-06-01", 0},
		"all users, no usage":       {1000, 900, -1, 901, 900, "All users together", 0},
		"user and all users":        {1000, 900, 700, 301, 200, "You have 300 of your 1000 tokens left this month", 0},
		"reserved by other answers": {1000, 0, 1000, 1, 0, "Your 1000 tokens for this month are used or reserved by answers in progress.", 400},
		"enough left":               {1000, 1000, 700, 300, -1, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = tc.user, tc.global })
			ada := w.user()
			if tc.taken >= 0 {
				w.put(db.UsageKey(ada, may), Usage{Taken: tc.taken, Input: tc.taken - tc.reserved})
				w.put(db.GlobalUsageKey(may), Usage{Taken: tc.taken})
			}
			err := w.reserve(w.reservation(ada, tc.tokens))
			if leftOf(err) != tc.left {
				t.Errorf("left %d: %v", leftOf(err), err)
			}
			if tc.message == "" {
				w.must(err)
				return
			}
			var known *fault.Error
			if !errors.As(err, &known) || known.Code != fault.CodeQuotaExceeded || !strings.HasPrefix(known.Message, tc.message) {
				t.Errorf("%v", err)
			}
			if u := w.taken(ada, may); u.Taken != max(0, tc.taken) || u.Calls != 0 || len(w.generations()) != 0 {
				t.Errorf("usage after a refused call: %+v", u)
			}
		})
	}
}

// The rate limit is reported before the quota. Refused calls count neither in the next minute nor in the month.
func TestCallsPerMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens = 2, 200 })
	ada, bob := w.user(), w.user()
	reserve := func(b string) error { return w.reserve(w.reservation(b, 100)) }
	w.must(reserve(ada))
	w.must(reserve(ada))
	if err := reserve(ada); slicetest.CodeOf(err) != fault.CodeRateLimited || retryAfter(err) != "40" {
		t.Errorf("%v after %s", err, retryAfter(err))
	}
	w.must(reserve(bob))
	w.clock.Advance(40 * time.Second)
	for range 3 {
		if err := reserve(ada); slicetest.CodeOf(err) != fault.CodeQuotaExceeded {
			t.Errorf("in the next minute: %v", err)
		}
	}
}

// The reservations of crashed functions are released once, when their tokens are needed.
func TestCrashedGenerationsAreReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1000, 10_000, 50_000 })
	ada, bob := w.user(), w.user()
	var crashed []Reservation
	for range 4 {
		crashed = append(crashed, w.reservation(ada, 2000))
		w.must(w.reserve(crashed[len(crashed)-1]))
	}
	w.must(w.settle(crashed[0], 1900, 100)) // this one did not crash
	w.must(w.reserve(w.reservation(bob, 2000)))
	w.clock.Advance(crashedAfter)
	running := w.reservation(ada, 1500)
	w.must(w.reserve(running))
	if err := w.reserve(w.reservation(ada, 2000)); slicetest.CodeOf(err) != fault.CodeQuotaExceeded || leftOf(err) != 500 {
		t.Fatalf("generations that may still run were released: %v", err)
	}
	w.clock.Advance(time.Second)
	got := slicetest.CountCodes(40, func(int) error { return w.reserve(w.reservation(ada, 2000)) })
	if diff := cmp.Diff(map[fault.Code]int{"": 3, fault.CodeQuotaExceeded: 37}, got); diff != "" {
		t.Error(diff)
	}
	if u := w.taken(ada, may); u.Taken != 2000+1500+3*2000 {
		t.Errorf("%+v", u)
	}
	if u := w.taken("", may); u.Taken != 2000+1500+3*2000+2000 {
		t.Errorf("all users: %+v", u)
	}
	// This generation was only slow.
	w.must(w.settle(crashed[1], 30, 4))
	w.must(w.settle(crashed[1], 30, 4))
	want := Usage{Input: 1930, Output: 104, Taken: 9500 + 34, Calls: 8}
	if diff := cmp.Diff(want, w.taken(ada, may)); diff != "" {
		t.Error(diff)
	}
}

// A refused call retries only if tokens of its month were released. It reads only the generations of its own user.
func TestDatabaseCallsOfRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.MonthlyTokens = 1000 })
	ada, bob := w.user(), w.user()
	r := w.reservation(ada, 1000)
	w.must(w.reserve(r))
	refused := func(b string, calls int) {
		t.Helper()
		ctx := db.CountCalls(t.Context())
		if err := w.reserveIn(ctx, w.reservation(b, 1)); slicetest.CodeOf(err) != fault.CodeQuotaExceeded || db.Calls(ctx) != calls {
			t.Errorf("%v in %d calls", err, db.Calls(ctx))
		}
	}
	refused(ada, 2)
	w.must(w.settle(r, 1000, 0))
	w.clock.Advance(time.Hour)
	refused(ada, 2)
	w.clock.Advance(16 * 24 * time.Hour)
	w.must(w.reserve(w.reservation(bob, 900))) // in May
	w.clock.Advance(24 * time.Hour)
	w.must(w.reserve(w.reservation(bob, 1000)))
	refused(bob, 3) // the reservation of May is released, which does not help in June
	refused(bob, 2)
}

// The tokens of an answer count in the month in which the answer began.
func TestTokensCountInMonthOfRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = 5000, 5000 })
	ada := w.user()
	w.clock.Advance(time.Date(2031, 5, 31, 23, 59, 59, 999e6, time.UTC).Sub(w.clock.Now()))
	old, crashed, late := w.reservation(ada, 2000), w.reservation(ada, 1500), w.reservation(ada, 1500)
	w.must(w.reserve(old))
	w.must(w.reserve(crashed))
	w.clock.Advance(2 * time.Millisecond)
	w.must(w.reserve(late)) // began before the end of the month, reserved after it
	w.must(w.settle(old, 100, 20))
	w.must(w.settle(late, 1, 2))
	for _, userID := range []string{ada, ""} {
		if diff := cmp.Diff(Usage{Input: 101, Output: 22, Taken: 1623, Calls: 3}, w.taken(userID, may)); diff != "" {
			t.Errorf("May of %q: %s", userID, diff)
		}
		if diff := cmp.Diff(Usage{}, w.taken(userID, june)); diff != "" {
			t.Errorf("June of %q: %s", userID, diff)
		}
	}
	w.must(w.reserve(w.reservation(ada, 4500)))
	w.clock.Advance(9 * time.Minute)
	w.must(w.settle(w.reservation(ada, 1), 0, 0)) // never reserved
	w.clock.Advance(2 * time.Minute)
	ctx := db.CountCalls(t.Context())
	w.must(w.reserveIn(ctx, w.reservation(ada, 600))) // possible because the crashed reservation of June is released, not that of May
	if u := w.taken(ada, may); u.Taken != 123 {
		t.Errorf("May: %+v", u)
	}
	if u := w.taken(ada, june); u.Taken != 600 {
		t.Errorf("June: %+v", u)
	}
}

// The record of a generation is kept while its reservation can be released, and for a day after its end.
func TestExpiryOfGenerations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.MonthlyTokens = 1000 })
	ada := w.user()
	crashed, ended := w.reservation(ada, 900), w.reservation(ada, 100)
	w.must(w.reserve(crashed))
	w.must(w.reserve(ended))
	w.must(w.settle(ended, 100, 0))
	kept := func(r Reservation) bool {
		_, err := w.ledger.store.generation(t.Context(), r.UserID, r.MessageID)
		return !errors.Is(err, db.ErrNotFound)
	}
	w.clock.Advance(keptAfterEnd - time.Second)
	if !kept(crashed) || !kept(ended) {
		t.Error("a record expired before a day was over")
	}
	w.clock.Advance(time.Second)
	if !kept(crashed) || kept(ended) {
		t.Errorf("after a day: %v, %v", kept(crashed), kept(ended))
	}
	w.clock.Advance(15 * 24 * time.Hour) // the 31st
	w.must(w.reserve(w.reservation(ada, 900)))
}
