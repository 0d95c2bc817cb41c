package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/db"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
	"devplatform/shared/retry"
	"devplatform/shared/workspace"
)

// putCounter is an HTTP client that counts the archives that it uploads.
type putCounter struct {
	mu   sync.Mutex
	puts int
}

// Do sends a request.
func (c *putCounter) Do(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut {
		c.mu.Lock()
		c.puts++
		c.mu.Unlock()
	}
	return slicetest.Transfers.Do(r)
}

// withLarge creates a project with small files and a large one, and returns the files.
func (u user) withLarge() (projectID string, want map[string][]byte) {
	u.Fixture.T.Helper()
	projectID = u.Project("", fmt.Sprint("P", rand.Int()), workspace.Private)
	want = map[string][]byte{"/a.txt": []byte("a"), "/z.txt": []byte("z"), "/large.mp4": sharedLarge()}
	u.save(projectID, want)
	return projectID, want
}

var sharedLarge = sync.OnceValue(func() []byte { return projecttest.RandomBytes(content.MaxBytes + 1) })

// check checks that an export that is ready has an archive with these files. It returns the archive, nil if the export
// is not ready.
func (f *fixture) check(u user, projectID, exportID string, want map[string][]byte) []byte {
	f.T.Helper()
	r := u.read(projectID, exportID)
	if r.Text("status") == "running" {
		return nil
	}
	archive := u.download(r)
	got := unzip(f.T, archive)
	for path, data := range want {
		if !bytes.Equal(got[path], data) {
			f.T.Errorf("%s: got %d bytes, want %d others", path, len(got[path]), len(data))
		}
	}
	return archive
}

// finish makes a worker handle messages.
func (f *fixture) finish(received []lambdafn.QueueMessage) {
	f.T.Helper()
	if errs := f.clients(nil).worker.Handle(f.T.Context(), received); errs[0] != nil {
		f.T.Errorf("the message was not handled: %v", errs[0])
	}
}

// afterLease is more than the time for which a worker holds its lease.
const afterLease = job.LeaseTime + time.Second

// StartExport can be killed at every call. The next request of the user continues, and counts at most once.
func TestStartIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	slicetest.Steps(t, 4, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		u := f.newUser(fmt.Sprintf("ada-%d-%v", p.Step, p.RunsAfter))
		projectID, want := u.Project("", "P", workspace.Private), map[string][]byte{"/a": []byte("a")}
		u.save(projectID, want)
		_, _ = f.clients(p).exports.StartExport(t.Context(), u.Caller(), &file.InProject{ProjectID: projectID})
		exportID, _ := u.start(projectID)
		f.Clock.Advance(job.ResendAfter)
		f.sweep()
		if f.check(u, projectID, exportID, want) == nil {
			t.Error("the export is not ready")
		}
		counter := db.CounterKey("exports", f.Clock.Now().Truncate(time.Hour), u.UserID)
		item, err := f.Projects.Get(t.Context(), counter)
		if err != nil || item["hits"].(*types.AttributeValueMemberN).Value != "1" {
			t.Errorf("got the counter %v, error %v, want one export", item, err)
		}
		f.messages()
	})
}

// A worker can be killed at every call. Another one finishes the export. An export that was ready stays as it was.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	slicetest.Steps(t, 9, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		f.Clock.Advance(time.Hour) // for the hourly limit
		projectID, want := ada.withLarge()
		exportID, _ := ada.start(projectID)
		received := f.messages()
		f.clients(p).worker.Handle(t.Context(), received)
		before := f.check(ada, projectID, exportID, want)
		f.Clock.Advance(afterLease)
		second := &putCounter{}
		if errs := f.clients(second).worker.Handle(t.Context(), received); errs[0] != nil {
			t.Error(errs)
		}
		after := f.check(ada, projectID, exportID, want)
		if after == nil || (before != nil && !bytes.Equal(before, after)) {
			t.Errorf("got an archive of %d bytes, then one of %d bytes", len(before), len(after))
		}
		if wasReady := before != nil; (second.puts == 0) != wasReady {
			t.Errorf("was ready: %v: the second worker uploaded %d archives", wasReady, second.puts)
		}
	})
}

// A worker can be paused at every call until its lease has ended and another worker has finished the export. When it
// continues, it does not change the export, even if the files have changed in the meantime.
func TestWorkerIsPaused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for _, changes := range []bool{true, false} {
		if !testmode.IsNightly() && !changes {
			break
		}
		slicetest.Steps(t, 9, func(p *slicetest.Process) {
			f.Clock.Advance(time.Hour)
			projectID, want := ada.withLarge()
			exportID, _ := ada.start(projectID)
			received := f.messages()
			var archive []byte
			p.At = func() error {
				if r := ada.read(projectID, exportID); r.Text("status") == "ready" {
					archive = ada.download(r)
					return nil
				}
				if changes {
					want["/a.txt"] = []byte("changed")
					ada.save(projectID, map[string][]byte{"/a.txt": want["/a.txt"]})
				}
				f.Clock.Advance(afterLease)
				f.finish(received)
				archive = f.check(ada, projectID, exportID, want)
				return nil
			}
			f.clients(p).worker.Handle(t.Context(), received)
			got := f.check(ada, projectID, exportID, want)
			if p.HasReachedStep() && (archive == nil || !bytes.Equal(got, archive)) {
				t.Errorf("got an archive of %d bytes, want the one of %d bytes of the other worker", len(got), len(archive))
			}
		})
	}
}

// Two workers handle the message of an export at the same time, and the lease of the first one ends early. In the end,
// the archive has the files.
func TestWorkersRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	rounds := 4
	if testmode.IsNightly() {
		rounds = 40
	}
	for range rounds {
		f.Clock.Advance(time.Hour)
		projectID, want := ada.withLarge()
		exportID, _ := ada.start(projectID)
		received := f.messages()
		var running sync.WaitGroup
		for range 3 {
			slow := slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
				retry.Sleep(r.Context(), rand.N(20*time.Millisecond))
				if rand.IntN(20) == 0 {
					f.Clock.Advance(afterLease)
				}
				return slicetest.Transfers.Do(r)
			})
			running.Go(func() { f.clients(slow).worker.Handle(t.Context(), received) })
		}
		running.Wait()
		before := f.ready(ada, projectID, exportID, want)
		f.Clock.Advance(afterLease)
		f.clients(nil).worker.Handle(t.Context(), received)
		after := f.ready(ada, projectID, exportID, want)
		if before != nil && !bytes.Equal(before, after) {
			t.Fatalf("got an archive of %d bytes, then one of %d bytes", len(before), len(after))
		}
	}
}

// ready is like check, but an export can also have failed, because its time is over.
func (f *fixture) ready(u user, projectID, exportID string, want map[string][]byte) []byte {
	f.T.Helper()
	if u.read(projectID, exportID).Text("status") == "failed" {
		return nil
	}
	return f.check(u, projectID, exportID, want)
}

// If storage is unavailable, or the function's time ends, the worker releases the lease, so that another worker can
// continue at once.
func TestInterruptedWorker(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	const limit = 10 * time.Second
	for name, fail := range map[string]func(r *http.Request) (*http.Response, error){
		"unavailable": func(*http.Request) (*http.Response, error) { return nil, errors.New("no connection") },
		"time":        func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
	} {
		projectID, want := ada.withLarge()
		exportID, _ := ada.start(projectID)
		received := f.messages()
		through := slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPut {
				return fail(r)
			}
			return slicetest.Transfers.Do(r)
		})
		ctx, cancel := context.WithTimeout(t.Context(), limit) // the worker needs 5 s of it to return the message
		errs := f.clients(through).worker.Handle(ctx, received)
		cancel()
		if !errors.Is(errs[0], lambdafn.ErrLater) || !strings.Contains(f.Log.String(), "a job was interrupted") {
			t.Errorf("%s: got error %v, want ErrLater, and a line in the log", name, errs[0])
		}
		second := &putCounter{}
		if errs := f.clients(second).worker.Handle(t.Context(), received); errs[0] != nil || second.puts != 1 {
			t.Errorf("%s: got error %v after %d archives, want success after one", name, errs[0], second.puts)
		}
		if f.check(ada, projectID, exportID, want) == nil {
			t.Errorf("%s: the export is not ready", name)
		}
	}
}

// If a file changes during an export, and a user deletes its old version with the content, the next attempt has the
// new content.
func TestVersionIsDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID, want := ada.withLarge()
	exportID, _ := ada.start(projectID)
	received := f.messages()
	old := ada.FilesOf(projectID).Record("/z.txt")
	p := &slicetest.Process{Step: 6, At: func() error { // the files are listed
		want["/z.txt"] = []byte("new")
		ada.save(projectID, map[string][]byte{"/z.txt": want["/z.txt"]})
		_, err := f.Client.Do(t.Context(), f.Contents.Delete(old.ChunkKey(projectID)))
		if err != nil {
			t.Error(err)
		}
		return nil
	}}
	if errs := f.clients(p).worker.Handle(t.Context(), received); !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got error %v, want ErrLater", errs[0])
	}
	f.finish(received)
	if f.check(ada, projectID, exportID, want) == nil {
		t.Error("the export is not ready")
	}
}
