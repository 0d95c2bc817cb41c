package file_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// Announced bytes count against the quota of the project until the upload is completed or its URL expires.
func TestAnnouncedBytesCount(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithQuotas(projecttest.Quotas(5000, 100)))
	client := f.NewFilesClient("ada")
	client.Save("/a", string(make([]byte, 30))).Want(t, http.StatusCreated)
	a := client.Announce("/b", make([]byte, 60), nil)
	wantFull := func(r response) { t.Helper(); r.Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded) }
	wantFull(client.Save("/c", string(make([]byte, 11))))
	wantFull(client.Batch(creation("/c", "12345"), creation("/d", "123456")))
	wantFull(client.TryAnnounce("/c", make([]byte, 11), nil))
	client.Announce("/c", make([]byte, 10), nil)
	wantFull(client.Save("/d", "x"))
	client.WantTree("while both uploads are open", 100, 2, 100)
	a.Put(nil)
	a.Complete().Want(t, http.StatusCreated)
	client.WantTree("after a completion", 100, 1, 100)

	damaged := db.UploadKey(client.ProjectID, f.IDs.New(id.Upload)) // it must not prevent the release
	invalid := db.Key{PK: damaged.PK, SK: "UPLOAD#x"}
	f.Put(f.Tables.Projects, map[db.Key]db.Item{
		damaged: {"size": &types.AttributeValueMemberS{Value: "large"}},
		invalid: {"status": &types.AttributeValueMemberS{Value: "open"}},
	})
	f.Clock.Advance(15*time.Minute - time.Millisecond)
	wantFull(client.Save("/d", "x"))
	f.Clock.Advance(time.Millisecond)
	client.Save("/d", "x").Want(t, http.StatusCreated)
	client.WantTree("after the release", 91, 0, 101)
}

// An upload whose bytes were released is checked against the quota of the project again when it is completed. Its bytes
// stay counted as written, because they were sent.
func TestCompleteAfterRelease(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithQuotas(projecttest.Quotas(5000, 100)))
	client := f.NewFilesClient("ada")
	a := client.Announce("/a", make([]byte, 60), nil)
	a.Put(nil)
	f.Clock.Advance(15 * time.Minute)
	client.Save("/b", string(make([]byte, 70))).Want(t, http.StatusCreated)
	client.WantTree("after the release", 70, 0, 60+70)
	a.Complete().Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	client.Save("/b", string(make([]byte, 40))).Want(t, http.StatusOK)
	a.Complete().Want(t, http.StatusCreated)
	client.WantTree("after the completion", 100, 0, 70+40+60)

	client.Remove("/a").Want(t, http.StatusOK)
	same := client.Announce("/c", make([]byte, 60), nil)
	same.Put(nil)
	f.Clock.Advance(15 * time.Minute)
	client.Save("/c", string(make([]byte, 60))).Want(t, http.StatusCreated)
	same.Complete().Want(t, http.StatusOK) // changes neither the file nor a counter
	client.WantTree("after a completion without a change", 100, 0, 70+40+60+60+60)
	client.CheckTree()
}

// The bytes of an upload that was not released are reserved until it is completed, even after its URL has expired.
func TestCompleteAfterExpiry(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithQuotas(projecttest.Quotas(5000, 100)))
	client := f.NewFilesClient("ada")
	a := client.Announce("/a", make([]byte, 100), nil)
	a.Put(nil)
	f.Clock.Advance(time.Hour)
	a.Complete().Want(t, http.StatusCreated)
	client.WantTree("after the completion", 100, 0, 100)
}

// Announced bytes count as written by the user who announced them, once, on the day of the announcement, even if the
// upload expires.
func TestAnnouncedBytesCountAsWritten(t *testing.T) {
	t.Parallel()
	q := file.DefaultQuotas()
	q.WrittenPerDay = 100
	f := projecttest.New(t, projecttest.WithQuotas(q))
	f.Clock.Advance(time.Date(2031, 5, 5, 23, 30, 0, 0, time.UTC).Sub(f.Clock.Now()))
	client := f.NewFilesClient("ada")
	wantFull := func(r response) { t.Helper(); r.Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded) }
	wantFull(client.TryAnnounce("/a", make([]byte, 101), nil))
	a := client.Announce("/a", make([]byte, 60), nil)
	client.Announce("/b", make([]byte, 40), nil)
	wantFull(client.Save("/c", "x"))
	wantFull(client.TryAnnounce("/c", []byte("x"), nil))
	client.TryAnnounce("/c", nil, nil).Want(t, http.StatusCreated) // no bytes
	a.Put(nil)
	a.Complete().Want(t, http.StatusCreated)
	client.WantTree("before the expiry", 100, 2, 100)
	f.Clock.Advance(29 * time.Minute)
	wantFull(client.Save("/c", "x")) // S3 may have received the bytes of the expired upload
	client.WantTree("after the expiry", 100, 2, 100)
	f.Clock.Advance(time.Minute) // midnight
	client.Announce("/d", make([]byte, 100), nil)
	wantFull(client.Save("/e", "x"))
}

// A project has at most 100 open uploads, also of empty files. Expired ones make room for others.
func TestMaxOpenUploads(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, grace := f.NewUser("ada"), f.NewUser("grace")
	client := ada.FilesOf(ada.Project(ada.Workspace("Team"), "App", workspace.Team))
	f.SetRole(client.Tree().WorkspaceID, grace, "member")
	first := client.Announce("/0", []byte("12"), nil)
	f.Clock.Advance(time.Minute)
	for i := range 99 {
		u := []*user{ada, grace}[i%2]
		u.FilesOf(client.ProjectID).Announce(fmt.Sprint("/", i), make([]byte, i%3), nil)
	}
	r := client.TryAnnounce("/x", nil, nil).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	if seconds, _ := strconv.Atoi(r.Header.Get("Retry-After")); seconds != 14*60 {
		t.Errorf("got Retry-After %d, want 840, when the first upload expires", seconds)
	}
	first.Put(nil)
	first.Complete().Want(t, http.StatusCreated)
	last := slicetest.Concurrently(8, func(i int) response { return client.TryAnnounce(fmt.Sprint("/x/", i), nil, nil) })
	projecttest.WantStatuses(t, last, map[int]int{http.StatusCreated: 1, http.StatusTooManyRequests: 7})
	f.Clock.Advance(15 * time.Minute)
	responses := slicetest.Concurrently(8, func(i int) response {
		return client.TryAnnounce(fmt.Sprint("/new/", i), []byte("1"), nil)
	})
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusCreated: 8})
	client.WantTree("after the release", 2+8, 8, 2+99+8)
}

// Concurrent announcements and saves fill the quota exactly, and never exceed it.
func TestConcurrentAnnouncementsFillQuota(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, projecttest.WithQuotas(projecttest.Quotas(5000, 1000)))
	client := f.NewFilesClient("ada")
	var mu sync.Mutex
	var open []announced
	responses := slicetest.Concurrently(16, func(i int) response {
		path := fmt.Sprint("/", i)
		if i%2 == 0 {
			return client.Save(path, string(make([]byte, 100)))
		}
		r := client.TryAnnounce(path, make([]byte, 100), nil)
		if r.Status == http.StatusCreated {
			mu.Lock()
			defer mu.Unlock()
			open = append(open, client.AnnouncedOf(r, make([]byte, 100)))
		}
		return r
	})
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusCreated: 10, http.StatusPaymentRequired: 6})
	client.WantTree("while uploads are open", 1000, len(open), 1000)
	completed := slicetest.Concurrently(len(open), func(i int) response {
		open[i].Put(nil)
		return open[i].Complete()
	})
	projecttest.WantStatuses(t, completed, map[int]int{http.StatusCreated: len(open)})
	client.WantTree("at the end", 1000, 0, 1000)
	client.CheckTree()
}

// Random requests run at the same time, while uploads expire and are released. The project never has more bytes than
// the quota, and its counters always match its files and open uploads.
func TestQuotaOfRandomUploads(t *testing.T) {
	t.Parallel()
	const limit, seed = 2000, 5
	f := projecttest.New(t, projecttest.WithQuotas(projecttest.Quotas(5000, limit)))
	client := f.NewFilesClient("ada")
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
			r = client.Save(path, string(data))
		case "announce":
			if r = client.TryAnnounce(path, data, nil); r.Status == http.StatusCreated {
				mu.Lock()
				open = append(open, client.AnnouncedOf(r, data))
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
				a.Put(nil)
			}
			r = a.Complete()
		case "delete":
			r = client.Remove(path)
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
		client.CheckTree()
		if tree := client.Tree(); tree.Bytes > limit || t.Failed() {
			t.Fatalf("got the tree %+v, want at most %d bytes", tree, limit)
		}
		f.Clock.Advance(time.Duration(random.IntN(8)) * time.Minute)
	}
	t.Log(statuses)
	for _, want := range []string{
		"save 201", "save 200", "save 402", "announce 201", "announce 402", "complete 201", "complete 200", "complete 409",
	} {
		if statuses[want] == 0 {
			t.Errorf("no request had the result %q", want)
		}
	}
	f.Clock.Advance(15 * time.Minute)
	client.TryAnnounce("/x", make([]byte, limit), nil)
	client.CheckTree()
}
