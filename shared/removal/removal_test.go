package removal_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/metric"
	"devplatform/shared/removal"
)

const (
	team  = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	other = "ws_01KGA4V5N3ABCDEFGHJKMNPQRS"
	ada   = "usr_01KGA4V5N2ABCDEFGHJKMNPQRS"
)

// timeLimit is the time limit of a function. No test waits for it.
const timeLimit = time.Minute

// fixture is a worker whose removers record their calls.
type fixture struct {
	t      *testing.T
	clock  *slicetest.Clock
	log    *slicetest.Log
	wire   *dynamotest.Wire
	sdk    *dynamodb.Client
	table  string
	client *db.Client
	worker *removal.Worker
	calls  []string
	errs   map[string]error // by ID
	during func()           // called by each remover; may be nil
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	f := &fixture{
		t: t, clock: slicetest.NewClock(time.Date(2031, 5, 5, 10, 0, 0, 0, time.UTC), 0), log: slicetest.NewLog(),
		wire: dynamotest.NewWire(t, endpoint, nil), sdk: dynamotest.Client(endpoint), errs: map[string]error{},
	}
	f.table = "projects-" + strings.ToLower(t.Name())
	functiontest.CreateProjectsTable(t, f.sdk, f.table)
	f.client = db.Wrap(f.wire.Client(), f.clock.Now)
	remove := func(_ context.Context, id string) error {
		f.calls = append(f.calls, id)
		if f.during != nil {
			f.during()
		}
		return f.errs[id]
	}
	logger := slog.New(slog.NewJSONHandler(f.log, nil))
	f.worker = removal.NewWorker(removal.Deps{
		DB: f.client, Projects: f.client.Table(f.table), Clock: f.clock.Now, Logger: logger,
		Metrics:  metric.New(logger, "test", f.clock.Now),
		Removers: map[removal.Kind]removal.Remover{removal.Workspace: remove, removal.Account: remove},
	})
	return f
}

// end adds a removal.
func (f *fixture) end(kind removal.Kind, id string) {
	f.t.Helper()
	w := removal.Create(f.client.Table(f.table), kind, id, f.clock.Now())
	if _, err := f.client.Do(f.t.Context(), w); err != nil {
		f.t.Fatal(err)
	}
}

// wantRun makes a run, and checks which removals it attempts.
func (f *fixture) wantRun(want ...string) {
	f.t.Helper()
	f.calls = nil
	if err := f.worker.Run(f.t.Context()); err != nil {
		f.t.Error(err)
	}
	slices.Sort(f.calls)
	slices.Sort(want)
	if !slices.Equal(f.calls, want) {
		f.t.Errorf("at %v: the run attempted %q, want %q", f.clock.Now(), f.calls, want)
	}
}

// A removal begins after its delay, and ends once.
func TestRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.end(removal.Workspace, team)
	f.clock.Advance(time.Second)
	f.end(removal.Account, ada)
	f.clock.Advance(removal.Delay - time.Second - time.Millisecond)
	f.wantRun()
	f.clock.Advance(time.Millisecond)
	f.wantRun(team)
	f.clock.Advance(time.Second)
	f.wantRun(ada)
	f.wantRun()
	if stored := slicetest.Dump(t, f.sdk, f.table); len(stored) != 0 {
		t.Errorf("got the removals %v, want none", stored)
	}
}

// A removal that fails is repeated until it succeeds, with growing waits. It does not hold up others, and its age is
// reported.
func TestRepeated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.end(removal.Workspace, team)
	f.clock.Advance(removal.Delay)
	f.errs[team] = errors.New("throttled")
	for _, wait := range []time.Duration{1, 2, 4, 8, 8, 8} {
		f.wantRun(team)
		f.clock.Advance(wait*time.Minute - time.Millisecond)
		f.wantRun()
		f.clock.Advance(time.Millisecond)
	}
	f.end(removal.Workspace, other)
	f.clock.Advance(removal.Delay)
	f.wantRun(team, other)
	f.clock.Advance(8 * time.Minute)
	if !strings.Contains(f.log.String(), `"OldestRemoval":`) || !strings.Contains(f.log.String(), "throttled") {
		t.Errorf("the log has neither the age of the removal nor the cause:\n%s", f.log)
	}
	delete(f.errs, team)
	f.wantRun(team)
	f.wantRun()
}

// Two workers never work on the same removal. The removal of a worker that died is repeated after the end of its lease.
func TestLease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.end(removal.Workspace, team)
	f.clock.Advance(removal.Delay)
	f.during = func() {
		f.during = nil
		calls := len(f.calls)
		if err := f.worker.Run(t.Context()); err != nil || len(f.calls) != calls {
			t.Errorf("another run: got error %v and the attempts %q, want none", err, f.calls[calls:])
		}
		f.wire.Break("UpdateItem", dynamotest.ServerError) // the worker can't release its lease
	}
	f.errs[team] = errors.New("interrupted")
	if err := f.worker.Run(t.Context()); err == nil {
		t.Error("the run succeeded without a release of its lease")
	}
	f.wire.Clear()
	delete(f.errs, team)
	f.clock.Advance(removal.LeaseTime - time.Millisecond)
	f.wantRun()
	f.clock.Advance(time.Millisecond)
	f.wantRun(team)
}

// A worker whose lease has expired does not end the removal of another worker.
func TestLostLease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.end(removal.Workspace, team)
	f.clock.Advance(removal.Delay)
	f.during = func() {
		f.during = nil
		f.clock.Advance(removal.LeaseTime)
		f.errs[team] = errors.New("not finished")
		if err := f.worker.Run(t.Context()); err != nil {
			t.Error(err)
		}
		delete(f.errs, team)
	}
	if err := f.worker.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if stored := slicetest.Dump(t, f.sdk, f.table); len(stored) != 1 {
		t.Errorf("got the removals %v, want the one of the other worker", stored)
	}
}

// A run stops when its time ends, and the next run continues at once, without the wait after a failure.
func TestTimeEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.end(removal.Workspace, team)
	f.end(removal.Workspace, other)
	f.clock.Advance(removal.Delay)
	ctx, cancel := context.WithTimeout(t.Context(), timeLimit)
	defer cancel()
	f.during = func() {
		cancel()
		f.errs[team], f.errs[other] = ctx.Err(), ctx.Err()
	}
	if err := f.worker.Run(ctx); err != nil {
		t.Error(err)
	}
	if len(f.calls) != 1 {
		t.Errorf("the run made the attempts %q, want one", f.calls)
	}
	f.during, f.errs = nil, map[string]error{}
	f.wantRun(team, other)
}

// An index that cannot be read, and a removal of an unknown kind, are errors of the run.
func TestRunFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.end("unknown", team)
	f.end(removal.Workspace, other)
	f.clock.Advance(removal.Delay)
	if err := f.worker.Run(t.Context()); err == nil || !slices.Equal(f.calls, []string{other}) {
		t.Errorf("an unknown kind: got error %v and the attempts %q, want an error and the other one", err, f.calls)
	}
	f.wire.Break("Query", dynamotest.ServerError)
	if err := f.worker.Run(t.Context()); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("without the index: got error %v, want ErrUnavailable", err)
	}
}

// If two runs find the same removal, only one of them makes the attempt.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.end(removal.Workspace, team)
	f.clock.Advance(removal.Delay)
	f.errs[team] = errors.New("not finished")
	f.wire.Before("UpdateItem", func() {
		if err := f.worker.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
	f.wantRun(team)
}
