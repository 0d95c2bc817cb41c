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

// hits returns the stored number of attempts of a counter.
func (w *world) hits(c limit.Counter) string {
	for _, item := range w.dump() {
		if db.KeyOf(item) == c.Key() {
			return item["hits"].(*types.AttributeValueMemberN).Value
		}
	}
	return "none"
}

func TestRejectedAttemptIsNotCountedByOtherRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	narrow, wide := w.Counter(rule("narrow", 2), webhook), w.Counter(rule("wide", 20), webhook)
	var allowed atomic.Int64
	lambdafn.Parallel(12, 12, func(int) error {
		attempt, err := w.Count(t.Context(), narrow, wide)
		if err == nil {
			allowed.Add(1)
		} else if !errors.Is(err, limit.ErrTooMany) || attempt.Status() != (limit.Status{Limit: 2, Reset: time.Minute}) {
			t.Errorf("%+v, %v", attempt.Status(), err)
		}
		return nil
	})
	if got := fmt.Sprintf("%d %s %s", allowed.Load(), w.hits(narrow), w.hits(wide)); got != "2 2 2" {
		t.Errorf("allowed, counted by the narrow and by the wide rule: %s", got)
	}
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failures := rule("failures", 2)
	failures.FailuresOnly = true
	narrow, wide := w.Counter(failures, webhook), w.Counter(rule("all", 20), webhook)
	for range 5 {
		attempt, err := w.Count(t.Context(), wide, narrow)
		if err != nil {
			t.Fatal(err)
		}
		if before, after := attempt.Status().Remaining, attempt.RefundedStatus().Remaining; before != 1 || after != 2 {
			t.Errorf("remaining %d, %d after the refund", before, after)
		}
		if err := w.db.Transact(t.Context(), attempt.Refunds()...); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.hits(narrow) + " " + w.hits(wide); got != "0 5" {
		t.Errorf("counted %s", got)
	}
}

func TestFullCounterNeedsNoCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	counter := w.Counter(rule("test", 1), webhook)
	if _, err := w.Count(t.Context(), counter); err != nil {
		t.Fatal(err)
	}
	item, err := w.table.Get(t.Context(), counter.Key())
	if err != nil {
		t.Fatal(err)
	}
	if err := counter.Load(item); err != nil {
		t.Fatal(err)
	}
	ctx := db.CountCalls(t.Context())
	if _, err := w.Count(ctx, counter); retryAfter(err) != "60" || db.Calls(ctx) != 0 {
		t.Errorf("%v, %d calls", err, db.Calls(ctx))
	}
}

// An attempt that storage did not count for one rule is an error, and the other rule does not keep it.
func TestStorageErrorIsNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good, bad := w.Counter(rule("test", 2), webhook), w.Counter(rule("test", 2), "")
	if _, err := w.Count(t.Context(), good, bad); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("%v", err)
	}
	if got := w.hits(good); got != "0" {
		t.Errorf("counted %s", got)
	}
	w.wire.Break("UpdateItem", dynamotest.LostReply)
	if _, err := w.Count(t.Context(), good); err != nil {
		t.Errorf("after a lost response: %v", err)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for reset, want := range map[time.Duration]int{
		0: 1, time.Millisecond: 1, time.Second: 1, 1001 * time.Millisecond: 2, time.Minute: 60,
	} {
		if got := (limit.Status{Reset: reset}).ResetSeconds(); got != want {
			t.Errorf("%v: %d seconds, want %d", reset, got, want)
		}
	}
	status := limit.Status{Limit: 10, Remaining: 3, Reset: time.Minute}
	headers := status.WithRetryAfter(status.WithHeaders(fault.ErrConflict)).Headers()
	for name, want := range map[string]string{
		"RateLimit-Limit": "10", "RateLimit-Remaining": "3", "RateLimit-Reset": "60", "Retry-After": "60",
	} {
		if got := headers.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
