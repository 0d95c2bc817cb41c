package workspace_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/workspace"
)

// books are what the tables hold, by keys such as "ws_… usr_…".
type books struct {
	places   map[string]workspace.Workspace
	members  map[string]workspace.Membership
	mirrors  map[string]workspace.Membership
	counts   map[string]int
	personal map[string]int // the personal workspaces of a user
}

func decodeInto[T any](w *world, item db.Item) T {
	record, err := db.Decode[T](item)
	if err != nil {
		w.t.Fatal(err)
	}
	return record
}

func (w *world) books() books {
	b := books{
		places: map[string]workspace.Workspace{}, members: map[string]workspace.Membership{}, mirrors: map[string]workspace.Membership{},
		counts: map[string]int{}, personal: map[string]int{},
	}
	for key, item := range slicetest.Dump(w.t, w.sdk, w.projects) {
		_, owner, _ := strings.Cut(key.PK, "#")
		_, other, _ := strings.Cut(key.SK, "#")
		switch kind, _, _ := strings.Cut(key.SK, "#"); kind {
		case "WORKSPACE":
			b.places[owner] = decodeInto[workspace.Workspace](w, item)
		case "MEMBER":
			b.members[owner+" "+other] = decodeInto[workspace.Membership](w, item)
		case "WS":
			b.mirrors[other+" "+owner] = decodeInto[workspace.Membership](w, item)
		case "MEMBERSHIPS":
			b.counts[owner] = decodeInto[struct {
				N int `dynamodbav:"n"`
			}](w, item).N
		default:
			w.t.Errorf("an item of no known kind: %+v", key)
		}
	}
	return b
}

// history is every event, in the order of their ids.
func (w *world) history() []event.Payload {
	var list []event.Payload
	for _, item := range slicetest.Dump(w.t, w.sdk, w.told) {
		var p event.Payload
		if err := json.Unmarshal([]byte(decodeInto[event.Record](w, item).Payload), &p); err != nil {
			w.t.Fatal(err)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b event.Payload) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// audit runs behind every test: what is stored must be of one piece, and what the events tell must have happened, and nothing else.
func (w *world) audit() {
	b := w.books()
	if diff := cmp.Diff(b.members, b.mirrors); diff != "" {
		w.t.Errorf("members and their mirrors differ: %s", diff)
	}
	owners, memberships := map[string]int{}, map[string]int{}
	for _, m := range b.members {
		memberships[m.UserID]++
		if m.Role == workspace.Owner {
			owners[m.WorkspaceID]++
		}
		if m.Personal {
			b.personal[m.UserID]++
		}
	}
	for wsID, place := range b.places {
		if place.Owners != owners[wsID] || place.Owners < 1 {
			w.t.Errorf("%s counts %d owners and has %d", wsID, place.Owners, owners[wsID])
		}
	}
	for userID, n := range memberships {
		counted, written := b.counts[userID]
		if (written || n > 1) && counted != n {
			w.t.Errorf("%s is in %d workspaces, counted %d", userID, n, counted)
		}
		if b.personal[userID] != 1 {
			w.t.Errorf("%s has %d personal workspaces", userID, b.personal[userID])
		}
	}
	w.auditEvents(b)
}

// auditEvents holds who is a member against who was added and removed. They are the same, but for one member a workspace: its
// founder, whose coming is no news.
func (w *world) auditEvents(b books) {
	untold := map[string]int{} // memberships that no event explains
	for key := range b.members {
		untold[key]++
	}
	for _, p := range w.history() {
		key := p.Data.Workspace.ID + " " + p.Data.Member.UserID
		switch p.Type {
		case event.MemberAdded:
			untold[key]--
		case event.MemberRemoved:
			untold[key]++
		default:
			w.t.Errorf("an event %s", p.Type)
		}
	}
	founders := map[string]int{}
	for key, n := range untold {
		wsID, _, _ := strings.Cut(key, " ")
		founders[wsID] += n
		if n != 0 && n != 1 {
			w.t.Errorf("%s: the events are off by %d", key, n)
		}
	}
	for wsID := range b.places {
		if founders[wsID] != 1 {
			w.t.Errorf("%s: the events are off by %d", wsID, founders[wsID]-1)
		}
	}
}
