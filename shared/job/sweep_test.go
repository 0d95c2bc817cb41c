package job_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
)

// Sweeps send each message that was lost, the most overdue first, even if there are more jobs than fit in a page. Two
// sweeps at the same time send it once.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var jobs []job.Job
	for range 6 {
		jobs = append(jobs, f.add(fallible))
		f.clock.Advance(time.Millisecond)
	}
	f.messages() // are lost
	if n := f.sweep(job.ResendAfter - 10*time.Millisecond); n != 0 {
		t.Errorf("the sweep sent %d messages before a job was due", n)
	}
	f.SetSweepPage(4)
	if n := f.sweep(time.Second); n != 4 {
		t.Errorf("the sweep sent %d messages, want 4", n)
	}
	f.work(f.process)
	for _, j := range jobs[:4] {
		f.check("first page", j, 1, 0)
	}
	if n := f.sweep(0); n != 2 {
		t.Errorf("the next sweep sent %d messages, want 2", n)
	}
	f.messages() // are lost
	if n := f.sweep(2*time.Minute - time.Second); n != 0 {
		t.Errorf("the sweep sent %d messages again, want none before two minutes", n)
	}
	f.clock.Advance(time.Second)
	for _, err := range lambdafn.Parallel(2, 2, func(int) error { return f.Sweep(t.Context()) }) {
		if err != nil {
			t.Error(err)
		}
	}
	if n := len(f.queue); n != 2 {
		t.Errorf("after two minutes, two sweeps sent %d messages again, want 2", n)
	}
	f.work(f.process)
	for _, j := range jobs[4:] {
		f.check("second page", j, 1, 0)
	}
}

// A sweep can be killed at every call. The next sweeps send the messages.
func TestSweepIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	slicetest.Steps(t, 2, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		j := f.add(fallible)
		f.messages() // is lost
		f.clock.Advance(job.ResendAfter)
		_ = f.start(p).Sweep(t.Context())
		f.messages()
		f.sweep(2 * time.Minute)
		f.work(f.process)
		f.check("killed sweep", j, 1, 0)
	})
}

// A job with an earliest time is not claimed and not sent before it.
func TestAfter(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := f.clock.Now().Add(time.Hour)
	j := job.New(fallible, f.project, f.ids.New(id.Export), "ada", f.clock.Now()).After(at)
	if err := f.Jobs.DB.Tx(f.Jobs.Add(j)).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := f.sweep(time.Hour - time.Millisecond); n != 0 {
		t.Errorf("the sweep sent %d messages too early", n)
	}
	if _, err := f.Jobs.Claim(t.Context(), j.OwnerID, j.ID, f.clock.Now()); !errors.Is(err, job.ErrNotClaimable) {
		t.Errorf("got error %v, want ErrNotClaimable", err)
	}
	f.sweep(time.Millisecond)
	f.work(f.process)
	f.check("after its time", j, 1, 0)
}

// An item that cannot be decoded is reported, and does not stop the other jobs.
func TestUnreadableJob(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	broken := db.JobKey(f.project, f.ids.New(id.Export))
	item, err := db.Encode(map[string]any{"due": "JOBS", "dueAt": clock.Stamp(f.clock.Now()).String(), "attempts": "x"})
	if err == nil {
		err = f.Jobs.DB.Tx(f.table.Put(broken, item)).Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	f.add(fallible)
	f.messages() // is lost
	f.clock.Advance(job.ResendAfter)
	if err := f.Sweep(t.Context()); err == nil || !strings.Contains(err.Error(), broken.SK) {
		t.Errorf("got error %v, want one that names %s", err, broken.SK)
	}
	if len(f.queue) != 1 || !strings.Contains(f.log.String(), "OldestJob=") {
		t.Errorf("the sweep sent %d messages, want 1 and the metric", len(f.queue))
	}
}

// Every sweep reports the age of the oldest job of each kind: the time since its first attempt, or since it was due.
func TestOldestJob(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// sweep makes a sweep after each of some minutes, and calls work after each. It returns the ages that the sweeps
	// report, in order.
	sweep := func(minutes int, work func()) (ages []string) {
		for range minutes {
			f.sweep(time.Minute)
			log := f.log.String()
			_, age, _ := strings.Cut(log[max(0, strings.LastIndex(log, "OldestJob=")):], "[")
			age, _, _ = strings.Cut(age, "]")
			ages = append(ages, age)
			work()
		}
		return ages
	}
	check := func(name string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got the ages %q, want %q", name, got, want)
		}
	}
	nothing := func() {}
	f.add(fallible)
	check("no worker", sweep(7, nothing), "0 0", "0 60", "0 120", "0 180", "0 240", "0 300", "0 360")
	f.work(f.process)
	check("after the job", sweep(1, nothing), "0 0")

	f.add(fallible)
	f.run = func(context.Context, job.Job) error { return errors.New("a bug") }
	f.work(f.process)
	f.run = f.succeed
	check("an interrupted attempt", sweep(2, nothing), "0 60", "0 120")
	f.add(endless)
	f.messages()
	check("a job of another kind", sweep(3, nothing), "0 180", "60 240", "120 300")
	f.messages()
	f.sweep(2 * time.Minute)
	f.work(f.process)
	check("after both jobs", sweep(1, nothing), "0 0")

	f.add(fallible)
	received := f.messages()
	check("before a worker finds that the account is busy", sweep(5, nothing), "0 0", "0 60", "0 120", "0 180", "0 240")
	f.run = func(context.Context, job.Job) error { return job.ErrBusy }
	ages := sweep(12, func() { f.Handle(t.Context(), received) })
	check("busy account", slices.Compact(ages), "0 300", "0 0")
	f.messages()
	check("the message is lost", slices.Compact(sweep(12, nothing))[:3], "0 0", "0 60", "0 120")
}
