package project

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/api"
	"devplatform/shared/event"
)

// fault is what can happen to a call to DynamoDB.
type fault struct {
	name   string
	lasts  int  // calls, the SDK's repetitions counted; 0: as long as the request
	done   bool // DynamoDB does what it was asked, and only its answer is lost
	answer func(out http.ResponseWriter)
}

var faults = []fault{
	{"an error", 0, false, func(out http.ResponseWriter) {
		failWith(out, http.StatusInternalServerError, "InternalServerError", "")
	}},
	{"throttled", 0, false, func(out http.ResponseWriter) { failWith(out, http.StatusBadRequest, "ThrottlingException", "") }},
	{"a cut line", 0, false, cut},
	{"a lost answer", 1, true, cut},
	{"lost answers", 0, true, cut},
	{"met once", 1, false, func(out http.ResponseWriter) {
		failWith(out, http.StatusBadRequest, "TransactionCanceledException", `,"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"}]`)
	}},
	{"a missing table", 0, false, func(out http.ResponseWriter) { failWith(out, http.StatusBadRequest, "ResourceNotFoundException", "") }},
}

func failWith(out http.ResponseWriter, status int, name, more string) {
	out.Header().Set("Content-Type", "application/x-amz-json-1.0")
	out.WriteHeader(status)
	_, _ = fmt.Fprintf(out, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"injected"%s}`, name, more)
}

func cut(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// injector is where faults come into a world's calls.
type injector struct{ injected atomic.Pointer[injection] }

// injection is a fault at every call of an operation.
type injection struct {
	operation string
	fault     fault
	met       atomic.Int32
}

// inject has a world's calls go through an injector.
func (w *world) inject() *injector {
	in := &injector{}
	w.interpose(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			now := in.injected.Load()
			if now == nil || operation(r) != now.operation {
				next.ServeHTTP(out, r)
				return
			}
			f := now.fault
			if n := now.met.Add(1); f.lasts > 0 && int(n) > f.lasts {
				next.ServeHTTP(out, r)
				return
			}
			if f.done {
				recorder := httptest.NewRecorder()
				next.ServeHTTP(recorder, r)
				_, _ = io.Copy(io.Discard, recorder.Body)
			}
			f.answer(out)
		})
	})
	return in
}

// mutation is a request that changes something.
type mutation struct {
	name string
	kind event.Type // of its event, "" if it has none
	do   func(b *browser, projectID, commentID string) answer
}

var mutations = []mutation{
	{"create", event.ProjectCreated, func(b *browser, projectID, _ string) answer {
		return b.do(http.MethodPost, "/api/projects", object{"name": "Next to " + projectID})
	}},
	{"update", event.ProjectUpdated, func(b *browser, projectID, _ string) answer {
		return b.do(http.MethodPut, projectURL(projectID), object{"description": "new"})
	}},
	{"rename", event.ProjectUpdated, func(b *browser, projectID, _ string) answer {
		return b.do(http.MethodPut, projectURL(projectID), object{"name": "Not " + projectID})
	}},
	{"delete", event.ProjectDeleted, func(b *browser, projectID, _ string) answer {
		return b.do(http.MethodDelete, projectURL(projectID), nil)
	}},
	{"comment", event.CommentCreated, func(b *browser, projectID, _ string) answer {
		return b.do(http.MethodPost, projectURL(projectID)+"/comments", object{"body": "x", "path": "/a.ts", "line": 1})
	}},
	{"delete comment", "", func(b *browser, projectID, commentID string) answer {
		return b.do(http.MethodDelete, projectURL(projectID)+"/comments/"+commentID, nil)
	}},
}

// A change has its event and an event its change, whatever happens to any call: what failed has left neither, or, where only
// the answer was lost, both.
func TestEventsAndChangesUnderFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.user("ada")
			in := w.inject()
			for _, m := range mutations {
				for _, operation := range []string{"Query", "GetItem", "BatchGetItem", "TransactWriteItems"} {
					if f.name == "met once" && operation != "TransactWriteItems" {
						continue
					}
					project := ada.project("", "App", Team)
					w.file(project, "/a.ts")
					comment := ada.do(http.MethodPost, projectURL(project)+"/comments", object{"body": "x"}).want(t, http.StatusCreated).text("id")
					before, told := w.dump(w.names.projects), len(w.storedEvents())
					injected := &injection{operation: operation, fault: f}
					in.injected.Store(injected)
					a := m.do(ada, project, comment)
					in.injected.Store(nil)
					after, events := w.dump(w.names.projects), w.storedEvents()[told:]

					changed := !cmp.Equal(before, after, cmpopts.IgnoreUnexported(attributeTypes...))
					name := m.name + " with " + f.name + " at " + operation
					if m.kind != "" && changed != (len(events) == 1) || len(events) > 1 {
						t.Errorf("%s: changed %t, %d events: %s", name, changed, len(events), a.raw)
					}
					for _, e := range events {
						if e.Type != m.kind || e.ProjectID != project && m.kind != event.ProjectCreated {
							t.Errorf("%s: told of %s in %s", name, e.Type, e.ProjectID)
						}
					}
					if a.status < http.StatusBadRequest && !changed {
						t.Errorf("%s: %d, and nothing changed", name, a.status)
					}
					met := injected.met.Load() > 0
					want := a.status < http.StatusBadRequest
					switch {
					case !met, f.lasts > 0: // the SDK, or the store, got over it
						if !want {
							t.Errorf("%s: %d %s", name, a.status, a.raw)
						}
					case f.name == "a missing table":
						a.want(t, http.StatusInternalServerError, api.CodeInternal)
					default:
						a.want(t, http.StatusServiceUnavailable, api.CodeServiceUnavailable)
					}
					if operation == "TransactWriteItems" && (!met || (f.done && !changed)) {
						t.Errorf("%s: met %t, changed %t", name, met, changed)
					}
				}
			}
		})
	}
}
