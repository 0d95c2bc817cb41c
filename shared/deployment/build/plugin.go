package build

import (
	"context"
	"errors"
	"path"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

// The namespaces of modules in the bundler. No module is in the bundler's namespace "file", which is the machine.
const (
	nsFile   = "deployment-file"
	nsURL    = "deployment-url"
	nsText   = "deployment-text"
	nsPublic = "deployment-public"
	nsEmpty  = "deployment-empty"
	nsInline = "deployment-inline"
	nsWorker = "deployment-worker"
)

var namespaces = map[targetKind]string{
	toFile: nsFile, toURL: nsURL, toText: nsText, toPublic: nsPublic, toEmpty: nsEmpty,
	toWorker: nsWorker,
}

var loaders = map[string]api.Loader{
	".js": api.LoaderJSX, ".mjs": api.LoaderJSX, ".cjs": api.LoaderJSX, ".jsx": api.LoaderJSX, ".ts": api.LoaderTS,
	".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX, ".css": api.LoaderCSS, ".json": api.LoaderJSON,
}

// The bundler needs time for each error, in proportion to the size of the file. After these numbers of errors and of
// packages that do not exist, the remaining modules are left out, because the build fails anyway.
const (
	maxErrors  = 100
	maxMissing = 1000
	maxModules = 10_000
)

// needsCompiler are the extensions of files that only other tools can compile.
var needsCompiler = map[string]string{
	".scss": "Sass", ".sass": "Sass", ".less": "Less", ".styl": "Stylus", ".vue": "Vue", ".svelte": "Svelte",
	".astro": "Astro", ".mdx": "MDX", ".coffee": "CoffeeScript",
}

// plugin is the bundler's only source of files.
type plugin struct {
	*state

	inline   map[string]entry  // inline scripts by key
	entries  map[string]string // keys of entries by entry point
	isWorker bool              // the bundle is the script of a worker
}

// state is the state of a build. The bundle of the pages and those of workers share it.
type state struct {
	ctx       context.Context // the bundler calls the plugin without a context
	resolver  *resolver
	constants map[string]string // JavaScript values by name
	names     func() []string   // the paths of the project's files, sorted
	budget    budget
	errors    atomic.Int64
	patterns  atomic.Int64 // of import.meta.glob
	warned    atomic.Int64 // warnings of metaRewriter
	// workerSlots limits the bundlers of workers that run at the same time.
	workerSlots chan struct{}

	mu      sync.Mutex
	modules map[string]bool // resolved files
	// missing are the errors for packages that do not exist, by importer and specifier. The bundler decides whether they
	// are errors.
	missing map[[2]string]*failure.Error
	workers []bundled
	// computing are the packages that compute the path of an import.
	computing map[string]bool
}

func (p *plugin) setup(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if err := p.ctx.Err(); err != nil {
			return api.OnResolveResult{}, err //nolint:wrapcheck // the error of ctx
		}
		if p.errors.Load() > maxErrors {
			return api.OnResolveResult{Path: "skipped", Namespace: nsEmpty}, nil
		}
		result, err := p.onResolve(a)
		if message, ok := p.errorMessage(err); ok {
			return api.OnResolveResult{Errors: []api.Message{message}}, nil
		}
		return result, err
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		if err := p.ctx.Err(); err != nil {
			return api.OnLoadResult{}, err //nolint:wrapcheck // the error of ctx
		}
		if p.errors.Load() > maxErrors {
			return contents("", api.LoaderEmpty), nil
		}
		result, err := p.onLoad(a)
		if message, ok := p.errorMessage(err); ok {
			return api.OnLoadResult{Errors: []api.Message{message}}, nil
		}
		return result, err
	})
}

// errorMessage returns the bundler's message for a *failure.Error, which it carries.
func (p *plugin) errorMessage(err error) (api.Message, bool) {
	var f *failure.Error
	if !errors.As(err, &f) {
		return api.Message{}, false
	}
	p.errors.Add(1)
	return api.Message{Text: f.Message, Detail: f}, true
}

var errUnexpected = errors.New("the bundler asked for a file that is not part of the build")

func (p *plugin) onResolve(a api.OnResolveArgs) (api.OnResolveResult, error) {
	if a.Kind == api.ResolveEntryPoint {
		key, ok := p.entries[a.Path]
		switch {
		case !ok:
			return api.OnResolveResult{}, errUnexpected
		case p.inline[key].inline():
			return api.OnResolveResult{Path: key, Namespace: nsInline}, nil
		}
		return api.OnResolveResult{Path: key, Namespace: nsFile}, nil
	}
	importer := a.Importer
	switch a.Namespace {
	case nsFile:
	case nsInline:
		importer = p.inline[importer].file
	default:
		return api.OnResolveResult{}, errUnexpected
	}
	ref := reference{
		importer: importer, specifier: a.Path, require: a.Kind == api.ResolveJSRequireCall,
		url: a.Kind == api.ResolveCSSURLToken,
	}
	ref.css = ref.url || a.Kind == api.ResolveCSSImportRule || a.Kind == api.ResolveCSSComposesFrom
	if a.Kind == api.ResolveJSRequireResolve {
		return api.OnResolveResult{Path: a.Path, External: true}, nil
	}
	t, err := p.resolver.resolve(ref)
	if err != nil {
		return api.OnResolveResult{}, err
	}
	result := api.OnResolveResult{Path: t.file, Suffix: t.suffix}
	for _, text := range t.warnings {
		result.Warnings = append(result.Warnings, api.Message{Text: text})
	}
	switch t.kind {
	case toMissing:
		p.mu.Lock()
		defer p.mu.Unlock()
		missing := p.resolver.missing(importer, a.Path)
		if len(p.missing) >= maxMissing {
			return api.OnResolveResult{}, missing
		}
		p.missing[[2]string{importer, a.Path}] = missing
		return api.OnResolveResult{}, nil
	case toExternal:
		result.External, result.Suffix = true, ""
		if ref.url {
			result.Path += t.suffix
		}
	default:
		result.Namespace = namespaces[t.kind]
		if !p.count(t.file) {
			return api.OnResolveResult{}, failf(failure.BuildFailed, "The project imports more than %d files, which is the "+
				"limit. Import only what is needed, such as single files of large packages.", maxModules)
		}
	}
	if t.pure {
		result.SideEffects = api.SideEffectsFalse
	}
	return result, nil
}

// count counts the modules of the build. It returns false if there are too many: the bundler parses all at once.
func (p *plugin) count(file string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.modules[file] && len(p.modules) >= maxModules {
		return false
	}
	p.modules[file] = true
	return true
}

func (p *plugin) onLoad(a api.OnLoadArgs) (api.OnLoadResult, error) {
	switch a.Namespace {
	case nsInline:
		e := p.inline[a.Path]
		if err := p.budget.take(e.file, []byte(e.code), api.LoaderJS); err != nil {
			return api.OnLoadResult{}, err
		}
		return p.script(a.Namespace, a.Path, []byte(e.code), api.LoaderJS)
	case nsEmpty:
		return contents("module.exports = {}", api.LoaderJS), nil
	case nsPublic:
		return contents(a.Path, api.LoaderText), nil
	case nsWorker:
		url, err := p.buildWorker(a.Path)
		return contents(url, api.LoaderText), err
	case nsFile, nsText, nsURL:
	default:
		return api.OnLoadResult{}, errUnexpected
	}
	data, ok := p.resolver.read(a.Path)
	if !ok {
		return api.OnLoadResult{}, errUnexpected
	}
	switch a.Namespace {
	case nsText:
		if err := p.budget.take(a.Path, data, api.LoaderText); err != nil {
			return api.OnLoadResult{}, err
		}
		return contents(string(data), api.LoaderText), nil
	case nsURL:
		if err := p.budget.take(a.Path, data, api.LoaderFile); err != nil {
			return api.OnLoadResult{}, err
		}
		return contents(string(data), api.LoaderFile), nil
	}
	return p.file(a.Path, data, a.With)
}

func contents(text string, loader api.Loader) api.OnLoadResult {
	return api.OnLoadResult{Contents: &text, Loader: loader}
}

var tailwind = regexp.MustCompile(`@tailwind\s|@import\s+["']tailwindcss[/"']|@apply\s`)

// file returns a file with the loader of its extension.
func (p *plugin) file(name string, data []byte, with map[string]string) (api.OnLoadResult, error) {
	ext := strings.ToLower(path.Ext(name))
	if tool, ok := needsCompiler[ext]; ok {
		return api.OnLoadResult{}, failf(failure.FrameworkUnsupported,
			"The file %s needs the compiler of %s, and builds run "+
				"no other tools. Use CSS, JavaScript, TypeScript or JSX instead.", name, tool)
	}
	loader, ok := loaders[ext]
	switch {
	case with["type"] == "json":
		loader = api.LoaderJSON
	case with["type"] == "text":
		loader = api.LoaderText
	case !ok:
		loader = api.LoaderFile
	}
	inPackage := isInPackage(name)
	if err := p.budget.take(name, data, loader); err != nil {
		return api.OnLoadResult{}, err
	}
	switch {
	case loader == api.LoaderFile, loader == api.LoaderText:
		return contents(string(data), loader), nil
	case loader == api.LoaderJSON:
		return contents(string(data), loader), nil
	case loader == api.LoaderCSS:
		if at := tailwind.FindIndex(data); at != nil && !inPackage {
			return api.OnLoadResult{Errors: []api.Message{messageAt(nsFile, name, string(data), at[0],
				failf(failure.FrameworkUnsupported,
					"Tailwind CSS needs a build that runs its code, and this service executes none. Remove this line and load Tailwind "+
						"in the page instead: <script src=\"https://cdn.jsdelivr.net/npm/@tailwindcss/browser@4\"></script>"))}}, nil
		}
		if strings.HasSuffix(strings.ToLower(name), ".module.css") {
			loader = api.LoaderLocalCSS
		}
		return contents(string(data), loader), nil
	case inPackage && loader == api.LoaderJSX && ext != ".jsx":
		loader = api.LoaderJS
	}
	return p.script(nsFile, name, data, loader)
}

// script returns a script. Scripts of the project that compute the path of an import are refused. In packages, such
// imports stay as they are.
func (p *plugin) script(namespace, name string, data []byte, loader api.Loader) (api.OnLoadResult, error) {
	options := api.TransformOptions{Loader: loader, TsconfigRaw: p.resolver.config.raw, Define: p.constants}
	file := name
	if namespace == nsInline {
		file = p.inline[name].file
	}
	r := metaRewriter{plugin: p, file: file, code: data, added: map[[2]string]string{}}
	if err := r.rewrite(options); err != nil {
		return api.OnLoadResult{Errors: []api.Message{messageAt(namespace, name, string(data), err.offset,
			err.Error)}}, nil
	}
	result := contents(string(r.code), loader)
	if len(r.warnings) > 0 {
		text := string(data) // all warnings share it
		for _, w := range r.warnings {
			result.Warnings = append(result.Warnings, messageAt(namespace, name, text, w.offset, failf("", "%s", w.text)))
		}
	}
	at := computesPath(r.code, options)
	if at < 0 {
		return result, nil
	}
	if isInPackage(file) {
		if code, ok := hideComputedPaths(r.code, options); ok {
			p.addComputing(file)
			return contents(string(code), api.LoaderJS), nil
		}
	}
	return api.OnLoadResult{Errors: []api.Message{messageAt(namespace, name, string(r.code), at,
		failf(failure.BuildFailed, "The path of this import is computed, so the bundler cannot know the files. "+
			"Write one import() with a fixed path for each file, such as { home: () => import(\"./home.js\") }, "+
			"or use import.meta.glob."))}}, nil
}

// addComputing records that a package computes the path of an import.
func (p *plugin) addComputing(file string) {
	const folder = "/node_modules/"
	name, _, _ := split(file[strings.LastIndex(file, folder)+len(folder):])
	p.mu.Lock()
	defer p.mu.Unlock()
	p.computing[name] = true
}
