package workspace_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/removal"
	"devplatform/shared/workspace"
)

func TestInvitation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("Ada"), f.newUser("Grace")
	ws := ada.create("Team")
	invited := ada.Do(http.MethodPost, "/api/workspaces/"+ws+"/invitations",
		map[string]string{"username": "gRACE", "role": "member"}).Want(t, http.StatusCreated)
	wantFields(t, invited.Body, "createdAt", "expiresAt", "id", "invitedBy", "role", "status", "username")
	isValid := id.Invitation.Valid(invited.Text("id"))
	if !isValid || invited.Text("username") != "Grace" || invited.Text("status") != "open" {
		t.Errorf("got invitation %s, want an open one of Grace", invited.Raw)
	}
	if diff := cmp.Diff(map[string]any{"id": ada.id, "username": "Ada"}, invited.Body["invitedBy"]); diff != "" {
		t.Errorf("invitedBy mismatch (-want +got):\n%s", diff)
	}
	list := ada.Do(http.MethodGet, "/api/workspaces/"+ws+"/invitations", nil).Want(t, http.StatusOK)
	if diff := cmp.Diff([]map[string]any{invited.Body}, list.List("invitations")); diff != "" {
		t.Errorf("invitations mismatch (-want +got):\n%s", diff)
	}
	own := grace.invitations().Want(t, http.StatusOK).List("invitations")
	invited.Body["workspace"] = map[string]any{"id": ws, "name": "Team"}
	if diff := cmp.Diff([]map[string]any{invited.Body}, own); diff != "" {
		t.Errorf("invitations of the user mismatch (-want +got):\n%s", diff)
	}
	grace.members(ws).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	if n := len(f.events()); n != 0 {
		t.Errorf("an invitation emitted %d events, want none", n)
	}
	joined := grace.accept(invited.Text("id")).Want(t, http.StatusOK)
	wantFields(t, joined.Body, "addedAt", "role", "userId", "username")
	grace.accept(invited.Text("id")).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	wantNoInvitations(t, ada, grace, ws)
}

// wantNoInvitations checks that neither the workspace nor the user has open invitations.
func wantNoInvitations(t *testing.T, admin, u *user, ws string) {
	t.Helper()
	list := admin.Do(http.MethodGet, "/api/workspaces/"+ws+"/invitations", nil).Want(t, http.StatusOK)
	own := u.invitations().Want(t, http.StatusOK)
	if len(list.List("invitations"))+len(own.List("invitations")) != 0 {
		t.Errorf("got open invitations %s of the workspace and %s of %s, want none", list.Raw, own.Raw, u.username)
	}
}

func TestEndedInvitations(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *teamFixture) response{
		"declined": decline,
		"revoked":  revoke,
		"expired": func(f *teamFixture) response {
			f.clock.Advance(7 * 24 * time.Hour)
			return f.owner1.members(f.ws)
		},
		"inviter removed":    func(f *teamFixture) response { return f.owner2.remove(f.ws, f.owner1) },
		"inviter left":       ownerLeaves,
		"inviter demoted":    func(f *teamFixture) response { return f.owner2.setRole(f.ws, f.owner1, workspace.Member) },
		"accepted by others": func(f *teamFixture) response { f.outsider.accept(f.invitation); return ownerLeaves(f) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTeamFixture(t)
			f.admin.accept(f.offer).Want(t, http.StatusOK)
			f.outsider.accept(f.offer).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
			end(f).Want(t, http.StatusOK)
			f.outsider.accept(f.invitation).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
			wantNoInvitations(t, f.owner2, f.outsider, f.ws)
			if name != "accepted by others" {
				f.owner2.add(f.ws, f.outsider, workspace.Admin) // the user can be invited again
			}
		})
	}
}

// Only the invited user can accept or decline an invitation.
func TestInvitationOfAnotherUser(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	eve := f.newUser("eve")
	for _, invitationID := range []string{f.invitation, f.offer, f.ids.New(id.Invitation), f.ws, "x", "a%23b"} {
		for _, action := range []string{"accept", "decline"} {
			eve.Do(http.MethodPost, "/api/invitations/"+invitationID+"/"+action, nil).
				Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
		}
		if invitationID != f.invitation && invitationID != f.offer {
			f.owner1.Do(http.MethodDelete, "/api/workspaces/"+f.ws+"/invitations/"+invitationID, nil).
				Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
		}
	}
	acceptInvitation(f).Want(t, http.StatusOK)
	for _, r := range []response{
		f.outsider.Do(http.MethodGet, "/api/workspaces/"+f.ws+"/invitations", nil),
		f.outsider.Do(http.MethodDelete, "/api/workspaces/"+f.ws+"/invitations/"+f.offer, nil),
		f.admin.Do(http.MethodDelete, "/api/workspaces/"+f.ws+"/invitations/"+f.offer, nil), // above the own role
	} {
		r.Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	}
}

// The old call, which added members without their consent, does not exist.
func TestMembersCannotBeAdded(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	body := map[string]string{"username": "outsider", "role": "member"}
	r := f.owner1.Do(http.MethodPost, "/api/workspaces/"+f.ws+"/members", body)
	r.Want(t, http.StatusMethodNotAllowed, fault.CodeMethodNotAllowed)
	if allow := r.Header.Get("Allow"); allow != "GET, HEAD" && allow != "GET" {
		t.Errorf("got Allow %q, want GET", allow)
	}
}

func TestRepeatedInvitation(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	again := f.owner2.invite(f.ws, f.outsider, workspace.Member).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	if wait := again.Header.Get("Retry-After"); len(wait) != 3 {
		t.Errorf("got Retry-After %q, want almost 300 seconds", wait)
	}
	// Another role replaces the role of the invitation. The new inviter is responsible for it.
	changed := f.owner2.invite(f.ws, f.outsider, workspace.Admin).Want(t, http.StatusCreated)
	if by := changed.Body["invitedBy"].(map[string]any)["id"]; changed.Text("id") != f.invitation || by != f.owner2.id {
		t.Errorf("got invitation %s, want the ID %s, by %s", changed.Raw, f.invitation, f.owner2.id)
	}
	f.clock.Advance(5 * time.Minute)
	renewed := f.owner2.invite(f.ws, f.outsider, workspace.Admin).Want(t, http.StatusCreated)
	if renewed.Text("id") == f.invitation || renewed.Text("createdAt") <= changed.Text("createdAt") {
		t.Errorf("got invitation %s, want a new one", renewed.Raw)
	}
	acceptInvitation(f).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	wantTexts(t, f.outsider.invitations(), "invitations", "id", renewed.Text("id"))
	if role := f.outsider.accept(renewed.Text("id")).Want(t, http.StatusOK).Text("role"); role != "admin" {
		t.Errorf("got the role %s, want admin", role)
	}
}

func TestInvitationQuotas(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *workspace.Deps) { d.InvitationsPerDay = 26 })
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Admin}) // one invitation
	users := make([]*user, 51)
	for i := range users {
		users[i] = f.newUser(fmt.Sprint("user", i))
		inviter := ada
		if i >= 25 {
			inviter = grace
		}
		r := inviter.invite(ws, users[i], workspace.Viewer)
		if i < 50 {
			r.Want(t, http.StatusCreated)
		} else {
			r.Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
		}
	}
	list := ada.Do(http.MethodGet, "/api/workspaces/"+ws+"/invitations?limit=30", nil).Want(t, http.StatusOK)
	next := list.Text("nextCursor")
	rest := ada.Do(http.MethodGet, "/api/workspaces/"+ws+"/invitations?limit=30&cursor="+next, nil).Want(t, http.StatusOK)
	n, m := len(list.List("invitations")), len(rest.List("invitations"))
	if n != 30 || m != 20 || rest.Text("nextCursor") != "" {
		t.Errorf("got pages of %d and %d invitations, want 30 and 20", n, m)
	}
	// Ada has created 26 invitations today, Grace 25.
	first := list.Texts("invitations", "id")[0]
	ada.Do(http.MethodDelete, "/api/workspaces/"+ws+"/invitations/"+first, nil).Want(t, http.StatusOK)
	tooMany := ada.invite(ws, users[50], workspace.Viewer).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	if tooMany.Header.Get("Retry-After") == "" {
		t.Error("the response has no Retry-After")
	}
	grace.invite(ws, users[50], workspace.Viewer).Want(t, http.StatusCreated)
	// Expired invitations do not count.
	f.clock.Advance(7 * 24 * time.Hour)
	ada.invite(ws, users[0], workspace.Viewer).Want(t, http.StatusCreated)
}

// The invitations of a user are listed in pages, without those that have ended.
func TestListUserInvitations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	var want []string
	for i := range 7 {
		ws := ada.createTeam(map[*user]workspace.Role{eve: workspace.Admin})
		inviter := ada
		if i%3 == 2 {
			inviter = eve
		}
		invited := inviter.invite(ws, grace, workspace.Viewer).Want(t, http.StatusCreated)
		if inviter == eve {
			ada.remove(ws, eve).Want(t, http.StatusOK)
		} else {
			want = append(want, invited.Text("id"))
		}
	}
	for _, limit := range []int{1, 2, 3, 5, 100} {
		var got []string
		for cursor := ""; ; {
			path := fmt.Sprintf("/api/invitations?limit=%d%s", limit, cursor)
			page := grace.Do(http.MethodGet, path, nil).Want(t, http.StatusOK)
			got = append(got, page.Texts("invitations", "id")...)
			if page.Text("nextCursor") == "" {
				break
			}
			cursor = "&cursor=" + page.Text("nextCursor")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d, mismatch (-want +got):\n%s", limit, diff)
		}
	}
	wantTexts(t, grace.invitations(), "invitations", "id", want...)
}

// Any number of users can invite a user, so the list is paged even if the request has no limit.
func TestListManyUserInvitations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	grace := f.newUser("grace")
	var want []string
	for _, inviter := range f.newUsers("a", "b", "c") {
		for range 18 {
			invited := inviter.invite(inviter.create("Team"), grace, workspace.Viewer).Want(t, http.StatusCreated)
			want = append(want, invited.Text("id"))
		}
	}
	first := grace.invitations()
	wantTexts(t, first, "invitations", "id", want[:50]...)
	wantCalls(t, "listing the first page", first, 5) // two reads with their workspaces, and one for the address
	wantTexts(t, grace.Do(http.MethodGet, "/api/invitations?cursor="+first.Text("nextCursor"), nil), "invitations", "id",
		want[50:]...)
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	eventsBefore := len(f.events())
	f.admin.setRole(f.ws, f.admin, workspace.Owner).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	f.owner1.setRole(f.ws, f.admin, workspace.Owner).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	wantTexts(t, f.owner1.members(f.ws), "members", "role", "owner", "owner", "admin")
	own := f.admin.invitations().Want(t, http.StatusOK)
	wantTexts(t, own, "invitations", "role", "owner")
	accepted := acceptOffer(f).Want(t, http.StatusOK)
	if accepted.Text("role") != "owner" || accepted.Text("userId") != f.admin.id {
		t.Errorf("got member %s, want the admin as owner", accepted.Raw)
	}
	if n := len(f.events()); n != eventsBefore {
		t.Errorf("the change of the owner emitted %d events, want none", n-eventsBefore)
	}
	// An owner who leaves loses an offer of ownership in the same way as a member.
	f.owner1.setRole(f.ws, f.admin, workspace.Member).Want(t, http.StatusOK)
	f.clock.Advance(time.Hour)
	offer := f.owner1.offer(f.ws, f.admin)
	f.admin.remove(f.ws, f.admin).Want(t, http.StatusOK)
	f.owner1.add(f.ws, f.admin, workspace.Viewer)
	f.admin.accept(offer).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
}

// Of concurrent requests that accept, decline and revoke an invitation, exactly one succeeds.
func TestConcurrentEndsOfInvitation(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string][]func(*teamFixture) response{
		"accept twice":       {acceptInvitation, acceptInvitation},
		"accept and revoke":  {acceptInvitation, revoke},
		"accept and decline": {acceptInvitation, decline},
		"revoke and decline": {revoke, decline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				f := newTeamFixture(t)
				statuses := concurrentStatuses(
					func() response { return ends[0](f) }, func() response { return ends[1](f) })
				// A request that reads while the user joins can report that the user is already a member.
				if statuses[http.StatusOK] != 1 || statuses[http.StatusNotFound]+statuses[http.StatusConflict] != 1 {
					t.Fatalf("got responses by status %v, want 200, and 404 or 409", statuses)
				}
			}
		})
	}
}

// A user who accepts invitations at the same time does not exceed the limit of workspaces.
func TestConcurrentAcceptancesKeepQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuota(3))
	ada := f.newUser("ada")
	var requests []func() response
	for i := range 4 {
		owner := f.newUser(fmt.Sprint("owner", i))
		invited := owner.invite(owner.personal, ada, workspace.Member).Want(t, http.StatusCreated).Text("id")
		requests = append(requests, func() response { return ada.accept(invited) })
	}
	statuses := concurrentStatuses(requests...)
	if statuses[http.StatusOK] != 2 || statuses[http.StatusPaymentRequired] != 2 {
		t.Errorf("got responses by status %v, want twice 200 and twice 402", statuses)
	}
}

// An inviter who leaves while the invitation is accepted never leaves an invitation behind.
func TestAcceptanceWhileInviterLeaves(t *testing.T) {
	t.Parallel()
	for range 10 {
		f := newTeamFixture(t)
		statuses := concurrentStatuses(
			func() response { return acceptInvitation(f) }, func() response { return ownerLeaves(f) })
		if statuses[http.StatusOK] < 1 || statuses[http.StatusOK]+statuses[http.StatusNotFound] != 2 {
			t.Fatalf("got responses by status %v, want 200, and 200 or 404", statuses)
		}
		acceptInvitation(f).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	}
}

func TestRenameWorkspace(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	at := "/api/workspaces/" + f.ws
	read := f.admin.Do(http.MethodGet, at, nil).Want(t, http.StatusOK)
	if read.Body["members"] != 3.0 || read.Body["projects"] != 0.0 || read.Text("role") != "admin" {
		t.Errorf("read %s, want 3 members, no projects, and the role admin", read.Raw)
	}
	wantCalls(t, "reading a workspace", read, 1)
	renamed := f.admin.Do(http.MethodPut, at, map[string]string{"name": "Design team"}).Want(t, http.StatusOK)
	read.Body["name"] = "Design team"
	if diff := cmp.Diff(read.Body, renamed.Body); diff != "" {
		t.Errorf("renamed workspace mismatch (-want +got):\n%s", diff)
	}
	for _, u := range []*user{f.owner1, f.owner2, f.admin} {
		wantTexts(t, u.workspaces(), "workspaces", "name", u.username+"'s workspace", "Design team")
	}
	if ws := f.outsider.invitations().List("invitations")[0]["workspace"]; ws.(map[string]any)["name"] != "Design team" {
		t.Errorf("the invitation is to the workspace %v, want the new name", ws)
	}
	f.outsider.accept(f.invitation).Want(t, http.StatusOK)
	if events := f.events(); events[len(events)-1].Data.Workspace.Name != "Design team" {
		t.Errorf("got event %+v, want the new name", events[len(events)-1])
	}
	denied := f.outsider.Do(http.MethodPut, at, map[string]string{"name": "Mine"})
	denied.Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	before := f.snapshot()
	wantCalls(t, "a request without changes", f.admin.Do(http.MethodPut, at, `{}`).Want(t, http.StatusOK), 1)
	if diff := cmp.Diff(before, f.snapshot(), cmp.AllowUnexported(snapshot{})); diff != "" {
		t.Errorf("a request without changes changed stored items (-before +after):\n%s", diff)
	}
}

// The acceptance itself checks the role of the inviter, even if the invitation did not end with the role.
func TestAcceptanceChecksInviter(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	f.skipConsistencyCheck = true
	role := expression.Set(expression.Name("role"), expression.Value(workspace.Member))
	inviter := f.client.Table(f.projectsTable).Update(db.MemberKey(f.ws, f.owner1.id), role)
	if _, err := f.client.Do(t.Context(), inviter); err != nil {
		t.Fatal(err)
	}
	acceptInvitation(f).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	acceptOffer(f).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
}

// After the end of the inviter's account, the membership and the invitations of the inviter remain for minutes.
func TestAcceptanceAfterInviterDeletedAccount(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	f.skipConsistencyCheck = true // the account does not leave the workspace in this test
	ended := removal.Create(f.client.Table(f.projectsTable), removal.Account, f.owner1.id, f.clock.Now())
	if _, err := f.client.Do(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	acceptInvitation(f).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	acceptOffer(f).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
}
