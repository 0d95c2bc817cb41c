package limit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
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

// noon is the start of a window.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const webhook = "wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"

// fixture contains counters in an empty table of a new DynamoDB.
type fixture struct {
	*limit.Counters
	sinceNoon atomic.Int64 // the time of the clock, in nanoseconds since noon
	dump      func() []map[string]types.AttributeValue
	wire      *dynamotest.Wire
	db        *db.Client
	table     db.Table
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	sdk, name := dynamotest.Client(endpoint), "limit-test-"+rand.Text()
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	f := &fixture{wire: dynamotest.NewWire(t, endpoint, nil)}
	now := func() time.Time { return noon.Add(time.Duration(f.sinceNoon.Load())) }
	f.db = db.Wrap(f.wire.Client(), now)
	f.table = f.db.Table(name)
	f.Counters = limit.New(f.db, f.table, now)
	f.dump = func() []map[string]types.AttributeValue { return dynamotest.Dump(t, sdk, name) }
	return f
}

// rule returns a rule with a window of one minute.
func rule(name string, n int) limit.Rule {
	return limit.Rule{Name: name, Limit: n, Window: time.Minute}
}

// retryAfter returns the Retry-After header of an error, or "" if the error is not RATE_LIMITED.
func retryAfter(err error) string {
	rejected, ok := errors.AsType[*fault.Error](err)
	if !ok || rejected.Code != fault.CodeRateLimited {
		return ""
	}
	return rejected.Headers().Get("Retry-After")
}

func TestLimitAppliesToItsWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	take := func(subject string) error { return f.take(rule("test", 3), subject) }
	for range 3 {
		if err := take(webhook); err != nil {
			t.Fatal(err)
		}
	}
	for sinceNoon, want := range map[time.Duration]string{
		0:                      "60",
		500 * time.Millisecond: "60",
		time.Second:            "59",
		time.Minute - 1:        "1",
	} {
		f.sinceNoon.Store(int64(sinceNoon))
		if err := take(webhook); retryAfter(err) != want {
			t.Errorf("%v after the start of the window: got error %v, want Retry-After %s", sinceNoon, err, want)
		}
	}
	if err := take("another"); err != nil {
		t.Errorf("another subject: got error %v, want none", err)
	}
	if err := f.take(rule("recover", 3), webhook); err != nil {
		t.Errorf("another rule: got error %v, want none", err)
	}
	f.sinceNoon.Store(int64(time.Minute))
	if err := take(webhook); err != nil {
		t.Errorf("in the next window: got error %v, want none", err)
	}
	for _, item := range f.dump() {
		expires, ok := item["expiresAt"].(*types.AttributeValueMemberN)
		if !ok {
			t.Fatalf("got counter %v without expiresAt", item)
		}
		seconds, err := strconv.ParseInt(expires.Value, 10, 64)
		if in := time.Unix(seconds, 0).Sub(noon); err != nil || in < time.Minute || in > 2*time.Minute {
			t.Errorf("the counter %v expires %v after noon, want 1 to 2 minutes", item, in)
		}
	}
}

func TestLimitIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	take := func(int) error { return f.take(rule("test", 10), webhook) }
	allowed := 0
	for _, err := range lambdafn.Parallel(40, 16, take) {
		switch {
		case err == nil:
			allowed++
		case retryAfter(err) == "":
			t.Errorf("got error %v, want none or RATE_LIMITED", err)
		}
	}
	if allowed != 10 {
		t.Errorf("%d attempts were allowed, want 10", allowed)
	}
}

// An attempt in a transaction counts only if the transaction succeeds. It uses the same counter as Counters.Count.
func TestLimitInTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := db.CounterKey("other", noon, webhook)
	transact := func(otherWrite db.Write) error {
		return f.db.Tx(otherWrite, f.Write(rule("test", 2), webhook)).Commit(t.Context())
	}
	failingWrite := f.table.Delete(other).If(f.table.Exists()).Else(db.ErrNotFound)
	if err := transact(failingWrite); !errors.Is(err, db.ErrNotFound) {
		t.Fatalf("got error %v, want the error of the other write", err)
	}
	f.wire.Break("TransactWriteItems", dynamotest.LostReply)
	if err := transact(f.table.Put(other, nil)); err != nil || f.wire.Hits() != 1 {
		t.Fatalf("first attempt: got error %v after %d lost responses, want none after 1", err, f.wire.Hits())
	}
	if err := f.take(rule("test", 2), webhook); err != nil {
		t.Fatalf("second attempt: got error %v, want none", err)
	}
	if err := transact(f.table.Put(other, nil)); retryAfter(err) != "60" {
		t.Errorf("third attempt: got error %v, want one with Retry-After 60", err)
	}
	if err := f.take(rule("test", 2), webhook); retryAfter(err) != "60" {
		t.Errorf("fourth attempt: got error %v, want one with Retry-After 60", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.wire.Break("UpdateItem", dynamotest.ServerError)
	if err := f.take(rule("test", 1), webhook); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("DynamoDB fails: got error %v, want ErrUnavailable", err)
	}
	f.wire.Clear()
	for _, subject := range []string{"", "a\x00"} {
		if err := f.take(rule("test", 1), subject); !errors.Is(err, db.ErrInvalidKey) {
			t.Errorf("subject %q: got error %v, want ErrInvalidKey", subject, err)
		}
	}
}

// take counts one attempt of a subject.
func (f *fixture) take(rule limit.Rule, subject string) error {
	_, err := f.Count(context.Background(), f.Counter(rule, subject))
	return err
}
