package file_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// interruption runs a function once, during a request, before one of the request's calls to DynamoDB.
type interruption struct {
	before  int  // the number of the call, starting at 1
	reverse bool // whether a BatchGetItem reads the tree after the function runs (see wrap)
	do      func()
	calls   atomic.Int32
	done    atomic.Bool
	isBatch bool // whether the call was a BatchGetItem
}

// wrap runs the function before the selected call. If the call is a BatchGetItem, which is not a snapshot, the function
// runs between the reads of its items. The tree is read first. If reverse is set, the other items are read first.
func (i *interruption) wrap(next http.Handler, out http.ResponseWriter, r *http.Request) {
	if i.done.Load() || int(i.calls.Add(1)) != i.before || i.done.Swap(true) {
		next.ServeHTTP(out, r)
		return
	}
	if i.isBatch = dynamotest.Operation(r) == "BatchGetItem"; !i.isBatch {
		i.do()
		next.ServeHTTP(out, r)
		return
	}
	var request struct {
		RequestItems map[string]struct {
			ConsistentRead bool
			Keys           []jsontext.Value
		}
	}
	_ = json.UnmarshalRead(r.Body, &request)
	response := map[string]any{"UnprocessedKeys": map[string]any{}}
	responses := map[string][]any{}
	for table, requested := range request.RequestItems {
		halves := [][]jsontext.Value{{}, {}}
		for _, key := range requested.Keys {
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
			get := map[string]any{"ConsistentRead": true, "Keys": keys}
			part, _ := json.Marshal(map[string]any{"RequestItems": map[string]any{table: get}})
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
	_ = json.MarshalWrite(out, response)
}

// For each call of a request, the test makes a concurrent change before that call. The request must take the change
// into account.
func TestConflictingFileChangesAtEveryCall(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	// The content of a save with a header differs from the content of a save without one.
	save := func(path string, change ...func(*http.Request)) func(filesClient) response {
		return func(client filesClient) response {
			return client.Save(path, fmt.Sprint("from ", path, len(change)), change...)
		}
	}
	batch := func(ops ...object) func(filesClient) response {
		return func(client filesClient) response { return client.Batch(ops...) }
	}
	remove := func(path string) func(filesClient) response {
		return func(client filesClient) response { return client.Remove(path) }
	}
	ifNone, ifMatch := slicetest.Header("If-None-Match", "*"), slicetest.Header("If-Match", "*")
	// Each name describes the request first, then the concurrent change.
	const (
		untouched = "update in a batch to the current content, update the same file"
		emptied   = "save at a folder, delete its only file"
	)
	for name, tc := range map[string]struct {
		request, concurrent func(filesClient) response
		status              int // of the request, if the concurrent change is written first
		code                fault.Code
	}{
		"save in a folder, create a file at the folder": {
			save("/a/b"), save("/a"), http.StatusConflict, fault.CodeConflict,
		},
		"save in a nested folder, create a file at its parent": {
			save("/a/b/c/d"), save("/a/b"), http.StatusConflict, fault.CodeConflict,
		},
		"create a file, save inside it": {
			save("/a"), save("/a/b"), http.StatusConflict, fault.CodeConflict,
		},
		"create a file, save in a nested folder inside it": {
			save("/a"), save("/a/b/c"), http.StatusConflict, fault.CodeConflict,
		},
		"rename into a folder, create a file at the folder": {
			batch(renaming("/f", "/a/f")), save("/a"), http.StatusConflict, fault.CodeConflict,
		},
		"rename to a path, save inside the path": {
			batch(renaming("/f", "/a")), save("/a/b"), http.StatusConflict, fault.CodeConflict,
		},
		"save in a folder, rename a file to the folder": {
			save("/a/b"), batch(renaming("/f", "/a")), http.StatusConflict, fault.CodeConflict,
		},
		"rename to a path, create a file at the path": {
			batch(renaming("/f", "/a")), save("/a"), http.StatusConflict, fault.CodeConflict,
		},
		"save, create the same file": {save("/a"), save("/a", ifNone), http.StatusOK, ""},
		"create with If-None-Match, create the same file": {
			save("/a", ifNone), save("/a"), http.StatusPreconditionFailed, fault.CodePreconditionFailed,
		},
		"create in a batch, create the same file": {
			batch(creation("/a", "")), save("/a"), http.StatusConflict, fault.CodeConflict,
		},
		"save, save the same file":   {save("/f"), save("/f", ifMatch), http.StatusOK, ""},
		"save, delete the same file": {save("/f"), remove("/f"), http.StatusCreated, ""},
		"save with If-Match, delete the same file": {
			save("/f", ifMatch), remove("/f"), http.StatusPreconditionFailed, fault.CodePreconditionFailed,
		},
		"update in a batch, delete the same file": {
			batch(update("/f", "x")), remove("/f"), http.StatusNotFound, fault.CodeFileNotFound,
		},
		"rename, delete the same file": {
			batch(renaming("/f", "/g")), remove("/f"), http.StatusNotFound, fault.CodeFileNotFound,
		},
		"rename, save the same file": {batch(renaming("/f", "/g")), save("/f"), http.StatusOK, ""},
		"delete, delete the same file": {
			remove("/f"), remove("/f"), http.StatusNotFound, fault.CodeFileNotFound,
		},
		"delete, save the same file": {remove("/f"), save("/f"), http.StatusOK, ""},
		untouched: {
			batch(update("/f", "f"), creation("/g", "")), batch(update("/f", "other").With("etag", "*")), http.StatusOK, "",
		},
		emptied: {save("/h"), remove("/h/i"), http.StatusCreated, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := projecttest.New(t)
			ada := f.NewUser("ada")
			var current atomic.Pointer[interruption]
			f.UseProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
				if i := current.Load(); i != nil {
					i.wrap(next, out, r)
					return
				}
				next.ServeHTTP(out, r)
			})
			for call, isReached := 1, true; isReached; call++ {
				for _, reverse := range []bool{false, true} {
					client := ada.FilesOf(ada.Project("", "App", workspace.Private))
					client.Batch(creation("/f", "f"), creation("/h/i", "i")).Want(t, http.StatusOK)
					i := &interruption{before: call, reverse: reverse, do: func() {
						if r := tc.concurrent(client); r.Status >= http.StatusBadRequest {
							t.Errorf("concurrent change: got %d %s, want success", r.Status, r.Raw)
						}
					}}
					current.Store(i)
					r := tc.request(client)
					current.Store(nil)
					isReached = i.done.Load()
					// A save at a folder may read the folder before or after the concurrent change empties it.
					isExpected := r.Status == tc.status && r.Text("code") == string(tc.code)
					if isReached && name != emptied && !isExpected {
						t.Errorf("call %d, reverse %t: got %d %s, want %d %s",
							call, reverse, r.Status, r.Raw, tc.status, tc.code)
					}
					if name == untouched && isReached && client.Read("/f").Text("content") != "f" {
						t.Errorf("call %d: the file does not have the content of the batch", call)
					}
					client.CheckTree()
					checkFolders(client, name)
					if !i.isBatch {
						break // both orders are the same
					}
				}
			}
		})
	}
}
