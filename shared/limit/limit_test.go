package limit_test

import (
	"crypto/rand"
	"errors"
	"net/http"
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

type world struct {
	*limit.Counters
	after atomic.Int64 // nanoseconds since noon
	dump  func() []map[string]types.AttributeValue
	wire  *dynamotest.Wire
	db    *db.Client
	table db.Table
}

func newWorld(t *testing.T) *world {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	sdk, name := dynamotest.Client(endpoint), "limit-test-"+rand.Text()
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	w := &world{wire: dynamotest.NewWire(t, endpoint, nil)}
	now := func() time.Time { return noon.Add(time.Duration(w.after.Load())) }
	client := db.Wrap(w.wire.Client(), now)
	w.db, w.table = client, client.Table(name)
	w.Counters = limit.New(client, w.table, now)
	w.dump = func() []map[string]types.AttributeValue { return dynamotest.Dump(t, sdk, name) }
	return w
}

// rule returns a rule of one-minute windows.
func rule(name string, n int) limit.Rule {
	return limit.Rule{Name: name, Limit: n, Window: time.Minute}
}

// retryAfter returns the Retry-After header of an error, or "" if the error is not RATE_LIMITED.
func retryAfter(err error) string {
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != fault.CodeRateLimited {
		return ""
	}
	return refused.Headers().Get("Retry-After")
}

func TestLimitHoldsForItsWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	take := func(subject string) error { return w.Take(t.Context(), rule("test", 3), subject) }
	for range 3 {
		if err := take(webhook); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[time.Duration]string{0: "60", 500 * time.Millisecond: "60", time.Second: "59", time.Minute - 1: "1"} {
		w.after.Store(int64(after))
		if err := take(webhook); retryAfter(err) != want {
			t.Errorf("%v later: %v", after, err)
		}
	}
	if err := take("another"); err != nil {
		t.Errorf("another subject: %v", err)
	}
	if err := w.Take(t.Context(), rule("recover", 3), webhook); err != nil {
		t.Errorf("another rule: %v", err)
	}
	w.after.Store(int64(time.Minute))
	if err := take(webhook); err != nil {
		t.Errorf("in the next window: %v", err)
	}
	for _, item := range w.dump() {
		expires, ok := item["expiresAt"].(*types.AttributeValueMemberN)
		if !ok {
			t.Fatalf("%v does not expire", item)
		}
		seconds, err := strconv.ParseInt(expires.Value, 10, 64)
		if in := time.Unix(seconds, 0).Sub(noon); err != nil || in < time.Minute || in > 2*time.Minute {
			t.Errorf("%v expires in %v", item, in)
		}
	}
}

func TestLimitIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	passed := 0
	for _, err := range lambdafn.Parallel(40, 16, func(int) error { return w.Take(t.Context(), rule("test", 10), webhook) }) {
		switch {
		case err == nil:
			passed++
		case retryAfter(err) == "":
			t.Error(err)
		}
	}
	if passed != 10 {
		t.Errorf("%d attempts were allowed", passed)
	}
}

// A transaction counts with all its other writes or not at all, on the same counter as single attempts.
func TestLimitInTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := db.CounterKey("other", noon, webhook)
	transact := func(beside db.Write) (full bool, refusal, err error) {
		write, refusal := w.Write(rule("test", 2), webhook)
		err = w.db.Transact(t.Context(), beside, write)
		return db.FailedAt(err, 1), refusal, err
	}
	missing := w.table.Delete(other).If(w.table.Exists())
	if full, _, err := transact(missing); full || !db.FailedAt(err, 0) {
		t.Fatalf("%v", err)
	}
	w.wire.Break("TransactWriteItems", dynamotest.LostReply)
	if _, _, err := transact(w.table.Put(other, nil)); err != nil || w.wire.Hits() != 1 {
		t.Fatalf("the first, with a lost response: %v", err)
	}
	if err := w.Take(t.Context(), rule("test", 2), webhook); err != nil {
		t.Fatalf("the second: %v", err)
	}
	full, refusal, _ := transact(w.table.Put(other, nil))
	if !full || retryAfter(refusal) != "60" {
		t.Errorf("the third: %v, %v", full, refusal)
	}
	if err := w.Take(t.Context(), rule("test", 2), webhook); retryAfter(err) != "60" {
		t.Errorf("the fourth: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Take(t.Context(), rule("test", 1), webhook); err != nil {
		t.Fatal(err)
	}
	var refused *fault.Error
	if err := w.Take(t.Context(), rule("test", 1), webhook); !errors.As(err, &refused) || refused.Code.Status() != http.StatusTooManyRequests {
		t.Errorf("%v", err)
	}
	w.wire.Break("UpdateItem", dynamotest.ServerError)
	if err := w.Take(t.Context(), rule("test", 1), webhook); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("without DynamoDB: %v", err)
	}
	w.wire.Mend()
	for _, subject := range []string{"", "a\x00"} {
		if err := w.Take(t.Context(), rule("test", 1), subject); !errors.Is(err, db.ErrInvalidKey) {
			t.Errorf("%q: %v", subject, err)
		}
	}
}
