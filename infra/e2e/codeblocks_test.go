package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

var fencedBlock = regexp.MustCompile("(?ms)^( *)(?:<!-- (try|file): (\\S+) -->\n *)?```(sh|go|diff)\n(.*?)^ *```$")

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

// commandBlocks returns the command blocks of all documents whose commands this package runs.
func commandBlocks(t testing.TB) (blocks []codeBlock) {
	t.Helper()
	for _, document := range platformtest.Documents(t, platformtest.Root) {
		if notRunHere[document] == "" {
			blocks = append(blocks, readBlocks(t, document, "sh")...)
		}
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
	"tour": "TestReadmeTour", "aws": "TestInvoke", "invoke": "TestInvoke", "https": "TestCurl", "mailbox": "TestCurl", "sam": "TestMakeDeploy",
	"secret": "TestSecretCommands", "account": "TestAccountCommands", "mail": "TestAccountCommands", "model": "TestConfiguredModel",
	"codehost": "TestConfiguredCodeHost", "endpoint": "TestOtherDynamoDB", "change": "TestContributing",
}

// testOfTarget names the test that runs a target of the Makefile, the command of .ci/run that runs it, or
// `make nightly`.
var testOfTarget = map[string]string{
	"run": "TestMakeRun", "dev": "infra/local/platform: TestWatch", "demo": "infra/demo: TestStory",
	"invoke": "TestInvoke", "deploy": "TestMakeDeploy", "licences": "TestMakeLicences", "openapi": "TestContributing",
	"test": "CI: make test", "check": "CI: make test", "costs": "infra/costs: TestCalculate",
	"compilers": "CI: make compilers",
	"nightly":   "nightly: mutations", "race": "nightly: race", "faults": "nightly: faults", "bench": "nightly: bench",
	"vulnerable": "nightly: vulnerable", "mutations": "infra/mutate: TestRun", "soak": "infra/soak: TestSoak",
	"compare-s3": "infra/local/s3: TestOracle", "fuzz": "infra/fuzz: TestRun", "operator": "TestOperatorProcedures",
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
