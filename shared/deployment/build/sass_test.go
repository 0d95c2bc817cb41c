package build

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment/failure"
)

// withStyles returns a project whose only entry is a style sheet, and its packages.
func withStyles(sheet string, pairs ...string) sources {
	in := withPage(nil, map[string][]byte{})
	in.Files["/main.js"] = []byte("import " + quoteJSON(sheet))
	for name, data := range files(pairs...) {
		if strings.HasPrefix(name, "/node_modules/") {
			in.Packages[name] = data
		} else {
			in.Files[name] = data
		}
	}
	return in
}

// wantOutput checks that the files of an output have each of several parts, and none that begins with "!".
func wantOutput(t *testing.T, in sources, parts ...string) {
	t.Helper()
	out := mustRun(t, in)
	var all strings.Builder
	for _, path := range slices.Sorted(maps.Keys(out)) {
		all.WriteString(path + ": " + out[path] + "\n")
	}
	for _, part := range parts {
		if without, isForbidden := strings.CutPrefix(part, "!"); strings.Contains(all.String(), without) == isForbidden {
			t.Errorf("want %q in:\n%s", part, all.String())
		}
	}
}

func TestSass(t *testing.T) {
	t.Parallel()
	wantOutput(t, withStyles("./src/a.scss", "/src/a.scss", "$c: red; a { b { color: $c } }"), "a b{color:red}")
}

var _ = failure.Error{}
