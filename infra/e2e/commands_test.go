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
)

// block is a block of a document that is fenced as a language, with the comment above it, which says how it is tried.
type block struct {
	how, what string // of <!-- try: make -->: "try", "make"; of <!-- file: a.go -->: "file", "a.go"
	text      string
}

var fenced = regexp.MustCompile(`(?ms)^([ ]*)(?:<!-- (try|file): (\S+) -->\n[ ]*)?` + "```(sh|go)\n(.*?)^[ ]*```$")

// blocks are the blocks of a document in a language.
func blocks(t testing.TB, document, language string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(platformtest.Root, document))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range fenced.FindAllStringSubmatch(string(text), -1) {
		if found[4] == language {
			all = append(all, block{found[2], found[3], strings.ReplaceAll("\n"+found[5], "\n"+found[1], "\n")})
		}
	}
	return all
}

// targets says of every target of the Makefile that a document names what tries it. "CI": .ci/run calls it, with this.
var targets = map[string]string{
	"run": "TestMakeRun", "deploy": "TestMakeDeploy", "licences": "TestMakeWrites", "openapi": "TestContributing", "invoke": "TestReadmeInvokes",
	"demo": "CI: make demo", "test": "CI: make test", "vulnerable": "CI: make vulnerable", "bench": "CI: make bench ONLY=", "soak": "the tests of infra/soak", "fuzz": "the tests of infra/fuzz",
}

// TestEveryCommandIsTried finds the command of README and CONTRIBUTING that nothing runs. The tour has a test of its own.
func TestEveryCommandIsTried(t *testing.T) {
	t.Parallel()
	ci, err := os.ReadFile(filepath.Join(platformtest.Root, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	readme := 0
	for _, document := range []string{"README.md", "CONTRIBUTING.md"} {
		for _, b := range blocks(t, document, "sh") {
			switch b.how + " " + b.what {
			case "try make":
				for line := range strings.Lines(b.text) {
					fields := strings.Fields(line)
					if len(fields) < 2 || fields[0] != "make" {
						continue
					}
					by := targets[fields[1]]
					if command, inCI := strings.CutPrefix(by, "CI: "); by == "" || inCI && !strings.Contains(string(ci), "\n"+command) {
						t.Errorf("%s: nothing tries %q (%s)", document, strings.TrimSpace(line), by)
					}
				}
			case "try tour", "try aws", "try invoke", "try sam", "try secret", "try endpoint", "try change": // below, and beside
			default:
				t.Errorf("%s: nothing says how this is tried:\n%s", document, b.text)
			}
			readme++
		}
	}
	if readme < 8 {
		t.Errorf("only %d blocks", readme)
	}
}

// of is README's one block that is tried in this way.
func of(t testing.TB, what string) string {
	t.Helper()
	for _, b := range blocks(t, "README.md", "sh") {
		if b.what == what {
			return b.text
		}
	}
	t.Fatalf("README.md has no block to try as %s", what)
	return ""
}

// TestReadmeInvokes runs what README says of the AWS CLI, and of make invoke.
func TestReadmeInvokes(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	t.Run("with the AWS CLI", func(t *testing.T) {
		platformtest.Required(t, "aws")
		script := strings.ReplaceAll(of(t, "aws"), "http://127.0.0.1:4566", p.AWS)
		printed := shell(t, platformtest.Root, script, "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true")
		for _, want := range []string{"local-ProjectsTable", `"AuthFunction"`, "AUTH_INVALID_TOKEN"} {
			if !strings.Contains(printed, want) {
				t.Errorf("no %s in %s", want, printed)
			}
		}
	})
	t.Run("without", func(t *testing.T) {
		port := p.AWS[strings.LastIndexByte(p.AWS, ':')+1:]
		if printed := shell(t, platformtest.Root, of(t, "invoke"), "AWS_PORT="+port); !strings.Contains(printed, "AUTH_INVALID_TOKEN") {
			t.Errorf("printed %s", printed)
		}
	})
}

// TestReadmeEndpoint runs the tests of a slice against an endpoint that README names, which here is a platform's.
func TestReadmeEndpoint(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	printed := shell(t, platformtest.Root, strings.ReplaceAll(of(t, "endpoint"), "http://127.0.0.1:8000", p.AWS))
	if !strings.Contains(printed, "ok  \tdevplatform/shared/workspace") {
		t.Errorf("printed %s", printed)
	}
}

// TestMakeRun is README's first command in a fresh clone, up to its last line, and Ctrl-C.
func TestMakeRun(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	command := exec.Command("make", "run")
	command.Dir = dir
	command.Env = append(os.Environ(), "PORT=0", "AWS_PORT=0", "MAKEFLAGS=")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C reaches all of them
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }()
	lines := bufio.NewScanner(stdout)
	url := ""
	for url == "" && lines.Scan() {
		url, _ = strings.CutPrefix(lines.Text(), "ready: ")
		if url == lines.Text() {
			url = ""
		}
	}
	if url == "" {
		t.Fatalf("not ready: %v", command.Wait())
	}
	c := platformtest.NewClient(t, url)
	c.SignUp("ada")
	if page := c.Do("GET", "/api/docs", ""); page.Status != 200 {
		t.Errorf("/api/docs: %d", page.Status)
	}
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		continue
	}
	_ = command.Wait() // make says that it was interrupted
	if _, err := os.Stat(filepath.Join(dir, ".local")); err != nil {
		t.Errorf("where are the data? %v", err)
	}
}

// TestMakeWrites writes anew what is written from the code, and finds nothing changed.
func TestMakeWrites(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	shell(t, dir, "make licences && diff infra/licences/README.md "+abs(t, "infra/licences/README.md"))
}

// sam stands for the SAM CLI, and only notes how it was called. It builds a function as the real one would, and shows what it would upload
// beside it.
const sam = `#!/bin/sh
echo sam "$@"
for f in AuthFunction WebhookRetryFunction; do
	case $1 in
	build) rm -rf .aws-sam/build/$f && mkdir -p .aws-sam/build/$f && GOOS=linux GOARCH=arm64 go build -o .aws-sam/build/$f/bootstrap ./functions/webhook-retry ;;
	deploy) echo "uploaded $(cat .aws-sam/build/$f/configuration)" ;;
	esac || exit 1
done
`

// withSAM makes a checkout, and gives what runs commands in it with that SAM CLI. The real one needs AWS.
func withSAM(t testing.TB) (dir string, run func(script string) string) {
	t.Helper()
	dir, tools := checkout(t), t.TempDir()
	write(t, filepath.Join(tools, "sam"), sam)
	if err := os.Chmod(filepath.Join(tools, "sam"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, func(script string) string { return shell(t, dir, script, "PATH="+tools+":"+os.Getenv("PATH")) }
}

// TestMakeDeploy deploys as README says.
func TestMakeDeploy(t *testing.T) {
	t.Parallel()
	dir, run := withSAM(t)
	printed := run(of(t, "sam"))
	for _, want := range []string{"sam build --config-env dev", "sam deploy --config-env dev", "sam build --config-env prod", "sam deploy --config-env prod"} {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in %s", want, printed)
		}
	}
	bootstrap := filepath.Join(dir, ".aws-sam/build/WebhookRetryFunction/bootstrap")
	if built, err := exec.Command("go", "version", "-m", bootstrap).Output(); err != nil || !strings.Contains(string(built), "-tags=lambda.norpc") || !strings.Contains(string(built), "GOARCH=arm64") {
		t.Errorf("built as %s, %v", built, err)
	}
}

var uploaded = regexp.MustCompile(`(?m)^uploaded ([0-9a-f]{40,})$`)

// TestMakeDeployShipsParameters: what is uploaded of every function is new when a parameter is, or the template, as only new code makes
// SAM publish a version; and it is the same when nothing is.
func TestMakeDeployShipsParameters(t *testing.T) {
	t.Parallel()
	dir, run := withSAM(t)
	deploy := func() string {
		t.Helper()
		sums := uploaded.FindAllStringSubmatch(run("make deploy"), -1)
		if len(sums) != 2 || sums[0][1] != sums[1][1] {
			t.Fatalf("uploaded beside two functions: %v", sums)
		}
		return sums[0][1]
	}
	last := deploy()
	if again := deploy(); again != last {
		t.Errorf("nothing changed, and %s became %s", last, again)
	}
	for _, change := range []struct{ file, old, now string }{
		{"samconfig.toml", `"Stage=dev",`, `"Stage=dev", "AiModel=another",`},
		{"template.yaml", "Timeout: 20", "Timeout: 21"},
	} {
		path := filepath.Join(dir, change.file)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), change.old) {
			t.Fatalf("%s has no %s: %v", change.file, change.old, err)
		}
		write(t, path, strings.Replace(string(text), change.old, change.now, 1))
		sum := deploy()
		if sum == last {
			t.Errorf("%s changed, and what is uploaded did not", change.file)
		}
		last = sum
	}
}

// TestReadmeSecret puts providers' credentials where README says, and finds that a function reads them.
func TestReadmeSecret(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "aws")
	p := platformtest.Start(t)
	printed := shell(t, platformtest.Root, of(t, "secret")+"aws secretsmanager get-secret-value --secret-id \"$PROVIDERS_SECRET_ARN\"",
		"PROVIDERS_SECRET_ARN=local-ProvidersSecret", "AWS_ENDPOINT_URL="+p.AWS, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER=")
	if !strings.Contains(printed, "oauthClientSecret") || !strings.Contains(printed, "openaiApiKey") {
		t.Errorf("printed %s", printed)
	}
}

// TestContributing follows CONTRIBUTING.md to the first change, in a clone.
func TestContributing(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	for _, b := range blocks(t, "CONTRIBUTING.md", "go") {
		if b.how != "file" {
			t.Fatalf("what becomes of this?\n%s", b.text)
		}
		write(t, filepath.Join(dir, b.what), strings.TrimPrefix(b.text, "\n"))
	}
	ran := 0
	for _, b := range blocks(t, "CONTRIBUTING.md", "sh") {
		if b.what == "change" {
			ran++
			printed := shell(t, dir, b.text)
			if ran == 2 && (strings.Count(printed, "ok  \t") < 2 || strings.Contains(printed, "no tests to run")) {
				t.Errorf("printed %s", printed)
			}
		}
	}
	if ran != 2 {
		t.Errorf("%d blocks of commands", ran)
	}
	if unchanged := shell(t, dir, "gofmt -l shared/workspace"); unchanged != "" {
		t.Errorf("not formatted: %s", unchanged)
	}
	if documented, err := os.ReadFile(filepath.Join(dir, "shared/docs/openapi.json")); err != nil || !strings.Contains(string(documented), "readWorkspace") {
		t.Errorf("the document has no readWorkspace: %v", err)
	}
}

func abs(t testing.TB, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join(platformtest.Root, path))
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}
