package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
	"devplatform/infra/process"
	"devplatform/infra/testmode"
)

// movedClock replaces the function that reads the system clock. It adds the duration in a file beside the program.
const movedClock = `func System() time.Time {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(program), "offset"))
	if err != nil {
		panic(err)
	}
	offset, err := time.ParseDuration(string(text))
	if err != nil {
		panic(err)
	}
	return time.Now().Add(offset)
}`

// buildWithMovedClock builds the platform, the functions and make operator into a folder, with a clock that moveClock
// moves.
func buildWithMovedClock(t *testing.T, dir string) {
	t.Helper()
	must(t, platformtest.DependOnSources())
	root, err := filepath.Abs(platformtest.Root)
	must(t, err)
	path := filepath.Join(root, "shared/clock/clock.go")
	source, err := os.ReadFile(path)
	must(t, err)
	const system = "func System() time.Time { return time.Now() }"
	moved := strings.NewReplacer(system, movedClock, `"fmt"`, `"fmt"; "os"; "path/filepath"`).Replace(string(source))
	if !strings.Contains(moved, movedClock) {
		t.Fatalf("%s does not contain %s", path, system)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: filepath.Join(dir, "clock.go")}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "clock.go"), []byte(moved), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	must(t, process.Build(t.Context(), root, "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir+"/",
		"./infra/local", "./infra/operator", "./functions/..."))
	moveClock(t, dir, 0)
}

// moveClock sets the difference between the clock of the programs in a folder and the system clock.
func moveClock(t *testing.T, dir string, offset time.Duration) {
	t.Helper()
	next := filepath.Join(dir, "offset.new")
	must(t, os.WriteFile(next, []byte(offset.String()), 0o600))
	must(t, os.Rename(next, filepath.Join(dir, "offset")))
}

// rehearsal is a platform whose clock the test moves.
type rehearsal struct {
	*process.Process

	t        *testing.T
	binaries string
	offset   time.Duration
	manager  *secretsmanager.Client
	receiver *hooktest.Receiver
	saves    int
}

// keyRing is the name of the secret with the key ring.
const keyRing = "local-KeysSecret"

func newRehearsal(t *testing.T) *rehearsal {
	t.Helper()
	testmode.SkipIfShort(t)
	r := &rehearsal{t: t, binaries: t.TempDir(), receiver: hooktest.New(t)}
	buildWithMovedClock(t, r.binaries)
	var err error
	r.Process, err = process.Start(t.Context(), process.Options{
		Binaries: r.binaries, WorkDir: platformtest.Root, Dir: t.TempDir(), Env: []string{"LIMIT_LOGIN_PAIR=10000"},
	})
	must(t, err)
	t.Cleanup(func() {
		r.Stop()
		if t.Failed() {
			t.Logf("the platform's log:\n%s", r.Log.Tail(8000))
		}
	})
	r.manager = secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: &r.AWS,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	return r
}

// change changes the key ring as an operator does.
func (r *rehearsal) change(apply func(ring map[string]any)) {
	r.t.Helper()
	read, err := r.manager.GetSecretValue(r.t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String(keyRing)})
	must(r.t, err)
	var ring map[string]any
	must(r.t, json.Unmarshal([]byte(*read.SecretString), &ring))
	apply(ring)
	text, err := json.Marshal(ring)
	must(r.t, err)
	_, err = r.manager.PutSecretValue(r.t.Context(), &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(keyRing), SecretString: aws.String(string(text)),
	})
	must(r.t, err)
}

// wait moves the clock, and sends requests to the functions in each minute.
func (r *rehearsal) wait(c *platformtest.Client, minutes int) {
	r.t.Helper()
	for range minutes {
		r.offset += time.Minute
		moveClock(r.t, r.binaries, r.offset)
		for range 2 {
			r.statuses(c)
			r.client().Login("ada").Want(r.t, http.StatusOK)
		}
	}
}

func (r *rehearsal) client() *platformtest.Client { return platformtest.NewClient(r.t, r.URL) }

// statuses returns the different statuses with which all functions with sessions respond to a client.
func (r *rehearsal) statuses(c *platformtest.Client) []int {
	r.t.Helper()
	statuses := map[int]bool{}
	for _, path := range []string{"/api/auth/me", "/api/projects", "/api/webhooks", "/api/ai/usage"} {
		statuses[c.Do("GET", path, "").Status] = true
	}
	return slices.Sorted(maps.Keys(statuses))
}

// deliver saves a file and checks the signatures of the event.
func (r *rehearsal) deliver(c *platformtest.Client, project string) {
	r.t.Helper()
	r.saves++
	c.Save(project, "/a.txt", fmt.Sprint("content ", r.saves))
	requests := received(r.t, r.receiver, "/ok/saved", r.saves)
	if err := requests[r.saves-1].Verify(platformtest.HookSecret); err != nil {
		r.t.Error(err)
	}
}

// reencrypt runs make operator's program and returns its output.
func (r *rehearsal) reencrypt() string {
	r.t.Helper()
	command := exec.CommandContext(context.Background(), filepath.Join(r.binaries, "operator"), "reencrypt")
	command.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+r.AWS, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"KEYS_SECRET="+keyRing)
	output, err := command.CombinedOutput()
	if err != nil {
		r.t.Fatalf("operator reencrypt: %v\n%s", err, output)
	}
	return string(output)
}

// TestLeakedKey rehearses the procedure of RUNBOOK.md for a leaked key on the local platform. Package reencrypt
// rehearses it with several instances, and also the rotation of a key.
func TestLeakedKey(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t) // compiles all functions with another clock
	r := newRehearsal(t)
	stolen := r.client()
	stolen.SignUp("ada")
	project := stolen.NewProject("Leaked", nil)
	stolen.Subscribe(r.receiver.URL("/ok/saved"), platformtest.Object{"projectId": project, "events": []string{"file.*"}})
	r.deliver(stolen, project)
	if got := r.statuses(stolen); !slices.Equal(got, []int{http.StatusOK}) {
		t.Fatalf("before the leak: got the statuses %v, want 200", got)
	}

	r.change(func(ring map[string]any) {
		ring["k2"] = "a key for the rehearsal, and for nothing else 0123456789"
		ring["current"], ring["decryptOnly"] = "k2", []string{"k1"}
	})
	r.wait(stolen, 15)
	if got := r.statuses(stolen); !slices.Equal(got, []int{http.StatusUnauthorized}) {
		t.Errorf("a session of the leaked key: got the statuses %v, want 401", got)
	}
	ada := r.client()
	ada.Login("ada").Want(t, http.StatusOK)
	if got := r.statuses(ada); !slices.Equal(got, []int{http.StatusOK}) {
		t.Errorf("a new session: got the statuses %v, want 200", got)
	}
	r.deliver(ada, project)

	if got := r.reencrypt(); !strings.Contains(got, "of 1 webhooks") || strings.Contains(got, "k1") {
		t.Fatalf("operator reencrypt: got %s, want one webhook and no secret of k1", got)
	}
	r.deliver(ada, project)
	r.change(func(ring map[string]any) {
		delete(ring, "k1")
		delete(ring, "decryptOnly")
	})
	r.wait(ada, 10)
	r.deliver(ada, project)
	if got := r.statuses(ada); !slices.Equal(got, []int{http.StatusOK}) {
		t.Errorf("after the key was removed: got the statuses %v, want 200", got)
	}
}
