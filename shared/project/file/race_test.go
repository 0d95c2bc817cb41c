package file_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// bodyOf returns a request's body. The body can then be read again.
func bodyOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

func TestOnlyOneConcurrentConditionalWriteSucceeds(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	requests := map[string]struct {
		wantStatus int // of the request that succeeds
		do         func(i int, tag string) response
	}{
		"save": {http.StatusOK, func(i int, tag string) response {
			return client.Save("/a", fmt.Sprint("new ", i), slicetest.Header("If-Match", tag))
		}},
		"create": {http.StatusCreated, func(i int, _ string) response {
			return client.Save("/new", fmt.Sprint(i), slicetest.Header("If-None-Match", "*"))
		}},
		"batch": {http.StatusOK, func(i int, tag string) response {
			ops := []object{update("/a", fmt.Sprint("batch ", i)).With("etag", tag), creation(fmt.Sprint("/batch/", i), "")}
			return client.Batch(ops...)
		}},
		"delete": {http.StatusOK, func(_ int, tag string) response {
			return client.Do(http.MethodDelete, client.URL()+"?path=/a", nil, slicetest.Header("If-Match", tag))
		}},
	}
	const concurrent = 16
	for name, request := range requests {
		tag := client.Save("/a", "before "+name).Header.Get("ETag")
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
	if n := len(client.Paths()); n != 2 && n != 3 {
		t.Errorf("got the files %v, want 2 or 3", client.Paths())
	}
	client.CheckTree()
}

// Concurrent saves fill the quota of files exactly.
func TestFileQuotaUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithQuotas(projecttest.Quotas(5, 1000)))
	client := f.NewFilesClient("ada")
	responses := slicetest.Concurrently(16, func(i int) response { return client.Save(fmt.Sprint("/", i), "x") })
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusCreated: 5, http.StatusPaymentRequired: 11})
	client.CheckTree()
}

// While other clients save a file, reading the file and listing it with its content return a complete version.
func TestConcurrentReadReturnsOneVersion(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	versions := make([]string, 6)
	for i := range versions { // some are short, others are large and random
		versions[i] = strings.Repeat(fmt.Sprint(i), 10)
		if i%2 == 1 {
			versions[i] = base64Of(randomBytes(300_000))
		}
	}
	client.Save("/a", versions[0]).Want(t, http.StatusCreated)
	var stop atomic.Bool
	var wg sync.WaitGroup
	failed := make(chan error, 8)
	for i := range 2 {
		wg.Go(func() {
			for n := i; !stop.Load(); n++ {
				if r := client.Save("/a", versions[n%len(versions)]); r.Status != http.StatusOK {
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
		r := client.Get(client.URL()+query).Want(t, http.StatusOK)
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
	client.CheckTree()
}

// After a read of a file's record, and before the read of its chunks, another request replaces the file and its old
// chunks are deleted. The read is retried and returns the new content.
func TestReadRetriesWhenChunksAreMissing(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/a", "old").Want(t, http.StatusCreated)
	client.Save("/b", "another file").Want(t, http.StatusCreated)
	var beforeChunks atomic.Pointer[func()]
	f.UseProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if body := bodyOf(r); dynamotest.Operation(r) == "BatchGetItem" && strings.Contains(body, f.Tables.Contents) {
			if do := beforeChunks.Swap(nil); do != nil {
				(*do)()
			}
		}
		next.ServeHTTP(out, r)
	})
	deleteChunks := func() {
		for key := range f.Dump(f.Tables.Contents) {
			if _, err := f.Client.Do(t.Context(), f.Contents.Delete(key)); err != nil {
				t.Error(err)
			}
		}
	}
	for i, read := range []func() response{
		func() response { return client.Read("/a") },
		// The list contains only /a: the chunks of /b are deleted and not replaced.
		func() response { return client.Get(client.URL() + "?include=content&limit=1") },
	} {
		newContent := fmt.Sprint("new ", i)
		replace := func() {
			deleteChunks()
			client.Save("/a", newContent).Want(t, http.StatusOK)
		}
		beforeChunks.Store(&replace)
		r := read().Want(t, http.StatusOK)
		if !strings.Contains(r.Raw, newContent) {
			t.Errorf("got %s, want the content %q", r.Raw, newContent)
		}
	}

	beforeChunks.Store(&deleteChunks) // the file is not replaced, so its content is lost
	r := client.Read("/a").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	if r.Header.Get("Retry-After") == "" {
		t.Error("the response has no header Retry-After")
	}
	client.Get(client.URL()+"?include=content").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	client.Get(client.URL()).Want(t, http.StatusOK)
	client.Remove("/a").Want(t, http.StatusOK)
	client.Read("/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
}

// A read of content that does not match the file's record fails.
func TestReadOfCorruptContentFails(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/a", "valid").Want(t, http.StatusCreated)
	// The first byte of a chunk is its format. The cases are: wrong content, wrong size, unknown format, and no format.
	for _, corrupt := range [][]byte{[]byte("\x00wrong"), []byte("\x00validity"), []byte("\x07"), {}} {
		for key, item := range f.Dump(f.Tables.Contents) {
			chunk, err := db.Decode[projecttest.Chunk](item)
			if err != nil {
				t.Fatal(err)
			}
			chunk.Data = corrupt
			f.Transact(f.Contents.Put(key, projecttest.Encode(t, chunk)))
		}
		r := client.Read("/a").Want(t, http.StatusInternalServerError, fault.CodeInternal)
		if strings.Contains(r.Text("error"), "content") {
			t.Errorf("the error %s contains internal details", r.Raw)
		}
	}
	if !strings.Contains(f.Log.String(), "does not match its record") {
		t.Error("the log does not contain the cause")
	}
}

// Saves that run concurrently with the deletion of their project do not write the project's tree item again.
func TestSaveDuringProjectDeletion(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	for round := range 8 {
		client := ada.FilesOf(ada.Project("", "App", workspace.Private))
		responses := slicetest.Concurrently(6, func(i int) response {
			switch i { // one deletion, one batch, four saves
			case 0:
				return client.Do(http.MethodDelete, "/api/projects/"+client.ProjectID, nil)
			case 1:
				return client.Batch(creation(fmt.Sprint("/", round), ""))
			}
			return client.Save(fmt.Sprint("/a", i), "x")
		})
		for i, r := range responses[1:] {
			isSuccess := r.Status == http.StatusOK || r.Status == http.StatusCreated
			if !isSuccess && r.Text("code") != string(fault.CodeProjectNotFound) {
				t.Errorf("request %d: got %d %s, want success or PROJECT_NOT_FOUND", i+1, r.Status, r.Raw)
			}
		}
		client.Save("/late", "x").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		client.Read("/a2").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	}
	for key := range f.Dump(f.Tables.Projects) {
		if key.SK == "TREE" {
			t.Errorf("the tree of a deleted project exists: %v", key)
		}
	}
}
