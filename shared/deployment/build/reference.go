package build

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// reference is an import in a file.
type reference struct {
	importer string // path in the project
	dir      string // folder of the importer in the file system
	spec     string
	query    string
	kind     api.ResolveKind
	isStyle  bool // whether it is @import, url() or composes
	isURL    bool // whether it is url()
}

// askedByPlugin marks a reference that the plugin itself lets the bundler resolve.
type askedByPlugin struct{}

// noResult lets the bundler resolve the reference.
var noResult = api.OnResolveResult{}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):`)

func external(spec string) api.OnResolveResult {
	return api.OnResolveResult{Path: spec, External: true}
}

// onResolve handles the references that the bundler does not know, and leaves the others to it. Errors: *failure.Error.
func (b *bundler) onResolve(pb api.PluginBuild, a api.OnResolveArgs) (api.OnResolveResult, error) {
	switch _, isOwn := a.PluginData.(askedByPlugin); {
	case isOwn:
		return noResult, nil
	case strings.HasPrefix(a.Path, nsGlobal+":"):
		return api.OnResolveResult{Path: "/" + a.Path[len(nsGlobal)+1:], Namespace: nsGlobal}, nil
	case a.Kind == api.ResolveEntryPoint:
		key := b.entries[a.Path]
		if b.inline[key].isInline() {
			return api.OnResolveResult{Path: key, Namespace: nsPage}, nil
		}
		return api.OnResolveResult{Path: b.file(key)}, nil
	case a.Kind == api.ResolveJSRequireResolve, a.Namespace == nsImportMap:
		return external(a.Path), nil
	}
	ref := reference{dir: a.ResolveDir, spec: a.Path, kind: a.Kind, isURL: a.Kind == api.ResolveCSSURLToken}
	ref.isStyle = ref.isURL || a.Kind == api.ResolveCSSImportRule || a.Kind == api.ResolveCSSComposesFrom
	var ok bool
	if ref.importer, ok = b.path(a.Importer); !ok {
		ref.importer, _, _ = strings.Cut(a.Importer, "?")
	}
	if result, isHandled, err := b.urlReference(ref); isHandled {
		return result, err
	}
	if i := strings.IndexAny(ref.spec, "?#"); i > 0 {
		ref.spec, ref.query = ref.spec[:i], ref.spec[i:]
	}
	switch {
	case isBuiltin(ref.spec) && !ref.isStyle:
		return b.builtin(pb, ref)
	case isRelative(ref.spec), strings.HasPrefix(ref.spec, "/"):
		return b.pathReference(pb, ref)
	}
	return b.nameReference(pb, ref)
}

// urlReference handles references with a scheme or a host, and fragments in url(). isHandled is false for others, and
// for modules of Node.js. Errors: *failure.Error.
func (b *bundler) urlReference(ref reference) (result api.OnResolveResult, isHandled bool, err error) {
	if strings.HasPrefix(ref.spec, "//") || ref.isURL && strings.HasPrefix(ref.spec, "#") {
		return external(ref.spec), true, nil
	}
	match := scheme.FindStringSubmatch(ref.spec)
	if match == nil {
		return noResult, false, nil
	}
	switch name := strings.ToLower(match[1]); {
	case name == "http", name == "https", name == "data", name == "blob", ref.isURL && name == "about":
		return external(ref.spec), true, nil
	case name == "node":
		return noResult, false, nil
	case name == "file":
		return noResult, true, failf(failure.BuildFailed, "%s refers to a file of a computer. Use a path in the project.",
			quote(ref.spec))
	case name == "virtual":
		return noResult, true, failf(failure.BuildFailed, "%s comes from a plugin of a build tool, and builds run no "+
			"plugins. Remove the import and what uses it, or write the module as a file of the project.", quote(ref.spec))
	}
	return noResult, true, failf(failure.BuildFailed, "%s cannot be imported. Use a path in the project, a package or "+
		"an https URL.", quote(ref.spec))
}

// pathReference handles paths. It leaves imports of relative paths without a query to the bundler. Errors:
// *failure.Error.
func (b *bundler) pathReference(pb api.PluginBuild, ref reference) (api.OnResolveResult, error) {
	isRelativePath := isRelative(ref.spec)
	dir := b.web + "/"
	switch {
	case isRelativePath:
		dir = path.Dir(ref.importer)
	case tree.IsInPackage(ref.spec):
		dir = "/"
	case tree.IsInPackage(ref.importer):
		return noResult, errLeavesPackage(ref.importer)
	}
	file, ok := join(dir, "./"+ref.spec)
	switch {
	case ok && tree.IsInPackage(ref.importer) && !tree.IsInPackage(file):
		return noResult, errLeavesPackage(ref.importer)
	case !ok:
		return noResult, errLeavesProject(ref.spec)
	case isRelativePath && ref.query == "" && !ref.isURL && !b.isImageComponent(ref, file):
		return noResult, nil
	}
	if found, ok := b.find(pb, ref, "."+file, b.dir); ok && (!ref.isURL || found.file == file) {
		return b.module(ref, found)
	}
	return b.withoutFile(ref, file)
}

// nameReference handles packages and aliases, and paths of url() that do not begin with a dot. It leaves imports of
// packages without a query to the bundler. Errors: *failure.Error.
func (b *bundler) nameReference(pb api.PluginBuild, ref reference) (api.OnResolveResult, error) {
	file, isInside := join(path.Dir(ref.importer), "./"+ref.spec)
	isPath := isInside && ref.isURL
	if isPath && b.has(file) {
		return b.module(ref, target{file: file})
	}
	if ref.spec == "vue" && ref.kind == api.ResolveJSRequireCall { // its script for Node.js would be a second Vue
		ref.kind = api.ResolveJSImportStatement
		if found, ok := b.find(pb, ref, ref.spec, ref.dir); ok {
			return b.module(ref, found)
		}
	}
	specs := []string{ref.spec}
	if name, ok := strings.CutPrefix(ref.spec, "~"); ok && ref.isStyle && !strings.HasPrefix(name, "/") {
		specs = append(specs, name) // a package, in webpack
	}
	if b.isExportedWithoutExtension(ref) {
		specs = append(specs, ref.spec+".js")
	}
	isInMap := isMapped(b.importMapKeys, ref.spec)
	switch {
	case strings.Contains(ref.spec+"/", "/../") && !isPath: // an alias could lead out of the project
		return noResult, b.errMissing(ref.importer, ref.spec)
	case len(specs) == 1 && ref.query == "" && !isInMap && !isPath:
		return noResult, nil
	}
	for _, spec := range specs {
		found, ok := b.find(pb, ref, spec, ref.dir)
		if ok && isInMap {
			b.note("The package " + quote(ref.spec) + " is installed, so it is bundled, and the import map is not used for it.")
		}
		if ok {
			return b.module(ref, found)
		}
	}
	switch {
	case isInMap && ref.kind == api.ResolveJSRequireCall: // browsers have no require
		return api.OnResolveResult{Path: ref.spec, Namespace: nsImportMap}, nil
	case isInMap:
		return external(ref.spec), nil
	case isPath:
		return b.withoutFile(ref, file)
	case ref.query == "":
		return noResult, nil // an error, unless the importer handles it
	}
	return noResult, b.errMissing(ref.importer, ref.spec)
}

// isMapped reports whether one of the keys of import maps matches an import.
func isMapped(keys []string, spec string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		return key == spec || strings.HasSuffix(key, "/") && strings.HasPrefix(spec, key)
	})
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
		ResolveDir: dir, Kind: ref.kind, Importer: b.file(ref.importer), Namespace: "file", PluginData: askedByPlugin{},
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

// withoutFile handles a path without a file that can be bundled. The path of a file in /public is a URL. A missing file
// of url() is not an error. Errors: *failure.Error.
func (b *bundler) withoutFile(ref reference, file string) (api.OnResolveResult, error) {
	url, suffix := strings.TrimPrefix(file, b.web), ""
	if ref.isURL {
		suffix = ref.query
	}
	switch {
	case b.has(b.public + url):
		if ref.isStyle {
			return external(url + suffix), nil
		}
		return api.OnResolveResult{Path: url, Namespace: nsPublic}, nil
	case isExcluded(file) && b.has(file):
		return noResult, errNeverBundled(file)
	case ref.isURL:
		result := external(url + suffix)
		result.Warnings = []api.Message{{Text: "The file " + file + " does not exist. Add it, or remove the reference."}}
		return result, nil
	}
	return noResult, b.errMissing(ref.importer, ref.spec)
}

// errMissing returns the error for a reference that has no file.
func (b *bundler) errMissing(importer, spec string) *failure.Error {
	spec, _, _ = strings.Cut(spec, "?")
	file, isFile := b.aliasedFile(spec)
	switch {
	case isRelative(spec):
		file, _ = join(path.Dir(importer), spec)
	case strings.HasPrefix(spec, "/"):
		file = path.Clean(spec)
	case strings.HasPrefix(spec, "#"):
		return failf(failure.BuildFailed, "%s is not defined by the field imports of package.json.", quote(spec))
	case !isFile || !strings.HasPrefix(spec, "@/") || tree.IsInPackage(importer):
		return b.errMissingPackage(importer, spec)
	}
	if isExcluded(file) && !tree.IsInPackage(file) && b.has(file) {
		return errNeverBundled(file)
	}
	return failf(failure.BuildFailed, "The file %s does not exist. Add it, or correct the import of %s.", file,
		quote(spec))
}

// packageFolder returns the folder of the package that an import of a file means. ok is false if there is none.
func (p *project) packageFolder(importer, spec string) (folder string, ok bool) {
	_, name := tree.PackageOf(tree.PackageFolder + spec)
	if name == "" || strings.HasPrefix(name, ".") {
		return "", false
	}
	for dir := path.Dir(importer); ; dir = path.Dir(dir) {
		if folder = path.Join(dir, tree.PackageFolder, name); p.tree.HasFolder(folder) {
			return folder, true
		}
		if dir == "/" || dir == "." {
			return "", false
		}
	}
}

func (p *project) hasPackage(importer, spec string) bool {
	_, ok := p.packageFolder(importer, spec)
	return ok
}

// isExportedWithoutExtension reports whether a reference means a script of a package without its extension. Vite finds
// it even if the package has the field exports.
func (b *bundler) isExportedWithoutExtension(ref reference) bool {
	folder, ok := b.packageFolder(ref.importer, ref.spec)
	if !ok {
		return false
	}
	_, name := tree.PackageOf(folder)
	file := folder + strings.TrimPrefix(ref.spec, name)
	return file != folder && !b.tree.Has(file) && !b.tree.HasFolder(file) && b.tree.Has(file+".js")
}

// kitModules are the first names of the modules that only SvelteKit has.
var kitModules = wordSet("$app $env $service-worker")

// errMissingPackage returns the error for a package that does not exist, or does not export a file.
func (b *bundler) errMissingPackage(importer, spec string) *failure.Error {
	_, name := tree.PackageOf(tree.PackageFolder + spec)
	from := " It is imported by " + importer + "."
	if isBuiltin(spec) {
		name = strings.TrimPrefix(name, "node:")
		if tree.IsInPackage(importer) {
			_, user := tree.PackageOf(importer)
			return failf(failure.DependencyNotFound, "The package %q imports %q, a module of Node.js that browsers do not "+
				"have. Add the npm package %q to dependencies in /package.json, or use another package.", user, name, name)
		}
		return failf(failure.BuildFailed, "%s is a module of Node.js, which browsers do not have. Remove the import.",
			quote(spec))
	}
	if kitModules[name] {
		return failf(failure.FrameworkUnsupported, "%s is a module of SvelteKit, which cannot be deployed here. Ask your "+
			"builder for a single-page app with Vite and Svelte instead.", quote(spec))
	}
	if b.hasPackage(importer, spec) {
		return failf(failure.BuildFailed, "The package %q does not export %s. Correct the import, or use another version of "+
			"the package.", name, quote(spec))
	}
	if b.manifest.has(name) {
		return failf(failure.DependencyNotFound, "The package %q is not installed although /package.json names it.%s "+
			"Correct its name or version.", name, from)
	}
	hint := ""
	if strings.ContainsAny(spec[:min(1, len(spec))], "@~$") {
		hint = " If it is an alias, define it in compilerOptions.paths of tsconfig.json."
	}
	return failf(failure.DependencyNotFound, "The package %q is not installed.%s Add it to dependencies in "+
		"/package.json.%s", name, from, hint)
}
