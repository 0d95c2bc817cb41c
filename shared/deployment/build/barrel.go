package build

import (
	"path"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/tree"
)

// A package of icons can export thousands of components from one module. The bundler would load all of them, and leave
// out most of them later. Compiling them takes a minute, so exports that the project cannot use are removed before the
// bundler reads the module.

// barrelExport matches an export of the default export of another module. Its groups are the name and the path.
var barrelExport = regexp.MustCompile(
	`\bexport\s*\{\s*(?:/\*(?:[^*]|\*[^/])*\*/\s*)?default\s+as\s+([\w$]+)\s*,?\s*\}\s*from\s*["'](\.[^"'\n]+)["']`)

var (
	// word matches a name in a script.
	word = regexp.MustCompile(`[A-Za-z_$][\w$]*`)
	// wholeImport matches an import of all exports of a package. Its group is the name of the package.
	wholeImport = regexp.MustCompile(`(?:\*\s*as\s+[\w$]+\s*from|\bimport\s*\(|\brequire\s*\()\s*["'` + "`" + `]` +
		`((?:@[^/"'` + "`" + `\n]+/)?[^/"'` + "`" + `\n]+)`)
)

// minBarrel is the minimum number of exported components that makes a module a barrel: a module that only exports the
// contents of other modules.
const minBarrel = 20

// withoutUnused returns the code of a module of a package, without the exports of components whose names do not occur
// in the project.
func (b *bundler) withoutUnused(file string, code []byte) []byte {
	exports := barrelExport.FindAllSubmatchIndex(code, -1)
	if len(exports) < minBarrel || !b.canLeaveOut(file) {
		return code
	}
	var edits []edit
	for _, m := range exports {
		target := path.Join(path.Dir(file), string(code[m[4]:m[5]]))
		if !b.usedNames().words[string(code[m[2]:m[3]])] && b.exportsComponent(target) {
			edits = append(edits, edit{start: m[0], end: m[1]})
		}
	}
	r := rewriter{bundler: b, script: script{file: file, code: code}, edits: edits}
	return r.apply()
}

// exportsComponent reports whether a module is a component, or a module of a package that exports one.
func (b *bundler) exportsComponent(file string) bool {
	if component.IsComponent(file) {
		return true
	}
	data, err := b.tree.Read(file)
	return err == nil && componentExport.Match(data)
}

// componentExport matches an export of a component.
var componentExport = regexp.MustCompile(`\bfrom\s*["'][^"'\n]+\.(?:svelte|vue)["']`)

// canLeaveOut reports whether a module's exports can be left out: its package has no side effects, no other package
// uses it, and the project imports its exports by their names.
func (b *bundler) canLeaveOut(file string) bool {
	home, name := tree.PackageOf(file)
	var manifest struct {
		SideEffects any `json:"sideEffects"`
	}
	data, err := b.tree.Read(home + "/package.json")
	if err != nil || json.Unmarshal(data, &manifest, tree.JSON) != nil || manifest.SideEffects != false {
		return false
	}
	use := b.usedNames()
	return !use.dependencies[name] && !use.importedWhole[name]
}

// isWordSource reports whether a file can contain the names of components.
func isWordSource(file string) bool {
	return isCode(file) || otherSources[strings.ToLower(path.Ext(file))]
}

// usedNames are the names that decide which exports of packages can be left out.
type usedNames struct {
	words         map[string]bool // in the sources of the project
	importedWhole map[string]bool // packages whose exports the project imports as one object
	dependencies  map[string]bool // packages that other packages use
}

func (p *project) findUsedNames() usedNames {
	use := usedNames{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, file := range p.names {
		if !isWordSource(file) {
			continue
		}
		data, _ := p.tree.Read(file) // nil if it must not be read
		for _, w := range word.FindAll(data, -1) {
			use.words[string(w)] = true
		}
		for _, m := range wholeImport.FindAllSubmatch(data, -1) {
			use.importedWhole[string(m[1])] = true
		}
	}
	for file := range p.tree.Files() {
		if !tree.IsInPackage(file) || path.Base(file) != "package.json" {
			continue
		}
		var manifest struct {
			Dependencies     map[string]any `json:"dependencies"`
			PeerDependencies map[string]any `json:"peerDependencies"`
		}
		if data, err := p.tree.Read(file); err == nil && json.Unmarshal(data, &manifest, tree.JSON) == nil {
			for _, names := range []map[string]any{manifest.Dependencies, manifest.PeerDependencies} {
				for name := range names {
					use.dependencies[name] = true
				}
			}
		}
	}
	return use
}
