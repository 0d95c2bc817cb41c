package limit_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/lambdafn"
	"devplatform/shared/limit"
)

// hits returns the stored number of attempts of a counter, or "none" if the counter is not stored.
func (f *fixture) hits(c limit.Counter) string { return f.stored(c.Key()) }

func (f *fixture) stored(key db.Key) string {
	for _, item := range f.dump() {
		if db.KeyOf(item) == key {
			return item["hits"].(*types.AttributeValueMemberN).Value
		}
	}
	return "none"
}

func TestRejectedAttemptIsNotCountedByOtherRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	narrow, wide := f.Counter(rule("narrow", 2), webhook), f.Counter(rule("wide", 20), webhook)
	var allowed atomic.Int64
	lambdafn.Parallel(12, 12, func(int) error {
		attempt, err := f.Count(t.Context(), narrow, wide)
		if err == nil {
			allowed.Add(1)
		} else if !errors.Is(err, limit.ErrTooMany) || attempt.Status() != (limit.Status{Limit: 2, Reset: time.Minute}) {
			t.Errorf("got status %+v, %v, want ErrTooMany with the status of the narrow rule", attempt.Status(), err)
		}
		return nil
	})
	if n := allowed.Load(); n != 2 || f.hits(narrow) != "2" || f.hits(wide) != "2" {
		t.Errorf("%d attempts were allowed, and the rules counted %s and %s, want 2, 2 and 2",
			n, f.hits(narrow), f.hits(wide))
	}
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	failures := rule("failures", 2)
	failures.FailuresOnly = true
	narrow, wide := f.Counter(failures, webhook), f.Counter(rule("all", 20), webhook)
	for range 5 {
		attempt, err := f.Count(t.Context(), wide, narrow)
		if err != nil {
			t.Fatal(err)
		}
		if before, after := attempt.Status().Remaining, attempt.RefundedStatus().Remaining; before != 1 || after != 2 {
			t.Errorf("got %d remaining attempts, %d after the refund, want 1 and 2", before, after)
		}
		if err := f.db.Tx(attempt.Refunds()...).Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f.hits(narrow) != "0" || f.hits(wide) != "5" {
		t.Errorf("the rules counted %s failures and %s attempts, want 0 and 5", f.hits(narrow), f.hits(wide))
	}
}

func TestFullCounterNeedsNoCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	counter := f.Counter(rule("test", 1), webhook)
	if _, err := f.Count(t.Context(), counter); err != nil {
		t.Fatal(err)
	}
	item, err := f.table.Get(t.Context(), counter.Key())
	if err != nil {
		t.Fatal(err)
	}
	if err := counter.Load(item); err != nil {
		t.Fatal(err)
	}
	ctx := db.CountCalls(t.Context())
	if _, err := f.Count(ctx, counter); retryAfter(err) != "60" || db.Calls(ctx) != 0 {
		t.Errorf("got error %v and %d calls, want an error with Retry-After 60 and no calls", err, db.Calls(ctx))
	}
}

// If counting fails for one rule, the attempt fails and does not count for the other rule.
func TestFailedAttemptIsNotCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	valid, invalid := f.Counter(rule("test", 2), webhook), f.Counter(rule("test", 2), "")
	if _, err := f.Count(t.Context(), valid, invalid); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("got error %v, want ErrInvalidKey", err)
	}
	if got := f.hits(valid); got != "0" {
		t.Errorf("the valid counter counted %s attempts, want 0", got)
	}
	f.wire.Break("UpdateItem", dynamotest.LostReply)
	if _, err := f.Count(t.Context(), valid); err != nil {
		t.Errorf("after a lost response: got error %v, want none", err)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for reset, want := range map[time.Duration]int{
		0: 1, time.Millisecond: 1, time.Second: 1, 1001 * time.Millisecond: 2, time.Minute: 60,
	} {
		if got := (limit.Status{Reset: reset}).ResetSeconds(); got != want {
			t.Errorf("reset in %v: got %d seconds, want %d", reset, got, want)
		}
	}
	status := limit.Status{Limit: 10, Remaining: 3, Reset: time.Minute}
	headers := status.WithRetryAfter(status.WithHeaders(fault.ErrConflict)).Headers()
	for name, want := range map[string]string{
		"RateLimit-Limit": "10", "RateLimit-Remaining": "3", "RateLimit-Reset": "60", "Retry-After": "60",
	} {
		if got := headers.Get(name); got != want {
			t.Errorf("header %s: got %q, want %q", name, got, want)
		}
	}
}

// Add counts units in the window of a given time, up to the limit exactly.
func TestAdd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	units, at := rule("units", 100), noon.Add(-time.Second) // in the window before the clock's
	for _, step := range []struct {
		n       int
		allowed bool
		sum     string
	}{
		{101, false, "none"}, {60, true, "60"}, {41, false, "60"}, {40, true, "100"}, {1, false, "100"},
	} {
		err := f.db.Tx(f.Add(units, webhook, at, step.n)).Commit(t.Context())
		if step.allowed && err != nil || !step.allowed && !errors.Is(err, db.ErrConditionFailed) {
			t.Errorf("adding %d: got error %v, want success: %t", step.n, err, step.allowed)
		}
		if got := f.stored(db.CounterKey(units.Name, at.Truncate(units.Window), webhook)); got != step.sum {
			t.Errorf("after adding %d: got %s units, want %s", step.n, got, step.sum)
		}
	}
	for _, other := range []db.Write{
		f.Add(units, webhook, noon, 100), f.Add(units, "another", at, 100), f.Add(rule("other", 100), webhook, at, 100),
	} {
		if err := f.db.Tx(other).Commit(t.Context()); err != nil {
			t.Errorf("another window, subject or rule: got error %v, want none", err)
		}
	}
	for _, item := range f.dump() {
		if expires := item["expiresAt"].(*types.AttributeValueMemberN).Value; expires < fmt.Sprint(noon.Unix()) {
			t.Errorf("the item %v expires before the end of its window", item)
		}
	}
}

// Concurrent additions never exceed the limit. Those that are refused count nothing.
func TestConcurrentAdditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	units := rule("units", 500)
	var sum, refused atomic.Int64
	lambdafn.Parallel(40, 10, func(i int) error {
		err := f.db.Tx(f.Add(units, webhook, noon, 10+i)).Commit(t.Context())
		switch {
		case err == nil:
			sum.Add(int64(10 + i))
		case errors.Is(err, db.ErrConditionFailed):
			refused.Add(1)
		default:
			t.Error(err)
		}
		return nil
	})
	if got := f.hits(f.Counter(units, webhook)); got != fmt.Sprint(sum.Load()) || sum.Load() > 500 || refused.Load() == 0 {
		t.Errorf("got %s units, and %d in successful additions (%d were refused), want the same number, at most 500",
			got, sum.Load(), refused.Load())
	}
}
