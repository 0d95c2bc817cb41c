package npm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/deployment/failure"
)

const (
	manifestPath = "/package.json"
	lockPath     = "/package-lock.json"
)

// manifest is the part of a package.json that is used. The versions in a registry's document and the packages in a lock
// file have the same form.
type manifest struct {
	Name                 string                  `json:"name"`
	Version              string                  `json:"version"`
	Dependencies         map[string]string       `json:"dependencies"`
	OptionalDependencies map[string]string       `json:"optionalDependencies"`
	PeerDependencies     map[string]string       `json:"peerDependencies"`
	PeerDependenciesMeta map[string]peerMetadata `json:"peerDependenciesMeta"`
	BundleDependencies   jsontext.Value          `json:"bundleDependencies"`  // an array, or a boolean
	BundledDependencies  jsontext.Value          `json:"bundledDependencies"` // another name of bundleDependencies
	OS                   jsontext.Value          `json:"os"`                  // an array, or a string
	CPU                  jsontext.Value          `json:"cpu"`
}

type peerMetadata struct {
	Optional bool `json:"optional"`
}

// options are the options for reading JSON. npm accepts duplicate names, too.
var options = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// edge is a dependency of a package on a name.
type edge struct {
	name  string // in node_modules
	spec  string // a version, a range, a tag, or an alias such as "npm:react@^19"
	raw   string // spec as the package has it, before the field overrides of the project changed it
	kind  kind
	rules *override // the rules for the dependencies of the package that is installed for this edge
}

type kind int

const (
	regular kind = iota
	optional
	peer
	optionalPeer // used if it is there, but never installed
	development  // of the project: not installed, but if another package needs the name, it gets this version
)

func (k kind) isPeer() bool { return k == peer || k == optionalPeer }

// edges returns the dependencies of a package that a browser can need, sorted by name as npm does. If several fields
// have the same name, optionalDependencies wins over dependencies, and dependencies wins over peerDependencies.
func (m *manifest) edges() []edge {
	byName := map[string]edge{}
	add := func(specs map[string]string, k kind) {
		for name, spec := range specs {
			spec = strings.TrimSpace(spec)
			byName[name] = edge{name: name, spec: spec, raw: spec, kind: k}
		}
	}
	add(m.PeerDependencies, peer)
	for name, e := range byName {
		if m.PeerDependenciesMeta[name].Optional {
			e.kind = optionalPeer
			byName[name] = e
		}
	}
	add(m.Dependencies, regular)
	add(m.OptionalDependencies, optional)
	for _, v := range []jsontext.Value{m.BundleDependencies, m.BundledDependencies} { // they are in the package's tarball
		var bundled []string
		if json.Unmarshal(v, &bundled) != nil && string(v) == "true" {
			byName = nil
		}
		for _, name := range bundled {
			delete(byName, name)
		}
	}
	edges := make([]edge, 0, len(byName))
	for _, e := range byName {
		if !strings.HasPrefix(e.name, "@types/") && !isBuildTool(e) {
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), strings.Compare(b.name, a.name))
	})
	return edges
}

// isNative reports whether a package is only for some operating systems or processors, so that it contains programs
// that no browser runs.
func (m *manifest) isNative() bool { return restricts(m.OS) || restricts(m.CPU) }

func restricts(v jsontext.Value) bool {
	var list []string
	if json.Unmarshal(v, &list) != nil {
		var one string
		return json.Unmarshal(v, &one) == nil && one != "any" && one != "" && !strings.HasPrefix(one, "!")
	}
	return slices.ContainsFunc(list, func(s string) bool { return s != "any" && !strings.HasPrefix(s, "!") })
}

// project is the parsed package.json of a project.
type project struct {
	edges            []edge    // with the versions that overrides selects
	rules            *override // nil without overrides
	raw              []byte
	hasIgnoredFields bool // whether fields of other tools are ignored
}

// projectManifest is the package.json of a project.
type projectManifest struct {
	manifest

	DevDependencies map[string]string `json:"devDependencies"`
	Overrides       any               `json:"overrides"`   // of npm
	Resolutions     any               `json:"resolutions"` // of Yarn
	PNPM            any               `json:"pnpm"`
	Workspaces      any               `json:"workspaces"`
}

// parseProject parses a package.json. Of devDependencies and browserTools, it keeps only packages that the sources
// import. Errors: *failure.Error.
func parseProject(raw []byte, imports map[string]bool) (*project, error) {
	m := new(projectManifest)
	if err := json.Unmarshal(raw, m, options); err != nil {
		return nil, jsonFailure(raw, manifestPath, err, "")
	}
	pnpm, _ := m.PNPM.(map[string]any)
	p := &project{raw: raw, hasIgnoredFields: m.Workspaces != nil || m.Resolutions != nil || pnpm["overrides"] != nil}
	var message string
	if p.rules, message = parseOverrides(m); message != "" {
		return nil, fail(failure.BuildFailed, "The field overrides in package.json cannot be used: %s. Correct it as npm "+
			"describes it.", message).At(manifestPath, raw, bytes.Index(raw, []byte(`"overrides"`)))
	}
	m.BundleDependencies, m.BundledDependencies = nil, nil // the project has no tarball
	m.Dependencies = m.packagesToInstall(imports)
	p.edges = slices.DeleteFunc(m.edges(), func(e edge) bool { return e.kind == optionalPeer })
	p.edges = p.rules.apply(append(p.edges, m.developmentEdges()...))
	for _, e := range p.edges {
		if _, _, err := target(e); err != nil {
			return nil, p.failure(e.name, err.Message)
		}
	}
	return p, nil
}

// developmentEdges returns the devDependencies that are not installed. m.Dependencies are the packages to install.
func (m *projectManifest) developmentEdges() (edges []edge) {
	other := manifest{Dependencies: maps.Clone(m.DevDependencies)}
	for _, installed := range m.edges() {
		delete(other.Dependencies, installed.name)
	}
	for _, e := range other.edges() {
		e.kind = development
		if _, _, err := target(e); err == nil {
			edges = append(edges, e)
		}
	}
	return edges
}

// packagesToInstall returns the dependencies, and the devDependencies that the sources import.
func (m *projectManifest) packagesToInstall(imports map[string]bool) map[string]string {
	all := map[string]string{}
	for name, spec := range m.DevDependencies {
		if imports[name] {
			all[name] = spec
		}
	}
	for name, spec := range m.Dependencies {
		if imports[name] || !slices.Contains(browserTools, name) {
			all[name] = spec
		}
	}
	return all
}

// failure returns an error about a dependency, with its place in package.json.
func (p *project) failure(name, message string) *failure.Error {
	f := &failure.Error{Code: failure.DependencyNotFound, Message: message, Path: manifestPath}
	section := max(0, bytes.Index(p.raw, []byte(`ependencies"`))) // "dependencies", "devDependencies", …
	if at := bytes.Index(p.raw[section:], []byte(`"`+name+`"`)); at >= 0 {
		f = f.At(manifestPath, p.raw, section+at)
	}
	return f
}

// jsonFailure returns an error about a file that is not valid JSON or has values of other types.
func jsonFailure(raw []byte, path string, err error, advice string) error {
	if types, ok := errors.AsType[*json.SemanticError](err); ok {
		return fail(failure.BuildFailed, "The value of %s in %s has the wrong type.%s", types.JSONPointer, path[1:], advice).
			At(path, raw, int(types.ByteOffset))
	}
	f := fail(failure.BuildFailed, "%s is not valid JSON.%s", path[1:], advice)
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		f = f.At(path, raw, int(syntax.ByteOffset))
	}
	return f
}

// validName matches the names of packages. Old packages have upper-case letters.
var validName = regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)

const (
	maxName = 214
	maxSpec = 256
)

func isName(name string) bool {
	return len(name) <= maxName && validName.MatchString(name) && name != "node_modules"
}

// target returns the package of the registry that a dependency names, and the version, range or tag.
func target(e edge) (name, spec string, err *failure.Error) {
	name, spec = e.name, e.spec
	if alias, ok := strings.CutPrefix(spec, "npm:"); ok {
		name, spec = alias, ""
		if at := strings.LastIndexByte(alias, '@'); at > 0 {
			name, spec = alias[:at], strings.TrimSpace(alias[at+1:])
		}
	}
	switch {
	case !isName(e.name) || !isName(name):
		return "", "", fail(failure.DependencyNotFound, "%.100q is not a valid name of a package.", cmp.Or(name, e.name))
	case len(spec) > maxSpec:
		return "", "", fail(failure.DependencyNotFound, "The version of %s is longer than %d characters.", name, maxSpec)
	case strings.ContainsAny(spec, ":/\\"):
		return "", "", fail(failure.DependencyNotFound, "The version %q of %s is not supported: packages come only from "+
			"the npm registry, and not from git, files, links, workspaces or URLs. Replace it with a version such as "+
			"\"^1.2.3\".", spec, name)
	}
	return name, spec, nil
}

func fail(code failure.Code, format string, args ...any) *failure.Error {
	return &failure.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
