package blueprint

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateOthers = flag.Bool("update", false, "write the golden files of vue, svelte, go and static anew")

// The golden files are what is reviewed, one of each kind: -update writes them.
func TestGoldenOthers(t *testing.T) {
	t.Parallel()
	kept := map[string]Framework{"vue": Vue, "svelte": Svelte, "sveltekit": Svelte, "go": Go, "static": Static}
	for folder, f := range kept {
		for title, s := range goldens() {
			s.Framework = f
			if folder == "sveltekit" {
				s.Paths = kitPaths
			}
			if title == "test-existing" {
				for kind, subject := range subjectsOf(f) {
					if kind == Component || kind == Endpoint || kind == Page && f == Static {
						s.Subject, s.SubjectPath, s.Paths = kind, subject, []string{subject}
					}
				}
			}
			r, err := Make(s)
			if err != nil {
				t.Fatalf("%s %s: %v", f, title, err)
			}
			var b strings.Builder
			for _, file := range r.Files {
				b.WriteString("==== " + file.Path + "\n" + file.Content)
			}
			b.WriteString("==== packages: " + strings.Join(r.Packages, " ") + "\n==== " + r.Says + "\n")
			path := filepath.Join("testdata", folder, title+".golden")
			if *updateOthers {
				write(t, path, b.String())
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
	}
}
