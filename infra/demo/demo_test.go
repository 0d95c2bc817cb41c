package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

const template = platformtest.Root + "/template.yaml"

// page records what the demo prints. It calls the function call once, after the text until was printed.
type page struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	until string
	call  func()
}

func (p *page) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buf.Write(data)
	if p.call != nil && p.until != "" && strings.Contains(p.buf.String(), p.until) {
		p.call()
		p.call = nil
	}
	return len(data), nil
}

func (p *page) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.String()
}

// arrival matches the lines of a delivery with valid signatures.
var arrival = regexp.MustCompile(`(?m)^  ◀ \S+ .* \d{3} +[<\d]+ ms\n` +
	`    dlv_…\w{6} attempt (\d)   ✓ X-Service-Signature   ✓ Standard Webhooks$`)

// viewed matches what a visitor of the site saw.
var viewed = regexp.MustCompile(`The page shows “The menu of (\w+)”`)

// check checks that a page contains all chapters of a complete demo.
func check(t *testing.T, page string) {
	t.Helper()
	chapters := (&story{mailbox: "http://localhost:3002", keep: strings.Contains(page, "What remains")}).chapters()
	for i, chapter := range chapters[:len(chapters)-1] {
		if !strings.Contains(page, "\n"+strconv.Itoa(i+1)+"  "+chapter.title+"\n") {
			t.Errorf("the page has no chapter %q", chapter.title)
		}
	}
	for line := range strings.Lines(page) {
		isLong := length(strings.TrimRight(line, "\n")) > pageWidth && !strings.Contains(line, "curl ")
		if isLong || strings.ContainsAny(line, "\x1b\r") {
			t.Errorf("this line is too long, or contains control characters: %q", line)
		}
	}
	for _, want := range []string{
		"PRECONDITION_FAILED", "operations[1]", "AUTH_INVALID_CREDENTIALS", "create_file, ", "The project has files already",
		"✗ X-Service-Signature   ✗ Standard Webhooks", "The same event, delivery and body with a new signature",
		"✉ Confirm your address", "✉ Reset your password", "email.restored", "account.json has ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	arrivals := arrival.FindAllStringSubmatch(page, -1)
	n, all := len(arrivals), strings.Count(page, "◀ ")
	isSecond := func(arrival []string) bool { return arrival[1] == "2" }
	if n < 6 || n != all || !slices.ContainsFunc(arrivals, isSecond) {
		t.Errorf("%d of %d deliveries have valid signatures, or none is a second attempt", n, all)
	}
	if t.Failed() {
		t.Log(page)
	}
}

// checkSite checks that a page shows the views of the site, and the events of its deployments.
func checkSite(t *testing.T, page string) {
	t.Helper()
	var views []string
	for _, view := range viewed.FindAllStringSubmatch(page, -1) {
		views = append(views, view[1])
	}
	if want := []string{"spring", "spring", "summer", "spring"}; !slices.Equal(views, want) {
		t.Errorf("visitors of the site saw the menus of %v, want %v", views, want)
	}
	for _, event := range []string{
		"deployment.completed 1, ready", "deployment.completed 2, ready", "project.deployed 1, deploy", "project.deployed 1, promote",
		"project.deployed 2, deploy",
	} {
		if !strings.Contains(page, "◀ "+event) {
			t.Errorf("the page does not contain the event %q", event)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

// TestStory runs demos at the same time, on a running platform and on their own. An own platform ends with its demo.
// Only -keep leaves anything, and its account works.
func TestStory(t *testing.T) {
	testmode.SkipIfNotNightly(t)
	running, binaries := platformtest.Start(t).URL, platformtest.Binaries(t)
	root, err := filepath.Abs(template)
	if err != nil {
		t.Fatal(err)
	}
	dir, operator := t.TempDir(), filepath.Join(t.TempDir(), "operator")
	build := exec.CommandContext(t.Context(), platformtest.Required(t, "go"), "build", "-o", operator, "devplatform/infra/operator")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("TMPDIR", dir)
	t.Setenv("SITES_PORT", "0")
	t.Chdir(dir)
	t.Run("all", func(t *testing.T) {
		for _, c := range []struct {
			name, url string
			keep      bool
			until     string // if it is not empty, the demo is interrupted after this text
			code      int
		}{
			{"running", running + "/", false, "", exitDone},
			{"running, kept", running, true, "", exitDone},
			{"running, interrupted", running, false, "Waiting for the second attempt", exitInterrupted},
			{"running, without sites", withoutSites(t, running), false, "", exitDone},
			{"own", freeURL(), false, "", exitDone},
			{"own, kept", freeURL(), true, "Ctrl-C stops", exitDone},
			{"own, interrupted", freeURL(), false, "\n3  ", exitInterrupted},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				out, errors := &page{until: c.until}, &page{}
				out.call = func() {
					go func() { // the page is locked
						if c.keep {
							checkKept(t, out.text())
						}
						interrupt()
					}()
				}
				args := []string{
					"-url", c.url, "-binaries", binaries, "-template", root, "-operator", operator,
					"-keep=" + strconv.FormatBool(c.keep),
				}
				if code := run(ctx, args, out, errors); code != c.code {
					t.Fatalf("exit code %d, want %d: %s\n%s", code, c.code, errors.text(), out.text())
				}
				deleted := regexp.MustCompile(`(?m)^  DELETE /api/(projects|webhooks)/\S+ +200 `).FindAllString(out.text(), -1)
				isOwn := strings.HasPrefix(c.name, "own")
				want := 5 // two projects and three webhooks
				if c.until != "" {
					want = 3 // it was interrupted before the second project
				}
				if c.keep || isOwn && c.until != "" {
					want = 0
				}
				if len(deleted) != want {
					t.Errorf("it deleted %q:\n%s", deleted, out.text())
				}
				if c.code == exitDone {
					check(t, out.text())
				}
				if isSkipped := strings.Contains(out.text(), "no domain for sites"); isSkipped != strings.HasSuffix(c.name, "sites") {
					t.Errorf("the chapter about sites was skipped: %t:\n%s", isSkipped, out.text())
				} else if !isSkipped && c.code == exitDone {
					checkSite(t, out.text())
				}
				if c.keep && c.until == "" {
					checkKept(t, out.text())
				}
				own := regexp.MustCompile(`own\s+at\s+(\S+)`).FindStringSubmatch(out.text())
				if isOwn != (own != nil) || isOwn && find(t.Context(), own[1]) == nil {
					t.Errorf("the demo has its own platform, or it still runs:\n%s", out.text())
				}
			})
		}
	})
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != ".local" {
		t.Errorf("the demos left %v, %v, want .local", left, err)
	}
}

// checkKept runs the curl commands that the page shows, and checks their output.
func checkKept(t *testing.T, page string) {
	t.Helper()
	commands := strings.Join(regexp.MustCompile(`(?m)^curl .*$`).FindAllString(page, -1), "\n")
	script := exec.Command(platformtest.Required(t, "sh"), "-ec", commands)
	platformtest.Required(t, "curl")
	script.Dir = t.TempDir()
	output, err := script.Output()
	for _, want := range []string{"userId", appPath, "file.updated"} {
		if err != nil || !strings.Contains(string(output), want) {
			t.Errorf("the output does not contain %q: %v\n%s\n%s", want, err, commands, output)
		}
	}
	site := regexp.MustCompile(`(?m)^    site      (http://\S+)$`).FindStringSubmatch(page)
	if site == nil {
		t.Errorf("the page does not contain the URL of the site:\n%s", page)
		return
	}
	visitor := &story{screen: newScreen(io.Discard), site: site[1], visitor: newVisitor()}
	if err := visitor.visit(t.Context(), http.StatusOK, firstTitle); err != nil {
		t.Error(err)
	}
}

// withoutSites returns the URL of a proxy of a platform. It responds like a platform without a domain for sites.
func withoutSites(t *testing.T, platform string) string {
	t.Helper()
	target, err := url.Parse(platform)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/deployments") {
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, `{"error":"Sites are not available.","code":"SITES_NOT_CONFIGURED"}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// freeURL returns a URL at which nothing listens. Its port, and the port for https, which is 443 higher, are not among
// those that the system assigns to connections.
func freeURL() string { return fmt.Sprintf("http://127.0.0.1:%d", 20_000+rand.IntN(10_000)) }

// TestFailures checks that each failure is one line with the problem and its solution, and that nothing remains.
func TestFailures(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	free, binaries, public := freeURL(), platformtest.Binaries(t), platformtest.Start(t, "WEBHOOK_ALLOW_PRIVATE=false").URL
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no binaries", []string{"-url", free, "-binaries", t.TempDir()}, exitFailed, "build them with `make binaries`"},
		{"no template", []string{"-url", free, "-binaries", binaries, "-template", "none.yaml"}, exitFailed, "none.yaml"},
		{"another host", []string{"-url", "http://demo.invalid"}, exitFailed, "start the platform with `make run`"},
		{"another server", []string{"-url", other.URL}, exitFailed, "free the port"},
		{"not a URL", []string{"-url", "localhost:3000"}, exitFailed, "must start with http:// or https://"},
		{"no private webhooks", []string{"-url", public}, exitFailed, "run it with WEBHOOK_ALLOW_PRIVATE=true"},
		{"an argument", []string{"please"}, exitUsage, `"please" is not a flag`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errors page
			code := run(t.Context(), c.args, &out, &errors)
			if got := errors.text(); code != c.code || !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("exit code %d: %s\n%s", code, got, out.text())
			}
			if page := out.text(); strings.Contains(page, "prj_") && !strings.Contains(page, "DELETE /api/projects/") {
				t.Errorf("the project was not deleted:\n%s", page)
			}
		})
	}
}
