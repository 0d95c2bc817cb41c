package quota

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

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

// fixture is a Ledger with an embedded DynamoDB.
type fixture struct {
	t        *testing.T
	clock    *slicetest.Clock
	endpoint string           // of DynamoDB
	sdk      *dynamodb.Client // connected directly to DynamoDB
	table    string
	ids      *id.Generator
	limits   Limits
	log      *slicetest.Log
	ledger   *Ledger
	reserved sync.Map // the reservations that Reserve returned, by message ID
}

// newFixture returns a fixture. The function change modifies its default limits. change may be nil.
func newFixture(t *testing.T, change func(*Limits)) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(epoch, 0), endpoint: dynamotest.StartServer(t),
		limits: Limits{CallsPerMinute: 20, InProgress: 1000, MonthlyTokens: 2_000_000}, log: slicetest.NewLog(),
	}
	if change != nil {
		change(&f.limits)
	}
	f.sdk = dynamotest.Client(f.endpoint)
	f.table = slicetest.Table(t, f.sdk, "conversations")
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.newLedger(f.sdk)
	return f
}

// newLedger replaces the ledger with a new one that calls DynamoDB through sdk.
func (f *fixture) newLedger(sdk *dynamodb.Client) {
	client := db.Wrap(sdk, f.clock.Now)
	f.ledger = New(client, client.Table(f.table), client.Table(f.table), f.clock.Now, slog.New(f.log), f.limits)
}

// startWire starts a wire and replaces the ledger with a new one that calls DynamoDB through it.
func (f *fixture) startWire(pass dynamotest.Pass) *dynamotest.Wire {
	f.t.Helper()
	wire := dynamotest.NewWire(f.t, f.endpoint, pass)
	f.newLedger(wire.Client())
	return wire
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// put stores an item directly in DynamoDB.
func (f *fixture) put(key db.Key, record any) {
	f.t.Helper()
	item, err := db.Encode(record)
	f.must(err)
	client := db.Wrap(f.sdk, f.clock.Now)
	_, err = client.Do(f.t.Context(), client.Table(f.table).Put(key, item))
	f.must(err)
}

// newUserID returns the ID of a new user.
func (f *fixture) newUserID() string { return f.ids.New(id.User) }

// newReservation returns a user's reservation for a new answer. It is not stored.
func (f *fixture) newReservation(userID string, tokens int) Reservation {
	return Reservation{UserID: userID, MessageID: f.ids.New(id.Message), Tokens: tokens, Began: f.clock.Now()}
}

// reserve reserves exactly the tokens of r.
func (f *fixture) reserve(r Reservation) error { return f.reserveContext(f.t.Context(), r) }

func (f *fixture) reserveContext(ctx context.Context, r Reservation) error {
	reserved, err := f.ledger.Reserve(ctx, r, r.Tokens)
	if err == nil {
		f.reserved.Store(r.MessageID, reserved)
	}
	return err
}

// settle settles the reservation that Reserve returned for r, with the given usage. If r was never reserved, it settles
// r itself.
func (f *fixture) settle(r Reservation, input, output int) error {
	return f.settleContext(f.t.Context(), r, input, output)
}

func (f *fixture) settleContext(ctx context.Context, r Reservation, input, output int) error {
	if reserved, ok := f.reserved.Load(r.MessageID); ok {
		r = reserved.(Reservation)
	}
	return f.ledger.Settle(ctx, Settlement{Reservation: r, Used: model.Usage{Input: input, Output: output}})
}

// usage returns the usage of a user in a month. If userID is "", it returns the usage of all users.
func (f *fixture) usage(userID, month string) Usage {
	f.t.Helper()
	if userID != "" {
		return f.usageAt(db.UsageKey(userID, month))
	}
	var sum Usage
	for shard := range maxShards {
		usage := f.usageAt(db.GlobalUsageKey(month, shard+1))
		sum.Input += usage.Input
		sum.Output += usage.Output
		sum.Taken += usage.Taken
		sum.Calls += usage.Calls
	}
	return sum
}

// usageAt returns the stored usage with a key.
func (f *fixture) usageAt(key db.Key) Usage {
	f.t.Helper()
	item, err := db.Wrap(f.sdk, f.clock.Now).Table(f.table).Get(f.t.Context(), key)
	if !errors.Is(err, db.ErrNotFound) {
		f.must(err)
	}
	usage, err := db.Decode[Usage](item)
	f.must(err)
	return usage
}

// checkUsage checks the usage of a user in a month. If userID is "", it checks the usage of all users.
func (f *fixture) checkUsage(userID, month string, want Usage) {
	f.t.Helper()
	if diff := cmp.Diff(want, f.usage(userID, month)); diff != "" {
		f.t.Errorf("usage of user %q in %s (-want +got):\n%s", userID, month, diff)
	}
}

// generations returns the stored generations by ID.
func (f *fixture) generations() map[string]generation {
	f.t.Helper()
	all := map[string]generation{}
	for key, item := range slicetest.Dump(f.t, f.sdk, f.table) {
		if strings.HasPrefix(key.SK, "GENERATION#") {
			g, err := db.Decode[generation](item)
			f.must(err)
			all[g.ID] = g
		}
	}
	return all
}

// retryAfter returns the Retry-After header of an error, "" if it has none.
func retryAfter(err error) string {
	var clientError *fault.Error
	if !errors.As(err, &clientError) {
		return ""
	}
	return clientError.Headers().Get("Retry-After")
}

// tokensLeft returns the number of remaining tokens that an error reports, -1 if it reports none.
func tokensLeft(err error) int {
	if left, ok := errors.AsType[tokensLeftError](err); ok {
		return int(left)
	}
	return -1
}

// FuzzStored checks that decoding an arbitrary item returns a record or an error.
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
