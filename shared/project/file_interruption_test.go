package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
)

// interruption runs a function once, during a request, before one of its calls to DynamoDB.
type interruption struct {
	before  int  // the number of the call, starting at 1
	reverse bool // whether the tree is read before the function or after it, if the call reads it
	do      func()
	calls   atomic.Int32
	done    atomic.Bool
}

// wrap runs the function before the call. A BatchGetItem is not a snapshot, so the function runs between its items:
// half of them are read before it, half after it.
func (i *interruption) wrap(next http.Handler, out http.ResponseWriter, r *http.Request) {
	if i.done.Load() || int(i.calls.Add(1)) != i.before || i.done.Swap(true) {
		next.ServeHTTP(out, r)
		return
	}
	if dynamotest.Operation(r) != "BatchGetItem" {
		i.do()
		next.ServeHTTP(out, r)
		return
	}
	var request struct {
		RequestItems map[string]struct {
			ConsistentRead bool
			Keys           []json.RawMessage
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	response := map[string]any{"UnprocessedKeys": map[string]any{}}
	responses := map[string][]any{}
	for table, asked := range request.RequestItems {
		halves := [][]json.RawMessage{{}, {}}
		for _, key := range asked.Keys {
			half := 1
			if strings.Contains(string(key), `"TREE"`) != i.reverse {
				half = 0
			}
			halves[half] = append(halves[half], key)
		}
		for n, keys := range halves {
			if n == 1 {
				i.do()
			}
			if len(keys) == 0 {
				continue
			}
			part, _ := json.Marshal(map[string]any{"RequestItems": map[string]any{table: map[string]any{"ConsistentRead": true, "Keys": keys}}})
			sub := r.Clone(r.Context())
			sub.Body, sub.ContentLength = io.NopCloser(bytes.NewReader(part)), int64(len(part))
			recorder := httptest.NewRecorder()
			next.ServeHTTP(recorder, sub)
			var got struct{ Responses map[string][]any }
			_ = json.Unmarshal(recorder.Body.Bytes(), &got)
			responses[table] = append(responses[table], got.Responses[table]...)
		}
	}
	response["Responses"] = responses
	out.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(out).Encode(response)
}

// A second change runs before each call of a request. The request must take the change into account.
func TestConflictingFileChangesAtEveryCall(t *testing.T) {
	t.Parallel()
	save := func(path string, change ...func(*http.Request)) func(filesClient) response {
		return func(client filesClient) response {
			return client.save(path, "from "+t.Name()+path+fmt.Sprint(len(change)), change...)
		}
	}
	batch := func(ops ...object) func(filesClient) response {
		return func(client filesClient) response { return client.batch(ops...) }
	}
	remove := func(path string) func(filesClient) response {
		return func(client filesClient) response { return client.remove(path) }
	}
	ifNone, ifMatch := slicetest.Header("If-None-Match", "*"), slicetest.Header("If-Match", "*")
	for name, tc := range map[string]struct {
		request, meanwhile func(filesClient) response
		status             int // if the other change was first
		code               fault.Code
	}{
		"inside a new file":       {save("/a/b"), save("/a"), http.StatusConflict, fault.CodeConflict},
		"deep inside a new file":  {save("/a/b/c/d"), save("/a/b"), http.StatusConflict, fault.CodeConflict},
		"a new folder":            {save("/a"), save("/a/b"), http.StatusConflict, fault.CodeConflict},
		"a deep new folder":       {save("/a"), save("/a/b/c"), http.StatusConflict, fault.CodeConflict},
		"renamed into a file":     {batch(renaming("/f", "/a/f")), save("/a"), http.StatusConflict, fault.CodeConflict},
		"renamed onto a folder":   {batch(renaming("/f", "/a")), save("/a/b"), http.StatusConflict, fault.CodeConflict},
		"a rename in the way":     {save("/a/b"), batch(renaming("/f", "/a")), http.StatusConflict, fault.CodeConflict},
		"renamed onto a new file": {batch(renaming("/f", "/a")), save("/a"), http.StatusConflict, fault.CodeConflict},
		"created twice":           {save("/a"), save("/a", ifNone), http.StatusOK, ""},
		"created twice if none":   {save("/a", ifNone), save("/a"), http.StatusPreconditionFailed, fault.CodePreconditionFailed},
		"created twice in batch":  {batch(creation("/a", "")), save("/a"), http.StatusConflict, fault.CodeConflict},
		"saved twice":             {save("/f"), save("/f", ifMatch), http.StatusOK, ""},
		"saved and deleted":       {save("/f"), remove("/f"), http.StatusCreated, ""},
		"saved if, and deleted":   {save("/f", ifMatch), remove("/f"), http.StatusPreconditionFailed, fault.CodePreconditionFailed},
		"updated and deleted":     {batch(update("/f", "x")), remove("/f"), http.StatusNotFound, fault.CodeFileNotFound},
		"renamed and deleted":     {batch(renaming("/f", "/g")), remove("/f"), http.StatusNotFound, fault.CodeFileNotFound},
		"renamed and saved":       {batch(renaming("/f", "/g")), save("/f"), http.StatusOK, ""},
		"deleted twice":           {remove("/f"), remove("/f"), http.StatusNotFound, fault.CodeFileNotFound},
		"deleted and saved":       {remove("/f"), save("/f"), http.StatusOK, ""},
		"unchanged beside a change": {
			batch(update("/f", "f"), creation("/g", "")), batch(update("/f", "other").with("etag", "*")), http.StatusOK, "",
		},
		"a folder cleared": {save("/h"), remove("/h/i"), http.StatusCreated, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			var now atomic.Pointer[interruption]
			f.useProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
				if i := now.Load(); i != nil {
					i.wrap(next, out, r)
					return
				}
				next.ServeHTTP(out, r)
			})
			for call := 1; call <= 4; call++ {
				for _, reverse := range []bool{false, true} {
					client := ada.filesOf(ada.project("", "App", Private))
					client.batch(creation("/f", "f"), creation("/h/i", "i")).Want(t, http.StatusOK)
					i := &interruption{before: call, reverse: reverse, do: func() {
						if r := tc.meanwhile(client); r.Status >= http.StatusBadRequest {
							t.Errorf("the other change: %d %s", r.Status, r.Raw)
						}
					}}
					now.Store(i)
					r := tc.request(client)
					now.Store(nil)
					if i.done.Load() && name != "a folder cleared" && (r.Status != tc.status || r.Text("code") != string(tc.code)) {
						t.Errorf("call %d, reverse %t: %d %s, want %d", call, reverse, r.Status, r.Raw, tc.status)
					}
					if f := client.contents()["/f"]; i.done.Load() && name == "unchanged beside a change" && f != "f" {
						t.Errorf("call %d: the unchanged file has the content %q", call, f)
					}
					client.checkTree()
					client.checkFolders()
				}
			}
		})
	}
}

// checkFolders checks that no path is both a file and a folder.
func (client filesClient) checkFolders() {
	client.f.t.Helper()
	paths := client.paths()
	for _, a := range paths {
		for _, b := range paths {
			if strings.HasPrefix(b.(string), a.(string)+"/") {
				client.f.t.Errorf("%s is a file, and %s is inside of it", a, b)
			}
		}
	}
}
