package main

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/job"
	"devplatform/shared/project/content"
	"devplatform/shared/removal"
)

// endedWorld is a world with two workspaces that have data of the same kinds. One of them is deleted by its owner. The
// other one is kept.
type endedWorld struct {
	*world
	ada, grace  *projecttest.User // own the ended and the kept workspace
	kept, ended string            // IDs of the workspaces
	keptIDs     []string          // the IDs of the projects and webhooks of the kept workspace
	gone        []string          // the IDs of the ended workspace, its projects and webhooks
}

func newEndedWorld(t *testing.T, projects, files, deliveries int) *endedWorld {
	t.Helper()
	w := newUndeletedWorld(t, projects, files, deliveries)
	w.delete().Want(t, http.StatusAccepted)
	return w
}

// newUndeletedWorld returns a world whose workspace is not deleted yet. newEndedWorld also deletes it.
func newUndeletedWorld(t *testing.T, projects, files, deliveries int) *endedWorld {
	t.Helper()
	w := &endedWorld{world: newWorld(t)}
	w.ada, w.grace = w.NewUser("ada"), w.NewUser("grace")
	bob := w.NewUser("bob")
	w.kept = w.team("Kept", w.grace, w.ada, bob)
	w.keptIDs = w.fill(w.kept, w.grace, 1, 2, 3)
	w.ended = w.team("Ended", w.ada, w.grace, bob)
	w.gone = append(w.fill(w.ended, w.ada, projects, files, deliveries), w.ended)
	return w
}

// delete requests the deletion of the workspace, which requires a fresh login.
func (w *endedWorld) delete() slicetest.Response {
	w.login(w.ada)
	return w.ada.Do(http.MethodDelete, "/api/workspaces/"+w.ended, projecttest.Object{"confirm": "Ended"})
}

// remains returns the keys of all items and objects that name the ended workspace, one of its projects or webhooks,
// except counters of limits and usage, which expire.
func (w *endedWorld) remains() (found []string) {
	s := w.dump()
	for table, items := range s.items {
		for key, item := range items {
			var values map[string]any
			if err := attributevalue.UnmarshalMap(item, &values); err != nil {
				w.T.Fatal(err)
			}
			text := fmt.Sprint(key, values)
			names := func(id string) bool { return strings.Contains(text, id) }
			if slices.ContainsFunc(w.gone, names) && !strings.HasPrefix(key.PK, "RATE#") {
				found = append(found, table+" "+key.PK+" "+key.SK)
			}
		}
	}
	for _, key := range s.objects {
		if slices.ContainsFunc(w.gone, func(id string) bool { return strings.Contains(key, id) }) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found
}

// wantGone checks that nothing of the ended workspace remains, and that the other workspace is unchanged. before is the
// state after the deletion.
func (w *endedWorld) wantGone(before stored) {
	w.T.Helper()
	if found := w.remains(); len(found) > 0 {
		w.T.Errorf("these items and objects remain:\n%s", strings.Join(found, "\n"))
	}
	after := w.dump()
	for _, id := range append(slices.Clone(w.keptIDs), w.kept) {
		for _, table := range w.tables {
			if !reflect.DeepEqual(itemsOf(before.items[table], id), itemsOf(after.items[table], id)) {
				w.T.Errorf("the items of %s in %s changed", id, table)
			}
		}
	}
	// Each user has a personal workspace and the kept one.
	for u, want := range map[*projecttest.User]int{w.ada: 2, w.grace: 2} {
		item, err := w.Projects.Get(w.T.Context(), db.MembershipCountKey(u.UserID))
		if err != nil {
			w.T.Fatal(err)
		}
		count, err := db.Decode[struct {
			N int `dynamodbav:"n"`
		}](item)
		if err != nil || count.N != want {
			w.T.Errorf("%s has %d memberships, error %v, want %d", u.Name, count.N, err, want)
		}
	}
}

// itemsOf returns the items whose partition has an ID.
func itemsOf(items map[db.Key]db.Item, id string) map[db.Key]db.Item {
	found := map[db.Key]db.Item{}
	for key, item := range items {
		if strings.HasSuffix(key.PK, "#"+id) {
			found[key] = item
		}
	}
	return found
}

// TestRemoval deletes a workspace and checks that the removal leaves nothing of it.
func TestRemoval(t *testing.T) {
	t.Parallel()
	w := newEndedWorld(t, 2, 3, 40)
	before := w.dump()
	if err := w.remove(nil); err != nil || len(w.remains()) == 0 {
		t.Errorf("the removal began before its time, or failed: %v", err)
	}
	w.Clock.Advance(removal.Delay)
	if err := w.remove(nil); err != nil {
		t.Error(err)
	}
	w.finishJobs()
	w.wantGone(before)
	w.delete().Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
}

// TestKilledRemoval kills the removal at each of its calls to DynamoDB and S3. The next run completes it.
func TestKilledRemoval(t *testing.T) {
	t.Parallel()
	w := newEndedWorld(t, 1, 1, 2)
	before := w.dump()
	slicetest.Steps(t, 30, func(p *slicetest.Process) {
		w.restore(before)
		p.At = slicetest.Kill
		w.Clock.Advance(removal.Delay)
		_ = w.remove(p)
		w.Clock.Advance(removal.LeaseTime)
		if err := w.remove(nil); err != nil {
			t.Error(err)
		}
		w.finishJobs()
		w.wantGone(before)
	})
}

// TestRacedRemoval removes a workspace between the reads and the transaction of requests and builds that began before
// the deletion. They fail, and leave nothing behind.
func TestRacedRemoval(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *endedWorld, project string) int{
		"a new file": func(w *endedWorld, p string) int { return w.ada.FilesOf(p).Save("/new.txt", "x").Status },
		"a large file": func(w *endedWorld, p string) int {
			return w.ada.FilesOf(p).SaveBytes("/new.bin", projecttest.RandomBytes(10_000)).Status
		},
		"a changed file": func(w *endedWorld, p string) int { return w.ada.FilesOf(p).Save("/0.txt", "y").Status },
		"an upload": func(w *endedWorld, p string) int {
			return w.ada.FilesOf(p).TryAnnounce("/new.mp4", []byte("video"), nil).Status
		},
		"a new project": func(w *endedWorld, _ string) int {
			return w.ada.Do(http.MethodPost, "/api/projects", projecttest.Object{"name": "New", "workspaceId": w.ended}).Status
		},
		"a deleted project": func(w *endedWorld, p string) int {
			return w.ada.Do(http.MethodDelete, projecttest.URL(p), nil).Status
		},
		"a comment": func(w *endedWorld, p string) int {
			return w.ada.Do(http.MethodPost, projecttest.URL(p)+"/comments", projecttest.Object{"body": "x"}).Status
		},
		"a deployment": func(w *endedWorld, p string) int {
			return w.ada.Do(http.MethodPost, projecttest.URL(p)+"/deployments", projecttest.Object{"target": "preview"}).Status
		},
		"a build that goes live": func(w *endedWorld, p string) int {
			if err := w.finishBuild(p); !errors.Is(err, job.ErrLost) {
				w.T.Errorf("got error %v of the build, want ErrLost", err)
			}
			return http.StatusNotFound // as for the requests
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newUndeletedWorld(t, 1, 1, 2)
			var before stored
			w.wire.Before("TransactWriteItems", func() {
				w.delete().Want(t, http.StatusAccepted)
				before = w.dump()
				w.Clock.Advance(removal.Delay)
				if err := w.remove(nil); err != nil {
					t.Error(err)
				}
			})
			if status := act(w, w.gone[0]); status != http.StatusNotFound {
				t.Errorf("got status %d, want 404", status)
			}
			w.finishJobs()
			w.removeObjects()
			w.wantGone(before)
		})
	}
}

// TestLargeRemoval removes a workspace of the largest usual size, or a fiftieth of it. It checks the number of calls on
// which the costs in infra/COSTS.md are based.
func TestLargeRemoval(t *testing.T) {
	t.Parallel()
	projects, files, deliveries := 4, 100, 2_000
	if testmode.IsNightly() {
		projects, files, deliveries = 200, 100, 100_000
	}
	w := newUndeletedWorld(t, 0, 0, 0)
	for i := range projects {
		p := w.ada.Project(w.ended, fmt.Sprintf("Large %d", i), "team")
		w.gone = append(w.gone, p)
		w.deploy(w.ada, p, true)
		records, chunks := map[db.Key]db.Item{}, map[db.Key]db.Item{}
		for n := range files {
			contentID := fmt.Sprintf("CONTENT%d", n)
			ref := content.Ref{ContentID: contentID, Chunks: 1}
			records[db.FileKey(p, fmt.Sprintf("/%d.txt", n))] = projecttest.Encode(t, ref)
			chunks[db.ChunkKey(p, contentID)] = db.Item{}
		}
		w.Put(w.cfg.Projects, records)
		w.Put(w.cfg.Contents, chunks)
	}
	for range 10 {
		w.gone = append(w.gone, w.addWebhook(w.ended, deliveries/10))
	}
	w.delete().Want(t, http.StatusAccepted)
	before := w.dump()
	w.Clock.Advance(removal.Delay)
	counter := &callCounter{}
	if err := w.remove(counter); err != nil {
		t.Error(err)
	}
	w.finishJobs()
	w.wantGone(before)
	got := counter.calls.Load()
	t.Logf("%d projects, %d files and %d deliveries: %d calls", projects, projects*files, deliveries, got)
	// The removal needs about 30 calls for each project, and one call for each 25 records, chunks or deliveries. The limit
	// allows one call for each 20 of them, and 60 other calls.
	if limit := int64(60 + 30*projects + (2*projects*files+deliveries)/20); got > limit {
		t.Errorf("got %d calls, want at most %d", got, limit)
	}
}

// callCounter is an HTTP client that counts the calls to AWS.
type callCounter struct{ calls atomic.Int64 }

func (c *callCounter) Do(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return slicetest.Transfers.Do(r)
}
