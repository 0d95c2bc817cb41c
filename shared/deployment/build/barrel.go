package build

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/tree"
)

// A package of icons can export thousands of components from one module. The bundler would load all of them, and leave
// out most of them later. Compiling them takes a minute, so exports that nothing can use are left out before.

// barrelExport matches an export of the default export of another module. Its groups are the name and the path.
var barrelExport = regexp.MustCompile(
	`\bexport\s*\{\s*(?:/\*(?:[^*]|\*[^/])*\*/\s*)?default\s+as\s+([\w$]+)\s*,?\s*\}\s*from\s*["'](\.[^"'\n]+)["']`)

// word matches a name in a script.
var word = regexp.MustCompile(`[A-Za-z_$][\w$]*`)

// minBarrel is the number of exports of components from which a module of a package is a barrel.
const minBarrel = 20

// withoutUnused returns a module of a package without exports of components whose names the project does not contain.
func (b *bundler) withoutUnused(file string, code []byte) []byte {
	exports := barrelExport.FindAllSubmatchIndex(code, -1)
	if len(exports) < minBarrel || !b.canLeaveOut(file) {
		return code
	}
	var edits []edit
	for _, m := range exports {
		target := path.Join(path.Dir(file), string(code[m[4]:m[5]]))
		if !b.words()[string(code[m[2]:m[3]])] && b.exportsComponent(target) {
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
	var manifest struct{ SideEffects any }
	data, err := b.tree.Read(home + "/package.json")
	if err != nil || json.Unmarshal(data, &manifest) != nil || manifest.SideEffects != false {
		return false
	}
	for other := range b.tree.Files() {
		if !tree.IsInPackage(other) || path.Base(other) != "package.json" {
			continue
		}
		var uses struct{ Dependencies, PeerDependencies map[string]any }
		if data, err := b.tree.Read(other); err == nil && json.Unmarshal(data, &uses) == nil &&
			(uses.Dependencies[name] != nil || uses.PeerDependencies[name] != nil) {
			return false
		}
	}
	whole := regexp.MustCompile(`(?:\*\s*as\s+[\w$]+\s*from|\bimport\s*\(|\brequire\s*\()\s*["'` + "`" + `]` +
		regexp.QuoteMeta(name) + "[\"'`/]")
	for _, source := range b.names {
		if data, err := b.tree.Read(source); err == nil && isWordSource(source) && whole.Match(data) {
			return false
		}
	}
	return true
}

// isWordSource reports whether a file can contain the names of components.
func isWordSource(file string) bool {
	return isCode(file) || otherSources[strings.ToLower(path.Ext(file))]
}

// findWords returns the words in the sources of the project.
func (p *project) findWords() map[string]bool {
	words := map[string]bool{}
	for _, file := range p.names {
		if !isWordSource(file) {
			continue
		}
		data, _ := p.tree.Read(file) // nil if it must not be read
		for _, w := range word.FindAll(data, -1) {
			words[string(w)] = true
		}
	}
	return words
}
