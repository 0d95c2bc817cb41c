package e2e

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"devplatform/infra/platformtest"
)

// stepLimit ends a step of the tour that waits for an event that was lost. It is far longer than a step takes.
const stepLimit = 3 * time.Minute

// TestReadmeTour runs the tour, the blocks with the comment <!-- try: tour -->, in a shell with the addresses of a test
// platform. It checks that the output of each command contains the texts of the "# → " lines below the command.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "curl")
	p := platformtest.Start(t)
	receiver := listenOn(t)
	replacer := strings.NewReplacer(
		"http://localhost:3000", p.URL, "https://localhost:3443", p.HTTPS, "http://127.0.0.1:4566", p.AWS,
		"go build -o .build/receiver ./infra/receiver", "true", // the tests have built it
		".build/receiver", platformtest.Binaries(t)+"/receiver -address "+receiver, "localhost:9123", receiver,
	)
	steps := tourSteps(strings.Join(commands(t, "tour"), ""))
	if len(steps) < 5 {
		t.Errorf("the tour has %d commands, want at least 5", len(steps))
	}
	dir := t.TempDir()
	var variables string // assignments of earlier steps, because each step runs in its own shell
	for _, step := range steps {
		script := replacer.Replace(step.script)
		ctx, cancel := context.WithTimeout(t.Context(), stepLimit)
		run := exec.CommandContext(ctx, "sh", "-c", "set -e\n"+variables+script)
		run.Dir, run.WaitDelay = dir, time.Second
		run.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
			"AWS_REGION=us-east-1", "AWS_PAGER=")
		output, err := run.CombinedOutput()
		cancel()
		if err != nil {
			received, _ := os.ReadFile(filepath.Join(dir, "received.txt"))
			t.Fatalf("%s\n%v\n%s\nthe receiver: %s", script, err, output, received)
		}
		for _, want := range step.outputs {
			if !strings.Contains(string(output), want) {
				t.Errorf("%s\ngot the output %s\nwant it to contain %s", script, output, want)
			}
		}
		for line := range strings.Lines(script) {
			if variableAssignment.MatchString(line) {
				variables += line
			}
		}
	}
}

var variableAssignment = regexp.MustCompile(`^[A-Z]+=`)

// tourStep is a command of the tour, and the texts that its output contains.
type tourStep struct {
	script  string
	outputs []string
}

// tourSteps splits the tour into its steps. A step ends with its "# → " lines.
func tourSteps(tour string) []tourStep {
	var (
		steps   []tourStep
		current tourStep
	)
	for line := range strings.Lines(tour) {
		line = strings.TrimRight(line, "\n")
		if output, ok := strings.CutPrefix(line, "# → "); ok {
			current.outputs = append(current.outputs, output)
			continue
		}
		if len(current.outputs) > 0 {
			steps = append(steps, current)
			current = tourStep{}
		}
		current.script += line + "\n"
	}
	if strings.TrimSpace(current.script) != "" || len(current.outputs) > 0 {
		steps = append(steps, current)
	}
	return steps
}

// listenOn returns a free address for a server that is started later.
func listenOn(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
