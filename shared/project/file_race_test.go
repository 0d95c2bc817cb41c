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
	"devplatform/shared/project/file"
)

// bodyOf reads a request's body and puts it back.
func bodyOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

// Concurrent writers of one file all succeed, one after the other, and the history has a version of each.
func TestConcurrentSavesOfOneFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	const writers = 16
	responses := slicetest.Concurrently(writers, func(i int) response { return client.save("/a", strings.Repeat("x", i+1)) })
	if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusOK: writers - 1}, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if n := len(client.history("/a", "").List("versions")); n != writers {
		t.Errorf("%d versions", n)
	}
	now := client.read("/a")
	if i := slices.IndexFunc(responses, func(r response) bool { return r.Text("version") == now.Text("version") }); i < 0 || len(contentOf(t, now.Body)) != i+1 {
		t.Errorf("no writer saved %s", now.Raw)
	}
	if len(client.fileEvents()) != writers {
		t.Errorf("%d events", len(client.fileEvents()))
	}
	client.checkTree()
}

func TestOnlyOneConcurrentConditionalWriteSucceeds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	ways := map[string]struct {
		status int
		try    func(i int, tag string) response
	}{
		"save": {http.StatusOK, func(i int, tag string) response {
			return client.save("/a", fmt.Sprint("new ", i), slicetest.Header("If-Match", tag))
		}},
		"create": {http.StatusCreated, func(i int, _ string) response {
			return client.save("/new", fmt.Sprint(i), slicetest.Header("If-None-Match", "*"))
		}},
		"batch": {http.StatusOK, func(i int, tag string) response {
			ops := []object{update("/a", fmt.Sprint("batch ", i)).with("etag", tag), creation(fmt.Sprint("/beside/", i), "")}
			return client.batch(ops...)
		}},
		"delete": {http.StatusOK, func(_ int, tag string) response {
			return client.Do(http.MethodDelete, client.url()+"?path=/a", nil, slicetest.Header("If-Match", tag))
		}},
	}
	for name, way := range ways {
		tag := client.save("/a", "before "+name).Header.Get("ETag")
		responses := slicetest.Concurrently(16, func(i int) response { return way.try(i, tag) })
		n := slicetest.CountStatuses(responses)
		if n[way.status] != 1 || n[way.status]+n[http.StatusPreconditionFailed]+n[http.StatusNotFound] != 16 || (n[http.StatusNotFound] > 0 && name != "delete") {
			t.Errorf("%s: %v", name, n)
		}
	}
	if n := len(client.paths()); n != 2 && n != 3 { // /new, the one beside, and /a, if deleting came before another way
		t.Errorf("%v", client.paths())
	}
	client.checkTree()
}

// If a file and a file inside it are created at the same time, only one request succeeds.
func TestConcurrentCreationOfFileAndFolder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	for round := range 15 {
		root := fmt.Sprint("/", round)
		paths := []string{root, root + "/b", root + "/b/c"}
		responses := slicetest.Concurrently(len(paths), func(i int) response {
			if round%3 == 0 {
				return client.batch(creation(paths[i], ""))
			}
			return client.save(paths[i], "")
		})
		won := 0
		for _, r := range responses {
			switch r.Status {
			case http.StatusOK, http.StatusCreated:
				won++
			case http.StatusConflict:
			default:
				t.Errorf("%d %s", r.Status, r.Raw)
			}
		}
		if won != 1 {
			t.Errorf("round %d: %d of %v", round, won, client.paths())
		}
	}
	client.checkTree()
}

func TestFileQuotasUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuotas(file.Quotas{Files: 5, Bytes: 1000}))
	client := f.newFilesClient("ada")
	responses := slicetest.Concurrently(16, func(i int) response { return client.save(fmt.Sprint("/", i), "x") })
	if diff := cmp.Diff(map[int]int{http.StatusCreated: 5, http.StatusPaymentRequired: 11}, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	names := client.paths()
	responses = slicetest.Concurrently(16, func(i int) response {
		return client.save(names[i%5].(string), strings.Repeat("x", 300+i))
	})
	for _, r := range responses {
		if r.Status == http.StatusPaymentRequired && r.Text("code") != string(fault.CodeQuotaExceeded) {
			t.Errorf("%s", r.Raw)
		}
	}
	if tree := client.tree(); tree.Files != 5 || tree.Bytes > 1000 || slicetest.CountStatuses(responses)[http.StatusPaymentRequired] == 0 {
		t.Errorf("%+v after %v", tree, slicetest.CountStatuses(responses))
	}
	client.checkTree()
	client.save(names[0].(string), "").Want(t, http.StatusOK) // shrinking is always allowed
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
		for n := range paths {
			ops = append(ops, update(paths[(n+i)%len(paths)], fmt.Sprint("writer ", i)))
		}
		ops = append(ops, creation(fmt.Sprint("/by/", i), ""))
		return client.batch(ops...)
	})
	n := slicetest.CountStatuses(responses)
	if n[http.StatusOK]+n[http.StatusConflict] != len(responses) || n[http.StatusOK] == 0 {
		t.Errorf("%v", n)
	}
	contents := client.contents()
	for _, path := range paths {
		if contents[path] != contents["/a"] {
			t.Errorf("%s is %q, /a is %q", path, contents[path], contents["/a"])
		}
	}
	if len(contents) != len(paths)+n[http.StatusOK] || len(client.fileEvents()) != len(paths)+5*n[http.StatusOK] {
		t.Errorf("%d files, %d events after %v", len(contents), len(client.fileEvents()), n)
	}
	client.checkTree()
}

// A reader that runs concurrently with writers always gets a complete version, from a read and from a list.
func TestConcurrentReadReturnsOneVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	versions := make([]string, 6)
	for i := range versions { // some of one chunk, some of three
		versions[i] = strings.Repeat(fmt.Sprint(i), 10+i%2*10)
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
		path := "?path=/a"
		if n%4 == 3 {
			path = "?include=content"
		}
		r := client.Get(client.url()+path).Want(t, http.StatusOK)
		item := r.Body
		if files := r.List("files"); files != nil {
			item = files[0]
		}
		got := contentOf(t, item)
		if !slices.Contains(versions, got) || item["sha256"] != hexSum([]byte(got)) || item["size"] != float64(len(got)) {
			t.Fatalf("%d bytes that no writer saved, size %v", len(got), item["size"])
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

// Between the reads of a file's record and of its chunks, the file is replaced and the old chunks are deleted.
func TestReadRetriesWhenChunksAreMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.save("/a", "old").Want(t, http.StatusCreated)
	client.save("/b", "beside").Want(t, http.StatusCreated)
	var between atomic.Pointer[func()]
	f.useProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if body := bodyOf(r); dynamotest.Operation(r) == "BatchGetItem" && strings.Contains(body, f.tableNames.contents) {
			if do := between.Swap(nil); do != nil {
				(*do)()
			}
		}
		next.ServeHTTP(out, r)
	})
	direct := f.client
	expire := func() {
		for key := range f.dump(f.tableNames.contents) {
			if _, err := direct.Do(t.Context(), f.contents.Delete(key)); err != nil {
				t.Error(err)
			}
		}
	}
	for i, read := range []func() response{
		func() response { return client.read("/a") },
		func() response { return client.Get(client.url() + "?include=content&limit=1") },
	} {
		newer := fmt.Sprint("new ", i)
		replace := func() {
			expire()
			client.save("/a", newer).Want(t, http.StatusOK)
		}
		between.Store(&replace)
		r := read().Want(t, http.StatusOK)
		if !strings.Contains(r.Raw, newer) {
			t.Errorf("%s", r.Raw)
		}
	}

	between.Store(&expire) // the file is not replaced: its content is lost
	r := client.read("/a").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	if r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	client.Get(client.url()+"?include=content").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	client.Get(client.url()).Want(t, http.StatusOK)
	client.remove("/a").Want(t, http.StatusOK)
	client.read("/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
}

// A read never returns content that does not match the file's record.
func TestReadOfCorruptContentFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	client.save("/a", "right").Want(t, http.StatusCreated)
	for _, damage := range [][]byte{[]byte("\x00wrong"), []byte("\x00rightly"), []byte("\x07"), {}} {
		for key, item := range f.dump(f.tableNames.contents) {
			chunk, err := db.Decode[chunk](item)
			if err != nil {
				t.Fatal(err)
			}
			chunk.Data = damage
			f.transact(f.contents.Put(key, encode(t, chunk)))
		}
		r := client.read("/a").Want(t, http.StatusInternalServerError, fault.CodeInternal)
		if strings.Contains(r.Text("error"), "content") {
			t.Error(r.Raw)
		}
	}
	if !strings.Contains(f.log.String(), "does not match its record") {
		t.Error("the log does not have the cause")
	}
}

// Saves that run concurrently with the deletion of the project never restore the project's tree.
func TestSaveDuringProjectDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for round := range 8 {
		client := ada.filesOf(ada.project("", "App", Private))
		responses := slicetest.Concurrently(6, func(i int) response {
			switch i {
			case 0:
				return client.Do(http.MethodDelete, "/api/projects/"+client.projectID, nil)
			case 1:
				return client.batch(creation(fmt.Sprint("/", round), ""))
			}
			return client.save(fmt.Sprint("/a", i), "x")
		})
		for i, r := range responses[1:] {
			if r.Status != http.StatusOK && r.Status != http.StatusCreated && r.Text("code") != string(fault.CodeProjectNotFound) {
				t.Errorf("%d: %d %s", i, r.Status, r.Raw)
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

// A version is the current version even if it was written by a server whose clock is behind.
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
		t.Errorf("%s", data)
	}
}
