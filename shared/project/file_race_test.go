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
	w := newWorld(t)
	d := w.desk("ada")
	const writers = 16
	answers := slicetest.Concurrently(writers, func(i int) answer { return d.save("/a", strings.Repeat("x", i+1)) })
	if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusOK: writers - 1}, slicetest.CountStatuses(answers)); diff != "" {
		t.Error(diff)
	}
	if n := len(d.history("/a", "").List("versions")); n != writers {
		t.Errorf("%d versions", n)
	}
	now := d.read("/a")
	if i := slices.IndexFunc(answers, func(a answer) bool { return a.Text("version") == now.Text("version") }); i < 0 || len(contentOf(t, now.Body)) != i+1 {
		t.Errorf("no writer saved %s", now.Raw)
	}
	if len(d.fileEvents()) != writers {
		t.Errorf("%d events", len(d.fileEvents()))
	}
	d.checkTree()
}

func TestOnlyOneConcurrentConditionalWriteSucceeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	ways := map[string]struct {
		status int
		try    func(i int, tag string) answer
	}{
		"save": {http.StatusOK, func(i int, tag string) answer {
			return d.save("/a", fmt.Sprint("new ", i), slicetest.Header("If-Match", tag))
		}},
		"create": {http.StatusCreated, func(i int, _ string) answer {
			return d.save("/new", fmt.Sprint(i), slicetest.Header("If-None-Match", "*"))
		}},
		"batch": {http.StatusOK, func(i int, tag string) answer {
			ops := []object{update("/a", fmt.Sprint("batch ", i)).with("etag", tag), creation(fmt.Sprint("/beside/", i), "")}
			return d.Do(http.MethodPost, d.files()+"/batch", object{"operations": ops})
		}},
		"delete": {http.StatusOK, func(_ int, tag string) answer {
			return d.Do(http.MethodDelete, d.files()+"?path=/a", nil, slicetest.Header("If-Match", tag))
		}},
	}
	for name, way := range ways {
		tag := d.save("/a", "before "+name).Header.Get("ETag")
		answers := slicetest.Concurrently(16, func(i int) answer { return way.try(i, tag) })
		n := slicetest.CountStatuses(answers)
		if n[way.status] != 1 || n[way.status]+n[http.StatusPreconditionFailed]+n[http.StatusNotFound] != 16 || (n[http.StatusNotFound] > 0 && name != "delete") {
			t.Errorf("%s: %v", name, n)
		}
	}
	if n := len(d.paths()); n != 2 && n != 3 { // /new, the one beside, and /a, if deleting came before another way
		t.Errorf("%v", d.paths())
	}
	d.checkTree()
}

// If a file and a file inside it are created at the same time, only one request succeeds.
func TestConcurrentCreationOfFileAndFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	for round := range 15 {
		root := fmt.Sprint("/", round)
		paths := []string{root, root + "/b", root + "/b/c"}
		answers := slicetest.Concurrently(len(paths), func(i int) answer {
			if round%3 == 0 {
				return d.Do(http.MethodPost, d.files()+"/batch", object{"operations": []object{creation(paths[i], "")}})
			}
			return d.save(paths[i], "")
		})
		won := 0
		for _, a := range answers {
			switch a.Status {
			case http.StatusOK, http.StatusCreated:
				won++
			case http.StatusConflict:
			default:
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		}
		if won != 1 {
			t.Errorf("round %d: %d of %v", round, won, d.paths())
		}
	}
	d.checkTree()
}

func TestFileQuotasUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuotas(file.Quotas{Files: 5, Bytes: 1000}))
	d := w.desk("ada")
	answers := slicetest.Concurrently(16, func(i int) answer { return d.save(fmt.Sprint("/", i), "x") })
	if diff := cmp.Diff(map[int]int{http.StatusCreated: 5, http.StatusPaymentRequired: 11}, slicetest.CountStatuses(answers)); diff != "" {
		t.Error(diff)
	}
	names := d.paths()
	answers = slicetest.Concurrently(16, func(i int) answer {
		return d.save(names[i%5].(string), strings.Repeat("x", 300+i))
	})
	for _, a := range answers {
		if a.Status == http.StatusPaymentRequired && a.Text("code") != string(fault.CodeQuotaExceeded) {
			t.Errorf("%s", a.Raw)
		}
	}
	if tree := d.tree(); tree.Files != 5 || tree.Bytes > 1000 || slicetest.CountStatuses(answers)[http.StatusPaymentRequired] == 0 {
		t.Errorf("%+v after %v", tree, slicetest.CountStatuses(answers))
	}
	d.checkTree()
	d.save(names[0].(string), "").Want(t, http.StatusOK) // shrinking is always allowed
	d.checkTree()
}

// Concurrent batches on the same files are atomic.
func TestConcurrentBatchesAreAtomic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	paths := []string{"/a", "/b", "/c", "/d"}
	for _, path := range paths {
		d.save(path, "0").Want(t, http.StatusCreated)
	}
	answers := slicetest.Concurrently(12, func(i int) answer {
		var ops []object
		for n := range paths {
			ops = append(ops, update(paths[(n+i)%len(paths)], fmt.Sprint("writer ", i)))
		}
		ops = append(ops, creation(fmt.Sprint("/by/", i), ""))
		return d.Do(http.MethodPost, d.files()+"/batch", object{"operations": ops})
	})
	n := slicetest.CountStatuses(answers)
	if n[http.StatusOK]+n[http.StatusConflict] != len(answers) || n[http.StatusOK] == 0 {
		t.Errorf("%v", n)
	}
	contents := d.contents()
	for _, path := range paths {
		if contents[path] != contents["/a"] {
			t.Errorf("%s is %q, /a is %q", path, contents[path], contents["/a"])
		}
	}
	if len(contents) != len(paths)+n[http.StatusOK] || len(d.fileEvents()) != len(paths)+5*n[http.StatusOK] {
		t.Errorf("%d files, %d events after %v", len(contents), len(d.fileEvents()), n)
	}
	d.checkTree()
}

// A reader that runs concurrently with writers always gets a complete version, from a read and from a list.
func TestConcurrentReadReturnsOneVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	versions := make([]string, 6)
	for i := range versions { // some of one chunk, some of three
		versions[i] = strings.Repeat(fmt.Sprint(i), 10+i%2*10)
		if i%2 == 1 {
			versions[i] = base64Of(noise(300_000))
		}
	}
	d.save("/a", versions[0]).Want(t, http.StatusCreated)
	var stop atomic.Bool
	var wg sync.WaitGroup
	failed := make(chan error, 8)
	for i := range 2 {
		wg.Go(func() {
			for n := i; !stop.Load(); n++ {
				if a := d.save("/a", versions[n%len(versions)]); a.Status != http.StatusOK {
					failed <- fmt.Errorf("save: %d %s", a.Status, a.Raw)
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
		a := d.Get(d.files()+path).Want(t, http.StatusOK)
		item := a.Body
		if files := a.List("files"); files != nil {
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
	d.checkTree()
}

// Between the reads of a file's record and of its chunks, the file is replaced and the old chunks are deleted.
func TestReadRetriesWhenChunksAreMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	d.save("/a", "old").Want(t, http.StatusCreated)
	d.save("/b", "beside").Want(t, http.StatusCreated)
	var between atomic.Pointer[func()]
	w.interpose(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if body := bodyOf(r); dynamotest.Operation(r) == "BatchGetItem" && strings.Contains(body, w.names.contents) {
			if do := between.Swap(nil); do != nil {
				(*do)()
			}
		}
		next.ServeHTTP(out, r)
	})
	direct := w.client
	expire := func() {
		for key := range w.dump(w.names.contents) {
			if _, err := direct.Do(t.Context(), w.contents.Delete(key)); err != nil {
				t.Error(err)
			}
		}
	}
	for i, read := range []func() answer{
		func() answer { return d.read("/a") },
		func() answer { return d.Get(d.files() + "?include=content&limit=1") },
	} {
		newer := fmt.Sprint("new ", i)
		replace := func() {
			expire()
			d.save("/a", newer).Want(t, http.StatusOK)
		}
		between.Store(&replace)
		a := read().Want(t, http.StatusOK)
		if !strings.Contains(a.Raw, newer) {
			t.Errorf("%s", a.Raw)
		}
	}

	between.Store(&expire) // the file is not replaced: its content is lost
	a := d.read("/a").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	d.Get(d.files()+"?include=content").Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	d.Get(d.files()).Want(t, http.StatusOK)
	d.remove("/a").Want(t, http.StatusOK)
	d.read("/a").Want(t, http.StatusNotFound, fault.CodeFileNotFound)
}

// A read never returns content that does not match the file's record.
func TestReadOfCorruptContentFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	d.save("/a", "right").Want(t, http.StatusCreated)
	for _, damage := range [][]byte{[]byte("\x00wrong"), []byte("\x00rightly"), []byte("\x07"), {}} {
		for key, item := range w.dump(w.names.contents) {
			chunk, err := db.Decode[chunk](item)
			if err != nil {
				t.Fatal(err)
			}
			chunk.Data = damage
			w.transact(w.contents.Put(key, encoded(t, chunk)))
		}
		a := d.read("/a").Want(t, http.StatusInternalServerError, fault.CodeInternal)
		if strings.Contains(a.Text("error"), "content") {
			t.Error(a.Raw)
		}
	}
	if !strings.Contains(w.log.String(), "does not match its record") {
		t.Error("the log does not have the cause")
	}
}

// Saves that run concurrently with the deletion of the project never restore the project's tree.
func TestSaveDuringProjectDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	for round := range 8 {
		d := ada.at(ada.project("", "App", Private))
		answers := slicetest.Concurrently(6, func(i int) answer {
			switch i {
			case 0:
				return d.Do(http.MethodDelete, "/api/projects/"+d.projectID, nil)
			case 1:
				return d.Do(http.MethodPost, d.files()+"/batch", object{"operations": []object{creation(fmt.Sprint("/", round), "")}})
			}
			return d.save(fmt.Sprint("/a", i), "x")
		})
		for i, a := range answers[1:] {
			if a.Status != http.StatusOK && a.Status != http.StatusCreated && a.Text("code") != string(fault.CodeProjectNotFound) {
				t.Errorf("%d: %d %s", i, a.Status, a.Raw)
			}
		}
		d.save("/late", "x").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		d.read("/a2").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	}
	for key := range w.dump(w.names.projects) {
		if key.SK == "TREE" {
			t.Errorf("the tree of a deleted project exists: %v", key)
		}
	}
}

// A version is the current version even if it was written by a server whose clock is behind.
func TestCurrentVersionWithClockSkew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.desk("ada")
	w.clock.Advance(time.Minute)
	d.save("/a", "1").Want(t, http.StatusCreated)
	w.clock.Advance(-time.Minute)
	second := d.save("/a", "2").Want(t, http.StatusOK)
	list := d.history("/a", "").Want(t, http.StatusOK).List("versions")
	if len(list) != 2 || list[0]["version"] != second.Text("version") || list[0]["current"] != true {
		data, _ := json.Marshal(list)
		t.Errorf("%s", data)
	}
}
