package e2e

import (
	"bufio"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"devplatform/infra/platformtest"
)

// codeBlock is a fenced code block of a document. A comment above it, such as <!-- try: make --> or
// <!-- file: a/b.go -->, determines how it is tested.
type codeBlock struct {
	document string
	language string
	kind     string // "try", "file", or empty without a comment
	name     string // after the colon of the comment
	text     string
}

var fencedBlock = regexp.MustCompile("(?ms)^( *)(?:<!-- (try|file): (\\S+) -->\n *)?```(sh|go)\n(.*?)^ *```$")

// readBlocks returns the blocks of a document in a language.
func readBlocks(t testing.TB, document, language string) (blocks []codeBlock) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(platformtest.Root, document))
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range fencedBlock.FindAllStringSubmatch(string(text), -1) {
		if match[4] != language {
			continue
		}
		indent, body := match[1], "\n"+match[5]
		blocks = append(blocks, codeBlock{
			document: document, language: language, kind: match[2], name: match[3],
			text: strings.ReplaceAll(body, "\n"+indent, "\n"),
		})
	}
	return blocks
}

const needsStack = "the commands need a stack on AWS"

// notRunHere are the documents whose commands this package does not run, with the reason.
var notRunHere = map[string]string{
	"infra/ALARMS.md":             needsStack,
	"infra/RUNBOOK.md":            needsStack,
	"infra/WEBHOOKS.md":           needsStack,
	"shared/webhook/README.md":    "the tests of shared/webhook/signature run its programs",
	"shared/webhook/VERIFYING.md": "the tests of shared/webhook/signature run its programs",
}

// commandDocuments returns the paths of all documents whose commands this package runs.
func commandDocuments(t testing.TB) (documents []string) {
	t.Helper()
	err := filepath.WalkDir(platformtest.Root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		isHidden := strings.HasPrefix(name, ".") && path != platformtest.Root
		if entry.IsDir() && (isHidden || name == "node_modules" || name == "testdata") {
			return filepath.SkipDir
		}
		document, err := filepath.Rel(platformtest.Root, path)
		if err == nil && filepath.Ext(path) == ".md" && notRunHere[document] == "" {
			documents = append(documents, document)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// commandBlocks returns the command blocks of all documents.
func commandBlocks(t testing.TB) (blocks []codeBlock) {
	t.Helper()
	for _, document := range commandDocuments(t) {
		blocks = append(blocks, readBlocks(t, document, "sh")...)
	}
	return blocks
}

// commands returns the texts of the blocks with the comment <!-- try: name -->, at least one.
func commands(t testing.TB, name string) (texts []string) {
	t.Helper()
	for _, b := range commandBlocks(t) {
		if b.kind == "try" && b.name == name {
			texts = append(texts, b.text)
		}
	}
	if len(texts) == 0 {
		t.Fatalf("no document has a block with the comment <!-- try: %s -->", name)
	}
	return texts
}

// command returns the text of the only block with the comment <!-- try: name -->.
func command(t testing.TB, name string) string {
	t.Helper()
	texts := commands(t, name)
	if len(texts) != 1 {
		t.Fatalf("%d blocks have the comment <!-- try: %s -->, want 1", len(texts), name)
	}
	return texts[0]
}

// testOfComment names the test that runs the blocks with a comment <!-- try: … -->. Blocks with `try: make` contain
// only targets of the Makefile.
var testOfComment = map[string]string{
	"tour": "TestReadmeTour", "aws": "TestInvoke", "invoke": "TestInvoke", "https": "TestHTTPS", "sam": "TestMakeDeploy",
	"secret": "TestSecretCommands", "account": "TestAccountCommands", "model": "TestConfiguredModel",
	"codehost": "TestConfiguredCodeHost", "endpoint": "TestOtherDynamoDB", "change": "TestContributing",
}

// testOfTarget names the test that runs a target of the Makefile, the command of .ci/run that runs it, or `make nightly`.
var testOfTarget = map[string]string{
	"run": "TestMakeRun", "dev": "infra/local/platform: TestWatch", "deploy": "TestMakeDeploy", "licences": "TestMakeLicences", "openapi": "TestContributing",
	"invoke": "TestInvoke",
	"demo":   "infra/demo: TestStory", "test": "CI: make test", "check": "CI: make test", "nightly": "nightly: mutations",
	"race": "nightly: race", "faults": "nightly: faults", "vulnerable": "nightly: vulnerable", "bench": "nightly: bench",
	"mutations": "infra/mutate: TestRun", "costs": "CI: make costs",
	"compare-s3": "infra/local/s3: TestOracle", "soak": "infra/soak: TestSoak", "fuzz": "infra/fuzz: TestRun",
}

// hasTest reports whether a test exists. by is a test of this package, "folder: test", "CI: command", or
// "nightly: target".
func hasTest(t *testing.T, by string) bool {
	t.Helper()
	folder, name, found := strings.Cut(by, ": ")
	switch folder {
	case "CI":
		script, err := os.ReadFile(filepath.Join(platformtest.Root, ".ci/run"))
		return err == nil && strings.Contains(string(script), "\n"+name)
	case "nightly":
		makefile, err := os.ReadFile(filepath.Join(platformtest.Root, "Makefile"))
		_, recipe, _ := strings.Cut(string(makefile), "\nnightly: ")
		recipe, _, _ = strings.Cut(recipe, "\n\n")
		return err == nil && slices.Contains(strings.Fields(recipe), name)
	}
	if !found {
		folder, name = "infra/e2e", by
	}
	files, err := filepath.Glob(filepath.Join(platformtest.Root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return name != ""
		}
	}
	return false
}

// TestCommandsAreTested checks that every command in the documents is run by a test.
func TestCommandsAreTested(t *testing.T) {
	t.Parallel()
	blocks := commandBlocks(t)
	for _, b := range blocks {
		if b.kind == "try" && b.name == "make" {
			for line := range strings.Lines(b.text) {
				fields := strings.Fields(line)
				if len(fields) == 0 {
					continue
				}
				if len(fields) < 2 || fields[0] != "make" || !hasTest(t, testOfTarget[fields[1]]) {
					t.Errorf("%s: no test runs %q", b.document, strings.TrimSpace(line))
				}
			}
		} else if b.kind != "try" || !hasTest(t, testOfComment[b.name]) {
			t.Errorf("%s: no test runs the block with the comment %q:\n%s", b.document, b.name, b.text)
		}
	}
	if len(blocks) < 8 {
		t.Errorf("found %d blocks of commands, want at least 8", len(blocks))
	}
}

// TestInvoke invokes a function with the AWS CLI and with make invoke.
func TestInvoke(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	t.Run("with the AWS CLI", func(t *testing.T) {
		platformtest.Required(t, "aws")
		script := strings.ReplaceAll(command(t, "aws"), "http://127.0.0.1:4566", p.AWS)
		output := shell(t, platformtest.Root, script, "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true")
		for _, want := range []string{`"TableNames"`, `"AuthFunction"`, "AUTH_INVALID_TOKEN"} {
			if !strings.Contains(output, want) {
				t.Errorf("the output does not contain %s:\n%s", want, output)
			}
		}
	})
	t.Run("with make", func(t *testing.T) {
		port := p.AWS[strings.LastIndexByte(p.AWS, ':')+1:]
		output := shell(t, platformtest.Root, command(t, "invoke"), "AWS_PORT="+port)
		if !strings.Contains(output, "AUTH_INVALID_TOKEN") {
			t.Errorf("the output does not contain AUTH_INVALID_TOKEN:\n%s", output)
		}
	})
}

// TestHTTPS calls the platform over HTTPS with curl.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "curl")
	p := platformtest.Start(t)
	script := strings.ReplaceAll(command(t, "https"), "https://localhost:3443", p.HTTPS)
	if output := shell(t, platformtest.Root, script); !strings.Contains(output, "AUTH_INVALID_TOKEN") {
		t.Errorf("the output does not contain AUTH_INVALID_TOKEN:\n%s", output)
	}
}

// TestOtherDynamoDB runs the tests of a package on the DynamoDB that AWS_ENDPOINT_URL names.
func TestOtherDynamoDB(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	output := shell(t, platformtest.Root, strings.ReplaceAll(command(t, "endpoint"), "http://127.0.0.1:8000", p.AWS))
	if !strings.Contains(output, "ok  \tdevplatform/shared/limit") {
		t.Errorf("the tests did not pass:\n%s", output)
	}
}

var assignedVariable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]*=\S+`)

// TestConfiguredModel starts the platform with the settings of each documented model, and chats with a fake of it.
func TestConfiguredModel(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &modelAnswer{w, r.Context()}
		answer.text("Authorization: " + r.Header.Get("Authorization"))
		answer.end(10, 2)
	}))
	t.Cleanup(server.Close)
	for _, script := range commands(t, "model") {
		script = strings.ReplaceAll(script, "http://localhost:11434/v1", server.URL+"/v1")
		settings := assignedVariable.FindAllString(script, -1)
		if !strings.Contains(script, "OPENAI_BASE_URL=") {
			settings = append(settings, "OPENAI_BASE_URL="+server.URL+"/v1")
		}
		want := "Authorization: "
		if strings.Contains(script, "OPENAI_API_KEY=YOUR_KEY") {
			want += "Bearer YOUR_KEY"
		}
		ada := platformtest.NewClient(t, platformtest.Start(t, settings...).URL)
		ada.SignUp("ada")
		message := platformtest.Object{"projectId": ada.NewProject("Site", nil), "message": "Hello?"}
		chat := ada.Do("POST", "/api/ai/chat", message.String()).Want(t, http.StatusOK)
		if chat["response"] != want {
			t.Errorf("%v: got the answer %q, want %q", settings, chat["response"], want)
		}
	}
}

// TestConfiguredCodeHost starts the platform with the settings of the documented code host, and begins a sign-in.
func TestConfiguredCodeHost(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t, assignedVariable.FindAllString(command(t, "codehost"), -1)...)
	response := platformtest.NewClient(t, p.URL).Do("GET", "/api/auth/codehost", "")
	location, err := url.Parse(response.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	redirectURL := p.URL + "/api/auth/codehost/callback"
	if location.Host != "git.example.com" || location.Query().Get("redirect_uri") != redirectURL {
		t.Errorf("got a redirect to %s, want git.example.com with the redirect URL %s", location, redirectURL)
	}
}

// TestAccountCommands checks the names and options of the commands that query an AWS account, without calling AWS.
func TestAccountCommands(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "aws")
	for line := range strings.Lines(command(t, "account")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		skeleton, _, _ := strings.Cut(line, " --query ")
		skeleton += " --generate-cli-skeleton output"
		output := shell(t, platformtest.Root, skeleton, "AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER=")
		_, query, _ := strings.Cut(line, " --query ")
		field := query[strings.LastIndexByte(query, '.')+1:]
		if !strings.Contains(output, `"`+field+`"`) {
			t.Errorf("%s: the output of the command has no field %s:\n%s", line, field, output)
		}
	}
}

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

// TestMakeLicences checks that make licences does not change the committed list. It uses the tools of the project, because
// linking them again takes long.
func TestMakeLicences(t *testing.T) {
	t.Parallel()
	committed, err := filepath.Abs(filepath.Join(platformtest.Root, "infra/licences/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.Abs(filepath.Join(platformtest.Root, ".build/tools"))
	if err != nil {
		t.Fatal(err)
	}
	shell(t, checkout(t), "mkdir -p "+tools+" .build && ln -s "+tools+" .build/tools && make licences && diff infra/licences/README.md "+committed)
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

// checkoutWithSAM returns a copy of the project, and a function that runs commands in it with the fake SAM CLI. build is
// the command that builds a function.
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

// TestSecretCommands stores the credentials of providers with the documented commands, and reads them again.
func TestSecretCommands(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "aws")
	p := platformtest.Start(t)
	script := strings.Join(commands(t, "secret"), "\n") + `
		aws secretsmanager get-secret-value --secret-id "$CODEHOST_SECRET_ARN"
		aws secretsmanager get-secret-value --secret-id "$MODEL_SECRET_ARN"`
	output := shell(t, platformtest.Root, script, "CODEHOST_SECRET_ARN=local-CodeHostSecret", "MODEL_SECRET_ARN=local-ModelSecret",
		"AWS_ENDPOINT_URL="+p.AWS, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER=")
	for _, stored := range []string{`{\"oauthClientSecret\":\"…\"}`, `{\"openaiApiKey\":\"…\"}`} {
		if !strings.Contains(output, stored) && !strings.Contains(output, strings.ReplaceAll(stored, "…", `\u2026`)) {
			t.Errorf("no secret contains %s:\n%s", stored, output)
		}
	}
}

// TestContributing makes the first change of CONTRIBUTING.md in a copy of the project.
func TestContributing(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	for _, b := range readBlocks(t, "CONTRIBUTING.md", "go") {
		if b.kind != "file" {
			t.Fatalf("CONTRIBUTING.md does not name the file that has this code:\n%s", b.text)
		}
		write(t, filepath.Join(dir, b.name), strings.TrimPrefix(b.text, "\n"))
	}
	steps := commands(t, "change")
	if len(steps) != 2 {
		t.Fatalf("CONTRIBUTING.md has %d blocks of commands for the change, want 2", len(steps))
	}
	shell(t, dir, steps[0])
	output := shell(t, dir, steps[1])
	if strings.Count(output, "ok  \t") < 2 || strings.Contains(output, "no tests to run") {
		t.Errorf("the tests of the change did not run and pass:\n%s", output)
	}
	if unformatted := shell(t, dir, "gofmt -l shared/workspace"); unformatted != "" {
		t.Errorf("files are not formatted: %s", unformatted)
	}
	document, err := os.ReadFile(filepath.Join(dir, "shared/docs/openapi.json"))
	if err != nil || !strings.Contains(string(document), "readWorkspace") {
		t.Errorf("the OpenAPI document does not have the operation readWorkspace: %v", err)
	}
}
