package worker_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/awsclient"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/lambdafn"
)

// A deployment stores the files of the project as objects, in the form in which the site serves them, and goes live.
func TestBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	text, random := strings.Repeat("abc ", 1000), make([]byte, 2000)
	_, _ = rand.Read(random)
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html":       `<!doctype html><script type="module" src="/src/main.ts"></script>`,
		"/src/main.ts":      `document.title = "bundled"`,
		"/public/same.txt":  text,
		"/public/same.png":  text, // the same content in an object that is not compressed
		"/public/copy.txt":  text,
		"/public/small.txt": text[:511],
		"/public/dense.txt": string(random),
		"/public/logo.svg":  "<svg>" + text + "</svg>",
		"/public/empty.txt": "",
	})
	d := p.deploy()
	if d.Text("status") != "ready" || d.Body["live"] != true || d.Body["error"] != nil {
		t.Fatalf("got %s, want the deployment to be ready and live", d.Raw)
	}
	live := p.live()
	if len(live) != 9 || !strings.Contains(live["/index.html"], "<script") || float64(len(live)) != d.Body["files"] {
		t.Errorf("got the files %q, want 9", live)
	}
	size, got := 0, []string{}
	for _, a := range p.addresses() {
		if !a.Production {
			continue
		}
		for path, entry := range f.manifest(a).Files {
			size += entry.Size
			if entry.Hashed {
				path = "script"
			}
			got = append(got, fmt.Sprintf("%s %s %v", path, entry.ContentType, entry.Gzip))
		}
	}
	slices.Sort(got)
	want := []string{
		"/copy.txt text/plain; charset=utf-8 true", "/dense.txt text/plain false",
		"/empty.txt text/plain; charset=utf-8 false", "/index.html text/html; charset=utf-8 false",
		"/logo.svg image/svg+xml; charset=utf-8 true", "/same.png image/png false",
		"/same.txt text/plain; charset=utf-8 true",
		"/small.txt text/plain; charset=utf-8 false", "script text/javascript; charset=utf-8 false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest: mismatch (-want +got):\n%s", diff)
	}
	if d.Body["bytes"] != float64(size) {
		t.Errorf("got %v bytes, want the %d of the manifest", d.Body["bytes"], size)
	}
	if n := len(f.objects(d.Text("id"))); n != 9 { // 8 different files, because two are the same, and the manifest
		t.Errorf("got %d objects, want 9", n)
	}
	log := p.logOf(d.Text("id"))
	if len(log) != 2 || !strings.HasPrefix(log[0], "info Read 9 files of the project, ") ||
		log[1] != fmt.Sprintf("info Built 9 files, %d bytes.", size) {
		t.Errorf("got the log %q, want two lines", log)
	}
	if !strings.Contains(f.log.String(), "a deployment ended") {
		t.Error("the function's log does not say that the deployment ended")
	}
}

// A build with an error ends the deployment with the place of the error, and one event.
func TestFailedBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html":  `<!doctype html><script type="module" src="/src/main.ts"></script>`,
		"/src/main.ts": "let a = 1\nlet a = 2\n",
	})
	d := p.deploy()
	id := d.Text("id")
	if got := failure(d); d.Text("status") != "failed" || !strings.HasPrefix(got, "BUILD_FAILED /src/main.ts:2:") {
		t.Errorf("got %s, want BUILD_FAILED in line 2 of /src/main.ts", d.Raw)
	}
	lines := p.Get(p.url(id, "/log")).Want(t, http.StatusOK).List("lines")
	last := lines[len(lines)-1]
	if last["level"] != "error" || last["path"] != "/src/main.ts" || last["line"] != 2.0 || last["text"] == "" {
		t.Errorf("got the last line %v, want the error", last)
	}
	if got, want := f.events(id), []string{"deployment.completed failed"}; !slices.Equal(got, want) {
		t.Errorf("got the events %q, want %q", got, want)
	}
	if len(p.addresses()) > 0 {
		t.Errorf("got the addresses %v, want none", p.addresses())
	}
	p.save(small("Fixed"))
	if d := p.deploy(); d.Text("status") != "ready" {
		t.Errorf("got %s after the error was fixed, want ready", d.Raw)
	}
}

// through returns a worker whose calls go through a function.
func (f *fixture) through(do func(r *http.Request) (*http.Response, error)) *clients {
	return f.process(slicetest.DoFunc(do))
}

// isUpload reports whether a request stores an object.
func isUpload(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/sites/")
}

// A build that takes too long fails. The objects that it has stored are removed.
func TestTimeout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	id, uploads := p.request(), make(chan bool, 1)
	uploads <- true
	slow := f.through(func(r *http.Request) (*http.Response, error) {
		if isUpload(r) {
			select {
			case <-uploads: // the first one succeeds
			default:
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
		}
		return slicetest.Transfers.Do(r)
	})
	slow.worker.SetBuildTime(time.Second)
	if errs := f.work(slow); errs[0] != nil {
		t.Errorf("the message was not handled: %v", errs[0])
	}
	if got := failure(p.Get(p.url(id))); !strings.HasPrefix(got, "BUILD_TIMEOUT ") {
		t.Errorf("got the error %q, want BUILD_TIMEOUT", got)
	}
	if got, want := f.events(id), []string{"deployment.completed failed"}; !slices.Equal(got, want) {
		t.Errorf("got the events %q, want %q", got, want)
	}
	if len(f.objects(id)) == 0 {
		t.Error("the build stored no object")
	}
	f.sweep(time.Minute)
	if keys := f.objects(id); len(keys) > 0 {
		t.Errorf("the objects %v remain", keys)
	}
	if d := p.record(id); d.Status != deployment.Failed || d.DueAt != nil {
		t.Errorf("got the record %+v, want it to be failed and not due", d)
	}
}

// If storage is unavailable, or the function's time ends, the worker releases its lease and returns the message. The
// next attempt succeeds at once, and no build counts as interrupted.
func TestTransient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	broken := func(*http.Request) (*http.Response, error) { return nil, errors.New("no connection") }
	for name, tc := range map[string]struct {
		isAt func(r *http.Request, target string) bool
		fail func(r *http.Request) (*http.Response, error)
	}{
		"S3":          {func(r *http.Request, _ string) bool { return isUpload(r) }, broken},
		"the project": {func(_ *http.Request, target string) bool { return strings.HasSuffix(target, ".GetItem") }, broken},
		"the files":   {func(_ *http.Request, target string) bool { return strings.HasSuffix(target, ".Query") }, broken},
		"time": {func(r *http.Request, _ string) bool { return isUpload(r) }, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}},
	} {
		p := ada.newProject(small("Hello"))
		id, failed := p.request(), 0
		began := false
		var mu sync.Mutex // uploads are concurrent
		failing := f.through(func(r *http.Request) (*http.Response, error) {
			target := r.Header.Get("X-Amz-Target")
			mu.Lock()
			began = began || strings.HasSuffix(target, ".TransactWriteItems")
			fails := began && failed < 1 && tc.isAt(r, target)
			if fails {
				failed++
			}
			mu.Unlock()
			if fails {
				return tc.fail(r)
			}
			return slicetest.Transfers.Do(r)
		})
		received := f.messages()
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Second) // 10 s of it are reserved
		errs := failing.worker.Handle(ctx, received)
		cancel()
		if !errors.Is(errs[0], lambdafn.ErrLater) || failed == 0 {
			t.Errorf("%s: got error %v after %d failures, want ErrLater", name, errs[0], failed)
		}
		if d := p.record(id); d.Status != deployment.Building || d.Lease != "" || d.Interruptions != 0 {
			t.Errorf("%s: got the record %+v, want one without a lease", name, d)
		}
		if errs := f.worker.Handle(t.Context(), received); errs[0] != nil {
			t.Errorf("%s: got error %v from the next attempt", name, errs[0])
		}
		p.checkLive("Hello")
	}
	if n := strings.Count(f.log.String(), "a build was interrupted"); n != 4 {
		t.Errorf("the log has %d lines about interrupted builds, want 4", n)
	}
}

// If files change during each of five readings of the project, the attempt ends. The next one builds the new files.
func TestFilesKeepChanging(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	p.request()
	readings := 0
	changing := f.through(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			readings++
			p.save(small(fmt.Sprint("Reading ", readings)))
		}
		return slicetest.Transfers.Do(r)
	})
	received := f.messages()
	if err := changing.worker.Handle(t.Context(), received)[0]; !errors.Is(err, lambdafn.ErrLater) || readings != 5 {
		t.Errorf("got error %v after %d readings, want ErrLater after five", err, readings)
	}
	if err := f.worker.Handle(t.Context(), received)[0]; err != nil {
		t.Errorf("got error %v from the next attempt", err)
	}
	p.checkLive("Reading 5")
}

// checkInterrupted checks that a deployment whose build always fails with a bug ends after the second attempt.
func (p *published) checkInterrupted(attempt func([]lambdafn.QueueMessage) error) {
	p.f.t.Helper()
	id := p.request()
	received := p.f.messages()
	for range 2 {
		if err := attempt(received); err == nil || errors.Is(err, lambdafn.ErrLater) {
			p.f.t.Errorf("got error %v, want a failure", err)
		}
		if status := p.record(id).Status; status != deployment.Building {
			p.f.t.Errorf("the deployment is %s after an attempt, want building", status)
		}
		p.f.clock.Advance(lost)
		if err := p.f.worker.Sweep(p.f.t.Context()); err != nil {
			p.f.t.Error(err)
		}
		if received = p.f.messages(); len(received) != 1 {
			p.f.t.Fatalf("the sweep sent %d messages, want 1", len(received))
		}
	}
	if errs := p.f.worker.Handle(p.f.t.Context(), received); errs[0] != nil {
		p.f.t.Errorf("got error %v, want the end of the deployment", errs[0])
	}
	if got := failure(p.Get(p.url(id))); !strings.HasPrefix(got, "BUILD_INTERRUPTED ") {
		p.f.t.Errorf("got the error %q, want BUILD_INTERRUPTED", got)
	}
	if got, want := p.f.events(id), []string{"deployment.completed failed"}; !slices.Equal(got, want) {
		p.f.t.Errorf("got the events %q, want %q", got, want)
	}
}

// A content that does not match its record is reported for each attempt, and ends the deployment.
func TestCorruptContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	for key := range slicetest.Dump(t, f.sdk, f.names.contents) {
		if _, err := f.db.Do(t.Context(), f.db.Table(f.names.contents).Delete(key)); err != nil {
			t.Fatal(err)
		}
	}
	p.checkInterrupted(func(received []lambdafn.QueueMessage) error {
		return f.worker.Handle(t.Context(), received)[0]
	})
}

// A bug that panics is reported for each attempt, and ends the deployment.
func TestPanic(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	failing := f.through(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			panic("a bug")
		}
		return slicetest.Transfers.Do(r)
	})
	var log bytes.Buffer
	function := lambdafn.Queue(slog.New(slog.NewTextHandler(&log, nil)), failing.worker.Handle)
	p.checkInterrupted(func(received []lambdafn.QueueMessage) error {
		payload, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: received[0].ID, ReceiptHandle: received[0].ReceiptHandle, Body: received[0].Body,
		}}})
		if err != nil {
			return err
		}
		response, err := function.Invoke(t.Context(), payload)
		if err != nil || !strings.Contains(string(response), received[0].ID) {
			t.Errorf("got the response %s, error %v, want the message to be reported", response, err)
		}
		return errors.New(log.String())
	})
	if !strings.Contains(log.String(), "a bug") {
		t.Errorf("got the log %q, want the cause", &log)
	}
}

// The files of a project that is too large are not read.
func TestSourceTooLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.worker.SetMaxSource(1000)
	p := f.newUser("ada").newProject(small(strings.Repeat("x", 1000)))
	if got := failure(p.deploy()); !strings.HasPrefix(got, "OUTPUT_TOO_LARGE ") {
		t.Errorf("got the error %q, want OUTPUT_TOO_LARGE", got)
	}
}

// If the account has no space for the output, the deployment fails, and its objects are removed.
func TestNoSpaceForOutput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	live, p := ada.newProject(small("Hello")), ada.newProject(small("Hello"))
	d := live.deploy()
	f.worker.Store.MaxOutput = int(d.Body["bytes"].(float64)) + 1
	d = p.deploy()
	if got := failure(d); !strings.HasPrefix(got, "OUTPUT_TOO_LARGE ") {
		t.Errorf("got the error %q, want OUTPUT_TOO_LARGE", got)
	}
	log := p.logOf(d.Text("id"))
	if last := log[len(log)-1]; !strings.HasPrefix(last, "error With this output, ") {
		t.Errorf("got the log %q, want the error at its end", log)
	}
	if f.sweep(0); len(f.objects(d.Text("id"))) > 0 {
		t.Error("the objects of the failed deployment remain")
	}
	live.Do(http.MethodDelete, "/api/projects/"+live.id, nil).Want(t, http.StatusOK)
	if d := p.deploy(); d.Text("status") != "ready" {
		t.Errorf("got %s after the other project was deleted, want ready", d.Raw)
	}
}

// Beyond the limit of builds in progress, the message returns to the queue. The deployment stays queued.
func TestBusyAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	others := map[string]*published{}
	for range maxBuilds {
		p := ada.newProject(small("Hello"))
		others[p.request()] = p
	}
	f.messages()
	p := ada.newProject(small("Hello"))
	id := p.request()
	received := f.messages()
	var held []deployment.Deployment
	for other, p := range others {
		d, err := f.store.Begin(t.Context(), p.id, other, rand.Text(), f.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, d)
	}
	err := f.worker.Handle(t.Context(), received)[0]
	if !errors.Is(err, lambdafn.ErrLater) || !strings.Contains(err.Error(), "5s") {
		t.Errorf("got error %v, want ErrLater after 5 s", err)
	}
	if status := p.record(id).Status; status != deployment.Queued {
		t.Errorf("the deployment is %s, want queued", status)
	}
	if err := f.store.Release(t.Context(), held[0], f.clock.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := f.worker.Handle(t.Context(), received)[0]; err != nil {
		t.Error(err)
	}
	p.checkLive("Hello")
}

// While a worker holds the lease, another one returns the message to the queue until the lease ends.
func TestLeaseIsHeld(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	p.request()
	received := f.messages()
	first := &slicetest.Process{Step: 6, At: func() error {
		f.clock.Advance(40 * time.Second)
		err := f.worker.Handle(t.Context(), received)[0]
		if !errors.Is(err, lambdafn.ErrLater) || !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("got error %v, want ErrLater until the lease ends", err)
		}
		return nil
	}}
	if err := f.process(first).worker.Handle(t.Context(), received)[0]; err != nil || !first.Reached() {
		t.Errorf("got error %v", err)
	}
	p.checkLive("Hello")
}

// Messages of other programs, and of deployments that do not exist, are deleted from the queue.
func TestForeignMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(nil)
	missing, err := deployment.MessageOf(deployment.Deployment{ProjectID: p.id, ID: "dpl_01KGA4V5N2ABCDEFGHJKMNPQRS"})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"", "{}", "[]", `{"projectId":"x"}`, "\xff", missing} {
		if err := f.worker.Handle(t.Context(), []lambdafn.QueueMessage{{Body: body}})[0]; err != nil {
			t.Errorf("%q: got error %v, want none", body, err)
		}
	}
}

// A worker whose build has lost its lease stops the build, and frees its place among those of the account.
func TestLostBuildStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for name, loseLease := range map[string]func(p *published, id string){
		"canceled":        pauses["it is canceled"],
		"deleted":         pauses["it is deleted"],
		"project deleted": pauses["the project is deleted"],
	} {
		p := ada.newProject(small("Hello"))
		id := p.request()
		var lose sync.Once
		var cause atomic.Value
		blocked := f.through(func(r *http.Request) (*http.Response, error) {
			if !isUpload(r) {
				return slicetest.Transfers.Do(r)
			}
			lose.Do(func() { loseLease(p, id) })
			<-r.Context().Done()
			cause.Store(context.Cause(r.Context()))
			return nil, r.Context().Err()
		})
		blocked.worker.SetBuildTime(10 * time.Second)
		blocked.worker.SetLeaseCheck(20 * time.Millisecond)
		if errs := f.work(blocked); errs[0] != nil {
			t.Errorf("%s: the message was not handled: %v", name, errs[0])
		}
		if err, _ := cause.Load().(error); !errors.Is(err, deployment.ErrLost) {
			t.Errorf("%s: the build ended because of %v, want ErrLost", name, err)
		}
		builds, err := f.projects.Get(t.Context(), db.BuildsKey(ada.caller.UserID))
		if err != nil || builds[id] != nil {
			t.Errorf("%s: got the builds in progress %v, error %v, want none", name, builds, err)
		}
	}
}

// While a build holds its lease, the checks do not stop it.
func TestLeaseChecks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	id := p.request()
	var uploading atomic.Bool
	var checks atomic.Int32
	slow := f.through(func(r *http.Request) (*http.Response, error) {
		isCheck := uploading.Load() && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchGetItem")
		if isCheck && checks.Add(1) == 2 {
			return nil, errors.New("no connection")
		}
		if isUpload(r) {
			uploading.Store(true)
			for r.Context().Err() == nil && checks.Load() < 4 {
				awsclient.Sleep(r.Context(), time.Millisecond)
			}
		}
		return slicetest.Transfers.Do(r)
	})
	slow.worker.SetLeaseCheck(time.Millisecond)
	if errs := f.work(slow); errs[0] != nil {
		t.Errorf("the message was not handled: %v", errs[0])
	}
	if status := p.record(id).Status; status != deployment.Ready {
		t.Errorf("the deployment is %s, want ready", status)
	}
}
