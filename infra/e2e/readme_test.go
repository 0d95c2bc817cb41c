package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
)

// TestReadmeTour runs the tour of README.md word for word in a shell, against a platform on other ports, and compares
// what it prints with what README says it prints: each line behind "# → " must occur in the output of its command.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "curl")
	p := platformtest.Start(t)
	readme, err := os.ReadFile(filepath.Join(platformtest.Root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tour, found := strings.Cut(string(readme), "<!-- tour -->")
	tour, _, closed := strings.Cut(tour, "<!-- /tour -->")
	if !found || !closed {
		t.Fatal("README.md has no tour")
	}
	receiver := listenOn(t)
	commands := 0
	var variables string // a shell of one's own keeps what was assigned before
	dir := t.TempDir()
	for _, block := range strings.Split(tour, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, step := range steps(block) {
			commands++
			script := strings.NewReplacer("http://localhost:3000", p.URL, "https://localhost:3443", p.HTTPS, "http://127.0.0.1:4566", p.AWS,
				"go build -o .build/receiver ./infra/receiver", "true", // the tests have built it
				".build/receiver", platformtest.Binaries(t)+"/receiver -address "+receiver, "localhost:9123", receiver).Replace(step.script)
			command := exec.Command("sh", "-c", "set -e\n"+variables+script)
			for line := range strings.Lines(script) {
				if assignment.MatchString(line) {
					variables += line
				}
			}
			command.Dir = dir
			command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_REGION=us-east-1", "AWS_PAGER=")
			output, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%s\n%v\n%s", script, err, output)
			}
			for _, want := range step.prints {
				if !strings.Contains(string(output), want) {
					t.Errorf("%s\nprinted %s\nREADME says %s", script, output, want)
				}
			}
		}
	}
	if commands < 5 {
		t.Errorf("only %d commands in the tour", commands)
	}
}

var assignment = regexp.MustCompile(`^[A-Z]+=`)

// step is a command with what it is said to print.
type step struct {
	script string
	prints []string
}

// steps splits a block at its "# → " lines: they end the command above them.
func steps(block string) []step {
	var (
		all     []step
		current step
	)
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		if said, ok := strings.CutPrefix(line, "# → "); ok {
			current.prints = append(current.prints, said)
			continue
		}
		if len(current.prints) > 0 {
			all = append(all, current)
			current = step{}
		}
		current.script += line + "\n"
	}
	if strings.TrimSpace(current.script) != "" {
		all = append(all, current)
	}
	return all
}

// listenOn is a free address for a server that is started later.
func listenOn(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
