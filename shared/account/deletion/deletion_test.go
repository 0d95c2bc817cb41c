package deletion_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/accounttest"
	"devplatform/infra/mailtest"
	"devplatform/infra/slicetest"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/codehost"
	"devplatform/shared/account/deletion"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/workspace"
)

func remove(u *accounttest.User, confirm string) slicetest.Response {
	return u.Do(http.MethodDelete, "/api/auth/me", map[string]string{"confirm": confirm})
}

func signUp(w *accounttest.World, email, username string) slicetest.Response {
	body := map[string]string{"email": email, "username": username, "password": accounttest.Password}
	return slicetest.NewClient(w.T, w.Server.URL, w.Log).Do(http.MethodPost, "/api/auth/signup", body)
}

// A deletion ends all sessions and the workspaces of the user at once. The address is free, and the username is not.
func TestDelete(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada, grace := w.NewUser("ada"), w.NewUser("grace")
	project := ada.Project("", "Shown")
	ada.Do(http.MethodPut, "/api/projects/"+project, map[string]string{"visibility": "public"}).Want(t, http.StatusOK)
	grace.Get("/api/projects/"+project).Want(t, http.StatusOK)
	other := &accounttest.User{
		Client: slicetest.NewClient(t, w.Server.URL, w.Log), World: w, Name: "ada", UserEmail: "ada@example.com",
	}
	other.Login().Want(t, http.StatusOK)

	remove(ada, "grace").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	remove(ada, "").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	w.Clock.Advance(10*time.Minute + time.Second)
	remove(ada, "ada").Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	ada.Login().Want(t, http.StatusOK)
	remove(ada, "ada").Want(t, http.StatusAccepted)

	if ada.Cookie("session") != "" {
		t.Error("the client still has the cookie of the session")
	}
	remove(ada, "ada").Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	other.Get("/api/auth/me").Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	other.Login().Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	grace.Get("/api/projects/"+project).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	grace.Do(http.MethodPost, "/api/workspaces/"+grace.Workspace("Team")+"/invitations",
		map[string]string{"username": "ada", "role": "member"}).Want(t, http.StatusNotFound, fault.CodeUserNotFound)
	signUp(w, "new@example.com", "ADA").Want(t, http.StatusConflict, fault.CodeUserExists)
	signUp(w, "ada@example.com", "ada2").Want(t, http.StatusCreated)
	w.Clock.Advance(90*24*time.Hour - time.Minute)
	signUp(w, "new@example.com", "ada").Want(t, http.StatusConflict, fault.CodeUserExists)
	w.Clock.Advance(time.Minute)
	signUp(w, "new@example.com", "ada").Want(t, http.StatusCreated)

	mails := mailtest.To("ada@example.com", mailtest.Stored(t, w.SDK, w.Tables.Mail, w.Keys))
	kinds := map[mail.Kind]int{}
	for _, m := range mails {
		kinds[m.Kind]++
	}
	if kinds[mail.AccountDeleted] != 1 {
		t.Errorf("got the mails %v to the address, want one about the deletion", kinds)
	}
}

// While the user is the only owner of a workspace with other members, nothing is deleted.
func TestSharedWorkspaces(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada, grace := w.NewUser("ada"), w.NewUser("grace")
	team, second, shared := ada.Workspace("Team"), ada.Workspace("Second"), ada.Workspace("Shared")
	for _, joined := range []string{team, second, ada.Personal} {
		grace.Join(ada, joined, workspace.Viewer)
	}
	grace.Join(ada, shared, workspace.Member)
	grace.Own(ada, shared)
	r := remove(ada, "ada").Want(t, http.StatusConflict, fault.CodeConflict)
	for _, name := range []string{`"Team"`, `"Second"`, `"ada's workspace"`} {
		if !strings.Contains(r.Text("error"), name) {
			t.Errorf("the error %q lacks %s", r.Text("error"), name)
		}
	}
	if strings.Contains(r.Text("error"), "Shared") {
		t.Errorf("the error %q names a workspace with another owner", r.Text("error"))
	}
	ada.Get("/api/workspaces/"+team).Want(t, http.StatusOK)
	grace.Own(ada, team)
	grace.Own(ada, ada.Personal)
	ada.Do(http.MethodDelete, "/api/workspaces/"+second+"/members/"+grace.ID, nil).Want(t, http.StatusOK)
	remove(ada, "ada").Want(t, http.StatusAccepted)
	grace.Get("/api/workspaces/"+team).Want(t, http.StatusOK)
	grace.Get("/api/workspaces/"+ada.Personal).Want(t, http.StatusOK)
}

// The transaction of an account with 50 workspaces, 200 projects and many identities is not too large. The identities
// can be linked to other accounts.
func TestLargeAccount(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	ada := w.NewUser("ada")
	for i := range workspace.MaxMemberships - 1 {
		ada.Workspace(fmt.Sprint("W", i))
	}
	projects := map[db.Key]db.Item{}
	for range 200 {
		projectID := w.IDs.New(id.Project)
		projects[db.ProjectKey(ada.Personal, projectID)] = db.Item{}
	}
	if err := w.Projects().PutAll(t.Context(), projects); err != nil {
		t.Fatal(err)
	}
	const identities = 250
	for n := range identities {
		i := codehost.Identity{
			ID: w.IDs.New(id.Identity), UserID: ada.ID, Provider: "github", Subject: fmt.Sprint(n),
			LinkedAt: clock.Stamp(w.Clock.Now()),
		}
		for _, key := range []db.Key{db.IdentityKey(i.Provider, i.Subject), db.UserIdentityKey(i.UserID, i.ID)} {
			if _, err := w.Client.Do(t.Context(), w.Accounts().Put(key, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove(ada, "ada").Want(t, http.StatusAccepted)
	for key := range slicetest.Dump(t, w.SDK, w.Tables.Projects) {
		if key.SK == "WORKSPACE" {
			t.Errorf("the workspace %s has not ended", key.PK)
		}
	}
	for key := range slicetest.Dump(t, w.SDK, w.Tables.Accounts) {
		if strings.HasPrefix(key.PK, "IDENTITY#") {
			t.Errorf("the identity %s was not removed", key.PK)
		}
	}
}

// The removal of an account deletes the known network and the state of its address, unless they belong to another
// account that has the address by now.
func TestRemovalOfTheAddress(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	since := clock.Stamp(w.Clock.Now())
	for _, isTaken := range []bool{false, true} {
		name := fmt.Sprint("ada-", isTaken)
		ada := w.NewUser(name)
		remove(ada, name).Want(t, http.StatusAccepted)
		if isTaken {
			signUp(w, ada.UserEmail, "new-"+name).Want(t, http.StatusCreated)
		}
		state := db.MailStateKey(ada.UserEmail)
		put := w.Accounts().Put(state, mail.AddressState{UndeliverableSince: &since})
		if _, err := w.Client.Do(t.Context(), put); err != nil {
			t.Fatal(err)
		}
		r := deletion.Remover{DB: w.Client, Accounts: w.Accounts(), Projects: w.Projects()}
		if err := r.RemoveAccount(t.Context(), ada.ID); err != nil {
			t.Fatal(err)
		}
		items := slicetest.Dump(t, w.SDK, w.Tables.Accounts)
		network := attempt.NetworkKey(ada.UserEmail, httpapi.RequestInfo{SourceIP: "203.0.113.1"})
		for _, key := range []db.Key{state, network} {
			if (items[key] != nil) != isTaken {
				t.Errorf("address taken: %v; got the item %v = %v", isTaken, key, items[key])
			}
		}
	}
}

// A deletion can be killed at every call. It has happened completely or not at all, and can be repeated.
func TestDeletionIsKilled(t *testing.T) {
	t.Parallel()
	w := accounttest.New(t)
	slicetest.Steps(t, 6, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		ada := w.NewUser(fmt.Sprintf("ada-%d-%v", p.Step, p.RunsAfter))
		ada.Workspace("Team")
		client, _ := w.Through(p)
		_ = w.Deletion(client).Delete(t.Context(), ada.ID)
		_, err := w.Projects().Get(t.Context(), db.WorkspaceKey(ada.Personal))
		_, userErr := w.Accounts().Get(t.Context(), db.UserKey(ada.ID))
		_, removalErr := w.Projects().Get(t.Context(), db.RemovalKey(ada.ID))
		isEnded := errors.Is(userErr, db.ErrNotFound)
		if errors.Is(err, db.ErrNotFound) != isEnded || (removalErr == nil) != isEnded {
			t.Errorf("the user: %v, the workspace: %v, the removal: %v; want all or nothing", userErr, err, removalErr)
		}
		err = w.Deletion(w.Client).Delete(t.Context(), ada.ID)
		if isEnded && !errors.Is(err, db.ErrNotFound) || !isEnded && err != nil {
			t.Errorf("again: got the error %v, ended before: %v", err, isEnded)
		}
	})
}
