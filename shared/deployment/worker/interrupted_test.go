package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"devplatform/infra/slicetest"
	"devplatform/shared/deployment"
	"devplatform/shared/lambdafn"
)

// functionTime is a time limit that leaves one second for a build. The worker reserves the other five seconds.
const functionTime = 6 * time.Second

// If storage is unavailable, or the function's time ends, the worker releases its lease and returns the message. The
// next attempt succeeds at once, and the interrupted attempt is not counted.
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
		"the project": {func(_ *http.Request, target string) bool { return strings.HasSuffix(target, ".BatchGetItem") }, broken},
		"the files":   {func(_ *http.Request, target string) bool { return strings.HasSuffix(target, ".Query") }, broken},
		"time": {func(r *http.Request, _ string) bool { return isUpload(r) }, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}},
	} {
		p := ada.newProject(small("Hello"))
		id := p.request()
		isBuilding, hasFailed := false, false
		var mu sync.Mutex // uploads are concurrent
		failing := f.through(func(r *http.Request) (*http.Response, error) {
			target := r.Header.Get("X-Amz-Target")
			mu.Lock()
			isBuilding = isBuilding || strings.HasSuffix(target, ".TransactWriteItems")
			fails := isBuilding && !hasFailed && tc.isAt(r, target)
			hasFailed = hasFailed || fails
			mu.Unlock()
			if fails {
				return tc.fail(r)
			}
			return slicetest.Transfers.Do(r)
		})
		received := f.messages()
		ctx, cancel := context.WithTimeout(t.Context(), functionTime)
		errs := failing.worker.Handle(ctx, received)
		cancel()
		if !errors.Is(errs[0], lambdafn.ErrLater) || !hasFailed {
			t.Errorf("%s: got error %v, a call failed: %t, want ErrLater and a failed call", name, errs[0], hasFailed)
		}
		if j := p.job(id); p.record(id).Status != deployment.Building || j.Lease != "" || j.Attempts != 0 {
			t.Errorf("%s: got the job %+v, want one without a lease", name, j)
		}
		if errs := f.worker.Handle(t.Context(), received); errs[0] != nil {
			t.Errorf("%s: got error %v from the next attempt", name, errs[0])
		}
		p.checkLive("Hello")
	}
	if n := strings.Count(f.Log.String(), "a job was interrupted"); n != 4 {
		t.Errorf("the log has %d lines about interrupted attempts, want 4", n)
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

// checkInterrupted checks that a deployment ends after two attempts that failed with an internal error.
func (p *published) checkInterrupted(attempt func([]lambdafn.QueueMessage) error) {
	p.f.T.Helper()
	id := p.request()
	received := p.f.messages()
	for range 2 {
		if err := attempt(received); err == nil || errors.Is(err, lambdafn.ErrLater) {
			p.f.T.Errorf("got error %v, want a failure", err)
		}
		if status := p.record(id).Status; status != deployment.Building {
			p.f.T.Errorf("the deployment is %s after an attempt, want building", status)
		}
		p.f.Clock.Advance(lost)
		if err := p.f.worker.Sweep(p.f.T.Context()); err != nil {
			p.f.T.Error(err)
		}
		if received = p.f.messages(); len(received) != 1 {
			p.f.T.Fatalf("the sweep sent %d messages, want 1", len(received))
		}
	}
	if errs := p.f.worker.Handle(p.f.T.Context(), received); errs[0] != nil {
		p.f.T.Errorf("got error %v, want the end of the deployment", errs[0])
	}
	if got := failure(p.Get(p.url(id))); !strings.HasPrefix(got, "BUILD_INTERRUPTED ") {
		p.f.T.Errorf("got the error %q, want BUILD_INTERRUPTED", got)
	}
	if got, want := p.f.events(id), []string{"deployment.completed failed"}; !slices.Equal(got, want) {
		p.f.T.Errorf("got the events %q, want %q", got, want)
	}
}

// A missing content fails each attempt, and ends the deployment.
func TestMissingContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	for key := range f.Dump(f.Tables.Contents) {
		if _, err := f.Client.Do(t.Context(), f.Client.Table(f.Tables.Contents).Delete(key)); err != nil {
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
		return errors.New("the message was returned")
	})
	if !strings.Contains(log.String(), "a bug") {
		t.Errorf("got the log %q, want the cause", &log)
	}
}
