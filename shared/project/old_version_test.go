package project

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
)

// deleteVersion deletes an old version of a file.
func (client filesClient) deleteVersion(path, version string) response {
	client.f.t.Helper()
	query := "?path=" + url.QueryEscape(path) + "&version=" + url.QueryEscape(version)
	return client.Do(http.MethodDelete, client.url()+"/history"+query, nil)
}

// sized returns content of n bytes that no other save has.
func sized(n int) string {
	return fmt.Sprintf("%-*d", n, lastContent.Add(1))
}

var lastContent atomic.Int64

// withOldBytes sets the quota of old versions.
func withOldBytes(n int) option { return func(f *fixture) { f.quotas.OldBytes = n } }

// saveSized saves content of n bytes that the file does not have, and returns the ID of the version.
func (client filesClient) saveSized(path string, n int) (version string) {
	client.f.t.Helper()
	r := client.save(path, sized(n))
	if r.Status >= http.StatusBadRequest {
		client.f.t.Fatalf("saving %d bytes at %s: got %d %s", n, path, r.Status, r.Raw)
	}
	return r.Text("version")
}

// wantOldQuota checks that a request was refused because of the quota of old versions.
func (client filesClient) wantOldQuota(r response) {
	client.f.t.Helper()
	r.Want(client.f.t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if message := r.Text("error"); !strings.Contains(message, "Delete old versions") {
		client.f.t.Errorf("got the message %q, want one about old versions", message)
	}
}

// Every operation that stores an old version counts its size. A request that would exceed the quota changes nothing.
func TestQuotaOfOldVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withOldBytes(1000))
	client := f.newFilesClient("ada")
	wantOld := func(want int) {
		t.Helper()
		if got := client.tree().OldBytes; got != want {
			t.Errorf("got %d bytes of old versions, want %d", got, want)
		}
		client.checkTree()
	}
	client.saveSized("/a", 400)
	first := client.read("/a").Text("version")
	current := sized(300)
	client.save("/a", current).Want(t, http.StatusOK)
	wantOld(400)
	client.save("/a", current).Want(t, http.StatusOK) // unchanged
	client.batch(renaming("/a", "/b")).Want(t, http.StatusOK)
	wantOld(700)
	client.saveSized("/c", 200)
	client.remove("/c").Want(t, http.StatusOK)
	wantOld(900)
	client.saveSized("/d", 100)
	client.saveSized("/d", 10) // reaches the quota exactly
	wantOld(1000)

	before := f.storedItemCount()
	client.wantOldQuota(client.save("/b", "new"))
	client.wantOldQuota(client.remove("/b"))
	client.wantOldQuota(client.batch(renaming("/b", "/e")))
	client.wantOldQuota(client.batch(creation("/e", "x"), deletion("/d")))
	if after := f.storedItemCount(); after != before {
		t.Errorf("the refused requests changed the number of items from %d to %d", before, after)
	}
	wantOld(1000)
	client.save("/e", "").Want(t, http.StatusCreated) // no old version
	client.save("/e", "now not empty").Want(t, http.StatusOK)
	client.save("/b", current).Want(t, http.StatusOK) // unchanged

	client.deleteVersion("/a", first).Want(t, http.StatusOK)
	wantOld(600)
	client.save("/b", "new").Want(t, http.StatusOK)
	wantOld(900)
}

// Whatever runs at the same time, the tree has the exact size of the old versions, and it never exceeds the quota.
func TestQuotaOfOldVersionsUnderConcurrency(t *testing.T) {
	t.Parallel()
	const quota = 3000
	f := newFixture(t, withOldBytes(quota))
	client := f.newFilesClient("ada")
	paths := []string{"/0", "/1", "/2", "/3", "/4", "/5"}
	for _, path := range paths {
		client.saveSized(path, 50)
	}
	statuses := map[int]int{}
	for range 6 {
		maps.Copy(statuses, slicetest.CountStatuses(slicetest.Concurrently(12, func(int) response {
			path, other := paths[rand.IntN(len(paths))], paths[rand.IntN(len(paths))]
			switch rand.IntN(10) {
			case 0:
				return client.remove(path)
			case 1:
				return client.batch(renaming(path, other))
			case 2, 3:
				versions := client.history(path, "").Texts("versions", "version")
				if len(versions) == 0 {
					return client.history(path, "")
				}
				return client.deleteVersion(path, versions[rand.IntN(len(versions))])
			default:
				return client.save(path, sized(20+rand.IntN(300)))
			}
		})))
		if old := client.tree().OldBytes; old > quota {
			t.Errorf("got %d bytes of old versions, want at most %d", old, quota)
		}
		client.checkTree()
	}
	for range 20 { // fill the rest
		r := slicetest.Concurrently(8, func(i int) response { return client.save(paths[i%len(paths)], sized(100)) })
		maps.Copy(statuses, slicetest.CountStatuses(r))
		client.checkTree()
		if slicetest.CountStatuses(r)[http.StatusPaymentRequired] == len(r) {
			break
		}
	}
	old := client.tree().OldBytes
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
func (f *fixture) countingQueries() *atomic.Int64 {
	f.t.Helper()
	queries := &atomic.Int64{}
	f.useProxy(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
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
	f := newFixture(t, withOldBytes(1000))
	client := f.newFilesClient("ada")
	queries := f.countingQueries()
	wantQueries := func(want int64) {
		t.Helper()
		if got := queries.Swap(0); got != want {
			t.Errorf("got %d queries of all versions, want %d", got, want)
		}
	}
	client.saveSized("/a", 500)
	client.saveSized("/a", 300) // stores 500
	f.clock.Advance(time.Hour)
	client.saveSized("/a", 600) // stores 300
	wantQueries(0)
	for n := range 3 {
		client.wantOldQuota(client.save("/a", sized(10)))
		wantQueries(int64(max(0, 1-n)))
	}
	f.clock.Advance(24*time.Hour + time.Second) // a day after the last count
	client.wantOldQuota(client.save("/a", sized(10)))
	wantQueries(1)

	f.clock.Advance(content.Retention - 25*time.Hour - 2*time.Second) // one second before the first version expires
	client.wantOldQuota(client.save("/a", sized(10)))
	wantQueries(1)
	f.clock.Advance(time.Second) // the first version has expired, but less than a minute has passed
	client.wantOldQuota(client.save("/a", sized(10)))
	wantQueries(0)
	f.clock.Advance(time.Minute)
	if r := client.save("/a", sized(10)).Want(t, http.StatusOK); r.Calls != 8 {
		t.Errorf("got %d calls to DynamoDB, want the 3 of a save, and 5 to count the versions", r.Calls)
	}
	wantQueries(1)
	if got := client.tree().OldBytes; got != 900 {
		t.Errorf("got %d bytes of old versions, want 300 and 600", got)
	}
	client.checkTree()
}

// The deletion of a version that a recount has left out subtracts nothing, even if the clock of the server is slow and
// the version has not expired by that clock.
func TestDeletionOfUncountedVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withOldBytes(1000))
	client := f.newFilesClient("ada")
	first := client.saveSized("/a", 600)
	client.saveSized("/a", 700) // stores 600
	f.clock.Advance(content.Retention + time.Second)
	second := client.read("/a").Text("version")
	client.saveSized("/a", 800) // recounts, and stores 700
	f.clock.Advance(-time.Minute)
	client.deleteVersion("/a", first).Want(t, http.StatusOK)
	if got := client.tree().OldBytes; got != 700 {
		t.Errorf("got %d bytes of old versions, want 700", got)
	}
	client.deleteVersion("/a", second).Want(t, http.StatusOK)
	if got := client.tree().OldBytes; got != 0 {
		t.Errorf("got %d bytes of old versions, want 0", got)
	}
}

// makeRecountDue stores a size of the old versions, and that they may be counted again.
func (client filesClient) makeRecountDue(oldBytes int) {
	client.f.t.Helper()
	set := expression.Set(expression.Name("oldBytes"), expression.Value(oldBytes)).
		Set(expression.Name("oldRecountAt"), expression.Value(client.f.clock.Now().Unix()))
	client.f.transact(client.f.projects.Update(db.TreeKey(client.projectID), set))
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
			func(client filesClient, _ string) response { return client.save("/b", sized(10)) },
			http.StatusPaymentRequired, 980,
		},
		"delete": {
			func(client filesClient, _ string) response { return client.remove("/b") }, http.StatusPaymentRequired, 980,
		},
		"delete a version": {
			func(client filesClient, version string) response { return client.deleteVersion("/a", version) },
			http.StatusOK, 950,
		},
		"create": {
			func(client filesClient, _ string) response { return client.save("/new", "x") },
			http.StatusPaymentRequired, 950,
		},
		"delete the project": {
			func(client filesClient, _ string) response {
				return client.Do(http.MethodDelete, projectURL(client.projectID), nil)
			},
			http.StatusNotFound, 0,
		},
	} {
		f := newFixture(t, withOldBytes(1000))
		client := f.newFilesClient("ada")
		version := client.saveSized("/a", 100)
		client.saveSized("/a", 100)
		client.saveSized("/b", 30)
		client.makeRecountDue(950)
		isDone := false
		wire := f.useProxy(nil)
		wire.Before("UpdateItem", func() { // the recount begins
			wire.Before("UpdateItem", func() { // it ends
				isDone = true
				if r := tc.during(client, version); r.Status >= http.StatusBadRequest {
					t.Errorf("%s: got %d %s", name, r.Status, r.Raw)
				}
			})
		})
		if r := client.save("/a", "new"); r.Status != tc.status || !isDone {
			t.Errorf("%s: got %d %s, recounted: %v, want the status %d", name, r.Status, r.Raw, isDone, tc.status)
		}
		if tc.status == http.StatusNotFound {
			if item := f.dump(f.tableNames.projects)[db.TreeKey(client.projectID)]; item != nil {
				t.Errorf("the tree of the deleted project exists: %v", item)
			}
			continue
		}
		if got := client.tree().OldBytes; got != tc.oldBytes {
			t.Errorf("%s: got %d bytes of old versions, want %d", name, got, tc.oldBytes)
		}
	}
}

// A recount that fails or whose response is lost leaves a correct tree. The next request recounts again.
func TestRecountUnderFaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withOldBytes(1000))
	client := f.newFilesClient("ada")
	client.saveSized("/a", 600)
	client.saveSized("/a", 500)
	wire := f.useProxy(nil)
	for _, operation := range []string{"Query", "UpdateItem"} {
		for _, injected := range faults {
			if injected.Name == dynamotest.Conflict.Name {
				continue
			}
			client.makeRecountDue(1000)
			wire.Break(operation, injected)
			r := client.save("/a", "new")
			wire.Clear()
			if wire.Hits() == 0 || (r.Status == http.StatusOK) {
				t.Errorf("%s at %s: got %d %s and %d faults, want an error", injected.Name, operation, r.Status, r.Raw, wire.Hits())
			}
			if injected.Name == dynamotest.LostReply.Name {
				client.wantOldQuota(r)
			}
			f.clock.Advance(time.Minute)
			client.wantOldQuota(client.save("/a", "new"))
			client.checkTree()
		}
	}
}
