package main

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/removal"
)

// endedWorld is a world with a workspace that its owner has deleted, and another one with the same data.
type endedWorld struct {
	*world
	ada, grace   *projecttest.User
	kept, ended  string
	keptProjects []string
	gone         []string // the IDs of the ended workspace and its projects
}

func newEndedWorld(t *testing.T, projects, files, deliveries int) *endedWorld {
	t.Helper()
	w := &endedWorld{world: newWorld(t)}
	w.ada, w.grace = w.NewUser("ada"), w.NewUser("grace")
	bob := w.NewUser("bob")
	w.kept = w.team("Kept", w.grace, w.ada, bob)
	w.keptProjects = w.fill(w.kept, w.grace, 1, 2, 3)
	w.ended = w.team("Ended", w.ada, w.grace, bob)
	w.gone = append(w.fill(w.ended, w.ada, projects, files, deliveries), w.ended)
	w.login(w.ada)
	w.delete().Want(t, http.StatusAccepted)
	return w
}

func (w *endedWorld) delete() slicetest.Response {
	return w.ada.Do(http.MethodDelete, "/api/workspaces/"+w.ended, projecttest.Object{"confirm": "Ended"})
}

// remains returns the keys of all items and objects that name the ended workspace or one of its projects, except counters
// of limits and usage, which expire.
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
	for _, id := range append(slices.Clone(w.keptProjects), w.kept) {
		for _, table := range w.tables {
			if !reflect.DeepEqual(itemsOf(before.items[table], id), itemsOf(after.items[table], id)) {
				w.T.Errorf("the items of %s in %s changed", id, table)
			}
		}
	}
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
