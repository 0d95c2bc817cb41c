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

// snapshot is the content of the projects table. The keys of members and memberships are "workspaceID userID".
type snapshot struct {
	workspaces  map[string]workspace.Workspace
	members     map[string]workspace.Membership // the copies in the partitions of workspaces
	memberships map[string]workspace.Membership // the copies in the partitions of users
	counts      map[string]int                  // stored number of memberships, by user ID
	// invitations contains the invitations by workspace ID: "invitationID userID-or-email role inviterID". pointers
	// contains the items that map their IDs to workspaces by "invitationID userID-or-email".
	invitations map[string][]string
	pointers    map[string]pointer
	removals    map[string]bool // the IDs of workspaces that have ended
}

// pointer is the item that maps the ID of an invitation to its workspace.
type pointer struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
	ExpiresAt   int64  `dynamodbav:"expiresAt"`
}

func decode[T any](f *fixture, item db.Item) T {
	record, err := db.Decode[T](item)
	if err != nil {
		f.t.Fatal(err)
	}
	return record
}

// snapshot reads the projects table.
func (f *fixture) snapshot() snapshot {
	s := snapshot{
		workspaces:  map[string]workspace.Workspace{},
		members:     map[string]workspace.Membership{},
		memberships: map[string]workspace.Membership{},
		counts:      map[string]int{},
		invitations: map[string][]string{},
		pointers:    map[string]pointer{},
		removals:    map[string]bool{},
	}
	for key, item := range slicetest.Dump(f.t, f.sdk, f.projectsTable) {
		_, partitionID, _ := strings.Cut(key.PK, "#")
		kind, sortID, _ := strings.Cut(key.SK, "#")
		switch kind {
		case "WORKSPACE":
			s.workspaces[partitionID] = decode[workspace.Workspace](f, item)
		case "MEMBER":
			s.members[partitionID+" "+sortID] = decode[workspace.Membership](f, item)
		case "WS":
			s.memberships[sortID+" "+partitionID] = decode[workspace.Membership](f, item)
		case "MEMBERSHIPS":
			if item["n"] == nil { // only the mark of a suspension
				continue
			}
			s.counts[partitionID] = decode[struct {
				N int `dynamodbav:"n"`
			}](f, item).N
		case "INVITATIONS":
			s.invitations[partitionID] = []string{}
			for _, i := range decode[struct {
				List []workspace.Invitation `dynamodbav:"list"`
			}](f, item).List {
				s.invitations[partitionID] = append(s.invitations[partitionID],
					i.ID+" "+i.UserID+i.Email+" "+string(i.Role)+" "+i.InviterID)
			}
		case "FORMER": // partitionID is a user who left, or was removed
			if key != db.FormerMembershipKey(partitionID, sortID) {
				f.t.Errorf("unexpected item %+v in the projects table", key)
			}
		case "REMOVAL":
			s.removals[partitionID] = true
		case "INVITATION": // partitionID is a user or an address
			s.pointers[sortID+" "+partitionID] = decode[pointer](f, item)
		default:
			if strings.HasPrefix(key.PK, "RATE#invitations#") {
				continue
			}
			f.t.Errorf("unexpected item %+v in the projects table", key)
		}
	}
	return s
}

// events returns the payloads of all events, in the order of their IDs.
func (f *fixture) events() []event.Payload {
	var list []event.Payload
	for _, item := range slicetest.Dump(f.t, f.sdk, f.eventsTable) {
		var p event.Payload
		if err := json.Unmarshal([]byte(decode[event.Record](f, item).Payload), &p); err != nil {
			f.t.Fatal(err)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b event.Payload) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// checkConsistency checks that the stored items are consistent with each other and with the events. It runs at the end
// of every test.
func (f *fixture) checkConsistency() {
	s := f.snapshot()
	if diff := cmp.Diff(s.members, s.memberships); diff != "" {
		f.t.Errorf("the two copies of the memberships differ: %s", diff)
	}
	members, owners, suspended := map[string]int{}, map[string]int{}, map[string]int{} // numbers, by workspace ID
	memberships, personal := map[string]int{}, map[string]int{}                        // numbers, by user ID
	for _, m := range s.members {
		memberships[m.UserID]++
		members[m.WorkspaceID]++
		if m.Role == workspace.Owner {
			owners[m.WorkspaceID]++
			if m.Suspended {
				suspended[m.WorkspaceID]++
			}
		}
		if m.Personal {
			personal[m.UserID]++
		}
	}
	for wsID, ws := range s.workspaces {
		if ws.Members != members[wsID] {
			f.t.Errorf("%s: the stored number of members is %d, want %d", wsID, ws.Members, members[wsID])
		}
		if ws.Owners != owners[wsID] || ws.Owners < 1 {
			f.t.Errorf("%s: the stored number of owners is %d, want %d and at least 1", wsID, ws.Owners, owners[wsID])
		}
		if ws.SuspendedOwners != suspended[wsID] {
			f.t.Errorf("%s: the stored number of suspended owners is %d, want %d", wsID, ws.SuspendedOwners, suspended[wsID])
		}
	}
	for wsID := range members {
		if _, exists := s.workspaces[wsID]; exists == s.removals[wsID] {
			f.t.Errorf("%s: exists: %v, with a removal: %v", wsID, exists, s.removals[wsID])
		}
	}
	for userID, n := range memberships {
		count, isStored := s.counts[userID]
		if (isStored || n > 1) && count != n {
			f.t.Errorf("%s: the stored number of memberships is %d, want %d", userID, count, n)
		}
		if personal[userID] != 1 {
			f.t.Errorf("%s: got %d personal workspaces, want 1", userID, personal[userID])
		}
	}
	f.checkInvitations(s)
	f.checkEvents(s)
}

// checkInvitations checks that every stored invitation can be found by the invited user, and that each user has at most
// one invitation to a workspace: members only to become an owner, and other users only to another role. The inviters
// may still grant the roles. No item remains of an invitation that ended before it expired.
func (f *fixture) checkInvitations(s snapshot) {
	stored := map[string]bool{}
	for wsID, list := range s.invitations {
		users := map[string]bool{}
		for _, invitation := range list {
			fields := strings.Fields(invitation)
			id, userID, role := fields[0], fields[1], fields[2]
			member, isMember := s.members[wsID+" "+userID]
			isOffer, isFound := role == string(workspace.Owner), s.pointers[id+" "+userID].WorkspaceID == wsID
			if users[userID] || isMember != isOffer || member.Role == workspace.Owner || !isFound {
				f.t.Errorf("%s: the invitation %s is inconsistent (member: %+v)", wsID, invitation, member)
			}
			if by := s.members[wsID+" "+fields[3]].Role; !by.May(workspace.ManageMembers) || !by.Covers(workspace.Role(role)) {
				f.t.Errorf("%s: the invitation %s is by a member with the role %q", wsID, invitation, by)
			}
			users[userID], stored[id+" "+userID] = true, true
		}
	}
	for invitation, p := range s.pointers {
		if !stored[invitation] && p.ExpiresAt > f.clock.Now().Unix() {
			f.t.Errorf("%s: an item of the ended invitation %s remains", p.WorkspaceID, invitation)
		}
	}
}

// checkEvents compares the memberships with the events. Every membership has a member.added event, except the
// membership of the user who created the workspace.
func (f *fixture) checkEvents(s snapshot) {
	withoutEvent := map[string]int{} // by membership: 1 if no event added it, 0 if an event did
	for key := range s.members {
		withoutEvent[key]++
	}
	for _, p := range f.events() {
		key := p.Data.Workspace.ID + " " + p.Data.Member.UserID
		switch p.Type {
		case event.MemberAdded:
			withoutEvent[key]--
		case event.MemberRemoved:
			withoutEvent[key]++
		default:
			f.t.Errorf("unexpected event %s", p.Type)
		}
	}
	creators := map[string]int{} // by workspace ID: number of members without an event
	for key, n := range withoutEvent {
		wsID, _, _ := strings.Cut(key, " ")
		creators[wsID] += n
		if n != 0 && n != 1 {
			f.t.Errorf("membership %s: got %d changes without an event, want 0 or 1", key, n)
		}
	}
	for wsID := range s.workspaces {
		if creators[wsID] != 1 {
			f.t.Errorf("workspace %s: got %d members without an event, want only the creator", wsID, creators[wsID])
		}
	}
}
