package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// deploymentLimit limits the wait for the end of a deployment, which may be interrupted and built again.
const deploymentLimit = 10 * time.Minute

// deployer deploys a project of a user, and reads its site as visitors do.
type deployer struct {
	*platformtest.Client

	project string
	site    http.Client
}

func newDeployer(c *platformtest.Client, project string) *deployer {
	dialer := &net.Dialer{}
	return &deployer{Client: c, project: project, site: http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true,
			// Browsers resolve names below localhost themselves. The C library does not.
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				_, port, _ := net.SplitHostPort(address)
				return dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
			},
		},
	}}
}

// at returns the path of the project's deployments, or of a part of them.
func (d *deployer) at(parts ...string) string {
	return "/api/projects/" + d.project + "/deployments" + strings.Join(parts, "")
}

// deploy requests a deployment with the fields, or without a body if they are nil, waits until it has ended, and
// returns it.
func (d *deployer) deploy(fields platformtest.Object) map[string]any {
	d.T.Helper()
	body := ""
	if fields != nil {
		body = fields.String()
	}
	requested := d.Do("POST", d.at(), body).Want(d.T, http.StatusAccepted)
	return d.awaitEnd(fmt.Sprint(requested["id"]))
}

// awaitEnd waits until a deployment has ended, and returns it. An interrupted build begins again at the latest after the
// time of its lease and a minute.
func (d *deployer) awaitEnd(id string) (deployment map[string]any) {
	d.T.Helper()
	platformtest.EventuallyWithin(d.T, deploymentLimit, "the end of the deployment", func() bool {
		deployment = d.Do("GET", d.at("/", id), "").Want(d.T, http.StatusOK)
		return deployment["status"] != "queued" && deployment["status"] != "building"
	})
	return deployment
}

// deployReady is like deploy, and fails the test if the deployment is not ready.
func (d *deployer) deployReady(fields platformtest.Object) map[string]any {
	d.T.Helper()
	deployment := d.deploy(fields)
	if deployment["status"] != "ready" {
		d.T.Fatalf("got deployment %v, want it to be ready", deployment)
	}
	return deployment
}

// script returns the path of the script that a deployment's bundler made.
func (d *deployer) script(id string) string {
	d.T.Helper()
	files, _ := d.Do("GET", d.at("/", id, "/files"), "").Want(d.T, http.StatusOK)["files"].([]any)
	for _, f := range files {
		if path := fmt.Sprint(f.(map[string]any)["path"]); strings.HasPrefix(path, "/assets/") && strings.HasSuffix(path, ".js") {
			return path
		}
	}
	d.T.Fatalf("the deployment has the files %v, want a script in /assets", files)
	return ""
}

// siteURL returns the URL of the project's site.
func (d *deployer) siteURL() string {
	d.T.Helper()
	return fmt.Sprint(d.Do("GET", "/api/projects/"+d.project+"/site", "").Want(d.T, http.StatusOK)["url"])
}

// visit returns the status and the body of a page.
func (d *deployer) visit(address string) (status int, body string) {
	d.T.Helper()
	r, err := http.NewRequestWithContext(d.T.Context(), http.MethodGet, address, http.NoBody)
	must(d.T, err)
	response, err := d.site.Do(r)
	must(d.T, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	must(d.T, err)
	return response.StatusCode, string(data)
}

// wantPage fails the test if a page does not have the status and the text. Changes are visible within two seconds.
func (d *deployer) wantPage(address string, status int, text string) {
	d.T.Helper()
	var gotStatus int
	var got string
	for range 20 {
		if gotStatus, got = d.visit(address); gotStatus == status && strings.Contains(got, text) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	d.T.Errorf("GET %s: got %d with %.200q, want %d with %q", address, gotStatus, got, status, text)
}

// TestDeploy publishes a project, changes it, publishes it again, goes back, takes it offline, and deletes it. A
// webhook receives both events of each step.
func TestDeploy(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	d := newDeployer(ada, ada.NewProject("Todo list", nil))
	hooks := hooktest.New(t)
	ada.Subscribe(hooks.URL("/ok"), platformtest.Object{"events": []string{"deployment.completed", "project.deployed"}})

	d.Do("GET", "/api/projects/"+d.project+"/site", "").WantError(t, http.StatusNotFound, "SITE_NOT_FOUND")
	empty := d.deploy(nil)
	if failed, _ := empty["error"].(map[string]any); failed["code"] != "ENTRY_NOT_FOUND" {
		t.Errorf("got deployment %v, want the error ENTRY_NOT_FOUND", empty)
	}
	ada.Save(d.project, "/index.html", "<!doctype html><title>Todo</title><h1>First</h1>").Want(t, http.StatusCreated)
	ada.Save(d.project, "/public/robots.txt", "User-agent: *\n").Want(t, http.StatusCreated)
	first := d.deployReady(nil)
	home := d.siteURL()
	if address, err := url.Parse(home); err != nil || !strings.HasPrefix(address.Host, "todo-list.localhost:") {
		t.Errorf("got the URL %s, want todo-list.localhost", home)
	}
	d.wantPage(home, http.StatusOK, "First")
	d.wantPage(home+"/robots.txt", http.StatusOK, "User-agent")
	d.wantPage(fmt.Sprint(first["url"]), http.StatusOK, "First")

	ada.Save(d.project, "/index.html", "<!doctype html><title>Todo</title><h1>Second</h1>").Want(t, http.StatusOK)
	preview := d.deployReady(platformtest.Object{"target": "preview"})
	d.wantPage(home, http.StatusOK, "First")
	d.wantPage(fmt.Sprint(preview["url"]), http.StatusOK, "Second")
	d.Do("POST", d.at("/", fmt.Sprint(preview["id"]), "/promote"), "").Want(t, http.StatusOK)
	d.wantPage(home, http.StatusOK, "Second")
	d.Do("DELETE", d.at("/", fmt.Sprint(preview["id"])), "").WantError(t, http.StatusConflict, "CONFLICT")
	d.Do("POST", d.at("/", fmt.Sprint(first["id"]), "/promote"), "").Want(t, http.StatusOK)
	d.wantPage(home, http.StatusOK, "First")

	d.Do("PUT", "/api/projects/"+d.project+"/site", `{"label":"my-list"}`).Want(t, http.StatusOK)
	renamed := d.siteURL()
	d.wantPage(renamed, http.StatusOK, "First")
	d.wantPage(home, http.StatusNotFound, "")
	d.Do("DELETE", "/api/projects/"+d.project+"/site", "").Want(t, http.StatusOK)
	d.wantPage(renamed, http.StatusNotFound, "")
	second := d.deployReady(nil)
	d.wantPage(renamed, http.StatusOK, "Second")
	d.Do("DELETE", "/api/projects/"+d.project, "").Want(t, http.StatusOK)
	d.wantPage(renamed, http.StatusNotFound, "")
	d.wantPage(fmt.Sprint(second["url"]), http.StatusNotFound, "")

	want := map[string]int{"deployment.completed": 4, "project.deployed": 4}
	platformtest.Eventually(t, "the events of all deployments", func() bool {
		got := map[string]int{}
		for _, r := range hooks.Requests() {
			got[r.Header.Get("X-Service-Event")]++
		}
		return fmt.Sprint(got) == fmt.Sprint(want)
	})
}

// TestStartersDeploy deploys answers of the built-in generator unchanged, and opens them in Chromium. The pages render
// without an error in the console. So does a page that stays open during three deployments.
func TestStartersDeploy(t *testing.T) {
	t.Parallel()
	if testmode.HasRaceDetector {
		t.Skip("bundling React takes too long with the race detector")
	}
	chromium := platformtest.Required(t, "chromium")
	platformtest.Required(t, "npm") // names the registry
	p := platformtest.Start(t, "NPM_ALLOW_PRIVATE=true")
	ctx := browser(t, chromium)
	page := &console{}
	must(t, chromedp.Listen(ctx, page.record))
	for framework, message := range map[string]string{"static": "Create an event page.", "react": "Create a todo list."} {
		ada := platformtest.NewClient(t, p.URL)
		ada.SignUp("ada-" + framework)
		d := newDeployer(ada, ada.NewProject("My "+framework, platformtest.Object{"framework": framework}))
		ask := platformtest.Object{"projectId": d.project, "message": message, "apply": true}
		if answer := d.Do("POST", "/api/ai/chat", ask.String()).Want(t, http.StatusOK); answer["applied"] != true {
			t.Fatalf("got answer %v, want an applied one", answer)
		}
		deployment := d.deployReady(nil)
		t.Logf("%s: ready after %v ms", framework, deployment["durationMs"])
		must(t, chromedp.Do(ctx, chromedp.Navigate(d.siteURL()), chromedp.WaitVisible("h1")))
	}
	keepOpen(ctx, t, p)
	page.mu.Lock()
	defer page.mu.Unlock()
	if len(page.problems) > 0 {
		t.Errorf("the console shows %q, want nothing", page.problems)
	}
}

// keepOpen opens a page in Chromium, and deploys another version of its scripts three times. Each time, the page loads
// a script of its own version that it has not loaded before.
func keepOpen(ctx context.Context, t *testing.T, p *platformtest.Platform) {
	t.Helper()
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada-open")
	d := newDeployer(ada, ada.NewProject("Open page", nil))
	names := []string{"one", "two", "three"}
	page, main := `<link rel="icon" href="data:,"><h1>Open</h1><script type="module" src="/src/main.js"></script>`, ""
	for _, name := range names {
		page += fmt.Sprintf("<button id=%s>Load</button>", name)
		main += fmt.Sprintf("document.getElementById(%q).onclick = () => import('./%[1]s.js');\n", name)
	}
	ada.Save(d.project, "/index.html", page).Want(t, http.StatusCreated)
	ada.Save(d.project, "/src/main.js", main).Want(t, http.StatusCreated)
	deploy := func(version int) {
		t.Helper()
		for _, name := range names {
			script := fmt.Sprintf("document.body.insertAdjacentHTML('beforeend', '<p id=%s-%d>Loaded</p>')", name, version)
			if r := ada.Save(d.project, "/src/"+name+".js", script); r.Status > http.StatusCreated {
				r.Want(t, http.StatusOK)
			}
		}
		d.deployReady(nil)
	}
	deploy(1)
	must(t, chromedp.Do(ctx, chromedp.Navigate(d.siteURL()), chromedp.WaitVisible("h1")))
	for i, name := range names {
		deploy(i + 2)
		must(t, chromedp.Do(ctx, chromedp.Click("#"+name), chromedp.WaitVisible("#"+name+"-1")))
	}
}
