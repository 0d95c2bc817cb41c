package workspace_test

import (
	"net/http"
	"testing"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// After the deletion of a workspace, its members can't read anything of it, and its invitations have ended.
func TestDeleteWorkspace(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	token := tokenOf(t, f.owner1.inviteAddress(f.ws, "eve@example.com", workspace.Viewer))
	deleted := f.owner1.delete(f.ws, "Team").Want(t, http.StatusAccepted)
	wantFields(t, deleted.Body, "message", "success")
	wantCalls(t, "the deletion", deleted, 2)
	for _, u := range []*user{f.owner1, f.owner2, f.admin} {
		wantTexts(t, u.workspaces(), "workspaces", "id", u.personal)
		u.members(f.ws).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
		u.Do(http.MethodGet, "/api/workspaces/"+f.ws, nil).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
		u.invite(f.ws, f.outsider, workspace.Viewer).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
		u.delete(f.ws, "Team").Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	}
	if list := f.outsider.invitations().Want(t, http.StatusOK).List("invitations"); len(list) != 0 {
		t.Errorf("got the invitations %v, want none", list)
	}
	f.outsider.accept(f.invitation).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	f.admin.accept(f.offer).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	f.preview(token).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
}

// Only an owner with a fresh session, who sends the exact name, can delete a workspace, and no personal one.
func TestDeletionIsRefused(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	f.outsider.delete(f.ws, "Team").Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	f.admin.delete(f.ws, "Team").Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	for _, wrong := range []string{"team", "Team ", "", "Te\u200bam"} {
		f.owner1.delete(f.ws, wrong).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	f.owner1.Do(http.MethodDelete, "/api/workspaces/"+f.ws, nil).
		Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	f.owner1.delete(f.owner1.personal, "owner1's workspace").Want(t, http.StatusConflict, fault.CodeConflict)
	f.owner1.login()
	f.clock.Advance(11 * time.Minute)
	f.owner1.Do(http.MethodDelete, "/api/workspaces/"+f.ws, map[string]string{"confirm": "Team"}).
		Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	if n := len(f.snapshot().removals); n != 0 {
		t.Errorf("got %d removals, want none", n)
	}
}
