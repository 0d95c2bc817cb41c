package limit_test

import (
	"context"
	"errors"
	"strings"
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

// inProgress returns the operations in progress of a subject under a rule with a lease of 30 s.
func (f *fixture) inProgress(name string, n int, subject string) limit.Operations {
	full := fault.New(fault.CodeRateLimited, "Too many "+name+" in progress.")
	return f.Operations(limit.OperationRule{Name: name, Limit: n, Lease: 30 * time.Second, Full: full}, subject)
}

// An operation that would exceed one of the limits does not begin, and changes none of the counts.
func TestOperationsInProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const shared = "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	begin := func(user string) (limit.Operation, error) {
		own, all := f.inProgress("of-user", 1, user), f.inProgress("of-workspace", 2, shared)
		return f.Begin(t.Context(), []limit.Operations{own, all}, f.Counter(rule("calls", 3), user))
	}
	ada, err := begin("ada")
	if err != nil {
		t.Fatal(err)
	}
	grace, err := begin("grace")
	if err != nil {
		t.Fatal(err)
	}
	f.sinceNoon.Store(int64(1500 * time.Millisecond))
	for user, want := range map[string]string{"ada": "of-user", "linus": "of-workspace"} {
		for range 5 { // more than the counter allows: a rejected attempt is not counted
			if _, err := begin(user); retryAfter(err) != "29" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v with Retry-After %s, want one of the rule %s with 29", user, err, retryAfter(err), want)
			}
		}
	}
	if err := grace.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := grace.End(t.Context()); err != nil {
		t.Errorf("the second call of End: got error %v, want none", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ada.End(ended); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		op, err := begin("ada")
		if err != nil {
			t.Fatal(err)
		}
		if err := op.End(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := begin("ada"); retryAfter(err) != "59" || !errors.Is(err, limit.ErrTooMany) {
		t.Errorf("the fourth call of ada in a minute: got error %v, want ErrTooMany with Retry-After 59", err)
	}
	if _, err := begin("linus"); err != nil {
		t.Errorf("after all operations have ended: got error %v, want none", err)
	}
	for _, item := range f.dump() {
		if item["expiresAt"] == nil {
			t.Errorf("the item %v does not expire", item)
		}
	}
}

// An operation whose process crashed counts until its lease expires. An operation that seems to begin in the future
// because of a wrong clock does not count.
func TestExpiredLeases(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	begin := func() error {
		_, err := f.Begin(t.Context(), []limit.Operations{f.inProgress("test", 2, webhook)})
		return err
	}
	for range 2 {
		if err := begin(); err != nil {
			t.Fatal(err)
		}
	}
	for sinceNoon, want := range map[time.Duration]string{0: "30", 30*time.Second - time.Millisecond: "1"} {
		f.sinceNoon.Store(int64(sinceNoon))
		if err := begin(); retryAfter(err) != want {
			t.Errorf("%v after the begin: got error %v, want Retry-After %s", sinceNoon, err, want)
		}
	}
	f.sinceNoon.Store(int64(30 * time.Second))
	var began atomic.Int64
	for _, err := range lambdafn.Parallel(8, 8, func(int) error { return begin() }) {
		if err == nil {
			began.Add(1)
		} else if retryAfter(err) == "" {
			t.Errorf("got error %v, want none or RATE_LIMITED", err)
		}
	}
	if n := began.Load(); n != 2 {
		t.Errorf("%d operations began after the leases had expired, want 2", n)
	}
	f.sinceNoon.Store(int64(-time.Hour))
	if err := begin(); err != nil {
		t.Errorf("after the clock was corrected: got error %v, want none", err)
	}
}

// Begin and End make one call each. If a response is lost, they take effect once.
func TestCallsOfOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	counter := f.Counter(rule("test", 5), webhook)
	f.wire.Break("TransactWriteItems", dynamotest.LostReply.Times(1))
	ctx := db.CountCalls(t.Context())
	op, err := f.Begin(ctx, []limit.Operations{f.inProgress("test", 1, webhook)}, counter)
	if err != nil || db.Calls(ctx) != 1 || f.wire.Hits() != 1 {
		t.Errorf("Begin: got error %v, %d calls and %d lost responses, want none, 1 and 1", err, db.Calls(ctx), f.wire.Hits())
	}
	if got := f.hits(counter); got != "1" {
		t.Errorf("the counter counted %s attempts, want 1", got)
	}
	ctx = db.CountCalls(t.Context())
	if err := op.End(ctx); err != nil || db.Calls(ctx) != 1 {
		t.Errorf("End: got error %v and %d calls, want none and 1", err, db.Calls(ctx))
	}
	for _, item := range f.dump() {
		if entries, ok := item["entries"].(*types.AttributeValueMemberSS); ok {
			t.Errorf("after the end: got the entries %v, want none", entries.Value)
		}
	}
	f.wire.Break("TransactWriteItems", dynamotest.ServerError)
	_, err = f.Begin(t.Context(), []limit.Operations{f.inProgress("test", 1, webhook)})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("DynamoDB fails: got error %v, want ErrUnavailable", err)
	}
}
