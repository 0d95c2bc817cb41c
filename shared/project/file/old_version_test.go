package file_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
)

// sized returns content of n bytes that no other save has.
func sized(n int) string {
	return fmt.Sprintf("%-*d", n, lastContent.Add(1))
}

var lastContent atomic.Int64

// withOldBytes sets the quota of old versions.
func withOldBytes(n int) projecttest.Option { return func(f *fixture) { f.Quotas.OldBytes = n } }

// saveSized saves content of n bytes that the file does not have, and returns the ID of the version.
func saveSized(client filesClient, path string, n int) (version string) {
	client.Fixture.T.Helper()
	r := client.Save(path, sized(n))
	if r.Status >= http.StatusBadRequest {
		client.Fixture.T.Fatalf("saving %d bytes at %s: got %d %s", n, path, r.Status, r.Raw)
	}
	return r.Text("version")
}

// wantOldQuota checks that a request was refused because of the quota of old versions.
func wantOldQuota(client filesClient, r response) {
	client.Fixture.T.Helper()
	r.Want(client.Fixture.T, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if message := r.Text("error"); !strings.Contains(message, "Delete old versions") {
		client.Fixture.T.Errorf("got the message %q, want one about old versions", message)
	}
}

// Every operation that stores an old version counts its size. A request that would exceed the quota changes nothing.
func TestQuotaOfOldVersions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, withOldBytes(1000))
	client := f.NewFilesClient("ada")
	wantOld := func(want int) {
		t.Helper()
		if got := client.Tree().OldBytes; got != want {
			t.Errorf("got %d bytes of old versions, want %d", got, want)
		}
		client.CheckTree()
	}
	saveSized(client, "/a", 400)
	first := client.Read("/a").Text("version")
	current := sized(300)
	client.Save("/a", current).Want(t, http.StatusOK)
	wantOld(400)
	client.Save("/a", current).Want(t, http.StatusOK) // unchanged
	client.Batch(renaming("/a", "/b")).Want(t, http.StatusOK)
	wantOld(700)
	saveSized(client, "/c", 200)
	client.Remove("/c").Want(t, http.StatusOK)
	wantOld(900)
	saveSized(client, "/d", 100)
	saveSized(client, "/d", 10) // reaches the quota exactly
	wantOld(1000)

	before := storedItemCount(f)
	wantOldQuota(client, client.Save("/b", "new"))
	wantOldQuota(client, client.Remove("/b"))
	wantOldQuota(client, client.Batch(renaming("/b", "/e")))
	wantOldQuota(client, client.Batch(creation("/e", "x"), deletion("/d")))
	if after := storedItemCount(f); after != before {
		t.Errorf("the refused requests changed the number of items from %d to %d", before, after)
	}
	wantOld(1000)
	client.Save("/e", "").Want(t, http.StatusCreated) // no old version
	client.Save("/e", "now not empty").Want(t, http.StatusOK)
	client.Save("/b", current).Want(t, http.StatusOK) // unchanged

	client.DeleteVersion("/a", first).Want(t, http.StatusOK)
	wantOld(600)
	client.Save("/b", "new").Want(t, http.StatusOK)
	wantOld(900)
}

// Whatever runs at the same time, the tree has the exact size of the old versions, and it never exceeds the quota.
func TestQuotaOfOldVersionsUnderConcurrency(t *testing.T) {
	t.Parallel()
	const quota = 3000
	f := projecttest.New(t, withOldBytes(quota))
	client := f.NewFilesClient("ada")
	paths := []string{"/0", "/1", "/2", "/3", "/4", "/5"}
	for _, path := range paths {
		saveSized(client, path, 50)
	}
	statuses := map[int]int{}
	for range 6 {
		maps.Copy(statuses, slicetest.CountStatuses(slicetest.Concurrently(12, func(int) response {
			path, other := paths[rand.IntN(len(paths))], paths[rand.IntN(len(paths))]
			switch rand.IntN(10) {
			case 0:
				return client.Remove(path)
			case 1:
				return client.Batch(renaming(path, other))
			case 2, 3:
				versions := client.History(path, "").Texts("versions", "version")
				if len(versions) == 0 {
					return client.History(path, "")
				}
				return client.DeleteVersion(path, versions[rand.IntN(len(versions))])
			default:
				return client.Save(path, sized(20+rand.IntN(300)))
			}
		})))
		if old := client.Tree().OldBytes; old > quota {
			t.Errorf("got %d bytes of old versions, want at most %d", old, quota)
		}
		client.CheckTree()
	}
	for range 20 { // fill the rest
		r := slicetest.Concurrently(8, func(i int) response { return client.Save(paths[i%len(paths)], sized(100)) })
		maps.Copy(statuses, slicetest.CountStatuses(r))
		client.CheckTree()
		if slicetest.CountStatuses(r)[http.StatusPaymentRequired] == len(r) {
			break
		}
	}
	old := client.Tree().OldBytes
	if old > quota || old < quota-400 || statuses[http.StatusPaymentRequired] == 0 || statuses[http.StatusOK] == 0 {
		t.Errorf("got %d bytes of old versions and responses by status %v, want nearly %d bytes, 200 and 402",
			old, statuses, quota)
	}
	for status := range statuses {
		if status >= http.StatusInternalServerError {
			t.Errorf("got responses by status %v, want no error of the server", statuses)
		}
	}
}

// countingQueries makes the service count its queries of all old versions of a project.
func countingQueries(f *fixture) *atomic.Int64 {
	f.T.Helper()
	queries := &atomic.Int64{}
	f.UseProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) == "Query" && strings.Contains(bodyOf(r), `"VERSION#"`) {
			queries.Add(1)
		}
		next.ServeHTTP(out, r)
	})
	return queries
}

// Expired versions stop to count when a request would otherwise exceed the quota. Requests that are refused do not each
// read all versions.
func TestExpiredVersionsDoNotCount(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, withOldBytes(1000))
	client := f.NewFilesClient("ada")
	queries := countingQueries(f)
	wantQueries := func(want int64) {
		t.Helper()
		if got := queries.Swap(0); got != want {
			t.Errorf("got %d queries of all versions, want %d", got, want)
		}
	}
	saveSized(client, "/a", 500)
	saveSized(client, "/a", 300) // stores 500
	f.Clock.Advance(time.Hour)
	saveSized(client, "/a", 600) // stores 300
	wantQueries(0)
	for n := range 3 {
		wantOldQuota(client, client.Save("/a", sized(10)))
		wantQueries(int64(max(0, 1-n))) // only the first request counts
	}
	f.Clock.Advance(24*time.Hour + time.Second) // a day after the last count
	wantOldQuota(client, client.Save("/a", sized(10)))
	wantQueries(1)

	f.Clock.Advance(content.Retention - 25*time.Hour - 2*time.Second) // one second before the first version expires
	wantOldQuota(client, client.Save("/a", sized(10)))
	wantQueries(1)
	f.Clock.Advance(time.Second) // the first version has expired, but less than a minute has passed
	wantOldQuota(client, client.Save("/a", sized(10)))
	wantQueries(0)
	f.Clock.Advance(time.Minute)
	if r := client.Save("/a", sized(10)).Want(t, http.StatusOK); r.Calls != 8 {
		t.Errorf("got %d calls to DynamoDB, want the 3 of a save, and 5 to count the versions", r.Calls)
	}
	wantQueries(1)
	if got := client.Tree().OldBytes; got != 900 {
		t.Errorf("got %d bytes of old versions, want 300 and 600", got)
	}
	client.CheckTree()
}

// The deletion of a version that a recount has left out subtracts nothing, even if the clock of the server is slow and
// the version has not expired by that clock.
func TestDeletionOfUncountedVersion(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, withOldBytes(1000))
	client := f.NewFilesClient("ada")
	first := saveSized(client, "/a", 600)
	saveSized(client, "/a", 700) // stores 600
	f.Clock.Advance(content.Retention + time.Second)
	second := client.Read("/a").Text("version")
	saveSized(client, "/a", 800) // recounts, and stores 700
	f.Clock.Advance(-time.Minute)
	client.DeleteVersion("/a", first).Want(t, http.StatusOK)
	if got := client.Tree().OldBytes; got != 700 {
		t.Errorf("got %d bytes of old versions, want 700", got)
	}
	client.DeleteVersion("/a", second).Want(t, http.StatusOK)
	if got := client.Tree().OldBytes; got != 0 {
		t.Errorf("got %d bytes of old versions, want 0", got)
	}
}

// makeRecountDue stores a size of the old versions, and that they may be counted again.
func makeRecountDue(client filesClient, oldBytes int) {
	client.Fixture.T.Helper()
	set := expression.Set(expression.Name("oldBytes"), expression.Value(oldBytes)).
		Set(expression.Name("oldRecountAt"), expression.Value(client.Fixture.Clock.Now().Unix()))
	client.Fixture.Transact(client.Fixture.Projects.Update(db.TreeKey(client.ProjectID), set))
}

// If files or versions change between the read and the write of a recount, its result is not stored.
func TestChangesDuringRecount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		during   func(client filesClient, version string) response
		status   int // of the request that recounts
		oldBytes int // at the end
	}{
		"save": {
			func(client filesClient, _ string) response { return client.Save("/b", sized(10)) },
			http.StatusPaymentRequired, 980,
		},
		"delete": {
			func(client filesClient, _ string) response { return client.Remove("/b") }, http.StatusPaymentRequired, 980,
		},
		"delete a version": {
			func(client filesClient, version string) response { return client.DeleteVersion("/a", version) },
			http.StatusOK, 950,
		},
		"create": {
			func(client filesClient, _ string) response { return client.Save("/new", "x") },
			http.StatusPaymentRequired, 950,
		},
		"delete the project": {
			func(client filesClient, _ string) response {
				return client.Do(http.MethodDelete, projecttest.URL(client.ProjectID), nil)
			},
			http.StatusNotFound, 0,
		},
	} {
		f := projecttest.New(t, withOldBytes(1000))
		client := f.NewFilesClient("ada")
		version := saveSized(client, "/a", 100)
		saveSized(client, "/a", 100)
		saveSized(client, "/b", 30)
		makeRecountDue(client, 950)
		isDone := false
		wire := f.UseProxy(nil)
		wire.Before("UpdateItem", func() { // the recount begins
			wire.Before("UpdateItem", func() { // it ends
				isDone = true
				if r := tc.during(client, version); r.Status >= http.StatusBadRequest {
					t.Errorf("%s: got %d %s", name, r.Status, r.Raw)
				}
			})
		})
		if r := client.Save("/a", "new"); r.Status != tc.status || !isDone {
			t.Errorf("%s: got %d %s, recounted: %v, want the status %d", name, r.Status, r.Raw, isDone, tc.status)
		}
		if tc.status == http.StatusNotFound {
			if item := f.Dump(f.Tables.Projects)[db.TreeKey(client.ProjectID)]; item != nil {
				t.Errorf("the tree of the deleted project exists: %v", item)
			}
			continue
		}
		if got := client.Tree().OldBytes; got != tc.oldBytes {
			t.Errorf("%s: got %d bytes of old versions, want %d", name, got, tc.oldBytes)
		}
	}
}

// A recount that fails or whose response is lost leaves a correct tree. The next request recounts again.
func TestRecountUnderFaults(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, withOldBytes(1000))
	client := f.NewFilesClient("ada")
	saveSized(client, "/a", 600)
	saveSized(client, "/a", 500)
	wire := f.UseProxy(nil)
	for _, operation := range []string{"Query", "UpdateItem"} {
		for _, injected := range projecttest.Faults {
			if injected.Name == dynamotest.Conflict.Name {
				continue
			}
			makeRecountDue(client, 1000)
			wire.Break(operation, injected)
			r := client.Save("/a", "new")
			wire.Clear()
			if wire.Hits() == 0 || (r.Status == http.StatusOK) {
				t.Errorf("%s at %s: got %d %s and %d faults, want an error", injected.Name, operation, r.Status, r.Raw, wire.Hits())
			}
			if injected.Name == dynamotest.LostReply.Name {
				wantOldQuota(client, r)
			}
			f.Clock.Advance(time.Minute)
			wantOldQuota(client, client.Save("/a", "new"))
			client.CheckTree()
		}
	}
}
