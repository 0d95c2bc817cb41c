package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"devplatform/infra/accounttest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/mailtest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/removal"
	"devplatform/shared/workspace"
)

// accounts is the fixture of the tests of the removals of accounts.
type accounts struct {
	*accounttest.World
	cfg settings
}

func newAccounts(t *testing.T) *accounts {
	t.Helper()
	w := accounttest.New(t)
	return &accounts{w, settings{
		Conversations: config.ConversationsTable{Conversations: w.Conversations},
		Webhooks:      config.WebhooksTable{Webhooks: w.Webhooks}, Events: config.EventsTable{Events: w.Events},
		Accounts: w.Tables.Accounts, Projects: w.Tables.Projects, Contents: w.Contents, Sites: w.Sites,
	}}
}

// run makes the attempts of removals that are due, through an HTTP client. nil means the default client.
func (a *accounts) run(through aws.HTTPClient) {
	a.T.Helper()
	client, objects := a.Through(through)
	bucket, logger := objectstore.Wrap(s3test.Of(objects)).Bucket(a.Bucket), slog.New(a.Log)
	c := cleanup.New(cleanup.Deps{
		DB: client, Projects: client.Table(a.cfg.Projects), Contents: client.Table(a.cfg.Contents),
		Conversations: client.Table(a.Conversations), Bucket: bucket, Clock: a.Clock.Now, Logger: logger,
	})
	_ = removal.NewWorker(removal.Deps{
		DB: client, Projects: client.Table(a.cfg.Projects), Clock: a.Clock.Now, Logger: logger,
		Metrics: metric.New(logger, "stack", a.Clock.Now),
		Removers: map[removal.Kind]removal.Remover{
			removal.Workspace: workspaceRemover(a.cfg, client, c, removal.Deleter{}, a.Clock.Now),
			removal.Account:   accountRemover(a.cfg, client, bucket, a.Clock.Now),
		},
	}).Run(a.T.Context())
}

// finish runs removals until none remains. The longest wait between two attempts is less than ten minutes.
func (a *accounts) finish() {
	a.T.Helper()
	for range 30 {
		a.Clock.Advance(10 * time.Minute)
		a.run(nil)
		if !a.hasRemovals() {
			return
		}
	}
	a.T.Fatalf("removals remain; the log: %s", a.Log)
}

func (a *accounts) hasRemovals() bool {
	for key := range slicetest.Dump(a.T, a.SDK, a.Tables.Projects) {
		if strings.HasPrefix(key.PK, "REMOVAL#") {
			return true
		}
	}
	return false
}

// checkGone checks that the tables and the bucket contain the ID, the name and the address of a user only where
// LIMITS.md says.
func (a *accounts) checkGone(u *accounttest.User) {
	a.T.Helper()
	mayRemain := func(table string, key db.Key, item db.Item) bool {
		isCounter := strings.HasPrefix(key.PK, "RATE#") || strings.HasPrefix(key.PK, "OPERATIONS#") // they expire
		switch table {
		case a.Events, a.Tables.Mail: // events and mails expire
			return true
		case a.Tables.Accounts:
			isOther := !strings.Contains(fmt.Sprint(key, plain(item)), u.ID) && key != db.MailStateKey(u.UserEmail)
			isFormer := strings.HasPrefix(key.PK, "EMAIL#") && key.PK != db.EmailKey(u.UserEmail).PK
			return isOther || isFormer || isCounter || strings.HasPrefix(key.SK, "ACTIVITY#") || key.SK == "USERNAME"
		}
		text := fmt.Sprint(plain(item))
		hasName := strings.Contains(text, u.UserEmail) || strings.Contains(text, " "+u.Name+" ")
		isOwn := strings.Contains(key.PK, u.ID) || strings.Contains(key.SK, u.ID)
		return isCounter || !hasName && !isOwn // the ID in data of other users
	}
	for _, table := range []string{
		a.Tables.Accounts, a.Tables.Projects, a.Contents, a.Webhooks, a.Conversations, a.Sites, a.Events, a.Tables.Mail,
	} {
		for key, item := range slicetest.Dump(a.T, a.SDK, table) {
			text := fmt.Sprint(key, plain(item))
			isAbout := strings.Contains(text, u.ID) || strings.Contains(text, u.UserEmail) || strings.Contains(text, u.Personal)
			if isAbout && !mayRemain(table, key, item) {
				a.T.Errorf("%s: the item %v remains: %v", table, key, plain(item))
			}
		}
	}
	for _, key := range a.Objects() {
		if strings.Contains(key, u.ID) {
			a.T.Errorf("the object %s remains", key)
		}
	}
}

// work lets a user work in the personal workspace and in a workspace of another user.
func work(u *accounttest.User, project string) {
	for _, projectID := range []string{u.Project("", "Own"), project} {
		u.Comment(projectID, "a comment")
		u.Ask(projectID, "a question")
		path := "/api/projects/" + projectID
		file := map[string]string{"path": "/index.html", "content": strings.Repeat("x", 9000)}
		u.Do(http.MethodPost, path+"/files", file).Want(u.World.T, http.StatusCreated)
		u.Do(http.MethodPost, path+"/deployments", map[string]string{"message": "m"}).Want(u.World.T, http.StatusAccepted)
		u.Do(http.MethodPost, path+"/exports", nil).Want(u.World.T, http.StatusAccepted)
	}
	u.Do(http.MethodPost, "/api/auth/export", nil).Want(u.World.T, http.StatusAccepted)
	u.World.RunExports(nil)
	u.Do(http.MethodPost, "/api/auth/export", nil).Want(u.World.T, http.StatusAccepted)
}

// After a deletion, nothing remains of the account except for the data that LIMITS.md lists. In workspaces of other
// users, the author of the user's work is "deleted".
func TestAccountIsRemoved(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	ada, grace := a.NewUser("ada"), a.NewUser("grace")
	team, former := grace.Workspace("Team"), grace.Workspace("Former")
	ada.Join(grace, team, workspace.Admin)
	ada.Join(grace, former, workspace.Member)
	project, old := grace.Project(team, "Shared"), grace.Project(former, "Old")
	work(ada, project)
	ada.Comment(old, "before leaving")
	ada.Do(http.MethodDelete, "/api/workspaces/"+former+"/members/"+ada.ID, nil).Want(t, http.StatusOK)
	hook := ada.Hook(team, "http://127.0.0.1/ada")
	heidi := a.NewUser("heidi")
	ada.Do(http.MethodPost, "/api/workspaces/"+team+"/invitations",
		map[string]string{"username": "heidi", "role": "member"}).Want(t, http.StatusCreated)
	grace.Do(http.MethodPost, "/api/workspaces/"+grace.Personal+"/invitations",
		map[string]string{"username": "ada", "role": "member"}).Want(t, http.StatusCreated)

	ada.Do(http.MethodDelete, "/api/auth/me", map[string]string{"confirm": "ada"}).Want(t, http.StatusAccepted)
	a.Clock.Advance(removal.Delay)
	a.run(nil)
	if _, err := a.World.Accounts().Get(t.Context(), db.EndedUserKey(ada.ID)); err != nil {
		t.Errorf("the removal of the account ended before the removal of its workspace: %v", err)
	}
	a.finish()
	a.checkGone(ada)

	for _, projectID := range []string{project, old} {
		comment := grace.Get("/api/projects/"+projectID+"/comments").Want(t, http.StatusOK).List("comments")[0]
		if author, _ := comment["author"].(map[string]any); author["username"] != "deleted" || author["id"] != ada.ID {
			t.Errorf("got the author %v of a comment, want deleted", comment["author"])
		}
	}
	deployments := grace.Get("/api/projects/"+project+"/deployments").Want(t, http.StatusOK)
	if !strings.Contains(deployments.Raw, `"username":"deleted"`) || strings.Contains(deployments.Raw, `"ada"`) {
		t.Errorf("got the deployments %s, want the author deleted", deployments.Raw)
	}
	webhook := grace.Get("/api/webhooks/"+hook).Want(t, http.StatusOK)
	if webhook.Body["active"] != false || !strings.Contains(webhook.Raw, `"username":"deleted"`) {
		t.Errorf("got the webhook %s, want one of deleted that is not active", webhook.Raw)
	}
	if members := grace.Get("/api/workspaces/"+team+"/members").Texts("members", "username"); len(members) != 1 {
		t.Errorf("got the members %v, want grace", members)
	}
	for _, list := range []slicetest.Response{
		heidi.Get("/api/invitations"), grace.Get("/api/workspaces/" + grace.Personal + "/invitations"),
	} {
		if open := list.Want(t, http.StatusOK).List("invitations"); len(open) > 0 {
			t.Errorf("got the open invitations %v, want none", open)
		}
	}
}

// If the other owner of a workspace leaves before the removal, the admin who was added first becomes the owner,
// otherwise the member who was added first. Without other members, the workspace ends.
func TestWorkspaceGetsAnotherOwner(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	ada, grace, heidi, ivan := a.NewUser("ada"), a.NewUser("grace"), a.NewUser("heidi"), a.NewUser("ivan")
	shared := map[string]string{}
	for name, roles := range map[string][2]workspace.Role{
		"admins": {workspace.Admin, workspace.Admin}, "admin": {workspace.Member, workspace.Admin},
		"members": {workspace.Member, workspace.Member}, "viewer": {workspace.Viewer, workspace.Member}, "none": {},
	} {
		shared[name] = ada.Workspace(name)
		grace.Join(ada, shared[name], workspace.Admin)
		grace.Own(ada, shared[name])
		for i, u := range []*accounttest.User{heidi, ivan} {
			if roles[i] != "" {
				a.Clock.Advance(time.Second)
				u.Join(ada, shared[name], roles[i])
			}
		}
	}
	ada.Do(http.MethodDelete, "/api/auth/me", map[string]string{"confirm": "ada"}).Want(t, http.StatusAccepted)
	for _, workspaceID := range shared {
		grace.Do(http.MethodDelete, "/api/workspaces/"+workspaceID+"/members/"+grace.ID, nil).Want(t, http.StatusOK)
	}
	a.finish()
	a.checkGone(ada)
	heirs := map[string]*accounttest.User{"admins": heidi, "admin": ivan, "members": heidi, "viewer": ivan}
	for name, want := range heirs {
		if r := want.Get("/api/workspaces/"+shared[name]).Want(t, http.StatusOK); r.Text("role") != "owner" {
			t.Errorf("%s: got the role %s of %s, want owner", name, r.Text("role"), want.Name)
		}
	}
	if _, err := a.World.Projects().Get(t.Context(), db.WorkspaceKey(shared["none"])); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the workspace without members: got the error %v, want ErrNotFound", err)
	}
}

// The removal can be killed at every call. The next attempts finish it.
func TestAccountRemovalIsKilled(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	slicetest.Steps(t, 25, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		suffix := fmt.Sprintf("-%d-%v", p.Step, p.RunsAfter)
		ada, grace := a.NewUser("ada"+suffix), a.NewUser("grace"+suffix)
		team := grace.Workspace("Team")
		ada.Join(grace, team, workspace.Admin)
		project := grace.Project(team, "Shared")
		ada.Comment(project, "a comment")
		ada.Hook(team, "http://127.0.0.1/ada")
		ada.Do(http.MethodDelete, "/api/auth/me", map[string]string{"confirm": ada.Name}).Want(t, http.StatusAccepted)
		a.Clock.Advance(removal.Delay)
		a.run(p)
		a.finish()
		a.checkGone(ada)
		comments := grace.Get("/api/projects/" + project + "/comments").List("comments")
		if author, _ := comments[0]["author"].(map[string]any); author["username"] != "deleted" {
			t.Errorf("got the author %v, want deleted", author)
		}
	})
}

// A request of a user can be served between any two calls of a deletion. The account ends completely or not at all, no
// workspace is without an owner, and in the end nothing remains.
func TestDeletionRaces(t *testing.T) {
	t.Parallel()
	type race struct {
		a                 *accounts
		ada, grace, heidi *accounttest.User
		team              string
	}
	for name, act := range map[string]func(r race){
		"login":     func(r race) { r.ada.Login() },
		"workspace": func(r race) { r.ada.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "New"}) },
		"owner leaves": func(r race) {
			r.grace.Do(http.MethodDelete, "/api/workspaces/"+r.team+"/members/"+r.grace.ID, nil)
		},
		"sign-up with the address": func(r race) {
			slicetest.NewClient(r.a.T, r.a.Server.URL, r.a.Log).Do(http.MethodPost, "/api/auth/signup", map[string]string{
				"email": r.ada.UserEmail, "username": "x" + r.ada.Name, "password": accounttest.Password,
			})
		},
		"change of the address": func(r race) {
			next := "x" + r.ada.UserEmail
			r.ada.Do(http.MethodPut, "/api/auth/email", map[string]string{"email": next})
			for _, m := range mailtest.To(next, mailtest.Stored(r.a.T, r.a.SDK, r.a.Tables.Mail, r.a.Keys)) {
				changed := r.ada.Do(http.MethodPost, "/api/auth/email/change", map[string]string{"token": m.Token})
				if changed.Status == http.StatusOK {
					r.ada.UserEmail = next
				}
			}
		},
		"change of the password": func(r race) {
			r.ada.Do(http.MethodPut, "/api/auth/password",
				map[string]string{"currentPassword": accounttest.Password, "newPassword": "another long password"})
		},
		"reset": func(r race) {
			r.ada.Do(http.MethodPost, "/api/auth/password/forgot", map[string]string{"email": r.ada.UserEmail})
		},
		"invitation":   func(r race) { joinIfPossible(r.ada, r.grace, r.grace.Personal) },
		"member joins": func(r race) { joinIfPossible(r.heidi, r.ada, r.ada.Personal) },
		"deletion":     func(r race) { _ = r.a.Deletion(r.a.Client).Delete(r.a.T.Context(), r.ada.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccounts(t)
			heidi := a.NewUser("heidi")
			slicetest.Steps(t, 6, func(p *slicetest.Process) {
				suffix := fmt.Sprintf("-%d-%v", p.Step, p.RunsAfter)
				ada, grace := a.NewUser("ada"+suffix), a.NewUser("grace"+suffix)
				team := ada.Workspace("Team")
				grace.Join(ada, team, workspace.Admin)
				grace.Own(ada, team)
				heidi.Join(ada, team, workspace.Viewer)
				p.At = func() error { act(race{a, ada, grace, heidi, team}); return nil }
				client, _ := a.Through(p)
				err := a.Deletion(client).Delete(t.Context(), ada.ID)
				_, userErr := a.World.Accounts().Get(t.Context(), db.UserKey(ada.ID))
				if !errors.Is(userErr, db.ErrNotFound) {
					if err == nil {
						t.Error("the deletion succeeded, and the user exists")
					}
					return // such as CONFLICT, because the other owner has left
				}
				ada.Get("/api/auth/me").Want(t, http.StatusUnauthorized)
				remaining, err := workspace.Access{Projects: a.World.Projects()}.UserWorkspaces(t.Context(), ada.ID)
				if err != nil {
					t.Error(err)
				}
				for _, d := range remaining {
					if d.Workspace.Members == 1 {
						t.Errorf("the workspace %s of the user alone has not ended", d.Workspace.Name)
					}
				}
				a.finish()
				a.checkGone(ada)
				if d := heidi.Get("/api/workspaces/"+team).Want(t, http.StatusOK); d.Body["role"] == nil {
					t.Errorf("got %s, want the role of heidi", d.Raw)
				}
				heidi.Do(http.MethodDelete, "/api/workspaces/"+team+"/members/"+heidi.ID, nil)
			})
		})
	}
}

// joinIfPossible lets an owner invite a user to a workspace, and the user accept.
func joinIfPossible(u, owner *accounttest.User, workspaceID string) {
	body := map[string]string{"username": u.Name, "role": "member"}
	invited := owner.Do(http.MethodPost, "/api/workspaces/"+workspaceID+"/invitations", body)
	if invited.Status == http.StatusCreated {
		u.Do(http.MethodPost, "/api/invitations/"+invited.Text("id")+"/accept", nil)
	}
}

// A request that was authenticated before the deletion and continues after it leaves nothing behind.
func TestRequestsInProgress(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	for name, send := range map[string]func(u *accounttest.User, project string) slicetest.Response{
		"save": func(u *accounttest.User, project string) slicetest.Response {
			return u.Do(http.MethodPost, "/api/projects/"+project+"/files", map[string]any{"path": "/a", "content": "a"})
		},
		"comment": func(u *accounttest.User, project string) slicetest.Response {
			return u.Do(http.MethodPost, "/api/projects/"+project+"/comments", map[string]string{"body": "late"})
		},
		"chat": func(u *accounttest.User, project string) slicetest.Response {
			return u.Do(http.MethodPost, "/api/ai/chat", map[string]any{"projectId": project, "message": "late"})
		},
		"workspace": func(u *accounttest.User, _ string) slicetest.Response {
			return u.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "Late"})
		},
		"export": func(u *accounttest.User, _ string) slicetest.Response {
			return u.Do(http.MethodPost, "/api/auth/export", nil)
		},
		"login": func(u *accounttest.User, _ string) slicetest.Response { return u.Login() },
	} {
		slicetest.Steps(t, 1, func(p *slicetest.Process) {
			suffix := fmt.Sprintf("-%s-%d-%v", name, p.Step, p.RunsAfter)
			ada, grace := a.NewUser("ada"+suffix), a.NewUser("grace"+suffix)
			team := grace.Workspace("Team")
			project := grace.Project(team, "Shared")
			ada.Join(grace, team, workspace.Member)
			p.At = func() error { return a.Deletion(a.Client).Delete(t.Context(), ada.ID) }
			client, objects := a.Through(p)
			server := httptest.NewServer(a.Handler(client, objects))
			defer server.Close()
			send(ada.At(server.URL), project)
			if !p.HasReachedStep() {
				return
			}
			a.finish()
			a.checkGone(ada)
		})
	}
}

// plain returns the values of an item.
func plain(item db.Item) map[string]any {
	var values map[string]any
	_ = attributevalue.UnmarshalMap(item, &values)
	return values
}
