package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"devplatform/infra/platformtest"
)

const template = platformtest.Root + "/template.yaml"

// page is what the demo prints; when it has printed a text, it calls.
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
	if p.call != nil && strings.Contains(p.buf.String(), p.until) {
		p.call()
		p.call = nil
	}
	return len(data), nil
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.String()
}

// arrival is the line of a delivery that came, and the line below it.
var arrival = regexp.MustCompile(`(?m)^  ◀ (\S+) .* (\d{3}) +[<\d,]+ ms\n    dlv_…\w{6} attempt (\d)   ✓ X-Service-Signature   ✓ Standard Webhooks$`)

// check holds a page against the story, and answers how many deliveries came, attempts counted.
func check(t *testing.T, page string) {
	t.Helper()
	rest := page
	for i, chapter := range (&story{}).chapters() {
		heading := "\n" + strconv.Itoa(i+1) + "  " + chapter.title + "\n"
		_, after, found := strings.Cut(rest, heading)
		if !found {
			t.Fatalf("no chapter %q in its place:\n%s", chapter.title, page)
		}
		rest = after
	}
	if i := strings.IndexAny(page, "\x1b\r"); i >= 0 {
		t.Errorf("a pipe got control codes: %q", page[max(0, i-40):i+1])
	}
	for line := range strings.Lines(page) {
		if columns := length(strings.TrimRight(line, "\n")); columns > pageWidth {
			t.Errorf("%d columns: %s", columns, line)
		}
	}
	for _, want := range []string{
		"PRECONDITION_FAILED", "operations[1]", "AUTH_INVALID_CREDENTIALS", "PROJECT_NOT_FOUND", // refusals
		"+ /src/components/ContactForm.jsx", "~ /src/old.jsx → /src/legacy.jsx", "- /src/old.jsx", "add_dependency zod@", // actions, and what they did
		"    │ import styles from", "more lines\n", "   last after ", // the stream
		"✗ X-Service-Signature   ✗ Standard Webhooks", "The same event, delivery and body with a new signature",
		"projects none", "webhooks none",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	arrivals := arrival.FindAllStringSubmatch(page, -1)
	again := 0
	for _, a := range arrivals {
		if a[3] == "2" {
			again++
		}
	}
	if len(arrivals) != strings.Count(page, "◀ ") || again != 1 || strings.Count(page, " 503 ") < 3 {
		t.Errorf("%d verified arrivals of %d, %d second attempts", len(arrivals), strings.Count(page, "◀ "), again)
	}
	count := " deliveries received in " + strconv.Itoa(len(arrivals)) + " requests, each with both signatures verified\n"
	if !strings.Contains(page, count) || !strings.Contains(page, strconv.Itoa(len(arrivals)-1)+count) {
		t.Errorf("%d arrivals are not what the summary says", len(arrivals))
	}
	if t.Failed() {
		t.Log(page)
	}
}

// Three demos at once on a platform that runs: two tell the whole story, each with names of its own; the third is interrupted and
// deletes what it has made.
func TestTheStoryOnARunningPlatform(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	var demos sync.WaitGroup
	for range 2 {
		demos.Go(func() {
			var out page
			var complaints bytes.Buffer
			if code := run(t.Context(), []string{"-url", p.URL + "/", "-binaries", "none"}, &out, &complaints); code != exitDone {
				t.Errorf("exit code %d: %s\n%s", code, complaints.String(), out.String())
				return
			}
			check(t, out.String())
		})
	}
	breakOff(t, p.URL)
	demos.Wait()
}

// breakOff interrupts a demo while it waits.
func breakOff(t *testing.T, url string) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &page{until: "Waiting for the second attempt", call: interrupt}
	var complaints bytes.Buffer
	if code := run(ctx, []string{"-url", url}, out, &complaints); code != exitInterrupted || complaints.String() != "demo: interrupted\n" {
		t.Errorf("exit code %d: %s", code, complaints.String())
	}
	_, end, _ := strings.Cut(out.String(), "The demo was stopped")
	if deleted := regexp.MustCompile(`(?m)^  DELETE /api/(projects|webhooks)/\S+ +200 `).FindAllString(end, -1); len(deleted) != 3 {
		t.Errorf("it deleted %q:\n%s", deleted, out.String())
	}
}

// free is an address at which nothing answers.
func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

// build makes the demo's program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "demo")
	if output, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}

// ownPlatform is the address of the platform that a demo has said it runs.
var ownPlatform = regexp.MustCompile(`its\s+own\s+at\s+http://(localhost:\d+)`)

// If no platform responds, the demo starts its own. That platform ends with the demo and leaves no files, also after an interruption.
func TestTheStoryOnAPlatformOfItsOwn(t *testing.T) {
	t.Parallel()
	program, binaries := build(t), platformtest.Binaries(t)
	for name, interrupted := range map[string]bool{"completed": false, "interrupted": true} {
		t.Run(name, func(t *testing.T) {
			scratch := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			command := exec.CommandContext(ctx, program, "-url", free(t), "-binaries", binaries, "-template", template)
			command.Env = append(os.Environ(), "TMPDIR="+scratch)
			out := &page{}
			var complaints bytes.Buffer
			want := exitDone
			if interrupted {
				want = exitInterrupted
				out.until, out.call = "\n3  ", func() { _ = command.Process.Signal(syscall.SIGINT) }
			}
			command.Stdout, command.Stderr = out, &complaints
			err := command.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) || command.ProcessState.ExitCode() != want {
				t.Fatalf("%v, want exit code %d: %s\n%s", err, want, complaints.String(), out.String())
			}
			if !interrupted {
				check(t, out.String())
			} else if complaints.String() != "demo: interrupted\n" {
				t.Errorf("it complained %q", complaints.String())
			}
			own := ownPlatform.FindStringSubmatch(out.String())
			if own == nil {
				t.Fatalf("it did not say where its platform is:\n%s", out.String())
			}
			if connection, err := net.Dial("tcp", own[1]); err == nil {
				connection.Close()
				t.Error("its platform still runs")
			}
			if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

// What goes wrong is one line that says what to do.
func TestFailuresAreOneLine(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	binaries := platformtest.Binaries(t)
	for _, c := range []struct {
		name string
		args []string
		env  []string // of a platform, if there is to be one
		code int
		says string
	}{
		{"no platform and no binaries", []string{"-url", free(t), "-binaries", t.TempDir()}, nil, exitFailed, "build them with `make binaries`"},
		{"its own platform does not start", []string{"-url", free(t), "-binaries", binaries, "-template", "none.yaml"}, nil, exitFailed, "none.yaml"},
		{"no platform on another host", []string{"-url", "http://demo.invalid", "-binaries", binaries}, nil, exitFailed, "start the platform with `make run`"},
		{"another server", []string{"-url", other.URL}, nil, exitFailed, "404 Not Found): free the port"},
		{"not a URL", []string{"-url", "localhost:3000"}, nil, exitFailed, "must start with http:// or https://"},
		{"no webhooks to this machine", nil, []string{"WEBHOOK_ALLOW_PRIVATE=false"}, exitFailed, "run it with WEBHOOK_ALLOW_PRIVATE=true"},
		{"too many words", []string{"please"}, nil, exitUsage, `"please" is not a flag`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.env != nil {
				c.args = []string{"-url", platformtest.Start(t, c.env...).URL}
			}
			var out page
			var complaints bytes.Buffer
			code := run(t.Context(), c.args, &out, &complaints)
			if said := complaints.String(); code != c.code || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "demo: ") {
				t.Errorf("exit code %d: %s\n%s", code, said, out.String())
			}
			if strings.Contains(out.String(), "prj_") && !strings.Contains(out.String(), "DELETE /api/projects/") {
				t.Errorf("its project stays:\n%s", out.String())
			}
		})
	}
}

// -own is how make knows whether there is a platform to build.
func TestOwnTellsMake(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	for url, want := range map[string]int{free(t): exitDone, other.URL: exitFailed, "http://demo.invalid": exitFailed} {
		var out, complaints bytes.Buffer
		if code := run(t.Context(), []string{"-own", "-url", url}, &out, &complaints); code != want || out.Len()+complaints.Len() > 0 {
			t.Errorf("%s: %d, %q, %q", url, code, out.String(), complaints.String())
		}
	}
}
