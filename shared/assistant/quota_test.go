package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// reservation makes one of a user's for a new answer.
func (w *world) reservation(userID string, tokens int) reservation {
	_, answerID := w.service.newTurn("")
	return reservation{userID: userID, messageID: answerID, tokens: tokens, began: w.clock.Now()}
}

// taken is what a user, "" for all together, has of a month.
func (w *world) taken(userID, month string) usageRecord {
	w.t.Helper()
	key := db.GlobalUsageKey(month)
	if userID != "" {
		key = db.UsageKey(userID, month)
	}
	item, err := db.Wrap(w.sdk, w.clock.Now).Table(w.names.conversations).Get(w.t.Context(), key)
	if !errors.Is(err, db.ErrNotFound) {
		w.must(err)
	}
	record, err := db.Decode[usageRecord](item)
	w.must(err)
	return record
}

const (
	may  = "2031-05"
	june = "2031-06"
)

// codeOf is what a client is told, "" if there is no error.
func codeOf(err error) fault.Code {
	var known *fault.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Code
	}
	return fault.Code(err.Error())
}

func waitOf(err error) string {
	var known *fault.Error
	if !errors.As(err, &known) {
		return ""
	}
	return known.Headers().Get("Retry-After")
}

// leftOf is what an error says is left, -1 if it does not say.
func leftOf(err error) int {
	if short, ok := errors.AsType[*quotaError](err); ok {
		return short.left
	}
	return -1
}

// outcomes is how often each code came of doing something n times at once.
func outcomes(n int, do func(i int) error) map[fault.Code]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	codes, start := map[fault.Code]int{}, make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			code := codeOf(do(i))
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	close(start)
	wg.Wait()
	return codes
}

func TestWhatIsReservedIsSettledOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = 10_000, 50_000 }))
	ada := w.user("ada")
	r := w.reservation(ada.userID, 3000)
	ctx := db.CountCalls(t.Context())
	w.must(w.service.reserve(ctx, r))
	if diff := cmp.Diff(usageRecord{Taken: 3000, Calls: 1}, w.taken(ada.userID, may)); diff != "" || db.Calls(ctx) != 1 {
		t.Errorf("%s in %d calls", diff, db.Calls(ctx))
	}
	if err := w.service.reserve(t.Context(), r); codeOf(err) != fault.CodeConflict {
		t.Errorf("the same answer again: %v", err)
	}
	ctx = db.CountCalls(t.Context())
	w.must(w.service.settle(ctx, r, usage{InputTokens: 1000, OutputTokens: 200}))
	if db.Calls(ctx) != 1 {
		t.Errorf("settled in %d calls", db.Calls(ctx))
	}
	w.must(w.service.settle(t.Context(), r, usage{InputTokens: 5000, OutputTokens: 5000}))
	want := usageRecord{Input: 1000, Output: 200, Taken: 1200, Calls: 1}
	if diff := cmp.Diff([]usageRecord{want, want}, []usageRecord{w.taken(ada.userID, may), w.taken("", may)}); diff != "" {
		t.Error(diff)
	}
	canceled, cancel := context.WithCancel(t.Context())
	more := w.reservation(ada.userID, 100)
	w.must(w.service.reserve(canceled, more))
	cancel()
	w.must(w.service.settle(canceled, more, usage{InputTokens: 150})) // more than was reserved
	if diff := cmp.Diff(usageRecord{Input: 1150, Output: 200, Taken: 1350, Calls: 2}, w.taken(ada.userID, may)); diff != "" {
		t.Error(diff)
	}
}

// Without a limit for all users there is no item that all of them write.
func TestNothingIsCountedForALimitThatThereIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	r := w.reservation(ada.userID, 3000)
	w.must(w.service.reserve(t.Context(), r))
	w.must(w.service.settle(t.Context(), r, usage{InputTokens: 10}))
	if item := w.dump(w.names.conversations)[db.GlobalUsageKey(may)]; item != nil {
		t.Errorf("%v", item)
	}
}

func TestQuotasAreExact(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limits          func(*Limits)
		users, passed   int
		otherwise       fault.Code
		left            int
		perUser, global int // taken
	}{
		"a user's": {func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens = 1000, 10_500 }, 1, 10, fault.CodeQuotaExceeded, 500, 10_000, 0},
		"everybody's": {func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 15_999 }, 4, 15,
			fault.CodeQuotaExceeded, 999, -1, 15_000},
		"a minute's": {func(l *Limits) { l.CallsPerMinute = 7 }, 1, 7, fault.CodeRateLimited, -1, 7000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withLimits(tc.limits))
			var users []*browser
			for i := range tc.users {
				users = append(users, w.user(fmt.Sprint("user", i)))
			}
			got := outcomes(40, func(i int) error {
				return w.service.reserve(t.Context(), w.reservation(users[i%tc.users].userID, 1000))
			})
			if diff := cmp.Diff(map[fault.Code]int{"": tc.passed, tc.otherwise: 40 - tc.passed}, got); diff != "" {
				t.Error(diff)
			}
			err := w.service.reserve(t.Context(), w.reservation(users[0].userID, 1000))
			if codeOf(err) != tc.otherwise || leftOf(err) != tc.left {
				t.Errorf("then %v, left %d", err, leftOf(err))
			}
			if u := w.taken(users[0].userID, may); tc.perUser >= 0 && (u.Taken != tc.perUser || u.Calls != tc.passed) {
				t.Errorf("the user has %+v", u)
			}
			if u := w.taken("", may); u.Taken != tc.global {
				t.Errorf("all have %+v", u)
			}
			if n := len(w.generations()); n != tc.passed {
				t.Errorf("%d generations", n)
			}
		})
	}
}

// generations are those that are stored, by id.
func (w *world) generations() map[string]generationRecord {
	w.t.Helper()
	all := map[string]generationRecord{}
	for key, item := range w.dump(w.names.conversations) {
		if strings.HasPrefix(key.SK, "GENERATION#") {
			g, err := db.Decode[generationRecord](item)
			w.must(err)
			all[g.ID] = g
		}
	}
	return all
}

func TestWhatARefusalSays(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		user, global int // limits
		taken        int // before
		tokens       int
		left         int
		says         string
		held         int // of taken, by answers that are being made
	}{
		"used up":                    {1000, 0, 1000, 1, 0, "Your 1000 tokens of this month are used up. New ones come on 2031-06-01 (UTC).", 0},
		"more than used up":          {1000, 0, 1500, 1, 0, "Your 1000 tokens of this month are used up.", 0},
		"some are left":              {1000, 0, 700, 301, 300, "Of your 1000 tokens of this month 300 are left, which is too few for this.", 0},
		"more than there ever are":   {1000, 0, -1, 1001, 1000, "Of your 1000 tokens of this month 1000 are left", 0},
		"everybody's":                {1000, 900, 700, 201, 200, "What all users together may take of the assistant this month is used up. New ones come on 2031-06-01", 0},
		"everybody's, none ever was": {1000, 900, -1, 901, 900, "What all users together", 0},
		"both":                       {1000, 900, 700, 301, 200, "Of your 1000 tokens of this month 300 are left", 0},
		"held by others":             {1000, 0, 1000, 1, 0, "Your 1000 tokens of this month are used up or held by answers that are being made.", 400},
		"neither":                    {1000, 1000, 700, 300, -1, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withLimits(func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = tc.user, tc.global }))
			ada := w.user("ada")
			if tc.taken >= 0 {
				w.put(w.names.conversations, db.UsageKey(ada.userID, may), usageRecord{Taken: tc.taken, Input: tc.taken - tc.held})
				w.put(w.names.conversations, db.GlobalUsageKey(may), usageRecord{Taken: tc.taken})
			}
			err := w.service.reserve(t.Context(), w.reservation(ada.userID, tc.tokens))
			if leftOf(err) != tc.left {
				t.Errorf("left %d: %v", leftOf(err), err)
			}
			if tc.says == "" {
				w.must(err)
				return
			}
			var told *fault.Error
			if !errors.As(err, &told) || told.Code != fault.CodeQuotaExceeded || !strings.HasPrefix(told.Message, tc.says) {
				t.Errorf("%v", err)
			}
			if u := w.taken(ada.userID, may); u.Taken != max(0, tc.taken) || u.Calls != 0 || len(w.generations()) != 0 {
				t.Errorf("a refused call left %+v", u)
			}
		})
	}
}

// Who calls too often hears that first, and the calls that were refused don't count for the next minute or the month.
func TestCallsAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens = 2, 200 }))
	ada, bob := w.user("ada"), w.user("bob")
	reserve := func(b *browser) error { return w.service.reserve(t.Context(), w.reservation(b.userID, 100)) }
	w.must(reserve(ada))
	w.must(reserve(ada))
	if err := reserve(ada); codeOf(err) != fault.CodeRateLimited || waitOf(err) != "40" {
		t.Errorf("%v after %s", err, waitOf(err))
	}
	w.must(reserve(bob))
	w.clock.Advance(40 * time.Second)
	for range 3 {
		if err := reserve(ada); codeOf(err) != fault.CodeQuotaExceeded {
			t.Errorf("in the next minute: %v", err)
		}
	}
}

// What crashed functions have reserved comes back when it is needed, once.
func TestCrashedGenerationsAreFreed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1000, 10_000, 50_000 }))
	ada, bob := w.user("ada"), w.user("bob")
	var crashed []reservation
	for range 4 {
		crashed = append(crashed, w.reservation(ada.userID, 2000))
		w.must(w.service.reserve(t.Context(), crashed[len(crashed)-1]))
	}
	w.must(w.service.settle(t.Context(), crashed[0], usage{InputTokens: 1900, OutputTokens: 100})) // it was not
	w.must(w.service.reserve(t.Context(), w.reservation(bob.userID, 2000)))
	w.clock.Advance(crashedAfter)
	running := w.reservation(ada.userID, 1500)
	w.must(w.service.reserve(t.Context(), running))
	if err := w.service.reserve(t.Context(), w.reservation(ada.userID, 2000)); codeOf(err) != fault.CodeQuotaExceeded || leftOf(err) != 500 {
		t.Fatalf("they may still run: %v", err)
	}
	w.clock.Advance(time.Second)
	got := outcomes(40, func(int) error { return w.service.reserve(t.Context(), w.reservation(ada.userID, 2000)) })
	if diff := cmp.Diff(map[fault.Code]int{"": 3, fault.CodeQuotaExceeded: 37}, got); diff != "" {
		t.Error(diff)
	}
	if u := w.taken(ada.userID, may); u.Taken != 2000+1500+3*2000 {
		t.Errorf("%+v", u)
	}
	if u := w.taken("", may); u.Taken != 2000+1500+3*2000+2000 {
		t.Errorf("all: %+v", u)
	}
	// It was only slow.
	w.must(w.service.settle(t.Context(), crashed[1], usage{InputTokens: 30, OutputTokens: 4}))
	w.must(w.service.settle(t.Context(), crashed[1], usage{InputTokens: 30, OutputTokens: 4}))
	want := usageRecord{Input: 1930, Output: 104, Taken: 9500 + 34, Calls: 8}
	if diff := cmp.Diff(want, w.taken(ada.userID, may)); diff != "" {
		t.Error(diff)
	}
}

// Only what lets a call through makes it try again, and nobody's calls are looked at but their own.
func TestARefusalCostsFewCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.MonthlyTokens = 1000 }))
	ada, bob := w.user("ada"), w.user("bob")
	r := w.reservation(ada.userID, 1000)
	w.must(w.service.reserve(t.Context(), r))
	refused := func(b *browser, calls int) {
		t.Helper()
		ctx := db.CountCalls(t.Context())
		if err := w.service.reserve(ctx, w.reservation(b.userID, 1)); codeOf(err) != fault.CodeQuotaExceeded || db.Calls(ctx) != calls {
			t.Errorf("%v in %d calls", err, db.Calls(ctx))
		}
	}
	refused(ada, 2)
	w.must(w.service.settle(t.Context(), r, usage{InputTokens: 1000}))
	w.clock.Advance(time.Hour)
	refused(ada, 2)
	w.clock.Advance(16 * 24 * time.Hour)
	w.must(w.service.reserve(t.Context(), w.reservation(bob.userID, 900))) // in May
	w.clock.Advance(24 * time.Hour)
	w.must(w.service.reserve(t.Context(), w.reservation(bob.userID, 1000)))
	refused(bob, 3) // May's is freed, which does not help June
	refused(bob, 2)
}

// The month in which an answer began pays for it.
func TestAnAnswerPaysInTheMonthInWhichItBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.MonthlyTokens, l.GlobalMonthlyTokens = 5000, 5000 }))
	ada := w.user("ada")
	w.clock.Advance(time.Date(2031, 5, 31, 23, 59, 59, 999e6, time.UTC).Sub(w.clock.Now()))
	old, crashed, late := w.reservation(ada.userID, 2000), w.reservation(ada.userID, 1500), w.reservation(ada.userID, 1500)
	w.must(w.service.reserve(t.Context(), old))
	w.must(w.service.reserve(t.Context(), crashed))
	w.clock.Advance(2 * time.Millisecond)
	w.must(w.service.reserve(t.Context(), late)) // begun before, reserved after
	w.must(w.service.settle(t.Context(), old, usage{InputTokens: 100, OutputTokens: 20}))
	w.must(w.service.settle(t.Context(), late, usage{InputTokens: 1, OutputTokens: 2}))
	for _, who := range []string{ada.userID, ""} {
		if diff := cmp.Diff(usageRecord{Input: 101, Output: 22, Taken: 1623, Calls: 3}, w.taken(who, may)); diff != "" {
			t.Errorf("May of %q: %s", who, diff)
		}
		if diff := cmp.Diff(usageRecord{}, w.taken(who, june)); diff != "" {
			t.Errorf("June of %q: %s", who, diff)
		}
	}
	w.must(w.service.reserve(t.Context(), w.reservation(ada.userID, 4500)))
	w.clock.Advance(9 * time.Minute)
	w.must(w.service.settle(t.Context(), w.reservation(ada.userID, 1), usage{})) // never reserved
	w.clock.Advance(2 * time.Minute)
	ctx := db.CountCalls(t.Context())
	w.must(w.service.reserve(ctx, w.reservation(ada.userID, 600))) // June's crashed one, not May's, makes room
	if u := w.taken(ada.userID, may); u.Taken != 123 {
		t.Errorf("May: %+v", u)
	}
	if u := w.taken(ada.userID, june); u.Taken != 600 {
		t.Errorf("June: %+v", u)
	}
}

// A generation is kept as long as its reservation can be given back, and for a day after it has ended.
func TestHowLongGenerationsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.MonthlyTokens = 1000 }))
	ada := w.user("ada")
	crashed, ended := w.reservation(ada.userID, 900), w.reservation(ada.userID, 100)
	w.must(w.service.reserve(t.Context(), crashed))
	w.must(w.service.reserve(t.Context(), ended))
	w.must(w.service.settle(t.Context(), ended, usage{InputTokens: 100}))
	kept := func(r reservation) bool {
		_, err := w.service.store.generation(t.Context(), r.userID, r.messageID)
		return !errors.Is(err, db.ErrNotFound)
	}
	w.clock.Advance(generationKept - time.Second)
	if !kept(crashed) || !kept(ended) {
		t.Error("gone before a day is over")
	}
	w.clock.Advance(time.Second)
	if !kept(crashed) || kept(ended) {
		t.Errorf("after a day: %v, %v", kept(crashed), kept(ended))
	}
	w.clock.Advance(15 * 24 * time.Hour) // the 31st
	w.must(w.service.reserve(t.Context(), w.reservation(ada.userID, 900)))
}
