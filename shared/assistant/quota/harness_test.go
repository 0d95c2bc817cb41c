package quota

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// epoch is the time at which the tests begin: in the middle of a month, of a minute, and of a second.
var epoch = time.Date(2031, 5, 15, 10, 5, 20, 500e6, time.UTC)

const (
	may  = "2031-05"
	june = "2031-06"
)

// world is a Ledger with its own DynamoDB table.
type world struct {
	t        *testing.T
	clock    *slicetest.Clock
	endpoint string
	sdk      *dynamodb.Client
	table    string
	ids      *id.Generator
	limits   Limits
	ledger   *Ledger
}

func newWorld(t *testing.T, change func(*Limits)) *world {
	t.Helper()
	w := &world{
		t: t, clock: slicetest.NewClock(epoch, 0), endpoint: dynamotest.StartServer(t),
		limits: Limits{CallsPerMinute: 20, MonthlyTokens: 2_000_000},
	}
	if change != nil {
		change(&w.limits)
	}
	w.sdk = dynamotest.Client(w.endpoint)
	w.table = slicetest.Table(t, w.sdk, "conversations")
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	w.use(w.sdk)
	return w
}

// use replaces the ledger with a new one, which calls DynamoDB through the given SDK client.
func (w *world) use(sdk *dynamodb.Client) {
	client := db.Wrap(sdk, w.clock.Now)
	w.ledger = New(client, client.Table(w.table), w.clock.Now, w.limits)
}

// interpose puts a wire between the ledger and DynamoDB.
func (w *world) interpose(pass func(next http.Handler, out http.ResponseWriter, r *http.Request)) *dynamotest.Wire {
	w.t.Helper()
	wire := dynamotest.NewWire(w.t, w.endpoint, pass)
	w.use(wire.Client())
	return wire
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// put stores a record directly.
func (w *world) put(key db.Key, record any) {
	w.t.Helper()
	item, err := db.Encode(record)
	w.must(err)
	client := db.Wrap(w.sdk, w.clock.Now)
	_, err = client.Do(w.t.Context(), client.Table(w.table).Put(key, item))
	w.must(err)
}

// user returns the ID of a new user.
func (w *world) user() string { return w.ids.New(id.User) }

// reservation returns a user's reservation for a new answer. It is not stored.
func (w *world) reservation(userID string, tokens int) Reservation {
	return Reservation{UserID: userID, MessageID: w.ids.New(id.Message), Tokens: tokens, Began: w.clock.Now()}
}

// reserve reserves exactly the tokens of r.
func (w *world) reserve(r Reservation) error { return w.reserveIn(w.t.Context(), r) }

func (w *world) reserveIn(ctx context.Context, r Reservation) error {
	_, err := w.ledger.Reserve(ctx, r, r.Tokens)
	return err
}

// settle settles r with the tokens that were used.
func (w *world) settle(r Reservation, input, output int) error {
	return w.settleIn(w.t.Context(), r, input, output)
}

func (w *world) settleIn(ctx context.Context, r Reservation, input, output int) error {
	return w.ledger.Settle(ctx, Settlement{Reservation: r, Used: model.Usage{Input: input, Output: output}})
}

// taken returns the usage of a user, or of all users if userID is "", in a month.
func (w *world) taken(userID, month string) Usage {
	w.t.Helper()
	key := db.GlobalUsageKey(month)
	if userID != "" {
		key = db.UsageKey(userID, month)
	}
	item, err := db.Wrap(w.sdk, w.clock.Now).Table(w.table).Get(w.t.Context(), key)
	if !errors.Is(err, db.ErrNotFound) {
		w.must(err)
	}
	record, err := db.Decode[Usage](item)
	w.must(err)
	return record
}

// generations returns the stored generations by ID.
func (w *world) generations() map[string]generation {
	w.t.Helper()
	all := map[string]generation{}
	for key, item := range slicetest.Dump(w.t, w.sdk, w.table) {
		if strings.HasPrefix(key.SK, "GENERATION#") {
			g, err := db.Decode[generation](item)
			w.must(err)
			all[g.ID] = g
		}
	}
	return all
}

func retryAfter(err error) string {
	var known *fault.Error
	if !errors.As(err, &known) {
		return ""
	}
	return known.Headers().Get("Retry-After")
}

// leftOf returns how many tokens are left according to an error, -1 if it does not report a number.
func leftOf(err error) int {
	if short, ok := errors.AsType[*shortageError](err); ok {
		return short.left
	}
	return -1
}

// FuzzStored checks that decoding any item returns a record or an error.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"id":{"S":"msg_1"},"tokens":{"N":"1"},"startedAt":{"S":"2026-01-31T08:15:30.123Z"},"end":{"S":"settled"}}`,
		`{"input":{"N":"1e3"},"taken":{"N":"1"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		slicetest.DecodeStored[Usage](t, item)
		slicetest.DecodeStored[generation](t, item)
	})
}
