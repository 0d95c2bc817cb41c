package infra_test

import (
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

const root = ".."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is what stands below a heading of a document, up to the next one.
func section(t *testing.T, document, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, document), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", document, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	titled = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// anchors are what the headings of a document can be linked by, as code hosts make them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, heading := range titled.FindAllStringSubmatch(text, -1) {
		all[strings.Map(func(r rune) rune {
			switch r = unicode.ToLower(r); {
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				return r
			case r == ' ':
				return '-'
			default:
				return -1
			}
		}, heading[1])] = true
	}
	return all
}

// TestLinks follows every link of every document to a file of the project, and to its heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	followed := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." || entry.Name() == "node_modules" || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			target, err := url.Parse(found[1])
			if err != nil || target.IsAbs() {
				continue
			}
			followed++
			to := path
			if target.Path != "" {
				to = filepath.Join(filepath.Dir(path), target.Path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s leads nowhere", path, found[1])
				continue
			}
			if target.Fragment != "" {
				linked, err := os.ReadFile(to)
				if err != nil || !anchors(string(linked))[target.Fragment] {
					t.Errorf("%s: %s has no such heading", path, found[1])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if followed < 20 {
		t.Errorf("only %d links", followed)
	}
}

var (
	row       = regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	quoted    = regexp.MustCompile("`([^`]+)`")
	variable  = regexp.MustCompile(`(?m)^ {10}([A-Z][A-Z0-9_]*): (.*)$`)
	reference = regexp.MustCompile(`!Ref (\w+)`)
	parameter = regexp.MustCompile(`(?m)^  (\w+):$`)
	setting   = regexp.MustCompile(`env:"([A-Z][A-Z0-9_]*)`)
)

// listed are the names in the first column of a table.
func listed(table string) map[string]bool {
	all := map[string]bool{}
	for _, cell := range row.FindAllStringSubmatch(table, -1) {
		for _, name := range quoted.FindAllStringSubmatch(cell[1], -1) {
			all[name[1]] = true
		}
	}
	return all
}

// TestConfigurationTable holds README's table against what the local platform reads, and what the template lets people set for a function:
// what it sets from a parameter, or to nothing.
func TestConfigurationTable(t *testing.T) {
	t.Parallel()
	template := read(t, "template.yaml")
	_, text, _ := strings.Cut(template, "\nParameters:\n")
	text, _, found := strings.Cut(text, "\nRules:\n")
	if !found {
		t.Fatal("where do the template's parameters end?")
	}
	parameters := map[string]bool{}
	for _, name := range parameter.FindAllStringSubmatch(text, -1) {
		parameters[name[1]] = true
	}
	want := map[string]bool{}
	for _, v := range variable.FindAllStringSubmatch(template, -1) {
		set := strings.HasPrefix(v[2], "''")
		for _, to := range reference.FindAllStringSubmatch(v[2], -1) {
			set = set || parameters[to[1]]
		}
		if set {
			want[v[1]] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "infra/local/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range setting.FindAllStringSubmatch(string(text), -1) {
			want[v[1]] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(listed(section(t, "README.md", "Configuration"))))); diff != "" {
		t.Errorf("README's table (+) is not what can be set (-):\n%s", diff)
	}
}

// TestPackages compares CONTRIBUTING's table of packages with the folders.
func TestPackages(t *testing.T) {
	t.Parallel()
	documented := listed(section(t, "CONTRIBUTING.md", "Packages"))
	for _, parent := range []string{"shared", "infra"} {
		entries, err := os.ReadDir(filepath.Join(root, parent))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if folder := parent + "/" + entry.Name(); entry.IsDir() && !documented[folder] {
				t.Errorf("CONTRIBUTING's table of packages has no %s", folder)
			}
		}
	}
	for folder := range documented {
		if _, err := os.Stat(filepath.Join(root, folder)); err != nil && !strings.Contains(folder, "<") && strings.Contains(folder, "/") {
			t.Errorf("CONTRIBUTING's table of packages has %s: %v", folder, err)
		}
	}
}

var safeToRepeat = regexp.MustCompile(`(?i)safe to (retry|repeat)[^.]*\.`)

// TestRepeatedRequests checks that the documents call only those requests safe to repeat that have no further effect. A
// POST request whose response was lost may have created a resource, and creates another one when it is repeated.
func TestRepeatedRequests(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"README.md", "infra/openapi/description.md"} {
		promises := safeToRepeat.FindAllString(strings.Join(strings.Fields(read(t, document)), " "), -1)
		if len(promises) == 0 {
			t.Errorf("%s does not say which requests are safe to repeat", document)
		}
		for _, promise := range promises {
			if !strings.Contains(promise, "GET, PUT or DELETE request") {
				t.Errorf("%s: %q", document, promise)
			}
		}
	}
}
