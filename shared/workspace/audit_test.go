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

// snapshot is the content of the projects table. The keys of memberships are "workspaceID userID".
type snapshot struct {
	workspaces map[string]workspace.Workspace
	members    map[string]workspace.Membership // the copies in the partitions of workspaces
	mirrors    map[string]workspace.Membership // the copies in the partitions of users
	counts     map[string]int                  // stored number of memberships, by user ID
	personal   map[string]int                  // number of personal workspaces, by user ID
}

func decodeInto[T any](w *world, item db.Item) T {
	record, err := db.Decode[T](item)
	if err != nil {
		w.t.Fatal(err)
	}
	return record
}

// snapshot reads the projects table.
func (w *world) snapshot() snapshot {
	b := snapshot{
		workspaces: map[string]workspace.Workspace{}, members: map[string]workspace.Membership{}, mirrors: map[string]workspace.Membership{},
		counts: map[string]int{}, personal: map[string]int{},
	}
	for key, item := range slicetest.Dump(w.t, w.sdk, w.projects) {
		_, owner, _ := strings.Cut(key.PK, "#")
		_, other, _ := strings.Cut(key.SK, "#")
		switch kind, _, _ := strings.Cut(key.SK, "#"); kind {
		case "WORKSPACE":
			b.workspaces[owner] = decodeInto[workspace.Workspace](w, item)
		case "MEMBER":
			b.members[owner+" "+other] = decodeInto[workspace.Membership](w, item)
		case "WS":
			b.mirrors[other+" "+owner] = decodeInto[workspace.Membership](w, item)
		case "MEMBERSHIPS":
			b.counts[owner] = decodeInto[struct {
				N int `dynamodbav:"n"`
			}](w, item).N
		default:
			w.t.Errorf("an item of an unknown kind: %+v", key)
		}
	}
	return b
}

// history returns the payloads of all events, in the order of their IDs.
func (w *world) history() []event.Payload {
	var list []event.Payload
	for _, item := range slicetest.Dump(w.t, w.sdk, w.events) {
		var p event.Payload
		if err := json.Unmarshal([]byte(decodeInto[event.Record](w, item).Payload), &p); err != nil {
			w.t.Fatal(err)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b event.Payload) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// audit runs at the end of every test. It checks that the stored items are consistent with each other and with the
// events.
func (w *world) audit() {
	b := w.snapshot()
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
	for wsID, place := range b.workspaces {
		if place.Owners != owners[wsID] || place.Owners < 1 {
			w.t.Errorf("%s: the stored number of owners is %d, want %d", wsID, place.Owners, owners[wsID])
		}
	}
	for userID, n := range memberships {
		counted, written := b.counts[userID]
		if (written || n > 1) && counted != n {
			w.t.Errorf("%s is a member of %d workspaces, the stored number is %d", userID, n, counted)
		}
		if b.personal[userID] != 1 {
			w.t.Errorf("%s has %d personal workspaces", userID, b.personal[userID])
		}
	}
	w.auditEvents(b)
}

// auditEvents compares the memberships with the events. Every membership has a member.added event, except that of the
// user who created the workspace.
func (w *world) auditEvents(b snapshot) {
	withoutEvent := map[string]int{} // by membership: 1 if no event explains it, 0 if one does
	for key := range b.members {
		withoutEvent[key]++
	}
	for _, p := range w.history() {
		key := p.Data.Workspace.ID + " " + p.Data.Member.UserID
		switch p.Type {
		case event.MemberAdded:
			withoutEvent[key]--
		case event.MemberRemoved:
			withoutEvent[key]++
		default:
			w.t.Errorf("unexpected event %s", p.Type)
		}
	}
	founders := map[string]int{}
	for key, n := range withoutEvent {
		wsID, _, _ := strings.Cut(key, " ")
		founders[wsID] += n
		if n != 0 && n != 1 {
			w.t.Errorf("%s: the events are off by %d", key, n)
		}
	}
	for wsID := range b.workspaces {
		if founders[wsID] != 1 {
			w.t.Errorf("%s: the events are off by %d", wsID, founders[wsID]-1)
		}
	}
}
