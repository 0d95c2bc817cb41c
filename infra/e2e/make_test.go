package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// TestMakeRun runs make run in a new clone until the platform is ready, and interrupts it.
func TestMakeRun(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	makeRun := exec.Command("make", "run")
	makeRun.Dir = dir
	makeRun.Env = append(os.Environ(), "PORT=0", "AWS_PORT=0", "MAKEFLAGS=")
	makeRun.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal interrupts the whole process group
	stdout, err := makeRun.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := makeRun.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-makeRun.Process.Pid, syscall.SIGKILL) }()
	lines := bufio.NewScanner(stdout)
	url := ""
	for url == "" && lines.Scan() {
		url, _ = strings.CutPrefix(lines.Text(), "ready: ")
		if url == lines.Text() {
			url = ""
		}
	}
	if url == "" {
		t.Fatalf("the platform did not become ready: %v", makeRun.Wait())
	}
	c := platformtest.NewClient(t, url)
	c.SignUp("ada")
	if page := c.Do("GET", "/api/docs", ""); page.Status != 200 {
		t.Errorf("GET /api/docs returned %d, want 200", page.Status)
	}
	if err := syscall.Kill(-makeRun.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		continue
	}
	_ = makeRun.Wait() // make reports the interrupt as an error
	if _, err := os.Stat(filepath.Join(dir, ".local")); err != nil {
		t.Errorf("the data directory does not exist: %v", err)
	}
}

// TestMakeLicences checks that make licences does not change the committed list. It uses the tools of the project,
// because linking them again takes long.
func TestMakeLicences(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	committed, err := filepath.Abs(filepath.Join(platformtest.Root, "infra/licences/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.Abs(filepath.Join(platformtest.Root, ".build/tools"))
	if err != nil {
		t.Fatal(err)
	}
	shell(t, checkout(t), "mkdir -p "+tools+" .build && ln -s "+tools+" .build/tools && "+
		"make licences && diff infra/licences/README.md "+committed)
}

// fakeSAM replaces the SAM CLI, which needs AWS. It prints its arguments. `build` runs a command that builds each of two
// functions, and `deploy` prints the checksum in the code of each.
const fakeSAM = `#!/bin/sh
echo sam "$@"
for f in AuthFunction WebhookRetryFunction; do
	case $1 in
	build) rm -rf .aws-sam/build/$f && mkdir -p .aws-sam/build/$f && BUILD -o .aws-sam/build/$f/bootstrap ./functions/webhook-retry ;;
	deploy) echo "uploaded $(cat .aws-sam/build/$f/configuration)" ;;
	esac || exit 1
done
`

// checkoutWithSAM returns a copy of the project, and a function that runs commands in it with the fake SAM CLI. build
// is the command that builds a function.
func checkoutWithSAM(t testing.TB, build string) (dir string, run func(script string) string) {
	t.Helper()
	dir, tools := checkout(t), t.TempDir()
	write(t, filepath.Join(tools, "sam"), strings.Replace(fakeSAM, "BUILD", build, 1))
	if err := os.Chmod(filepath.Join(tools, "sam"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, func(script string) string { return shell(t, dir, script, "PATH="+tools+":"+os.Getenv("PATH")) }
}

// TestMakeDeploy runs the documented commands that deploy both stacks.
func TestMakeDeploy(t *testing.T) {
	t.Parallel()
	dir, run := checkoutWithSAM(t, "go build")
	output := run("unset GOFLAGS CGO_ENABLED\n" + command(t, "sam"))
	for _, want := range []string{
		"sam build --config-env dev", "sam deploy --config-env dev",
		"sam build --config-env prod", "sam deploy --config-env prod",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("the command %q was not run:\n%s", want, output)
		}
	}
	bootstrap := filepath.Join(dir, ".aws-sam/build/WebhookRetryFunction/bootstrap")
	settings, err := exec.Command("go", "version", "-m", bootstrap).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-tags=lambda.norpc", "-trimpath=true", "CGO_ENABLED=0"} {
		if !strings.Contains(string(settings), want) {
			t.Errorf("the function was not built with %s:\n%s", want, settings)
		}
	}
}

var uploadedChecksum = regexp.MustCompile(`(?m)^uploaded ([0-9a-f]{40,})$`)

// TestMakeDeployShipsParameters checks that the code of every function changes if and only if the parameters or the
// template change, because SAM publishes a new version only of changed code.
func TestMakeDeployShipsParameters(t *testing.T) {
	t.Parallel()
	dir, run := checkoutWithSAM(t, "true")
	deploy := func() string {
		t.Helper()
		checksums := uploadedChecksum.FindAllStringSubmatch(run("make deploy"), -1)
		if len(checksums) != 2 || checksums[0][1] != checksums[1][1] {
			t.Fatalf("got the checksums %v, want the same checksum for two functions", checksums)
		}
		return checksums[0][1]
	}
	last := deploy()
	if again := deploy(); again != last {
		t.Errorf("without a change, the checksum changed from %s to %s", last, again)
	}
	for _, change := range []struct{ file, old, new string }{
		{"samconfig.toml", `"Stage=dev",`, `"Stage=dev", "AiModel=another",`},
		{"template.yaml", "Timeout: 20", "Timeout: 21"},
	} {
		path := filepath.Join(dir, change.file)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), change.old) {
			t.Fatalf("%s does not contain %s: %v", change.file, change.old, err)
		}
		write(t, path, strings.Replace(string(text), change.old, change.new, 1))
		checksum := deploy()
		if checksum == last {
			t.Errorf("%s changed, but the checksum did not", change.file)
		}
		last = checksum
	}
}
