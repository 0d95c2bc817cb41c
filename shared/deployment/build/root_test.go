package build

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"devplatform/shared/deployment/failure"
)

func TestRoot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		root  string // of the settings
		want  string
	}{
		"package.json at the root":   {[]string{"/package.json", "/client/package.json"}, "", ""},
		"page at the root":           {[]string{"/index.html", "/client/package.json"}, "", ""},
		"one package.json":           {[]string{"/README.md", "/client/package.json", "/other/index.html"}, "", "/client"},
		"two package.json":           {[]string{"/client/package.json", "/server/package.json"}, "", ""},
		"one page":                   {[]string{"/README.md", "/site/index.html", "/site/a.html"}, "", "/site"},
		"folders that are not roots": {[]string{"/node_modules/p/package.json", "/a/public/index.html"}, "", ""},
		"settings":                   {[]string{"/package.json", "/client/package.json"}, "client", "/client"},
		"settings with the root":     {[]string{"/package.json"}, "/", ""},
		"settings above the root":    {[]string{"/package.json"}, "../..", ""},
		"folder that does not exist": {[]string{"/package.json"}, "/none", "/none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := map[string][]byte{}
			for _, file := range c.files {
				all[file] = nil
			}
			root, files := Input{Files: all, Root: c.root}.builtFolder()
			if root != c.want || root == "" && len(files) != len(all) {
				t.Errorf("got %q with %v, want %q", root, slices.Collect(maps.Keys(files)), c.want)
			}
		})
	}
}

// An error names the path in the project. The paths of the output are relative to the built folder.
func TestRunBuildsFolder(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Input{Files: files("/client/package.json", "{}", "/client/index.html",
		"<script type=module src=a.js></script>", "/client/a.js", "let = =")})
	if f, ok := errors.AsType[*failure.Error](err); !ok || f.Path != "/client/a.js" {
		t.Errorf("got %v, want an error in /client/a.js", err)
	}
	out, err := Run(t.Context(), Input{Files: files("/site/index.html", "<p>", "/README.md", "")})
	if err != nil || len(out.Files) != 1 || out.Files[0].Path != "/index.html" ||
		out.Notes[0] != "Built the folder /site." {
		t.Errorf("got %v, error %v, want /index.html and a note about /site", out, err)
	}
}
