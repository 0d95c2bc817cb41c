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

// address parses the URL of a platform.
func address(t testing.TB, base string) *url.URL {
	t.Helper()
	u, err := url.Parse(base)
	must(t, err)
	return u
}

// instances returns the IDs of the processes of a function. A function is named by its folder.
func (w *world) instances(function string) (pids []int) {
	w.t.Helper()
	for _, pid := range w.platform.Children() {
		command, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err != nil {
			continue // the process has ended
		}
		if path, _, _ := bytes.Cut(command, []byte{0}); filepath.Base(string(path)) == function {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill kills all instances of a function, and returns their number.
func (w *world) kill(function string) (killed int) {
	w.t.Helper()
	for _, pid := range w.instances(function) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// Functions of the API are killed while they wait for responses of DynamoDB. Their clients get 502. No change is made
// in part, and the next requests are handled by new processes.
func TestFunctionsKilledDuringRequests(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "pgrep")
	w := newWorld(t)
	for function, prefix := range map[string]string{
		"auth": "/api/auth/", "projects": "/api/projects", "ai": "/api/ai/", "webhooks": "/api/webhooks",
	} {
		t.Run(function, func(t *testing.T) {
			w.t, w.ada.T = t, t
			var requests []request
			for _, r := range w.requests() {
				if strings.HasPrefix(r.path, prefix) {
					requests = append(requests, r)
				}
			}
			reached := make(chan struct{}, 1000)
			wait := func(next http.Handler, _ http.ResponseWriter, r *http.Request, c call) {
				if c.writes() { // executed, without a response
					next.ServeHTTP(httptest.NewRecorder(), r)
				}
				reached <- struct{}{}
				<-r.Context().Done()
			}
			w.cloud.inject(fault{name: "waits", executes: true, handle: wait})
			var outcomes []outcome
			var group sync.WaitGroup
			group.Go(func() { outcomes = sendAll(requests) })
			for range requests {
				<-reached
			}
			killed := w.kill(function)
			w.cloud.repair()
			group.Wait()
			if killed == 0 {
				t.Fatal("no process was killed")
			}
			lost := 0
			for _, o := range outcomes {
				if !slices.Contains(o.good, o.response.Status) { // its process was killed
					o.response.WantError(t, http.StatusBadGateway, "INTERNAL_ERROR")
					lost++
				}
			}
			if lost == 0 {
				t.Error("no request failed, want the requests of the killed processes to fail")
			}
			t.Logf("%d processes were killed, with %d of %d requests", killed, lost, len(requests))
			w.checkAgain(requests)
			w.checkConsistency()
		})
	}
}

// Functions that read a stream are killed repeatedly during their work, and complete the work in the end. After a kill,
// the functions of the delivery lanes wait for minutes until their leases expire, so their test is in package e2e.
func TestBackgroundFunctionsKilled(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "pgrep")
	w := newWorld(t)
	doomed := w.ada.NewProject("Doomed", nil)
	for i := range 30 {
		w.ada.Save(doomed, "/"+strconv.Itoa(i)+".ts", "x").Want(t, http.StatusCreated)
	}
	for function, affects := range map[string]func(call) bool{
		"webhook-fanout": func(c call) bool { return c.service == queues && c.fansOut },
		"project-cleanup": func(c call) bool {
			return c.operation == "BatchWriteItem" && !slices.Contains(c.tables, "local-WebhooksTable")
		},
	} {
		t.Run(function, func(t *testing.T) {
			w.t, w.ada.T = t, t
			const kills = 4
			waiting := make(chan struct{}, 1000)
			wait := func(next http.Handler, _ http.ResponseWriter, r *http.Request, _ call) {
				next.ServeHTTP(httptest.NewRecorder(), r) // executed, without a response
				waiting <- struct{}{}
				<-r.Context().Done()
			}
			w.cloud.inject(fault{name: "waits", affects: affects, handle: wait})
			switch function {
			case "webhook-fanout":
				w.ada.Save(w.project, "/main.ts", "killed "+function).Want(t, http.StatusOK)
			default:
				w.ada.Do("DELETE", "/api/projects/"+doomed, "").Want(t, http.StatusOK)
			}
			for killed := 0; killed < kills; killed += w.kill(function) {
				<-waiting
			}
			w.cloud.repair()
			w.waitForDeliveries()
			if function == "project-cleanup" {
				platformtest.EventuallyWithin(t, deliveredWithin, "the clean-up of the project", func() bool {
					return w.countItems(doomed) == 0
				})
			}
		})
	}
}

// countItems returns the number of items of a project in all tables, without its events.
func (w *world) countItems(project string) (items int) {
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
