package build

import (
	"path"
	"regexp"
	"strings"
)

// importedName matches the beginning of a specifier that may name a package, in scripts and style sheets.
var importedName = regexp.MustCompile(
	"(?:\\bfrom|\\bimport|\\brequire)\\s*\\(?\\s*[\"'`]((?:@[\\w.~-]+/)?[\\w~-][\\w.~-]*)")

// otherSources are the extensions of files that contain scripts.
var otherSources = wordSet(".html .vue .svelte .astro .mdx")

// Imports returns the names of the packages that the sources of a project may import. It reads the text only, so it
// also finds names in comments.
func Imports(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	for name, data := range files {
		ext := strings.ToLower(path.Ext(name))
		if !isCode(name) && !otherSources[ext] || ext == ".json" || isExcluded(name) {
			continue
		}
		for _, m := range importedName.FindAllSubmatch(data, -1) {
			names[string(m[1])] = true
		}
	}
	return names
}
