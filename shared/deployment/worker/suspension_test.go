package worker_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"devplatform/infra/operator/operatortest"
	"devplatform/infra/operator/takedown"
	"devplatform/infra/slicetest"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// operator returns an operator, and stores the accounts of the users. Their sessions do not end.
func (f *fixture) operator(users ...*user) operatortest.Operator {
	f.T.Helper()
	names := map[string]string{}
	for _, u := range users {
		names[u.UserID] = u.Name
	}
	return operatortest.NewBeside(f.T, f.SDK, f.Tables.Projects, f.Clock.Now, names)
}

// A build ends as canceled if its user is suspended, or all owners of the workspace, before it begins or before its
// outcome is stored.
func TestBuildsOfSuspendedUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	o := f.operator(ada, grace)
	team := ada.Workspace("Team")
	f.SetRole(team, grace.User, workspace.Admin)
	for name, c := range map[string]struct {
		by, suspended *user
		isBuilding    bool
	}{
		"the user, queued":        {grace, grace, false},
		"the user, building":      {grace, grace, true},
		"the owner, queued":       {grace, ada, false},
		"the owner, building":     {grace, ada, true},
		"another admin, building": {ada, grace, true},
	} {
		p := &published{c.by, c.by.Project(team, "Project", workspace.Team)}
		p.save(small("Hello"))
		id := p.request()
		f.messages()
		j, err := f.jobs.Claim(t.Context(), p.id, id, f.Clock.Now())
		if err == nil && c.isBuilding {
			_, err = f.builder.Store.Begin(t.Context(), j, f.Clock.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		o.MustSuspend(c.suspended.UserID)
		if c.isBuilding {
			_, err = f.builder.Store.Finish(t.Context(), j, deployment.Outcome{Manifest: make([]byte, 32)}, f.Clock.Now())
		} else {
			_, err = f.builder.Store.Begin(t.Context(), j, f.Clock.Now())
		}
		want, isLive := deployment.Canceled, false
		if name == "another admin, building" {
			want, isLive = deployment.Ready, true
		} else if !errors.Is(err, job.ErrLost) {
			t.Errorf("%s: got the error %v, want ErrLost", name, err)
		}
		if got := p.record(id).Status; got != want {
			t.Errorf("%s: got the status %s, want %s", name, got, want)
		}
		if got := p.Get("/api/projects/" + p.id).Body["site"].(map[string]any)["status"]; isLive != (got == "live") {
			t.Errorf("%s: got the site %v", name, got)
		}
		o.MustLift(c.suspended.UserID)
		f.sweep(3 * time.Minute) // the removal of the output
		isEnd := func(e event.Record) bool { return e.Type == event.DeploymentCompleted && e.ProjectID == p.id }
		if !slices.ContainsFunc(f.StoredEvents(), isEnd) {
			t.Errorf("%s: there is no event about the end of the deployment", name)
		}
	}
}

// Nothing is deployed, promoted or changed in a read-only workspace, and its sites are blocked for the API.
func TestDeploymentsInAReadOnlyWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	team := ada.Workspace("Team")
	f.SetRole(team, grace.User, workspace.Admin)
	p := &published{grace, grace.Project(team, "Project", workspace.Team)}
	p.save(small("Hello"))
	id := p.deploy().Text("id")
	o := f.operator(ada, grace)
	o.MustSuspend(ada.UserID)
	path := "/api/projects/" + p.id
	for _, r := range []slicetest.Response{
		p.Do(http.MethodPost, path+"/deployments", object{}),
		p.Do(http.MethodPost, p.url(id, "/promote"), nil),
		p.Do(http.MethodDelete, p.url(id), nil),
		p.Do(http.MethodPut, path+"/site", object{"label": "another"}),
		p.Do(http.MethodDelete, path+"/site", nil),
		p.FilesOf(p.id).Save("/index.html", "Changed"),
		p.FilesOf(p.id).Remove("/index.html"),
		p.Do(http.MethodPut, path, object{"name": "Other"}),
		p.Do(http.MethodPost, path+"/comments", object{"body": "Hello"}),
		p.Do(http.MethodPost, "/api/projects", object{"name": "New", "workspaceId": team}),
		p.Do(http.MethodDelete, path, nil),
	} {
		r.Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	}
	checkStatus := func(want string) {
		t.Helper()
		site, _ := p.Get(path).Want(t, http.StatusOK).Body["site"].(map[string]any)
		listed, _ := p.Get("/api/projects?workspaceId=" + team).List("projects")[0]["site"].(map[string]any)
		all, _ := p.Get("/api/projects").List("projects")[0]["site"].(map[string]any)
		if site["status"] != want || listed["status"] != want || all["status"] != want {
			t.Errorf("got the sites %v, %v and %v, want the status %s", site, listed, all, want)
		}
	}
	checkStatus("blocked")
	p.FilesOf(p.id).Read("/index.html").Want(t, http.StatusOK)
	o.MustLift(ada.UserID)
	checkStatus("live")
	p.Do(http.MethodPost, p.url(id, "/promote"), nil).Want(t, http.StatusOK)
}

// A blocked project is not deployed, and a build in progress ends. After the block, everything works again.
func TestBlockedProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.newUser("ada").newProject(small("Hello"))
	first := p.deploy().Text("id")
	id := p.request()
	f.messages()
	j, err := f.jobs.Claim(t.Context(), p.id, id, f.Clock.Now())
	if err == nil {
		_, err = f.builder.Store.Begin(t.Context(), j, f.Clock.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	blocks := takedown.Store{DB: f.Client, Projects: f.Projects, Sites: f.Client.Table(f.sites)}
	set := func(blocked bool) {
		t.Helper()
		workspaceID, err := blocks.Project(t.Context(), p.id)
		if err == nil {
			err = blocks.SetProject(t.Context(), workspaceID, p.id, blocked)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	set(true)
	_, err = f.builder.Store.Finish(t.Context(), j, deployment.Outcome{}, f.Clock.Now())
	if !errors.Is(err, job.ErrLost) {
		t.Errorf("got the error %v, want ErrLost", err)
	}
	if got := p.record(id).Status; got != deployment.Canceled {
		t.Errorf("got the status %s, want canceled", got)
	}
	for label, a := range p.addresses() {
		if !a.Blocked {
			t.Errorf("the address %s is not blocked", label)
		}
	}
	path := "/api/projects/" + p.id
	p.Do(http.MethodPost, path+"/deployments", object{}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	p.Do(http.MethodPost, p.url(first, "/promote"), nil).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	p.Do(http.MethodPut, path+"/site", object{"label": "another"}).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	set(false)
	f.sweep(3 * time.Minute)
	if got := p.deploy().Text("status"); got != "ready" {
		t.Errorf("got the status %s after the block, want ready", got)
	}
	p.checkLive("Hello")
}
