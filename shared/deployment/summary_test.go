package deployment_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// TestSiteOfProject checks the site in the responses of the project, which cost no further call.
func TestSiteOfProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Bakery", workspace.Team)
	ada.newProject("Other", workspace.Team)
	want := func(when, url, deploymentID, status string) {
		t.Helper()
		var site any
		if url != "" {
			site = map[string]any{"url": url, "deploymentId": nil, "status": status}
			if deploymentID != "" {
				site = map[string]any{"url": url, "deploymentId": deploymentID, "status": status}
			}
		}
		one := ada.Get("/api/projects/"+p).Want(t, http.StatusOK)
		list := ada.Get("/api/projects?q=bakery").Want(t, http.StatusOK)
		if diff := cmp.Diff(site, one.Body["site"]); diff != "" || len(list.List("projects")) != 1 {
			t.Errorf("%s: got %s; site (-want +got):\n%s", when, list.Raw, diff)
		} else if diff := cmp.Diff(site, list.List("projects")[0]["site"]); diff != "" || list.Calls != 3 {
			t.Errorf("%s: the list made %d calls; site (-want +got):\n%s", when, list.Calls, diff)
		}
	}
	change := func(address, project expression.UpdateBuilder) { // as an operator does
		key := db.ProjectKey(ada.personal, p)
		f.transact(f.sites.Update(db.AddressKey("moved"), address), f.projects.Update(key, project))
	}
	address, project := expression.Name("blocked"), expression.Name("siteBlocked")
	const url, moved = "https://bakery.example.app", "https://moved.example.app"
	want("new", "", "", "")
	first := ada.deploy(p, "production")
	want("queued", url, "", "offline")
	f.build(p, first)
	want("live", url, first, "live")
	second := ada.deploy(p, "preview")
	f.build(p, second)
	want("preview", url, first, "live")
	ada.Do(http.MethodPost, deploymentURL(p, second)+"/promote", nil).Want(t, http.StatusOK)
	want("promoted", url, second, "live")
	ada.Do(http.MethodPut, siteURL(p), object{"label": "moved"}).Want(t, http.StatusOK)
	want("moved", moved, second, "live")
	r := ada.Do(http.MethodPut, "/api/projects/"+p, object{"description": "New"}).Want(t, http.StatusOK)
	if site, _ := r.Body["site"].(map[string]any); site["deploymentId"] != second {
		t.Errorf("the update of the project returns the site %v", site)
	}
	yes := expression.Value(true)
	change(expression.Set(address, yes), expression.Set(project, yes))
	want("blocked", moved, second, "blocked")
	third := ada.deployed(p)
	want("blocked, another deployment", moved, third, "blocked")
	ada.Do(http.MethodDelete, siteURL(p), nil).Want(t, http.StatusOK)
	want("blocked and offline", moved, "", "blocked")
	change(expression.Remove(address), expression.Remove(project))
	want("offline", moved, "", "offline")
	f.block("bakery") // the label that was given up
	ada.Do(http.MethodPut, siteURL(p), object{"label": "bakery"}).Want(t, http.StatusOK)
	want("moved to a blocked label", url, "", "blocked")
	ada.Do(http.MethodDelete, "/api/projects/"+p, nil).Want(t, http.StatusOK)
	p = ada.newProject("Bakery", workspace.Team)
	want("another project", "", "", "")
	next := ada.deployed(p)
	want("another project with the blocked label", url, next, "blocked")
}
