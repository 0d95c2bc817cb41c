package build

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"devplatform/shared/deployment/failure"
)

// tree is the files of the project and of its packages. There are no other files.
type tree struct{ files, packages map[string][]byte }

func (t tree) read(name string) ([]byte, bool) {
	if isInPackage(name) {
		data, ok := t.packages[name]
		return data, ok
	}
	data, ok := t.files[name]
	return data, ok
}

func (t tree) has(name string) bool {
	_, ok := t.read(name)
	return ok
}

// reference is an import in a file: its specifier and the kind of the import.
type reference struct {
	importer  string
	specifier string
	css       bool // @import, url() and composes
	url       bool // url()
	require   bool
}

// target is what a reference means.
type target struct {
	file     string // path of the file, or text of an external reference or URL
	kind     targetKind
	suffix   string // such as "#icon" of url(icons.svg#icon)
	pure     bool   // the file can be left out if its exports are not used
	warnings []string
}

type targetKind int

const (
	toFile     targetKind = iota
	toURL                 // the file is published, and its URL is the value of the module
	toText                // the content of the file is the value of the module
	toWorker              // the file is the script of a worker, and the URL of its bundle is the value of the module
	toPublic              // file is the URL
	toExternal            // the reference stays as it is
	toEmpty               // a module without exports
	toMissing             // a package that does not exist. The bundler allows it if the program handles the failure
)

// resolver finds the files that imports mean, by the rules of Node.js, with the conditions and fields for browsers.
type resolver struct {
	tree
	config    tsconfig
	imports   []string // keys of import maps
	declared  packageJSON
	manifests sync.Map // folder → *manifest, nil if the folder has no package.json
	budget    *budget
	failed    atomic.Pointer[error] // of the first package.json that exceeds a limit
}

const maxSpecifier = 4096

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):`)

// resolve returns the target of a reference. Errors: *failure.Error without a position.
func (r *resolver) resolve(ref reference) (target, error) {
	spec := ref.specifier
	if t, ok, err := r.external(ref); ok || err != nil {
		return t, err
	}
	query := ""
	if i := strings.IndexAny(spec, "?#"); i > 0 {
		spec, query = spec[:i], spec[i:]
	}
	ref.specifier = spec
	if len(spec) > maxSpecifier {
		return target{}, failf(failure.BuildFailed, "The path of an import is too long: the limit is %d bytes.", maxSpecifier)
	}
	t, err := r.locate(ref)
	if failed := r.failed.Load(); failed != nil {
		return target{}, *failed
	}
	if err != nil || t.kind == toEmpty || t.kind == toMissing {
		return t, err
	}
	if strings.HasPrefix(query, "?") && !ref.css {
		flags := strings.Split(query[1:], "&")
		switch {
		case slices.Contains(flags, "raw"), slices.Contains(flags, "inline") && path.Ext(spec) == ".css":
			t.kind = toText
		case slices.Contains(flags, "url"):
			t.kind = toURL
		case query == workerQuery:
			t.kind = toWorker
		case slices.Contains(flags, "worker"), slices.Contains(flags, "sharedworker"), slices.Contains(flags, "react"):
			return t, failf(failure.BuildFailed, "Imports with %s are not supported. Supported are ?url and ?raw, and "+
				"new Worker(new URL(\"./worker.js\", import.meta.url)).", query)
		}
	} else if ref.css {
		t.suffix = query
	}
	return t, nil
}

// external handles references that are not paths.
func (r *resolver) external(ref reference) (target, bool, error) {
	spec := ref.specifier
	if strings.HasPrefix(spec, "//") || ref.url && strings.HasPrefix(spec, "#") {
		return target{file: spec, kind: toExternal}, true, nil
	}
	match := scheme.FindStringSubmatch(spec)
	if match == nil {
		return target{}, false, nil
	}
	switch name := strings.ToLower(match[1]); {
	case name == "http", name == "https", name == "data", name == "blob", ref.url && name == "about":
		return target{file: spec, kind: toExternal}, true, nil
	case name == "node":
		t, err := r.builtin(ref)
		return t, true, err
	case name == "file":
		return target{}, true, failf(failure.BuildFailed, "%s refers to a file of a computer. Use a path in the project.",
			quote(spec))
	case name == "virtual":
		return target{}, true, failf(failure.BuildFailed, "%s comes from a plugin, and builds run no plugins.", quote(spec))
	}
	return target{}, true, failf(failure.BuildFailed, "%s cannot be imported. Use a path in the project, a package or an "+
		"https URL.", quote(spec))
}

// locate returns the target of a path or of a package.
func (r *resolver) locate(ref reference) (target, error) {
	spec := ref.specifier
	switch {
	case spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../"):
		file, ok := join(path.Dir(ref.importer), spec)
		if !ok {
			return target{}, failf(failure.BuildFailed, "%s is outside of the project. Use a path inside.", quote(spec))
		}
		return r.find(ref, file)
	case strings.HasPrefix(spec, "/"):
		file, ok := join("/", "."+spec)
		if !ok {
			return target{}, failf(failure.BuildFailed, "%s is outside of the project. Use a path inside.", quote(spec))
		}
		return r.find(ref, file)
	case strings.HasPrefix(spec, "#"):
		return r.packageImport(ref)
	}
	inProject := !isInPackage(ref.importer)
	if ref.css {
		file, ok := join(path.Dir(ref.importer), spec)
		if t, found := r.file(file, ref); ok && found {
			return t, nil
		}
		if ref.url {
			return r.find(ref, file)
		}
	}
	if inProject {
		for _, file := range r.config.candidates(spec) {
			if t, ok := r.file(file, ref); ok {
				return t, nil
			}
		}
	}
	t, err := r.bare(ref)
	if err == nil && t.kind == toMissing && strings.HasPrefix(spec, "@/") {
		if files := r.config.candidates(spec); len(files) > 0 {
			return r.find(ref, files[0])
		}
	}
	return t, err
}

// find returns the file of a path, or an error. A missing file of url() is not an error.
func (r *resolver) find(ref reference, file string) (target, error) {
	if t, ok := r.file(file, ref); ok {
		return t, nil
	}
	if r.has("/public" + file) {
		if ref.url || ref.css {
			return target{file: file, kind: toExternal}, nil
		}
		return target{file: file, kind: toPublic}, nil
	}
	if ref.url {
		return target{file: file, kind: toExternal,
			warnings: []string{"The file " + file + " does not exist. Add it, or remove the reference."}}, nil
	}
	return target{}, failf(failure.BuildFailed, "The file %s does not exist. Add it, or correct the import of %s.",
		file, quote(ref.specifier))
}

// join joins a folder and a relative path. ok is false if the result is above the root.
func join(dir, rel string) (string, bool) {
	depth := strings.Count(strings.TrimSuffix(dir, "/"), "/")
	for segment := range strings.SplitSeq(rel, "/") {
		switch segment {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return "", false
			}
		default:
			depth++
		}
	}
	return path.Join(dir, rel), !strings.ContainsAny(rel, "\\\x00")
}

var (
	projectExtensions = []string{".tsx", ".ts", ".jsx", ".mjs", ".js", ".cjs", ".css", ".json", ".mts", ".cts"}
	packageExtensions = []string{".mjs", ".js", ".cjs", ".jsx", ".tsx", ".ts", ".mts", ".cts", ".css", ".json"}
	styleExtensions   = []string{".css"}
	typeScript        = map[string][]string{
		".js": {".ts", ".tsx"}, ".jsx": {".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"},
	}
)

// file returns the file of a path: the path itself, with an extension, or of a folder. It applies the package's map for
// browsers.
func (r *resolver) file(name string, ref reference) (target, bool) {
	found, ok := r.probe(name, ref)
	if !ok {
		// The map can name a file that does not exist.
		if m := r.nearest(name); m == nil || !m.maps(name) {
			return target{}, false
		}
		found = name
	}
	return r.finish(found, ref)
}

// finish applies the map for browsers to a file.
func (r *resolver) finish(found string, ref reference) (target, bool) {
	m := r.nearest(found)
	if m != nil && len(m.remapped) > 0 && !ref.css {
		if to, ok := m.remap(found); ok {
			if to == "" {
				return target{file: found, kind: toEmpty}, true
			}
			mapped, ok := join(m.dir, to)
			if !ok || !within(m.dir, mapped) {
				return target{}, false
			}
			if found, ok = r.probe(mapped, ref); !ok {
				return target{}, false
			}
		}
	}
	return target{file: found, pure: m.isPure(found)}, r.has(found)
}

func (r *resolver) probe(name string, ref reference) (string, bool) {
	if found, ok := r.probeFile(name, ref); ok {
		return found, true
	}
	if ref.url {
		return "", false
	}
	if m := r.manifest(name); m != nil {
		if found, ok := r.main(m, ref); ok {
			return found, true
		}
	}
	return r.probeFile(path.Join(name, "index"), ref)
}

func (r *resolver) probeFile(name string, ref reference) (string, bool) {
	if r.has(name) {
		return name, true
	}
	if ref.url {
		return "", false
	}
	extensions := projectExtensions
	switch {
	case ref.css:
		extensions = styleExtensions
	case isInPackage(name):
		extensions = packageExtensions
	}
	for _, ext := range extensions {
		if r.has(name + ext) {
			return name + ext, true
		}
	}
	ext := path.Ext(name)
	for _, ts := range typeScript[ext] {
		if written := strings.TrimSuffix(name, ext) + ts; r.has(written) {
			return written, true
		}
	}
	return "", false
}

// main returns the main file of a package. Fields that point out of the package are ignored.
func (r *resolver) main(m *manifest, ref reference) (string, bool) {
	fields := []string{m.browser, m.module, m.main}
	if ref.require {
		fields = []string{m.browser, m.main, m.module}
	}
	for _, field := range fields {
		if field == "" || ref.css && path.Ext(field) != ".css" {
			continue
		}
		name, ok := join(m.dir, field)
		if !ok || !within(m.dir, name) {
			continue
		}
		if found, ok := r.probeFile(name, ref); ok {
			return found, true
		}
		if found, ok := r.probeFile(path.Join(name, "index"), ref); ok {
			return found, true
		}
	}
	return "", false
}

func within(dir, name string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// maps reports whether the map for browsers has a path.
func (m *manifest) maps(name string) bool {
	_, ok := m.remap(name)
	return ok
}

func (m *manifest) remap(name string) (string, bool) {
	rel := "." + strings.TrimPrefix(name, strings.TrimSuffix(m.dir, "/"))
	keys := []string{rel, strings.TrimSuffix(rel, path.Ext(rel)), strings.TrimSuffix(rel, "/index.js"), rel[min(2,
		len(rel)):]}
	for _, key := range keys {
		if to, ok := m.remapped[key]; ok {
			return to, true
		}
	}
	return "", false
}

// manifest returns the package.json of a folder, or nil.
func (r *resolver) manifest(dir string) *manifest {
	if m, ok := r.manifests.Load(dir); ok {
		return m.(*manifest) // the map has no other values
	}
	var m *manifest
	if data, ok := r.read(path.Join(dir, "package.json")); ok {
		var err error
		if m, err = r.readManifest(dir, data); err != nil {
			r.failed.CompareAndSwap(nil, &err)
		}
	}
	r.manifests.Store(dir, m)
	return m
}

// readManifest returns a package.json within the limits. Errors: *failure.Error.
func (r *resolver) readManifest(dir string, data []byte) (*manifest, error) {
	name := path.Join(dir, "package.json")
	if err := r.budget.takeManifest(name, data); err != nil {
		return nil, err
	}
	m := parseManifest(dir, data)
	if m.exports.count() > maxValues || m.imports.count() > maxValues {
		return nil, errManifest(name, fmt.Sprintf("%d values of exports and imports", maxValues))
	}
	if err := r.budget.takePatterns(name, m.patterns); err != nil {
		return nil, err
	}
	for _, p := range m.patterns {
		m.sideEffects = append(m.sideEffects, globPattern(p))
	}
	return m, nil
}

// nearest returns the package.json of the package to which a file belongs, or nil.
func (r *resolver) nearest(file string) *manifest {
	for dir := path.Dir(file); path.Base(dir) != "node_modules"; dir = path.Dir(dir) {
		if m := r.manifest(dir); m != nil {
			return m
		}
		if dir == "/" {
			break
		}
	}
	return nil
}

func quote(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return fmt.Sprintf("%q", s)
}

func failf(code failure.Code, format string, args ...any) *failure.Error {
	return &failure.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
