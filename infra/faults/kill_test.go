package faults

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/platformtest"
)

func address(t testing.TB, base string) *url.URL {
	t.Helper()
	u, err := url.Parse(base)
	must(t, err)
	return u
}

// instances are the processes of a function, which is named by its folder.
func (w *world) instances(function string) (pids []int) {
	w.t.Helper()
	for _, pid := range w.platform.Children() {
		command, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err != nil {
			continue // it has ended since
		}
		if path, _, _ := bytes.Cut(command, []byte{0}); filepath.Base(string(path)) == function {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill ends every instance of a function at once, and answers how many there were.
func (w *world) kill(function string) (killed int) {
	w.t.Helper()
	for _, pid := range w.instances(function) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// A function that serves people is killed while it waits for storage to confirm what it does: whoever waits hears 502, what was done is
// done wholly, and the next request is served by a new process.
func TestKilledInTheMiddleOfRequests(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "pgrep")
	w := newWorld(t)
	for function, prefix := range map[string]string{"auth": "/api/auth/", "projects": "/api/projects", "ai": "/api/ai/", "webhooks": "/api/webhooks"} {
		t.Run(function, func(t *testing.T) {
			w.t, w.ada.T = t, t
			var requests []request
			for _, r := range w.requests() {
				if strings.HasPrefix(r.path, prefix) {
					requests = append(requests, r)
				}
			}
			reached := make(chan struct{}, 1000)
			w.cloud.suffer(trouble{name: "waits", applies: true, happen: func(next http.Handler, _ http.ResponseWriter, r *http.Request, c call) {
				if c.writes() { // it happens, and nobody hears of it
					next.ServeHTTP(httptest.NewRecorder(), r)
				}
				reached <- struct{}{}
				<-r.Context().Done()
			}})
			var outcomes []outcome
			var group sync.WaitGroup
			group.Go(func() { outcomes = sendAll(requests) })
			for range requests {
				<-reached
			}
			killed := w.kill(function)
			w.cloud.mend()
			group.Wait()
			if killed == 0 {
				t.Fatal("nothing was killed")
			}
			lost := 0
			for _, o := range outcomes {
				if !slices.Contains(o.good, o.answer.Status) { // it came to a process that lived
					o.answer.WantError(t, http.StatusBadGateway, "INTERNAL_ERROR")
					lost++
				}
			}
			if lost == 0 {
				t.Error("no request was lost with its process")
			}
			t.Logf("%d processes were killed, with %d of %d requests", killed, lost, len(requests))
			w.checkAgain(requests)
			w.audit()
		})
	}
}

// Functions behind a stream are killed again and again in the middle of what they do: it is done in the end. (That of the worker takes
// minutes, in which its leases end; package e2e has it.)
func TestKilledInTheBackground(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "pgrep")
	w := newWorld(t)
	doomed := w.ada.NewProject("Doomed", nil)
	for i := range 30 {
		w.ada.Save(doomed, "/"+strconv.Itoa(i)+".ts", "to go").Want(t, http.StatusCreated)
	}
	for function, on := range map[string]func(call) bool{
		"webhook-fanout": func(c call) bool { return c.service == queues && c.fansOut },
		"project-cleanup": func(c call) bool {
			return c.operation == "BatchWriteItem" && !slices.Contains(c.tables, "local-WebhooksTable")
		},
	} {
		t.Run(function, func(t *testing.T) {
			w.t, w.ada.T = t, t
			const enough = 4
			waiting := make(chan struct{}, 1000)
			w.cloud.suffer(trouble{name: "kills", on: on, happen: func(next http.Handler, _ http.ResponseWriter, r *http.Request, _ call) {
				next.ServeHTTP(httptest.NewRecorder(), r) // it happens, and nobody hears of it
				waiting <- struct{}{}
				<-r.Context().Done()
			}})
			switch function {
			case "webhook-fanout":
				w.ada.Save(w.project, "/main.ts", "killed "+function).Want(t, http.StatusOK)
			default:
				w.ada.Do("DELETE", "/api/projects/"+doomed, "").Want(t, http.StatusOK)
			}
			for killed := 0; killed < enough; killed += w.kill(function) {
				<-waiting
			}
			w.cloud.mend()
			w.told()
			if function == "project-cleanup" {
				platformtest.EventuallyWithin(t, deliveredWithin, "the clean-up", func() bool { return w.held(doomed) == 0 })
			}
		})
	}
}

// held counts what the tables hold of a project, its feed apart.
func (w *world) held(project string) (items int) {
	w.t.Helper()
	for _, table := range []string{"ProjectsTable", "ContentsTable", "ConversationsTable"} {
		for _, item := range dynamotest.Dump(w.t, w.cloud.tables, "local-"+table) {
			if str(item["pk"]) == "PROJECT#"+project {
				items++
			}
		}
	}
	return items
}
