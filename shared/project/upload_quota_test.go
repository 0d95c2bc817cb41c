package project

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/project/file"
)

// Announced bytes count against the quota of the project until the upload is completed or its URL expires.
func TestAnnouncedBytesCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuotas(quotas(5000, 100)))
	client := f.newFilesClient("ada")
	client.save("/a", string(make([]byte, 30))).Want(t, http.StatusCreated)
	a := client.announce("/b", make([]byte, 60), nil)
	full := func(r response) { t.Helper(); r.Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded) }
	full(client.save("/c", string(make([]byte, 11))))
	full(client.batch(creation("/c", "12345"), creation("/d", "123456")))
	full(client.tryAnnounce("/c", make([]byte, 11), nil))
	client.announce("/c", make([]byte, 10), nil)
	full(client.save("/d", "x"))
	client.wantTree("while both uploads are open", 100, 2, 100)
	a.put(nil)
	a.complete().Want(t, http.StatusCreated)
	client.wantTree("after a completion", 100, 1, 100)

	f.clock.Advance(15*time.Minute - time.Millisecond)
	full(client.save("/d", "x"))
	f.clock.Advance(time.Millisecond)
	client.save("/d", "x").Want(t, http.StatusCreated)
	client.wantTree("after the release", 91, 0, 101)
	client.checkTree()
}

// An upload whose bytes were released is checked against the quota of the project again when it is completed. Its bytes
// stay counted as written, because they were sent.
func TestCompleteAfterRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuotas(quotas(5000, 100)))
	client := f.newFilesClient("ada")
	a := client.announce("/a", make([]byte, 60), nil)
	a.put(nil)
	f.clock.Advance(15 * time.Minute)
	client.save("/b", string(make([]byte, 70))).Want(t, http.StatusCreated)
	client.wantTree("after the release", 70, 0, 60+70)
	a.complete().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	client.save("/b", string(make([]byte, 40))).Want(t, http.StatusOK)
	a.complete().Want(t, http.StatusCreated)
	client.wantTree("after the completion", 100, 0, 70+40+60)
	client.checkTree()
}

// The bytes of an upload that was not released are reserved until it is completed, even after its URL has expired.
func TestCompleteAfterExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuotas(quotas(5000, 100)))
	client := f.newFilesClient("ada")
	a := client.announce("/a", make([]byte, 100), nil)
	a.put(nil)
	f.clock.Advance(time.Hour)
	a.complete().Want(t, http.StatusCreated)
	client.wantTree("after the completion", 100, 0, 100)
}

// Announced bytes count as written by the user who announced them, once, on the day of the announcement, even if the
// upload expires.
func TestAnnouncedBytesCountAsWritten(t *testing.T) {
	t.Parallel()
	q := file.DefaultQuotas()
	q.WrittenPerDay = 100
	f := newFixture(t, withQuotas(q))
	f.clock.Advance(time.Date(2031, 5, 5, 23, 30, 0, 0, time.UTC).Sub(f.clock.Now()))
	client := f.newFilesClient("ada")
	full := func(r response) { t.Helper(); r.Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded) }
	full(client.tryAnnounce("/a", make([]byte, 101), nil))
	a := client.announce("/a", make([]byte, 60), nil)
	client.announce("/b", make([]byte, 40), nil)
	full(client.save("/c", "x"))
	full(client.tryAnnounce("/c", []byte("x"), nil))
	client.tryAnnounce("/c", nil, nil).Want(t, http.StatusCreated) // no bytes
	a.put(nil)
	a.complete().Want(t, http.StatusCreated)
	client.wantTree("before the expiry", 100, 2, 100)
	f.clock.Advance(29 * time.Minute)
	full(client.save("/c", "x")) // S3 may have received the bytes of the expired upload
	client.wantTree("after the expiry", 100, 2, 100)
	f.clock.Advance(time.Minute) // midnight
	client.announce("/d", make([]byte, 100), nil)
	full(client.save("/e", "x"))
}

// A project has at most 100 open uploads, also of empty files. Expired ones make room for others.
func TestMaxOpenUploads(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	client := ada.filesOf(ada.project(ada.workspace("Team"), "App", Team))
	workspaceID, _ := f.workspaceOf(client.projectID)
	f.setRole(workspaceID, grace, "member")
	first := client.announce("/0", []byte("12"), nil)
	f.clock.Advance(time.Minute)
	for i := range 99 {
		u := []*user{ada, grace}[i%2]
		u.filesOf(client.projectID).announce(fmt.Sprint("/", i), make([]byte, i%3), nil)
	}
	r := client.tryAnnounce("/x", nil, nil).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	if seconds, _ := strconv.Atoi(r.Header.Get("Retry-After")); seconds != 14*60 {
		t.Errorf("got Retry-After %d, want 840, when the first upload expires", seconds)
	}
	first.put(nil)
	first.complete().Want(t, http.StatusCreated)
	last := slicetest.Concurrently(8, func(i int) response { return client.tryAnnounce(fmt.Sprint("/x/", i), nil, nil) })
	wantStatuses(t, last, map[int]int{http.StatusCreated: 1, http.StatusTooManyRequests: 7})
	f.clock.Advance(15 * time.Minute)
	responses := slicetest.Concurrently(8, func(i int) response {
		return client.tryAnnounce(fmt.Sprint("/new/", i), []byte("1"), nil)
	})
	wantStatuses(t, responses, map[int]int{http.StatusCreated: 8})
	client.wantTree("after the release", 2+8, 8, 2+99+8)
}

// workspaceOf returns the workspace of a project.
func (f *fixture) workspaceOf(projectID string) (workspaceID string, err error) {
	f.t.Helper()
	item, err := f.projects.Get(f.t.Context(), db.TreeKey(projectID))
	if err != nil {
		f.t.Fatal(err)
	}
	tree, err := db.Decode[file.Tree](item)
	return tree.WorkspaceID, err
}

// Concurrent announcements and saves fill the quota exactly, and never exceed it.
func TestConcurrentAnnouncementsFillQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuotas(quotas(5000, 1000)))
	client := f.newFilesClient("ada")
	var mu sync.Mutex
	var open []announced
	responses := slicetest.Concurrently(16, func(i int) response {
		path := fmt.Sprint("/", i)
		if i%2 == 0 {
			return client.save(path, string(make([]byte, 100)))
		}
		r := client.tryAnnounce(path, make([]byte, 100), nil)
		if r.Status == http.StatusCreated {
			mu.Lock()
			defer mu.Unlock()
			open = append(open, client.announcedOf(r, make([]byte, 100)))
		}
		return r
	})
	wantStatuses(t, responses, map[int]int{http.StatusCreated: 10, http.StatusPaymentRequired: 6})
	client.wantTree("while uploads are open", 1000, len(open), 1000)
	completed := slicetest.Concurrently(len(open), func(i int) response {
		open[i].put(nil)
		return open[i].complete()
	})
	wantStatuses(t, completed, map[int]int{http.StatusCreated: len(open)})
	client.wantTree("at the end", 1000, 0, 1000)
	client.checkTree()
}

// openBytes returns the number of open uploads and their bytes.
func (client filesClient) openBytes() (n, bytes int) {
	client.f.t.Helper()
	items, err := client.f.projects.QueryAll(client.f.t.Context(), db.UploadsOf(client.projectID))
	if err != nil {
		client.f.t.Fatal(err)
	}
	for _, item := range items {
		u, err := db.Decode[struct {
			Status string `dynamodbav:"status"`
			Size   int    `dynamodbav:"size"`
		}](item)
		if err != nil {
			client.f.t.Fatal(err)
		}
		if u.Status == "open" {
			n, bytes = n+1, bytes+u.Size
		}
	}
	return n, bytes
}

// Random requests run at the same time, while uploads expire and are released. The project never has more bytes than
// the quota, and its counters always match its files and open uploads.
func TestQuotaOfRandomUploads(t *testing.T) {
	t.Parallel()
	const limit, seed = 2000, 5
	f := newFixture(t, withQuotas(quotas(5000, limit)))
	client := f.newFilesClient("ada")
	random := rand.New(rand.NewPCG(seed, seed))
	var mu sync.Mutex
	var open []announced
	statuses := map[string]int{}
	act := func(kind, n int) {
		var r response
		path, data := fmt.Sprint("/", n%7), make([]byte, n%400)
		name := []string{"save", "announce", "complete", "delete"}[kind]
		switch name {
		case "save":
			r = client.save(path, string(data))
		case "announce":
			if r = client.tryAnnounce(path, data, nil); r.Status == http.StatusCreated {
				mu.Lock()
				open = append(open, client.announcedOf(r, data))
				mu.Unlock()
			}
		case "complete":
			mu.Lock()
			var a announced
			if len(open) > 0 {
				a = open[n%len(open)]
			}
			mu.Unlock()
			if a.ID == "" {
				return
			}
			if n%3 > 0 {
				a.put(nil)
			}
			r = a.complete()
		case "delete":
			r = client.remove(path)
		}
		mu.Lock()
		statuses[fmt.Sprint(name, " ", r.Status)]++
		mu.Unlock()
	}
	for range 40 {
		var wg sync.WaitGroup
		for range 6 {
			kind, n := random.IntN(4), random.IntN(1<<20)
			wg.Go(func() { act(kind, n) })
		}
		wg.Wait()
		n, bytes := client.openBytes()
		tree := client.tree()
		if tree.Bytes > limit || tree.Uploads != n || tree.Bytes != client.fileBytes()+bytes {
			t.Fatalf("got the tree %+v, want at most %d bytes, %d open uploads and %d bytes", tree, limit, n,
				client.fileBytes()+bytes)
		}
		f.clock.Advance(time.Duration(random.IntN(8)) * time.Minute)
	}
	t.Log(statuses)
	for _, want := range []string{
		"save 201", "save 200", "save 402", "announce 201", "announce 402", "complete 201", "complete 200", "complete 409",
	} {
		if statuses[want] == 0 {
			t.Errorf("no request had the result %q", want)
		}
	}
	f.clock.Advance(15 * time.Minute)
	client.tryAnnounce("/x", make([]byte, limit), nil)
	client.checkTree()
}

// fileBytes returns the number of bytes of the project's files.
func (client filesClient) fileBytes() (n int) {
	client.f.t.Helper()
	for _, size := range client.Get(client.url()).Want(client.f.t, http.StatusOK).Values("files", "size") {
		bytes, _ := size.(float64)
		n += int(bytes)
	}
	return n
}
