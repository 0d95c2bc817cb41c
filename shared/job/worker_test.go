package job_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/retry"
)

// A message starts a job, which ends with its outcome. A repeated message has no effect, neither during the attempt nor
// after it.
func TestRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	j := f.add(fallible)
	received := f.messages()
	if len(received) != 1 || received[0].Group != "ada" {
		t.Fatalf("got the messages %v, want one in the group ada", received)
	}
	attempts := 0
	f.run = func(ctx context.Context, claimed job.Job) error {
		if attempts++; claimed.ID != j.ID || claimed.Lease == "" || claimed.Attempts != 1 {
			t.Errorf("got the job %+v, want the one that was added, with a lease", claimed)
		}
		if err := f.Handle(ctx, received)[0]; err != nil {
			t.Errorf("the repeated message: got error %v, want none", err)
		}
		return f.succeed(ctx, claimed)
	}
	for range 2 {
		if err := f.Handle(t.Context(), received)[0]; err != nil {
			t.Error(err)
		}
	}
	f.check("repeated messages", j, 1, 0)
	if n := f.sweep(time.Hour); n != 0 || attempts != 1 {
		t.Errorf("the sweep sent %d messages after %d attempts, want none after one", n, attempts)
	}
}

// A message that is not valid, or names a job that does not exist, is removed from the queue.
func TestUselessMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := fmt.Sprintf(`{"ownerId":%q,"id":%q}`, f.project, f.ids.New(id.Deployment))
	var received []lambdafn.QueueMessage
	for _, body := range []string{"", "?", "{}", `{"ownerId":"prj_1","id":"exp_1"}`, ids} {
		received = append(received, lambdafn.QueueMessage{Body: body})
	}
	for i, err := range f.Handle(t.Context(), received) {
		if err != nil {
			t.Errorf("%s: got error %v, want none", received[i].Body, err)
		}
	}
	if n := strings.Count(f.log.String(), "message cannot be handled"); n != 4 {
		t.Errorf("the log has %d lines about messages that cannot be handled, want 4", n)
	}
	if items := slicetest.Dump(t, dynamotest.Client(f.endpoint), f.name); len(items) != 0 {
		t.Errorf("got the items %v, want none", items)
	}
}

// A job whose attempts end without a result is tried again when the lease has expired. It fails instead of a third
// attempt. A job that cannot fail is tried again until it succeeds.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	attempts := map[string]int{}
	f.run = func(ctx context.Context, j job.Job) error {
		if attempts[j.Kind]++; attempts[j.Kind] <= 5 {
			return errors.New("a bug")
		}
		return f.succeed(ctx, j)
	}
	failing, repeated := f.add(fallible), f.add(endless)
	for attempt := range 2 {
		for _, err := range f.work(f.process) {
			if err == nil || errors.Is(err, lambdafn.ErrLater) || !strings.Contains(err.Error(), "a bug") {
				t.Errorf("attempt %d: got error %v, want the bug", attempt, err)
			}
		}
		if n := f.sweep(job.LeaseTime - time.Second); n != 0 {
			t.Errorf("attempt %d: the sweep sent %d messages before the lease expired", attempt, n)
		}
		if n := f.sweep(time.Second); n != 2 {
			t.Errorf("attempt %d: the sweep sent %d messages, want 2", attempt, n)
		}
	}
	f.work(f.process)
	f.check("two interruptions", failing, 0, 1)
	for range 3 {
		f.sweep(expired)
		f.work(f.process)
	}
	f.check("five interruptions", repeated, 1, 0)
	if attempts[fallible] != 2 || attempts[endless] != 6 {
		t.Errorf("got the attempts %v, want 2 and 6", attempts)
	}
}

// After a transient error, the lease is released, and the message returns to the queue. Such attempts do not count as
// interrupted, but 15 minutes after the first one, the job fails.
func TestTransient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	j := f.add(fallible)
	received := f.messages()
	transient := []error{
		db.ErrUnavailable, db.ErrConflict, db.ErrStale, objectstore.ErrUnavailable, context.DeadlineExceeded,
		context.Canceled,
	}
	for _, cause := range transient {
		f.run = func(context.Context, job.Job) error { return fmt.Errorf("wrapped: %w", cause) }
		if err := f.Handle(t.Context(), received)[0]; !errors.Is(err, lambdafn.ErrLater) {
			t.Errorf("%v: got error %v, want ErrLater", cause, err)
		}
		if stored, _ := f.stored(j); stored.Lease != "" || stored.LeaseEnds != nil || stored.Attempts != 0 {
			t.Errorf("%v: got the job %+v, want it to be released", cause, stored)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.run = func(context.Context, job.Job) error {
		cancel()
		return context.Canceled
	}
	if err := f.Handle(ctx, received)[0]; !errors.Is(err, lambdafn.ErrLater) {
		t.Errorf("the invocation was canceled: got error %v, want ErrLater", err)
	}
	if stored, _ := f.stored(j); stored.Lease != "" {
		t.Errorf("the invocation was canceled: got the job %+v, want it to be released", stored)
	}
	if slices.ContainsFunc(f.waits, func(d time.Duration) bool { return d != 10*time.Second }) {
		t.Errorf("the messages returned to the queue after %v, want 10 s", f.waits)
	}
	if n := strings.Count(f.log.String(), "a job was interrupted"); n != len(transient)+1 {
		t.Errorf("the log has %d lines about interruptions, want %d", n, len(transient)+1)
	}
	if n := f.sweep(10 * time.Second); n != 1 {
		t.Errorf("the sweep sent %d messages, want 1", n)
	}
	f.clock.Advance(15*time.Minute - 10*time.Second)
	if err := f.Handle(t.Context(), received)[0]; !errors.Is(err, lambdafn.ErrLater) {
		t.Errorf("after 15 minutes: got error %v, want another attempt", err)
	}
	f.clock.Advance(time.Second)
	f.work(f.process)
	f.check("after more than 15 minutes", j, 0, 1)
}

// While the account is busy, the message returns to the queue after growing waits, and the sweep sends no other one.
// This time does not count as time of the job.
func TestBusy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	j := f.add(fallible)
	received := f.messages()
	f.run = func(context.Context, job.Job) error { return job.ErrBusy }
	for receives := range 6 {
		f.clock.Advance(4 * time.Minute)
		received[0].Receives = receives
		if err := f.Handle(t.Context(), received)[0]; !errors.Is(err, lambdafn.ErrLater) {
			t.Errorf("got error %v, want ErrLater", err)
		}
		if n := f.sweep(4 * time.Minute); n != 0 {
			t.Errorf("the sweep sent %d messages, want none", n)
		}
	}
	const s = time.Second
	want := []time.Duration{5 * s, 5 * s, 10 * s, 20 * s, 40 * s, 40 * s}
	if !slices.Equal(f.waits, want) {
		t.Errorf("the message returned to the queue after %v, want %v", f.waits, want)
	}
	if n := f.sweep(6 * time.Minute); n != 1 {
		t.Errorf("the message was lost: the sweep sent %d messages, want 1", n)
	}
	f.run = f.succeed
	f.work(f.process)
	f.check("no longer busy", j, 1, 0)
}

// If the worker finds that it has lost the lease, the context of the attempt ends, and the message is removed from the
// queue. A check that fails does not end the attempt.
func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	j := f.add(fallible)
	checks := 0
	p := f.start(slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			switch checks++; checks {
			case 2:
				return nil, errors.New("no connection")
			case 4:
				if err := f.Jobs.DB.Tx(f.Jobs.Add(j)).Commit(r.Context()); err != nil { // as a cancellation does
					t.Error(err)
				}
			}
		}
		return slicetest.Transfers.Do(r)
	}))
	p.SetLeaseCheck(time.Millisecond)
	var cause, saved error
	p.run = func(ctx context.Context, j job.Job) error {
		<-ctx.Done()
		cause, saved = context.Cause(ctx), f.Jobs.DB.Tx(f.Jobs.Hold(j)).Commit(t.Context())
		return ctx.Err()
	}
	if err := f.work(p)[0]; err != nil {
		t.Errorf("got error %v, want a handled message", err)
	}
	if !errors.Is(cause, job.ErrLost) || !errors.Is(saved, job.ErrLost) || checks != 4 {
		t.Errorf("the context ended with %v after %d checks, and saving with %v, want ErrLost after 4", cause, checks, saved)
	}
	if stored, _ := f.stored(j); stored.Lease != "" || stored.Attempts != 0 {
		t.Errorf("got the job %+v, want the one that replaced the lost one", stored)
	}
}

// The context of an attempt ends before the time limit of the function. The rest is used to release the lease.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	j := f.add(fallible)
	ctx, cancel := context.WithTimeout(t.Context(), 5100*time.Millisecond) // 5 s are for the release
	defer cancel()
	f.run = func(ctx context.Context, _ job.Job) error {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := f.Handle(ctx, f.messages())[0]; !errors.Is(err, lambdafn.ErrLater) || ctx.Err() != nil {
		t.Errorf("got error %v, and %v of the function, want ErrLater in time", err, ctx.Err())
	}
	if stored, _ := f.stored(j); stored.Lease != "" || stored.Attempts != 0 {
		t.Errorf("got the job %+v, want it to be released", stored)
	}
}

// A worker whose lease has expired can be taken over, and changes nothing afterwards.
func TestTakeover(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	j := f.add(fallible)
	f.messages()
	first, err := f.Jobs.Claim(t.Context(), j.OwnerID, j.ID, f.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	f.clock.Advance(job.LeaseTime - time.Millisecond)
	if _, err := f.Jobs.Claim(t.Context(), j.OwnerID, j.ID, f.clock.Now()); !errors.Is(err, job.ErrNotClaimable) {
		t.Errorf("before the lease expires: got error %v, want ErrNotClaimable", err)
	}
	f.clock.Advance(time.Millisecond)
	second, err := f.Jobs.Claim(t.Context(), j.OwnerID, j.ID, f.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	checkLost := func(when string) {
		t.Helper()
		for name, err := range map[string]error{
			"Check":    f.Jobs.Check(t.Context(), first),
			"Release":  f.Jobs.Release(t.Context(), first, f.clock.Now()),
			"Postpone": f.Jobs.Postpone(t.Context(), first, f.clock.Now()),
			"Finish":   f.Jobs.Finish(t.Context(), first, f.outcome(j, "failed")),
		} {
			if !errors.Is(err, job.ErrLost) {
				t.Errorf("%s %s: got error %v, want ErrLost", name, when, err)
			}
		}
		for name, write := range map[string]db.Write{
			"Hold": f.Jobs.Hold(first), "End": f.Jobs.End(first), "Replace": f.Jobs.Replace(first, j),
		} {
			if err := f.Jobs.DB.Tx(write).Commit(t.Context()); !errors.Is(err, job.ErrLost) {
				t.Errorf("%s %s: got error %v, want ErrLost", name, when, err)
			}
		}
	}
	checkLost("after the takeover")
	if err := f.Jobs.Check(t.Context(), second); err != nil {
		t.Error(err)
	}
	if err := f.Jobs.Finish(t.Context(), second, f.outcome(j, "succeeded")); err != nil {
		t.Error(err)
	}
	checkLost("after the end")
	f.check("takeover", j, 1, 0)
	var saved outcomes
	if item, err := f.table.Get(t.Context(), db.ExportKey(j.OwnerID, j.ID)); err == nil {
		saved, _ = db.Decode[outcomes](item)
	}
	if saved.Saved != 0 {
		t.Errorf("the first worker saved %d times, want never", saved.Saved)
	}
}

// A worker can be killed at every call. After the end of its lease, the job still succeeds once. If only a response is
// lost, it succeeds without such a wait.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, loses := range []bool{false, true} {
		slicetest.Steps(t, 3, func(p *slicetest.Process) {
			p.At, p.LosesResponse = slicetest.Kill, loses
			j := f.add(fallible)
			received := f.messages()
			process := f.start(p)
			for range 2 { // a message that returns to the queue is received again
				process.Handle(t.Context(), received)
			}
			if !loses {
				f.sweep(expired)
				f.work(f.process)
			}
			f.check(fmt.Sprintf("call %d, after the call: %v, lost: %v", p.Step, p.RunsAfter, loses), j, 1, 0)
		})
	}
}

// Workers that handle the message of a job at the same time make one attempt.
func TestWorkersRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 10 {
		j := f.add(fallible)
		received := f.messages()
		lambdafn.Parallel(4, 4, func(int) error {
			for _, err := range f.start(slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
				retry.Sleep(r.Context(), time.Millisecond)
				return slicetest.Transfers.Do(r)
			})).Handle(t.Context(), received) {
				if err != nil {
					t.Error(err)
				}
			}
			return nil
		})
		f.check("race", j, 1, 0)
	}
}
