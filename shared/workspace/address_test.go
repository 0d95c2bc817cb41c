package workspace_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/workspace"
)

// inviteAddress sends the request to invite the owner of an address.
func (u *user) inviteAddress(ws, email string, role workspace.Role) response {
	u.f.t.Helper()
	body := map[string]any{"email": email, "role": role}
	return u.Do(http.MethodPost, "/api/workspaces/"+ws+"/invitations", body)
}

// acceptToken sends the request to accept the invitation of a mail.
func (u *user) acceptToken(token string) response {
	u.f.t.Helper()
	return u.Do(http.MethodPost, "/api/invitations/accept", map[string]string{"token": token})
}

// preview sends the request to preview the invitation of a mail, without a session.
func (f *fixture) preview(token string) response {
	f.t.Helper()
	return f.newClient("").Do(http.MethodPost, "/api/invitations/preview", map[string]string{"token": token})
}

// confirmEmail makes the address of a user, which is username@example.com, a confirmed one.
func (u *user) confirmEmail() {
	account := httpapi.Account{Username: u.username, Email: u.username + "@example.com", EmailVerified: true}
	u.f.accounts.Add(httpapi.NewCaller(u.id, "").Complete(account, nil))
}

// tokenOf returns the token in the url of an invitation.
func tokenOf(t *testing.T, invited response) string {
	t.Helper()
	_, token, found := strings.Cut(invited.Want(t, http.StatusCreated).Text("url"), "#token=")
	if !found || len(token) < 60 {
		t.Fatalf("got the url %q, want one with a token", invited.Text("url"))
	}
	return token
}

// mails returns all stored mails, in the order of their IDs.
func (f *fixture) mails() []mail.Message {
	f.t.Helper()
	var list []mail.Message
	for _, item := range slicetest.Dump(f.t, f.sdk, f.mailTable) {
		_, m, err := mail.Open(f.t.Context(), f.keys, item)
		if err != nil {
			f.t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

func TestInvitationByAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("Ada"), f.newUser("grace")
	ws := ada.create("Team")
	invited := ada.inviteAddress(ws, "New@Example.com", workspace.Member).Want(t, http.StatusCreated)
	wantFields(t, invited.Body, "createdAt", "email", "expiresAt", "id", "invitedBy", "role", "status", "url")
	token := tokenOf(t, invited)
	if want := "https://app.example.com/api/auth/page/invitation#token=" + token; invited.Text("url") != want {
		t.Errorf("got the url %q, want %q", invited.Text("url"), want)
	}
	mails := f.mails()
	if len(mails) != 1 {
		t.Fatalf("got mails %+v, want one", mails)
	}
	want := mail.Message{
		Kind: mail.Invitation, To: "new@example.com", Token: token, ExpiresAt: mails[0].ExpiresAt,
		Values: map[string]string{"workspace": "Team", "inviter": "Ada", "role": "member"},
	}
	if diff := cmp.Diff(want, mails[0]); diff != "" || mails[0].ExpiresAt.Sub(f.clock.Now()) < 6*24*time.Hour {
		t.Errorf("mail mismatch (-want +got):\n%s", diff)
	}
	for _, table := range []string{f.projectsTable, f.mailTable} {
		if dump := fmt.Sprint(slicetest.Dump(t, f.sdk, table)); strings.Contains(dump, token[26:]) {
			t.Error("the token is stored in clear text")
		}
	}
	delete(invited.Body, "url") // the list does not contain it
	list := ada.Do(http.MethodGet, "/api/workspaces/"+ws+"/invitations", nil).Want(t, http.StatusOK)
	if diff := cmp.Diff([]map[string]any{invited.Body}, list.List("invitations")); diff != "" {
		t.Errorf("invitations mismatch (-want +got):\n%s", diff)
	}

	// Any user with the link can accept the invitation, once. Admins see that the address is another one.
	preview := f.preview(token).Want(t, http.StatusOK)
	wantPreview := map[string]any{
		"workspace": map[string]any{"name": "Team"}, "invitedBy": map[string]any{"username": "Ada"}, "role": "member",
	}
	if diff := cmp.Diff(wantPreview, preview.Body); diff != "" {
		t.Errorf("preview mismatch (-want +got):\n%s", diff)
	}
	wantCalls(t, "a preview", preview, 1)
	grace.accept(invited.Text("id")).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	joined := grace.acceptToken(token).Want(t, http.StatusOK)
	if joined.Text("userId") != grace.id || joined.Text("role") != "member" {
		t.Errorf("got member %s, want grace", joined.Raw)
	}
	grace.acceptToken(token).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
	f.preview(token).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
	member := ada.members(ws).List("members")[1]
	if member["invitedEmail"] != "new@example.com" || member["email"] != "grace@example.com" {
		t.Errorf("an admin sees the member %v, want both addresses", member)
	}
	wantFields(t, grace.members(ws).List("members")[1], "addedAt", "role", "userId", "username")
	wantNoInvitations(t, ada, grace, ws)
}

// An invitation to an address is listed for the user whose confirmed address it is, and only for that user.
func TestInvitationOfConfirmedAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	first, second := ada.create("First"), ada.create("Second")
	third := ada.create("Third")
	accepted := ada.inviteAddress(first, "grace@example.com", workspace.Admin).Want(t, http.StatusCreated).Text("id")
	declined := ada.inviteAddress(second, "grace@example.com", workspace.Viewer).Want(t, http.StatusCreated)
	byName := ada.invite(third, grace, workspace.Viewer).Want(t, http.StatusCreated).Text("id")
	last := ada.inviteAddress(third, "grace@example.com", workspace.Viewer).Want(t, http.StatusCreated).Text("id")
	eve.confirmEmail()
	wantTexts(t, grace.invitations(), "invitations", "id", byName)
	for _, u := range []*user{eve, grace} {
		u.accept(accepted).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	}
	grace.confirmEmail()
	wantTexts(t, grace.invitations(), "invitations", "id", accepted, declined.Text("id"), byName, last)
	page := grace.Do(http.MethodGet, "/api/invitations?limit=3", nil).Want(t, http.StatusOK)
	wantTexts(t, page, "invitations", "id", accepted, declined.Text("id"), byName)
	next := grace.Do(http.MethodGet, "/api/invitations?limit=3&cursor="+page.Text("nextCursor"), nil)
	wantTexts(t, next.Want(t, http.StatusOK), "invitations", "id", last)

	grace.accept(accepted).Want(t, http.StatusOK)
	wantFields(t, ada.members(first).List("members")[1], "addedAt", "role", "userId", "username")
	grace.Do(http.MethodPost, "/api/invitations/"+declined.Text("id")+"/decline", nil).Want(t, http.StatusOK)
	eve.acceptToken(tokenOf(t, declined)).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
	// The user can be invited twice, but joins once. The other invitation remains, for others.
	grace.accept(byName).Want(t, http.StatusOK)
	grace.accept(last).Want(t, http.StatusConflict, fault.CodeConflict)
}

// The response to an invitation, and its cost, do not depend on whether an account has the address, or is a member.
func TestInvitationByAddressRevealsNoAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	f.newUser("eve").confirmEmail()
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Member})
	for _, name := range []string{"grace", "nobody", "eve", "ada"} {
		r := ada.inviteAddress(ws, name+"@example.com", workspace.Member).Want(t, http.StatusCreated)
		wantFields(t, r.Body, "createdAt", "email", "expiresAt", "id", "invitedBy", "role", "status", "url")
		wantCalls(t, "inviting "+name, r, 2)
	}
	if n := len(f.mails()); n != 4 {
		t.Errorf("got %d mails, want 4", n)
	}
	grace.inviteAddress(ws, "x@example.com", workspace.Viewer).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
}

func TestRepeatedInvitationByAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.create("Team")
	first := ada.inviteAddress(ws, "new@example.com", workspace.Member)
	tooEarly := ada.inviteAddress(ws, "NEW@example.com", workspace.Member)
	tooEarly.Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
	changed := ada.inviteAddress(ws, "new@example.com", workspace.Admin).Want(t, http.StatusCreated)
	if changed.Text("url") != "" || changed.Text("id") != first.Text("id") || len(f.mails()) != 1 {
		t.Errorf("got %s and %d mails, want the first invitation, and no new mail", changed.Raw, len(f.mails()))
	}
	if role := f.preview(tokenOf(t, first)).Want(t, http.StatusOK).Text("role"); role != "admin" {
		t.Errorf("the first link grants the role %q, want admin", role)
	}
	f.clock.Advance(5 * time.Minute)
	second := ada.inviteAddress(ws, "new@example.com", workspace.Admin)
	grace.acceptToken(tokenOf(t, first)).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
	if role := grace.acceptToken(tokenOf(t, second)).Want(t, http.StatusOK).Text("role"); role != "admin" {
		t.Errorf("got the role %q, want admin", role)
	}
}

// The links end when the invitation ends, and other tokens are never valid.
func TestInvalidInvitationTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Admin})
	other := ada.create("Other")
	token := tokenOf(t, ada.inviteAddress(ws, "a@example.com", workspace.Viewer))
	revoked := ada.inviteAddress(ws, "b@example.com", workspace.Viewer)
	ada.Do(http.MethodDelete, "/api/workspaces/"+ws+"/invitations/"+revoked.Text("id"), nil).Want(t, http.StatusOK)
	demoted := tokenOf(t, grace.inviteAddress(ws, "c@example.com", workspace.Viewer))
	ada.setRole(ws, grace, workspace.Member).Want(t, http.StatusOK)
	for _, invalid := range []string{
		tokenOf(t, revoked), demoted, token[:len(token)-1], token + "A", strings.ToLower(token), "x",
		strings.TrimPrefix(other, "ws_") + token[26:], strings.TrimPrefix(f.ids.New(id.Workspace), "ws_") + token[26:],
		strings.TrimPrefix(ws, "ws_"), strings.Repeat("é#", 60),
	} {
		f.preview(invalid).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
		eve.acceptToken(invalid).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
	}
	ada.acceptToken(token).Want(t, http.StatusConflict, fault.CodeConflict) // a member cannot use it up
	f.clock.Advance(7 * 24 * time.Hour)
	eve.acceptToken(token).Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
}

// Of users who use a link at the same time, one becomes a member.
func TestConcurrentUsesOfLink(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	ws := ada.create("Team")
	token := tokenOf(t, ada.inviteAddress(ws, "new@example.com", workspace.Viewer))
	var requests []func() response
	for i := range 5 {
		u := f.newUser(fmt.Sprint("user", i))
		requests = append(requests, func() response { return u.acceptToken(token) })
	}
	statuses := concurrentStatuses(requests...)
	if statuses[http.StatusOK] != 1 || statuses[http.StatusBadRequest] != 4 {
		t.Errorf("got responses by status %v, want one with status 200, and 400", statuses)
	}
	if n := len(ada.members(ws).List("members")); n != 2 {
		t.Errorf("got %d members, want 2", n)
	}
}

// Without an address from which mails are sent, addresses cannot be invited.
func TestInvitationWithoutMail(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *workspace.Deps) {
		d.Mail = mail.NewOutbox(d.DB, config.Tables{Mail: "mail"}, nil, d.IDs, d.Clock, mail.Settings{})
	})
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.create("Team")
	r := ada.inviteAddress(ws, "new@example.com", workspace.Viewer)
	r.Want(t, http.StatusNotImplemented, fault.CodeMailNotConfigured)
	ada.add(ws, grace, workspace.Viewer)
}
