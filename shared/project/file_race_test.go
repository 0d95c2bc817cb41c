package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// bodyOf returns a request's body. The body can then be read again.
func bodyOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

// Concurrent saves of one file all succeed, and each of them creates a version.
func TestConcurrentSavesOfOneFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	const writers = 16
	responses := slicetest.Concurrently(writers, func(i int) response {
		return client.save("/a", strings.Repeat("x", i+1))
	})
	wantStatuses(t, responses, map[int]int{http.StatusCreated: 1, http.StatusOK: writers - 1})
	if n := len(client.history("/a", "").List("versions")); n != writers {
		t.Errorf("got %d versions, want %d", n, writers)
	}
	current := client.read("/a")
	writer := slices.IndexFunc(responses, func(r response) bool { return r.Text("version") == current.Text("version") })
	if writer < 0 || len(contentOf(t, current.Body)) != writer+1 {
		t.Errorf("got %s, which no writer saved", current.Raw)
	}
	if n := len(client.fileEvents()); n != writers {
		t.Errorf("got %d events, want %d", n, writers)
	}
	client.checkTree()
}

// wantStatuses checks the number of responses with each status.
func wantStatuses(t *testing.T, responses []response, want map[int]int) {
	t.Helper()
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("number of responses by status: mismatch (-want +got):\n%s", diff)
	}
}

func TestOnlyOneConcurrentConditionalWriteSucceeds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	requests := map[string]struct {
		wantStatus int // of the request that succeeds
		do         func(i int, tag string) response
	}{
		"save": {http.StatusOK, func(i int, tag string) response {
			return client.save("/a", fmt.Sprint("new ", i), slicetest.Header("If-Match", tag))
		}},
		"create": {http.StatusCreated, func(i int, _ string) response {
			return client.save("/new", fmt.Sprint(i), slicetest.Header("If-None-Match", "*"))
		}},
		"batch": {http.StatusOK, func(i int, tag string) response {
			ops := []object{update("/a", fmt.Sprint("batch ", i)).with("etag", tag), creation(fmt.Sprint("/batch/", i), "")}
			return client.batch(ops...)
		}},
		"delete": {http.StatusOK, func(_ int, tag string) response {
			return client.Do(http.MethodDelete, client.url()+"?path=/a", nil, slicetest.Header("If-Match", tag))
		}},
	}
	const concurrent = 16
	for name, request := range requests {
		tag := client.save("/a", "before "+name).Header.Get("ETag")
		responses := slicetest.Concurrently(concurrent, func(i int) response { return request.do(i, tag) })
		n := slicetest.CountStatuses(responses)
		failed := n[http.StatusPreconditionFailed] + n[http.StatusNotFound]
		if n[request.wantStatus] != 1 || n[request.wantStatus]+failed != concurrent {
			t.Errorf("%s: got responses by status %v, want one with %d, the others 412 or 404", name, n, request.wantStatus)
		}
		if n[http.StatusNotFound] > 0 && name != "delete" {
			t.Errorf("%s: got %d responses with status 404, want 0", name, n[http.StatusNotFound])
		}
	}
	// /new and one file in /batch exist. /a exists, too, unless "delete" was the last case. The order of a map is random.
	if n := len(client.paths()); n != 2 && n != 3 {
		t.Errorf("got the files %v, want 2 or 3", client.paths())
	}
	client.checkTree()
}

// If requests create a file and files inside its path at the same time, only one request succeeds.
func TestConcurrentCreationOfFileAndFolder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	for round := range 15 {
		root := fmt.Sprint("/", round)
		paths := []string{root, root + "/b", root + "/b/c"}
		responses := slicetest.Concurrently(len(paths), func(i int) response {
			if round%3 == 0 { // some rounds use batches
				return client.batch(creation(paths[i], ""))
			}
			return client.save(paths[i], "")
		})
		succeeded := 0
		for _, r := range responses {
			switch r.Status {
			case http.StatusOK, http.StatusCreated:
				succeeded++
			case http.StatusConflict:
			default:
				t.Errorf("got %d %s, want success or 409", r.Status, r.Raw)
			}
		}
		if succeeded != 1 {
			t.Errorf("round %d: %d requests succeeded, want 1; files: %v", round, succeeded, client.paths())
		}
	}
	client.checkTree()
}

func TestFileQuotasUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuotas(quotas(5, 1000)))
	client := f.newFilesClient("ada")
	responses := slicetest.Concurrently(16, func(i int) response { return client.save(fmt.Sprint("/", i), "x") })
	wantStatuses(t, responses, map[int]int{http.StatusCreated: 5, http.StatusPaymentRequired: 11})
	// The quota of 1000 bytes has room for three files of this size, but not for five.
	paths := client.paths()
	responses = slicetest.Concurrently(16, func(i int) response {
		return client.save(paths[i%5].(string), strings.Repeat("x", 300+i))
	})
	for _, r := range responses {
		if r.Status == http.StatusPaymentRequired && r.Text("code") != string(fault.CodeQuotaExceeded) {
			t.Errorf("got %s, want the code QUOTA_EXCEEDED", r.Raw)
		}
	}
	if tree := client.tree(); tree.Files != 5 || tree.Bytes > 1000 {
		t.Errorf("got %d files and %d bytes, want 5 files and at most 1000 bytes", tree.Files, tree.Bytes)
	}
	if statuses := slicetest.CountStatuses(responses); statuses[http.StatusPaymentRequired] == 0 {
		t.Errorf("got responses by status %v, want at least one quota error", statuses)
	}
	client.checkTree()
	client.save(paths[0].(string), "").Want(t, http.StatusOK) // a smaller file is always allowed
	client.checkTree()
}

// Concurrent batches on the same files are atomic.
func TestConcurrentBatchesAreAtomic(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	paths := []string{"/a", "/b", "/c", "/d"}
	for _, path := range paths {
		client.save(path, "0").Want(t, http.StatusCreated)
	}
	responses := slicetest.Concurrently(12, func(i int) response {
		var ops []object
		for n := range paths { // each batch starts with a different file
			ops = append(ops, update(paths[(n+i)%len(paths)], fmt.Sprint("writer ", i)))
		}
		ops = append(ops, creation(fmt.Sprint("/writer/", i), ""))
		return client.batch(ops...)
	})
	n := slicetest.CountStatuses(responses)
	if n[http.StatusOK]+n[http.StatusConflict] != len(responses) || n[http.StatusOK] == 0 {
		t.Errorf("got responses by status %v, want 200 or 409, and at least one 200", n)
	}
	perBatch := len(paths) + 1 // the updates and the creation
	contents := client.contents()
	for _, path := range paths {
		if contents[path] != contents["/a"] {
			t.Errorf("%s has the content %q, want the same as /a: %q", path, contents[path], contents["/a"])
		}
	}
	if len(contents) != len(paths)+n[http.StatusOK] || len(client.fileEvents()) != len(paths)+perBatch*n[http.StatusOK] {
		t.Errorf("got %d files and %d events after responses by status %v, want one new file and %d events per success",
			len(contents), len(client.fileEvents()), n, perBatch)
	}
	client.checkTree()
}

// While other clients save a file, reading the file and listing it with its content return a complete version.
func TestConcurrentReadReturnsOneVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	versions := make([]string, 6)
	for i := range versions { // some are short, others are large and random
		versions[i] = strings.Repeat(fmt.Sprint(i), 10)
		if i%2 == 1 {
			versions[i] = base64Of(randomBytes(300_000))
		}
	}
	client.save("/a", versions[0]).Want(t, http.StatusCreated)
	var stop atomic.Bool
	var wg sync.WaitGroup
	failed := make(chan error, 8)
	for i := range 2 {
		wg.Go(func() {
			for n := i; !stop.Load(); n++ {
				if r := client.save("/a", versions[n%len(versions)]); r.Status != http.StatusOK {
					failed <- fmt.Errorf("save: %d %s", r.Status, r.Raw)
					return
				}
			}
		})
	}
	for n := range 24 {
		query := "?path=/a"
		if n%4 == 3 { // every fourth request is a list
			query = "?include=content"
		}
		r := client.Get(client.url()+query).Want(t, http.StatusOK)
		item := r.Body
		if files := r.List("files"); files != nil {
			item = files[0]
		}
		got := contentOf(t, item)
		if !slices.Contains(versions, got) || item["sha256"] != hexSum([]byte(got)) || item["size"] != float64(len(got)) {
			t.Fatalf("got %d bytes (size %v) that no writer saved", len(got), item["size"])
		}
	}
	stop.Store(true)
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	client.checkTree()
}

// After a read of a file's record, and before the read of its chunks, another request replaces the file and its old
// chunks are deleted. The read is retried and returns the new content.
func TestReadRetriesWhenChunksAreMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.save("/a", "old").Want(t, http.StatusCreated)
	client.save("/b", "another file").Want(t, http.StatusCreated)
	var beforeChunks atomic.Pointer[func()]
	f.useProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if body := bodyOf(r); dynamotest.Operation(r) == "BatchGetItem" && strings.Contains(body, f.tableNames.contents) {
			if do := beforeChunks.Swap(nil); do != nil {
				(*do)()
			}
		}
		next.ServeHTTP(out, r)
	})
	deleteChunks := func() {
		for key := range f.dump(f.tableNames.contents) {
			if _, err := f.client.Do(t.Context(), f.contents.Delete(key)); err != nil {
				t.Error(err)
			}
		}
	}
	for i, read := range []func() response{
		func() response { return client.read("/a") },
		// The list contains only /a: the chunks of /b are deleted and not replaced.
		func() response { return client.Get(client.url() + "?include=content&limit=1") },
	} {
		newContent := fmt.Sprint("new ", i)
		replace := func() {
			deleteChunks()
			client.save("/a", newContent).Want(t, http.StatusOK)
		}
		beforeChunks.Store(&replace)
		r := read().Want(t, http.StatusOK)
		if !strings.Contains(r.Raw, newContent) {
			t.Errorf("got %s, want the content %q", r.Raw, newContent)
		}
	}

	beforeChunks.Store(&deleteChunks) // the file is not replaced, so its content is lost
	r := client.read("/a").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	if r.Header.Get("Retry-After") == "" {
		t.Error("the response has no header Retry-After")
	}
	client.Get(client.url()+"?include=content").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	client.Get(client.url()).Want(t, http.StatusOK)
	client.remove("/a").Want(t, http.StatusOK)
	client.read("/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
}

// A read of content that does not match the file's record fails.
func TestReadOfCorruptContentFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.save("/a", "valid").Want(t, http.StatusCreated)
	// The first byte of a chunk is its format. The cases are: wrong content, wrong size, unknown format, and no format.
	for _, corrupt := range [][]byte{[]byte("\x00wrong"), []byte("\x00validity"), []byte("\x07"), {}} {
		for key, item := range f.dump(f.tableNames.contents) {
			chunk, err := db.Decode[chunk](item)
			if err != nil {
				t.Fatal(err)
			}
			chunk.Data = corrupt
			f.transact(f.contents.Put(key, encode(t, chunk)))
		}
		r := client.read("/a").Want(t, http.StatusInternalServerError, fault.CodeInternal)
		if strings.Contains(r.Text("error"), "content") {
			t.Errorf("the error %s contains internal details", r.Raw)
		}
	}
	if !strings.Contains(f.log.String(), "does not match its record") {
		t.Error("the log does not contain the cause")
	}
}

// Saves that run concurrently with the deletion of their project do not write the project's tree item again.
func TestSaveDuringProjectDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for round := range 8 {
		client := ada.filesOf(ada.project("", "App", Private))
		responses := slicetest.Concurrently(6, func(i int) response {
			switch i { // one deletion, one batch, four saves
			case 0:
				return client.Do(http.MethodDelete, "/api/projects/"+client.projectID, nil)
			case 1:
				return client.batch(creation(fmt.Sprint("/", round), ""))
			}
			return client.save(fmt.Sprint("/a", i), "x")
		})
		for i, r := range responses[1:] {
			isSuccess := r.Status == http.StatusOK || r.Status == http.StatusCreated
			if !isSuccess && r.Text("code") != string(fault.CodeProjectNotFound) {
				t.Errorf("request %d: got %d %s, want success or PROJECT_NOT_FOUND", i+1, r.Status, r.Raw)
			}
		}
		client.save("/late", "x").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		client.read("/a2").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	}
	for key := range f.dump(f.tableNames.projects) {
		if key.SK == "TREE" {
			t.Errorf("the tree of a deleted project exists: %v", key)
		}
	}
}

// The last saved version is the current version, even if the clock of the server that saved it is slow.
func TestCurrentVersionWithClockSkew(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	f.clock.Advance(time.Minute)
	client.save("/a", "1").Want(t, http.StatusCreated)
	f.clock.Advance(-time.Minute)
	second := client.save("/a", "2").Want(t, http.StatusOK)
	list := client.history("/a", "").Want(t, http.StatusOK).List("versions")
	if len(list) != 2 || list[0]["version"] != second.Text("version") || list[0]["current"] != true {
		data, _ := json.Marshal(list)
		t.Errorf("got the versions %s, want 2, starting with the version of the second save", data)
	}
}
