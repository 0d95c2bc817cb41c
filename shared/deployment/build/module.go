package build

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// The namespaces of modules that are not files. Modules that are made of a file have the kind of the module as their
// namespace, and the path of the file as their path.
const (
	nsPage      = "page"      // an inline script or style sheet
	nsPublic    = "public"    // the URL of a file of /public
	nsEmpty     = "empty"     // a module of Node.js
	nsImportMap = "importmap" // a key of an import map that is required
	nsGlobal    = "global"    // a variable that scripts use without importing it
	nsStyle     = "style"     // a style sheet of a component
)

// The kinds of modules that are made of a file. A kind consists of queries of the import, as in Vite.
const (
	kindURL          = "url"
	kindNoInline     = "no-inline"
	kindInline       = "inline"
	kindInlineWorker = "inline-worker"
	kindComponent    = "component" // the React component of an SVG image, as in Create React App
)

// queries are the queries that change the kind of a module, in their order in a kind. "react" is the query of the
// plugin svgr.
var queries = []string{"raw", kindURL, kindNoInline, kindInline, "init", "react", "worker", "sharedworker"}

// kindOf returns the kind of the module that an import with a query means, such as "inline-worker". It is "" for the
// file itself.
func kindOf(query string) string {
	parts := strings.Split(strings.TrimPrefix(query, "?"), "&")
	return strings.Join(slices.DeleteFunc(slices.Clone(queries), func(name string) bool {
		return !slices.Contains(parts, name)
	}), "-")
}

// module returns the module of the file that a reference means. The query of the reference selects the kind of the
// module. Errors: *failure.Error.
func (b *bundler) module(ref reference, t target) (api.OnResolveResult, error) {
	result := api.OnResolveResult{Path: b.file(t.file), SideEffects: t.sideEffects}
	kind := kindOf(ref.query)
	index, isComponentStyle := strings.CutPrefix(ref.query, component.StyleQuery)
	switch {
	case tree.IsInPackage(ref.importer) && !tree.IsInPackage(t.file):
		return noResult, errLeavesPackage(ref.importer)
	case isComponentStyle && component.IsComponent(t.file):
		return b.styleModule(t.file, index)
	case ref.isStyle:
		result.Suffix = ref.query
	case kind != "":
		result.Path, result.Namespace = t.file, kind
	case b.isImageComponent(ref, t.file):
		result.Path, result.Namespace = t.file, kindComponent
	}
	return result, nil
}

// isImageComponent reports whether an import means the React component of an SVG image, as in Create React App.
func (b *bundler) isImageComponent(ref reference, file string) bool {
	return b.manifest.has("react-scripts") && strings.EqualFold(path.Ext(file), ".svg") && !ref.isStyle &&
		!tree.IsInPackage(ref.importer)
}

func contents(text string, loader api.Loader) api.OnLoadResult {
	return api.OnLoadResult{Contents: &text, Loader: loader}
}

// setup connects the bundler with esbuild.
func (b *bundler) setup(pb api.PluginBuild) {
	b.pb = pb
	register(pb, b.onResolve, b.onLoad)
}

// register registers callbacks of esbuild. It converts a *failure.Error to a message that has the error as its Detail.
func register(pb api.PluginBuild,
	onResolve func(api.PluginBuild, api.OnResolveArgs) (api.OnResolveResult, error),
	onLoad func(api.OnLoadArgs) (api.OnLoadResult, error),
) {
	all := ".*"
	pb.OnResolve(api.OnResolveOptions{Filter: all}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		result, err := onResolve(pb, a)
		if f, ok := errors.AsType[*failure.Error](err); ok {
			return api.OnResolveResult{Errors: []api.Message{{Text: f.Message, Detail: f}}}, nil
		}
		return result, err
	})
	pb.OnLoad(api.OnLoadOptions{Filter: all}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		result, err := onLoad(a)
		if f, ok := errors.AsType[*failure.Error](err); ok {
			return api.OnLoadResult{Errors: []api.Message{{Text: f.Message, Detail: f}}}, nil
		}
		return result, err
	})
}

// onLoad returns the content of a module. Errors: *failure.Error.
func (b *bundler) onLoad(a api.OnLoadArgs) (result api.OnLoadResult, err error) {
	file, isInside := a.Path, true
	switch a.Namespace {
	case "file":
		file, isInside = b.path(a.Path)
	case nsPage:
		e := b.inline[file]
		code := script{file: e.file, line: e.line, code: []byte(e.code)}
		if e.isStyle() {
			result, err = b.styleSheet(code, api.LoaderCSS)
		} else {
			result, err = b.script(code, api.LoaderJS)
		}
		result.ResolveDir = b.file(path.Dir(e.file))
		return result, err
	case nsStyle:
		return b.loadStyle(a)
	case nsEmpty:
		return contents("module.exports = {}", api.LoaderJS), nil
	case nsPublic:
		return contents(file, api.LoaderText), nil
	case nsGlobal:
		result = contents(globals[file[1:]].code, api.LoaderJS)
		result.ResolveDir = b.dir
		return result, nil
	case nsImportMap:
		name := constant.Quote(file)
		code := "export * from " + name + "; import * as all from " + name + "; export default all.default"
		return contents(code, api.LoaderJS), nil
	}
	if !isInside {
		return result, errOutside
	}
	data, err := b.load(file)
	switch {
	case err != nil && a.Namespace == "file" && b.isLeftOut(file):
		return contents("", api.LoaderJS), nil
	case err != nil:
		return result, err
	case a.Namespace == "file":
		result, err = b.source(file, data, a.With)
	default:
		result, err = b.fileModule(a.Namespace, file, data)
	}
	result.ResolveDir = b.file(path.Dir(file))
	return result, err
}

// fileModule returns a module that is made of a file.
func (b *bundler) fileModule(kind, file string, data []byte) (api.OnLoadResult, error) {
	switch kind {
	case "raw":
		return contents(string(data), api.LoaderText), nil
	case kindURL:
		return b.asset(file, data), nil
	case kindNoInline:
		return contents(string(data), api.LoaderFile), nil
	case kindInline:
		if !isStyleSheet(file) {
			return contents(string(data), api.LoaderDataURL), nil
		}
		_, text, err := b.buildNested(file, kind)
		return contents(string(text), api.LoaderText), err
	}
	if strings.HasSuffix(kind, "worker") {
		return b.worker(kind, file)
	}
	if c, ok := compilers["?"+kind]; ok {
		code, err := c.compile(file, data)
		return contents(code, api.LoaderJS), err
	}
	return api.OnLoadResult{}, failf(failure.BuildFailed, "The queries of the import of %s do not fit together: %s.", file,
		strings.ReplaceAll(kind, "-", ", "))
}

// asset returns a module with the URL of a file that is published. In an inline worker, the URL is absolute, because a
// path cannot be relative to the worker's blob URL.
func (b *bundler) asset(file string, data []byte) api.OnLoadResult {
	if !b.isBlob {
		return contents(string(data), api.LoaderFile)
	}
	url := requireCall("./" + path.Base(file) + "?" + kindNoInline)
	return contents("module.exports = new URL("+url+", self.location.origin).href", api.LoaderJS)
}

// worker returns a module with the URL of the script of a worker, or with a function that starts it. The script is a
// bundle of its own. If it is inline, it has a blob URL. A worker that pages share is never inline.
func (b *bundler) worker(kind, file string) (api.OnLoadResult, error) {
	entry, text, err := b.buildNested(file, kind)
	url, constructor := constant.Quote(entry.path), "Worker"
	if len(b.outerFiles) > 0 { // the outer worker can be inline, see asset
		url = "new URL(" + url + ", self.location.origin).href"
	}
	if strings.HasSuffix(kind, "sharedworker") {
		constructor = "SharedWorker"
	}
	switch {
	case strings.HasPrefix(kind, kindURL):
		return contents("module.exports = "+url, api.LoaderJS), err
	case kind == kindInlineWorker:
		url = `URL.createObjectURL(new Blob([` + constant.Quote(string(text)) + `], { type: "text/javascript" }))`
	}
	return contents("export default function (o) { return new "+constructor+"("+url+", { name: o?.name }) }",
		api.LoaderJS), err
}

var loaders = map[string]api.Loader{
	".js": api.LoaderJSX, ".mjs": api.LoaderJSX, ".cjs": api.LoaderJSX, ".jsx": api.LoaderJSX, ".ts": api.LoaderTS,
	".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX, ".css": api.LoaderCSS, ".json": api.LoaderJSON,
	".scss": api.LoaderCSS, ".sass": api.LoaderCSS,
}

// isCode reports whether a file is a script, a style sheet or JSON.
func isCode(file string) bool { return loaders[strings.ToLower(path.Ext(file))] != api.LoaderNone }

// source returns a file with the loader of its extension.
func (b *bundler) source(file string, data []byte, with map[string]string) (api.OnLoadResult, error) {
	ext := strings.ToLower(path.Ext(file))
	if c := compilers[ext]; c.tool != "" {
		return api.OnLoadResult{}, errNeedsTool(file)
	}
	loader, isKnown := loaders[ext]
	code := script{file: file, line: 1, code: trimBOM(data)}
	switch {
	case with["type"] == "text":
		return contents(string(data), api.LoaderText), nil
	case with["type"] == "json":
		loader = api.LoaderJSON
	case component.IsComponent(file):
		return b.component(file, data)
	case !isKnown:
		return b.asset(file, data), nil
	case tree.IsInPackage(file) && loader == api.LoaderJSX && ext != ".jsx":
		code.code = b.withoutUnused(file, code.code)
		return b.script(code, api.LoaderJS)
	case loader == api.LoaderCSS:
		sheet, err := b.css(file, data)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		return b.styleSheet(sheet, styleLoader(file))
	case loader != api.LoaderJSON:
		return b.script(code, loader)
	}
	return contents(string(code.code), loader), nil
}

// styleSheet returns a style sheet for the bundler.
func (b *bundler) styleSheet(s script, loader api.Loader) (api.OnLoadResult, error) {
	if tree.IsInPackage(s.file) {
		return contents(string(s.code), loader), nil
	}
	text, err := b.withoutTailwind(s)
	return contents(text, loader), err
}

// script returns a script, with the expressions of import.meta replaced.
func (b *bundler) script(s script, loader api.Loader) (api.OnLoadResult, error) {
	options := api.TransformOptions{
		Loader: loader, TsconfigRaw: b.tsconfig, Define: b.constants, LogLevel: api.LogLevelSilent,
	}
	b.warnUses(s)
	s.code = b.addGlobals(s, options)
	s.code = b.resolvePatterns(s.file, s.code)
	r := rewriter{bundler: b, script: s}
	code, failed := r.rewrite(options)
	if failed == nil {
		failed = b.checkPatterns(s.file, code, options)
	}
	if failed != nil {
		return api.OnLoadResult{}, failed
	}
	return contents(string(code), loader), nil
}
