package infra_test

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/platformtest"
)

const root = ".."

// readFile returns the text of a file of the project.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sectionOf returns the text below a heading of a document, up to the next heading of the same level.
func sectionOf(t *testing.T, document, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(readFile(t, document), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", document, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

var (
	linkTarget  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSample  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	headingLine = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// anchorsOf returns the anchors of the headings of a document, as code hosts generate them.
func anchorsOf(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, heading := range headingLine.FindAllStringSubmatch(text, -1) {
		anchor := strings.Map(func(r rune) rune {
			switch r = unicode.ToLower(r); {
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				return r
			case r == ' ':
				return '-'
			default:
				return -1
			}
		}, heading[1])
		anchors[anchor] = true
	}
	return anchors
}

// TestLinks checks that every relative link in the documents refers to an existing file and heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, document := range platformtest.Documents(t, root) {
		text := codeSample.ReplaceAllString(readFile(t, document), "")
		for _, match := range linkTarget.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(match[1])
			if err != nil || target.IsAbs() {
				continue
			}
			checked++
			linked := document
			if target.Path != "" {
				linked = filepath.Join(filepath.Dir(document), target.Path)
			}
			if _, err := os.Stat(filepath.Join(root, linked)); err != nil {
				t.Errorf("%s: the file of the link %s does not exist", document, match[1])
				continue
			}
			if target.Fragment != "" && !anchorsOf(readFile(t, linked))[target.Fragment] {
				t.Errorf("%s: the heading of the link %s does not exist", document, match[1])
			}
		}
	}
	if checked < 20 {
		t.Errorf("found %d relative links, want at least 20", checked)
	}
}

var (
	firstColumn       = regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	codeSpan          = regexp.MustCompile("`([^`]+)`")
	functionVariable  = regexp.MustCompile(`(?m)^ {10}([A-Z][A-Z0-9_]*): (.*)$`)
	templateReference = regexp.MustCompile(`!Ref (\w+)`)
	templateParameter = regexp.MustCompile(`(?m)^  (\w+):$`)
	envTag            = regexp.MustCompile(`env:"([A-Z][A-Z0-9_]*)`)
)

// namesInTables returns the names in code spans in the first column of the tables.
func namesInTables(text string) map[string]bool {
	names := map[string]bool{}
	for _, cell := range firstColumn.FindAllStringSubmatch(text, -1) {
		for _, span := range codeSpan.FindAllStringSubmatch(cell[1], -1) {
			names[span[1]] = true
		}
	}
	return names
}

// templateVariables returns the functions' environment variables that the template sets from a parameter or to an empty
// string.
func templateVariables(t *testing.T) (variables []string) {
	t.Helper()
	template := readFile(t, "template.yaml")
	_, parametersText, _ := strings.Cut(template, "\nParameters:\n")
	parametersText, _, found := strings.Cut(parametersText, "\nRules:\n")
	if !found {
		t.Fatal("template.yaml has no section Rules after the section Parameters")
	}
	parameters := map[string]bool{}
	for _, match := range templateParameter.FindAllStringSubmatch(parametersText, -1) {
		parameters[match[1]] = true
	}
	for _, match := range functionVariable.FindAllStringSubmatch(template, -1) {
		name, value := match[1], match[2]
		isSetting := strings.HasPrefix(value, "''")
		for _, reference := range templateReference.FindAllStringSubmatch(value, -1) {
			isSetting = isSetting || parameters[reference[1]]
		}
		if isSetting {
			variables = append(variables, name)
		}
	}
	return variables
}

// TestConfigurationTable checks that the tables in shared/config/README.md list exactly the variables that the local
// platform reads, and those that the template lets operators set for a function.
func TestConfigurationTable(t *testing.T) {
	t.Parallel()
	want := map[string]bool{}
	for _, name := range templateVariables(t) {
		want[name] = true
	}
	for _, file := range []string{"infra/local/settings.go", "infra/local/platform/config.go"} {
		for _, match := range envTag.FindAllStringSubmatch(readFile(t, file), -1) {
			want[match[1]] = true
		}
	}
	got := namesInTables(sectionOf(t, "shared/config/README.md", "Variables"))
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("the variables (-) and the tables in shared/config/README.md (+) differ:\n%s", diff)
	}
}

// TestPackages checks that the table of packages in CONTRIBUTING.md lists all folders of shared and infra, and that all
// folders in the table exist.
func TestPackages(t *testing.T) {
	t.Parallel()
	documented := namesInTables(sectionOf(t, "CONTRIBUTING.md", "Packages"))
	for _, parent := range []string{"shared", "infra"} {
		entries, err := os.ReadDir(filepath.Join(root, parent))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if folder := parent + "/" + entry.Name(); entry.IsDir() && !documented[folder] {
				t.Errorf("the table of packages in CONTRIBUTING.md does not have %s", folder)
			}
		}
	}
	for folder := range documented {
		isPath := strings.Contains(folder, "/") && !strings.Contains(folder, "<")
		if _, err := os.Stat(filepath.Join(root, folder)); isPath && err != nil {
			t.Errorf("the table of packages in CONTRIBUTING.md has %s, which does not exist: %v", folder, err)
		}
	}
}

var safeToRepeat = regexp.MustCompile(`(?i)safe to (retry|repeat)[^.]*\.`)

// TestRepeatedRequests checks that the documents call only GET, PUT and DELETE requests safe to repeat. If the response
// to a POST request was lost, the request may have created a resource. Repeating it would then create another one.
func TestRepeatedRequests(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"shared/LIMITS.md", "infra/openapi/description.md"} {
		text := strings.Join(strings.Fields(readFile(t, document)), " ")
		statements := safeToRepeat.FindAllString(text, -1)
		if len(statements) == 0 {
			t.Errorf("%s does not list the requests that are safe to repeat", document)
		}
		for _, statement := range statements {
			if !strings.Contains(statement, "GET, PUT or DELETE request") {
				t.Errorf("%s: %q is not limited to GET, PUT and DELETE requests", document, statement)
			}
		}
	}
}

// TestReadmeIsShort checks that README.md fits on a few screens. Lines of tables and lines with links may be longer.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	const maxLines, maxColumns = 150, 100
	lines := strings.Split(strings.TrimSuffix(readFile(t, "README.md"), "\n"), "\n")
	if len(lines) > maxLines {
		t.Errorf("README.md has %d lines, want at most %d: move details to the other documents", len(lines), maxLines)
	}
	for i, line := range lines {
		isTable := strings.HasPrefix(line, "|")
		hasLink := strings.Contains(line, "](") || strings.Contains(line, "://")
		if columns := utf8.RuneCountInString(line); columns > maxColumns && !isTable && !hasLink {
			t.Errorf("README.md:%d has %d columns, want at most %d", i+1, columns, maxColumns)
		}
	}
}

var internalReference = regexp.MustCompile(`(?i)\bAPI\.md\b|\bthe owner\b`)

// TestDocumentsAreSelfContained checks that no document refers to the project's requirements or to the people who wrote
// them, which readers do not know.
func TestDocumentsAreSelfContained(t *testing.T) {
	t.Parallel()
	for _, document := range platformtest.Documents(t, root) {
		text := strings.Join(strings.Fields(readFile(t, document)), " ")
		for _, reference := range internalReference.FindAllString(text, -1) {
			t.Errorf("%s mentions %q, which readers do not know", document, reference)
		}
	}
}
