package job_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
)

// The kinds of jobs in these tests.
const (
	fallible = "fallible" // has Fail
	endless  = "endless"  // has no Fail
)

// expired is more than the time for which a worker holds its lease.
const expired = job.LeaseTime + time.Second

// fixture is a table with jobs, and a queue in memory.
type fixture struct {
	*testing.T

	clock    *slicetest.Clock
	log      *slicetest.Log
	ids      *id.Generator
	endpoint string
	name     string // of the table
	project  string

	mu    sync.Mutex
	queue []lambdafn.QueueMessage
	waits []time.Duration // the times after which messages returned to the queue

	*process
}

// process is a worker with the clients of a process.
type process struct {
	*job.Worker

	table db.Table
	run   func(ctx context.Context, j job.Job) error // makes an attempt
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		T: t, clock: slicetest.NewClock(time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC), 0), log: slicetest.NewLog(),
		endpoint: dynamotest.StartServer(t), name: "projects-" + strings.ToLower(rand.Text()),
	}
	functiontest.CreateProjectsTable(t, dynamotest.Client(f.endpoint), f.name)
	f.ids = id.NewGenerator(f.clock.Now, rand.Reader)
	f.project = f.ids.New(id.Project)
	f.process = f.start(slicetest.Transfers)
	return f
}

// start returns a process that sends its requests through a client, without retries. Unless a test changes run, its
// attempts succeed.
func (f *fixture) start(through dynamodb.HTTPClient) *process {
	client := db.Wrap(dynamotest.Client(f.endpoint, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = through, aws.NopRetryer{}
	}), f.clock.Now)
	p := &process{table: client.Table(f.name)}
	jobs, logger := job.Store{DB: client, Projects: p.table}, slog.New(f.log)
	p.run = p.succeed
	p.Worker = job.NewWorker(job.Deps{
		Jobs: jobs, Clock: f.clock.Now, Logger: logger, Metrics: metric.New(logger, "stack", f.clock.Now),
		Kinds: []job.Kind{
			{
				Name: fallible, Run: func(ctx context.Context, j job.Job) error { return p.run(ctx, j) },
				Fail: func(ctx context.Context, j job.Job) error { return jobs.Finish(ctx, j, p.outcome(j, "failed")) },
			},
			{Name: endless, Run: func(ctx context.Context, j job.Job) error { return p.run(ctx, j) }},
		},
		Send: func(_ context.Context, body, group string) error {
			f.send(lambdafn.QueueMessage{Body: body, Group: group})
			return nil
		},
		ReturnAfter: func(_ context.Context, _ string, d time.Duration) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.waits = append(f.waits, d)
			return nil
		},
	})
	return p
}

func (f *fixture) send(m lambdafn.QueueMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, m)
}

// outcome returns the write that counts an outcome of a job.
func (p *process) outcome(j job.Job, attribute string) db.Write {
	one := expression.Add(expression.Name(attribute), expression.Value(1))
	return p.table.Update(db.ExportKey(j.OwnerID, j.ID), one)
}

// succeed is an attempt that first saves, and then stores the outcome.
func (p *process) succeed(ctx context.Context, j job.Job) error {
	if err := p.Jobs.DB.Tx(p.outcome(j, "saved"), p.Jobs.Hold(j)).Commit(ctx); err != nil {
		return err
	}
	return p.Jobs.Finish(ctx, j, p.outcome(j, "succeeded"))
}

// add adds a job, and sends its message.
func (f *fixture) add(kind string) job.Job {
	f.Helper()
	j := job.New(kind, f.project, f.ids.New(id.Export), "ada", f.clock.Now())
	if err := f.Jobs.DB.Tx(f.Jobs.Add(j)).Commit(f.Context()); err != nil {
		f.Fatal(err)
	}
	j.Send(f.Context(), f.Send, f.Logger)
	return j
}

// messages receives all messages of the queue.
func (f *fixture) messages() []lambdafn.QueueMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	received := f.queue
	f.queue = nil
	return received
}

// work makes a worker handle all messages of the queue. It returns the error of each.
func (f *fixture) work(p *process) []error { return p.Handle(f.Context(), f.messages()) }

// sweep advances the clock, and sends the messages of the jobs that are due. It returns their number.
func (f *fixture) sweep(after time.Duration) int {
	f.Helper()
	f.clock.Advance(after)
	if err := f.Sweep(f.Context()); err != nil {
		f.Error(err)
	}
	return len(f.queue)
}

// stored returns a job as it is stored. It reports false if the job has ended.
func (f *fixture) stored(j job.Job) (stored job.Job, exists bool) {
	f.Helper()
	item, err := f.table.Get(f.Context(), db.JobKey(j.OwnerID, j.ID))
	if errors.Is(err, db.ErrNotFound) {
		return job.Job{}, false
	}
	if err == nil {
		stored, err = db.Decode[job.Job](item)
	}
	if err != nil {
		f.Fatal(err)
	}
	return stored, true
}

// outcomes are the numbers of the outcomes of a job.
type outcomes struct {
	Saved     int `dynamodbav:"saved"`
	Succeeded int `dynamodbav:"succeeded"`
	Failed    int `dynamodbav:"failed"`
}

// check checks that a job has ended, and how often it succeeded and failed.
func (f *fixture) check(name string, j job.Job, succeeded, failed int) {
	f.Helper()
	if stored, exists := f.stored(j); exists {
		f.Errorf("%s: got the job %+v, want it to have ended", name, stored)
	}
	item, err := f.table.Get(f.Context(), db.ExportKey(j.OwnerID, j.ID))
	if err != nil {
		f.Errorf("%s: the job has no outcome: %v", name, err)
	}
	got, err := db.Decode[outcomes](item)
	if err != nil || got.Succeeded != succeeded || got.Failed != failed {
		f.Errorf("%s: got the outcomes %+v, error %v, want %d successes and %d failures", name, got, err, succeeded, failed)
	}
}
