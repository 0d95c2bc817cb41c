package build

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

// reference is an import in a file.
type reference struct {
	importer string // path in the project
	dir      string // folder of the importer in the file system
	spec     string
	query    string
	kind     api.ResolveKind
	css, url bool // @import, url() and composes; url()
}

// native means that the bundler asks itself, so that the plugin must not change the result.
type native struct{}

// unchanged lets the bundler resolve the reference.
var unchanged = api.OnResolveResult{}

const maxSpecifier = 4096

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):`)

func external(spec string) api.OnResolveResult {
	return api.OnResolveResult{Path: spec, External: true}
}

// onResolve handles the references that the bundler does not know, and leaves the others to it. Errors: *failure.Error.
func (b *bundler) onResolve(pb api.PluginBuild, a api.OnResolveArgs) (api.OnResolveResult, error) {
	switch _, isNative := a.PluginData.(native); {
	case isNative:
		return unchanged, nil
	case a.Kind == api.ResolveEntryPoint:
		key := b.entries[a.Path]
		if b.inline[key].inline() {
			return api.OnResolveResult{Path: key, Namespace: nsPage}, nil
		}
		return api.OnResolveResult{Path: b.file(key)}, nil
	case a.Kind == api.ResolveJSRequireResolve, a.Namespace == nsImportMap:
		return external(a.Path), nil
	case len(a.Path) > maxSpecifier:
		return unchanged, failf(failure.BuildFailed, "The path of an import is too long: the limit is %d bytes.",
			maxSpecifier)
	}
	ref := reference{dir: a.ResolveDir, spec: a.Path, kind: a.Kind, url: a.Kind == api.ResolveCSSURLToken}
	ref.css = ref.url || a.Kind == api.ResolveCSSImportRule || a.Kind == api.ResolveCSSComposesFrom
	var ok bool
	if ref.importer, ok = b.path(a.Importer); !ok {
		ref.importer, _, _ = strings.Cut(a.Importer, "?")
	}
	if result, ok, err := b.urlReference(ref); ok || err != nil {
		return result, err
	}
	if i := strings.IndexAny(ref.spec, "?#"); i > 0 {
		ref.spec, ref.query = ref.spec[:i], ref.spec[i:]
	}
	if isInPackage(ref.importer) && !ref.css && b.disabledBy(ref.importer)[ref.spec] {
		return api.OnResolveResult{Path: ref.spec, Namespace: nsEmpty}, nil
	}
	if isBuiltin(ref.spec) && !ref.css {
		return b.builtin(pb, ref)
	}
	return b.fileReference(pb, ref)
}

// urlReference handles references that are not paths.
func (b *bundler) urlReference(ref reference) (api.OnResolveResult, bool, error) {
	if strings.HasPrefix(ref.spec, "//") || ref.url && strings.HasPrefix(ref.spec, "#") {
		return external(ref.spec), true, nil
	}
	match := scheme.FindStringSubmatch(ref.spec)
	if match == nil {
		return unchanged, false, nil
	}
	switch name := strings.ToLower(match[1]); {
	case name == "http", name == "https", name == "data", name == "blob", ref.url && name == "about":
		return external(ref.spec), true, nil
	case name == "node":
		return unchanged, false, nil
	case name == "file":
		return unchanged, true, failf(failure.BuildFailed, "%s refers to a file of a computer. Use a path in the project.",
			quote(ref.spec))
	case name == "virtual":
		return unchanged, true, pluginModule(ref.spec)
	}
	return unchanged, true, failf(failure.BuildFailed, "%s cannot be imported. Use a path in the project, a package or "+
		"an https URL.", quote(ref.spec))
}

// pluginModule is the error for a module that a plugin of a build tool makes.
func pluginModule(spec string) *failure.Error {
	return failf(failure.BuildFailed, "%s comes from a plugin of a build tool, and builds run no plugins. Remove the import "+
		"and what uses it, or write the module as a file of the project.", quote(spec))
}

// fileReference handles paths and packages.
func (b *bundler) fileReference(pb api.PluginBuild, ref reference) (api.OnResolveResult, error) {
	inPackage := isInPackage(ref.importer)
	if ref.css && strings.HasPrefix(ref.spec, "~") && !strings.HasPrefix(ref.spec, "~/") { // a package, in webpack
		ref.spec = ref.spec[1:]
		if found, ok := b.find(pb, ref, ref.spec, ref.dir); ok {
			return b.module(ref, found)
		}
	}
	isPath, isRoot := isRelative(ref.spec), strings.HasPrefix(ref.spec, "/")
	if isPath || isRoot && (!inPackage || isInPackage(ref.spec)) {
		dir := b.web + "/"
		switch {
		case isPath:
			dir = path.Dir(ref.importer)
		case isInPackage(ref.spec):
			dir = "/"
		}
		file, ok := join(dir, "./"+ref.spec)
		if !ok {
			return unchanged, failf(failure.BuildFailed, "%s is outside of the project. Use a path inside.", quote(ref.spec))
		}
		if isPath && ref.query == "" && !ref.url && !b.isComponent(ref, file) {
			return unchanged, nil
		}
		return b.pathReference(pb, ref, file)
	}
	if isRoot {
		return unchanged, packageReads(ref.importer)
	}
	if ref.url {
		file, ok := join(path.Dir(ref.importer), ref.spec)
		if _, found := b.find(pb, ref, ref.spec, ref.dir); ok && !found {
			return b.pathReference(pb, ref, file)
		}
	}
	if !inPackage {
		for _, file := range b.config.candidates(ref.spec) {
			if found, ok := b.find(pb, ref, "."+file, b.dir); ok {
				return b.module(ref, found)
			}
		}
		if spec := b.settings.packageAlias(ref.spec); spec != ref.spec {
			if found, ok := b.find(pb, ref, spec, ref.dir); ok {
				return b.module(ref, found)
			}
		}
	}
	if b.isMapped(ref.spec) {
		if result, ok := b.mapped(pb, ref); ok {
			return result, nil
		}
	}
	if ref.query == "" {
		return unchanged, nil
	}
	found, ok := b.find(pb, ref, ref.spec, ref.dir)
	if !ok {
		return unchanged, b.missing(ref.importer, ref.spec)
	}
	return b.module(ref, found)
}

func isRelative(spec string) bool {
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../")
}

// target is a file that a reference means.
type target struct {
	file        string // path in the project
	sideEffects api.SideEffects
}

// find asks the bundler for the file of a reference from a folder. It finds no file outside of the project.
func (b *bundler) find(pb api.PluginBuild, ref reference, spec, dir string) (target, bool) {
	r := pb.Resolve(spec, api.ResolveOptions{
		ResolveDir: dir, Kind: ref.kind, Importer: b.file(ref.importer), Namespace: "file", PluginData: native{},
	})
	file, ok := b.path(r.Path)
	if len(r.Errors) > 0 || !ok {
		return target{}, false
	}
	t := target{file: file}
	if !r.SideEffects {
		t.sideEffects = api.SideEffectsFalse
	}
	return t, true
}

// pathReference handles a path in the project. A path of /public is a URL. A missing file of url() is not an error.
func (b *bundler) pathReference(pb api.PluginBuild, ref reference, file string) (api.OnResolveResult, error) {
	if found, ok := b.find(pb, ref, "."+file, b.dir); ok && (!ref.url || found.file == file) {
		return b.module(ref, found)
	}
	url, suffix := strings.TrimPrefix(file, b.web), ""
	if ref.url {
		suffix = ref.query
	}
	switch {
	case b.has(b.public + url):
		if ref.css {
			return external(url + suffix), nil
		}
		return api.OnResolveResult{Path: url, Namespace: nsPublic}, nil
	case isExcluded(file) && b.has(file):
		return unchanged, neverBundled(file)
	case ref.url:
		result := external(url + suffix)
		result.Warnings = []api.Message{{Text: "The file " + file + " does not exist. Add it, or remove the reference."}}
		return result, nil
	}
	return unchanged, b.missing(ref.importer, ref.spec)
}

// isMapped reports whether an import map has a key for a specifier.
func (b *bundler) isMapped(spec string) bool {
	return slices.ContainsFunc(b.importMap, func(key string) bool {
		return key == spec || strings.HasSuffix(key, "/") && strings.HasPrefix(spec, key)
	})
}

// mapped handles a key of an import map. A package that is installed is bundled, because other packages use it. A call
// of require gets a module that imports the key, because browsers cannot require it.
func (b *bundler) mapped(pb api.PluginBuild, ref reference) (api.OnResolveResult, bool) {
	if _, ok := b.find(pb, ref, ref.spec, ref.dir); ok {
		b.note("The package " + quote(ref.spec) + " is installed, so it is bundled, and the import map is not used for it.")
		return unchanged, false
	}
	if ref.kind == api.ResolveJSRequireCall {
		return api.OnResolveResult{Path: ref.spec, Namespace: nsImportMap}, true
	}
	return external(ref.spec), true
}

// missing returns the error for a reference that has no file.
func (b *bundler) missing(importer, spec string) *failure.Error {
	if i := strings.IndexByte(spec, '?'); i > 0 {
		spec = spec[:i]
	}
	if isRelative(spec) || strings.HasPrefix(spec, "/") {
		dir := "/"
		if isRelative(spec) {
			dir = path.Dir(importer)
		}
		file, _ := join(dir, "./"+spec)
		if isExcluded(file) && !isInPackage(file) && b.has(file) {
			return neverBundled(file)
		}
		return failf(failure.BuildFailed, "The file %s does not exist. Add it, or correct the import of %s.", file,
			quote(spec))
	}
	if strings.HasPrefix(spec, "#") {
		return failf(failure.BuildFailed, "%s is not defined by the field imports of package.json.", quote(spec))
	}
	if files := b.config.candidates(spec); strings.HasPrefix(spec, "@/") && !isInPackage(importer) && len(files) > 0 {
		return failf(failure.BuildFailed, "The file %s does not exist. Add it, or correct the import of %s.", files[0],
			quote(spec))
	}
	return b.missingPackage(importer, spec)
}

// home returns the folder of a package, as files of a folder find it.
func (t *tree) home(importer, spec string) (string, bool) {
	_, name := packageOf(packageFolder + spec)
	if name == "" || strings.HasPrefix(name, ".") {
		return "", false
	}
	for dir := path.Dir(importer); ; dir = path.Dir(dir) {
		if home := path.Join(dir, packageFolder, name); t.hasFolder(home) {
			return home, true
		}
		if dir == "/" || dir == "." {
			return "", false
		}
	}
}

// missingPackage returns the error for a package that does not exist, or does not export a file.
func (b *bundler) missingPackage(importer, spec string) *failure.Error {
	_, name := packageOf(packageFolder + spec)
	from := " It is imported by " + importer + "."
	if isBuiltin(spec) {
		name = strings.TrimPrefix(name, "node:")
		if isInPackage(importer) {
			_, from := packageOf(importer)
			return failf(failure.DependencyNotFound, "The package %q imports %q, a module of Node.js that browsers do not "+
				"have. Add the npm package %q to dependencies in /package.json, or use another package.", from, name, name)
		}
		return failf(failure.BuildFailed, "%s is a module of Node.js, which browsers do not have. Remove the import.",
			quote(spec))
	}
	if _, ok := b.home(importer, spec); ok {
		return failf(failure.BuildFailed, "The package %q does not export %s. Correct the import, or use another version of "+
			"the package.", name, quote(spec))
	}
	_, declared := b.manifest.Dependencies[name]
	_, dev := b.manifest.DevDependencies[name]
	if declared || dev {
		return failf(failure.DependencyNotFound, "The package %q is not installed although /package.json names it.%s "+
			"Correct its name or version.", name, from)
	}
	hint := ""
	if strings.HasPrefix(spec, "@") || strings.HasPrefix(spec, "~") {
		hint = " If it is an alias, define it in compilerOptions.paths of tsconfig.json."
	}
	return failf(failure.DependencyNotFound, "The package %q is not installed.%s Add it to dependencies in "+
		"/package.json.%s", name, from, hint)
}
