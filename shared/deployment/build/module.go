package build

import (
	"bytes"
	"encoding/xml"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

// The namespaces of modules that are not files as they are. Their paths are those of files in the project.
const (
	nsPage       = "page"       // an inline script
	nsRaw        = "raw"        // the text of a file
	nsURL        = "url"        // the URL of a file, which is published
	nsData       = "data"       // a file as a data URL
	nsStyle      = "style"      // the text of a bundled style sheet
	nsWorker     = "worker"     // a function that starts a worker
	nsShared     = "shared"     // a function that starts a shared worker
	nsWorkerURL  = "workerurl"  // the URL of the bundled script of a worker
	nsWasm       = "wasm"       // a function that starts a WebAssembly module
	nsComponent  = "component"  // a React component that shows an SVG image
	nsPublic     = "public"     // the URL of a file of /public
	nsEmpty      = "empty"      // a module of Node.js
	nsImportMap  = "importmap"  // a key of an import map that is required
	workerURLKey = "worker-url" // the query of references that meta.go writes
)

// queries are the queries of imports, as in Vite. "react" is that of the plugin svgr.
var queries = map[string]string{
	"raw": nsRaw, "url": nsURL, "no-inline": nsURL, "inline": nsData, "worker": nsWorker, "sharedworker": nsShared,
	"init": nsWasm, "react": nsComponent, workerURLKey: nsWorkerURL,
}

// module returns the module of a file, by the query of the reference.
func (b *bundler) module(ref reference, t target) (api.OnResolveResult, error) {
	if isInPackage(ref.importer) && !isInPackage(t.file) {
		return unchanged, packageReads(ref.importer)
	}
	result := api.OnResolveResult{Path: b.file(t.file), SideEffects: t.sideEffects}
	if ref.css {
		result.Suffix = ref.query
		return result, nil
	}
	namespace := ""
	if query, ok := strings.CutPrefix(ref.query, "?"); ok {
		flags := strings.Split(query, "&")
		for _, flag := range flags {
			name := queries[flag]
			switch {
			case name == nsData && path.Ext(t.file) == ".css":
				name = nsStyle
			case name == nsURL && namespace == nsWorker, name == nsWorker && namespace == nsURL:
				name = nsWorkerURL
			case name == nsData && namespace != "":
				name = namespace
			}
			if name != "" {
				namespace = name
			}
		}
	}
	if namespace == "" && b.isComponent(ref, t.file) {
		namespace = nsComponent
	}
	if namespace != "" {
		result.Path, result.Namespace = t.file, namespace
	}
	return result, nil
}

// isComponent reports whether an import means an SVG image that Create React App makes a component.
func (b *bundler) isComponent(ref reference, file string) bool {
	return b.manifest.has("react-scripts") && strings.EqualFold(path.Ext(file), ".svg") && !ref.css &&
		!isInPackage(ref.importer)
}

func contents(text string, loader api.Loader) api.OnLoadResult {
	return api.OnLoadResult{Contents: &text, Loader: loader}
}

func (b *bundler) setup(pb api.PluginBuild) {
	pb.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		result, err := b.onResolve(pb, a)
		if message, ok := errorMessage(err); ok {
			return api.OnResolveResult{Errors: []api.Message{message}}, nil
		}
		return result, err
	})
	pb.OnLoad(api.OnLoadOptions{Filter: ".*"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		result, err := b.onLoad(a)
		if message, ok := errorMessage(err); ok {
			return api.OnLoadResult{Errors: []api.Message{message}}, nil
		}
		return result, err
	})
}

// errorMessage returns the bundler's message for a *failure.Error, which it carries.
func errorMessage(err error) (api.Message, bool) {
	var f *failure.Error
	if !errors.As(err, &f) {
		return api.Message{}, false
	}
	return api.Message{Text: f.Message, Detail: f}, true
}

// onLoad returns the content of a module. Errors: *failure.Error.
func (b *bundler) onLoad(a api.OnLoadArgs) (api.OnLoadResult, error) {
	file := a.Path
	switch a.Namespace {
	case "file":
		var ok bool
		if file, ok = b.path(a.Path); !ok {
			return api.OnLoadResult{}, errOutside
		}
		if isInPackage(file) && b.isDisabled(file) {
			return contents("", api.LoaderJS), nil
		}
	case "": // a module without a file that a field browser replaces by an empty one
		return contents("", api.LoaderJS), nil
	case nsPage:
		result, err := b.script(nsPage, file, []byte(b.inline[file].code), api.LoaderJS)
		result.ResolveDir = b.file(path.Dir(b.inline[file].file))
		return result, err
	case nsEmpty:
		return contents("module.exports = {}", api.LoaderJS), nil
	case nsPublic:
		return contents(file, api.LoaderText), nil
	case nsImportMap:
		name := quoteJSON(file)
		code := "export * from " + name + "; import * as all from " + name + "; export default all.default"
		return contents(code, api.LoaderJS), nil
	case nsWorker, nsShared, nsWorkerURL, nsStyle:
		if _, err := b.load(file); err != nil {
			return api.OnLoadResult{}, err
		}
		return b.nestedModule(a.Namespace, file)
	}
	data, err := b.load(file)
	if err != nil {
		return api.OnLoadResult{}, err
	}
	result, err := b.fileModule(a, file, data)
	result.ResolveDir = b.file(path.Dir(file))
	return result, err
}

func (b *bundler) fileModule(a api.OnLoadArgs, file string, data []byte) (api.OnLoadResult, error) {
	switch a.Namespace {
	case nsRaw:
		return contents(string(data), api.LoaderText), nil
	case nsURL:
		return contents(string(data), api.LoaderFile), nil
	case nsData:
		return contents(string(data), api.LoaderDataURL), nil
	case nsWasm:
		if !bytes.HasPrefix(data, []byte("\x00asm")) {
			return api.OnLoadResult{}, failf(failure.BuildFailed, "The file %s is not a WebAssembly module.", file)
		}
		return contents(`import url from `+quoteJSON("./"+path.Base(file)+"?url")+`;
export default async (imports = {}) => {
	try { return (await WebAssembly.instantiateStreaming(fetch(url), imports)).instance }
	catch { return (await WebAssembly.instantiate(await (await fetch(url)).arrayBuffer(), imports)).instance }
}`, api.LoaderJS), nil
	case nsComponent:
		return b.component(file, data)
	}
	return b.source(file, data, a.With)
}

// nestedModule returns a module whose value is a bundle of its own.
func (b *bundler) nestedModule(namespace, file string) (api.OnLoadResult, error) {
	entry, text, err := b.buildNested(file, namespace != nsStyle)
	if err != nil {
		return api.OnLoadResult{}, err
	}
	url := quoteJSON(entry.path)
	switch namespace {
	case nsStyle:
		return contents(string(text), api.LoaderText), nil
	case nsWorkerURL:
		return contents(entry.path, api.LoaderText), nil
	case nsShared:
		return contents("export default function (o) { return new SharedWorker("+url+", { name: o?.name }) }",
			api.LoaderJS), nil
	}
	return contents("export default function (o) { return new Worker("+url+", { name: o?.name }) }", api.LoaderJS), nil
}

// component returns a module with a React component that shows an SVG image. Its default export is the component, or
// the URL of the image in projects of Create React App.
func (b *bundler) component(file string, data []byte) (api.OnLoadResult, error) {
	broken := failf(failure.BuildFailed, "The file %s is not a valid SVG image.", file)
	d := xml.NewDecoder(strings.NewReader(string(data)))
	d.Strict = false
	for {
		token, err := d.Token()
		if err != nil {
			return api.OnLoadResult{}, broken
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		begin := d.InputOffset()
		end := int64(strings.LastIndex(string(data), "</"+root.Name.Local))
		if end < begin {
			end = begin
		}
		props := map[string]any{"dangerouslySetInnerHTML": map[string]string{"__html": string(data[begin:end])}}
		for _, a := range root.Attr {
			if name, value := reactAttribute(a); name != "" {
				props[name] = value
			}
		}
		text := `import { createElement, forwardRef } from "react";
const ReactComponent = forwardRef((props, ref) => createElement("svg", { ...` + quoteJSON(props) + `, ...props, ref }));
export { ReactComponent };
`
		if b.manifest.has("react-scripts") {
			text += `export { default } from ` + quoteJSON("./"+path.Base(file)+"?url")
		} else {
			text += `export default ReactComponent;`
		}
		return contents(text, api.LoaderJS), nil
	}
}

var dashed = regexp.MustCompile(`[-:]\w`)

// reactAttribute returns an attribute as React names it. Declarations of namespaces are left out.
func reactAttribute(a xml.Attr) (name string, value any) {
	name = a.Name.Local
	switch {
	case a.Name.Space == "xmlns" || name == "xmlns":
		return "", nil
	case name == "class":
		return "className", a.Value
	case name == "style":
		style := map[string]string{}
		for declaration := range strings.SplitSeq(a.Value, ";") {
			if property, value, ok := strings.Cut(declaration, ":"); ok {
				style[camelCase(strings.TrimSpace(property))] = strings.TrimSpace(value)
			}
		}
		return name, style
	case strings.HasPrefix(name, "data-"), strings.HasPrefix(name, "aria-"):
		return name, a.Value
	}
	return camelCase(name), a.Value
}

func camelCase(name string) string {
	return dashed.ReplaceAllStringFunc(name, func(s string) string { return strings.ToUpper(s[1:]) })
}

var loaders = map[string]api.Loader{
	".js": api.LoaderJSX, ".mjs": api.LoaderJSX, ".cjs": api.LoaderJSX, ".jsx": api.LoaderJSX, ".ts": api.LoaderTS,
	".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX, ".css": api.LoaderCSS, ".json": api.LoaderJSON,
}

// isCode reports whether a file is a script, a style sheet or JSON.
func isCode(file string) bool { return loaders[strings.ToLower(path.Ext(file))] != api.LoaderNone }

// needsCompiler are the extensions of files that only other tools can compile.
var needsCompiler = map[string]string{
	".scss": "Sass", ".sass": "Sass", ".less": "Less", ".styl": "Stylus", ".vue": "Vue", ".svelte": "Svelte",
	".astro": "Astro", ".mdx": "MDX", ".coffee": "CoffeeScript",
}

var tailwind = regexp.MustCompile(`@tailwind\s|@import\s+["']tailwindcss[/"']|@apply\s`)

// source returns a file with the loader of its extension.
func (b *bundler) source(name string, data []byte, with map[string]string) (api.OnLoadResult, error) {
	ext := strings.ToLower(path.Ext(name))
	if tool, ok := needsCompiler[ext]; ok {
		return api.OnLoadResult{}, failf(failure.FrameworkUnsupported, "The file %s needs the compiler of %s, and builds "+
			"run no other tools. Use CSS, JavaScript, TypeScript or JSX instead.", name, tool)
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
	if loader != api.LoaderFile && loader != api.LoaderText {
		data = trimBOM(data)
	}
	inPackage := isInPackage(name)
	switch {
	case slices.Contains([]api.Loader{api.LoaderFile, api.LoaderText, api.LoaderJSON}, loader):
		return contents(string(data), loader), nil
	case loader == api.LoaderCSS:
		if at := tailwind.FindIndex(data); at != nil && !inPackage {
			return api.OnLoadResult{Errors: []api.Message{b.messageAt("file", name, string(data), at[0],
				failf(failure.FrameworkUnsupported, "Tailwind CSS needs a build that runs its code, and this service executes "+
					"none. Remove this line and load Tailwind in the page instead: <script "+
					"src=\"https://cdn.jsdelivr.net/npm/@tailwindcss/browser@4\"></script>"))}}, nil
		}
		if strings.HasSuffix(strings.ToLower(name), ".module.css") {
			loader = api.LoaderLocalCSS
		}
		return contents(string(data), loader), nil
	case inPackage && loader == api.LoaderJSX && ext != ".jsx":
		loader = api.LoaderJS
	}
	return b.script("file", name, data, loader)
}

var (
	usesGlobal = regexp.MustCompile(`\bglobal\b`)
	isESModule = regexp.MustCompile(`(?m)^\s*(?:import|export)\b|[;}]\s*export\s*\{`)
)

// script returns a script, with the expressions of import.meta replaced. As in Vite, CommonJS modules can use the
// variable global, which browsers do not have.
func (b *bundler) script(namespace, name string, data []byte, loader api.Loader) (api.OnLoadResult, error) {
	options := api.TransformOptions{
		Loader: loader, TsconfigRaw: b.config.raw, Define: b.constants, LogLevel: api.LogLevelSilent,
	}
	file := name
	if namespace == nsPage {
		file = b.inline[name].file
	}
	r := metaRewriter{bundler: b, file: file, code: b.resolvePatterns(file, data), added: map[[2]string]string{}}
	if err := r.rewrite(options); err != nil {
		return api.OnLoadResult{Errors: []api.Message{b.messageAt(namespace, name, string(data), err.offset,
			err.Error)}}, nil
	}
	if isInPackage(file) && usesGlobal.Match(r.code) && !isESModule.Match(r.code) {
		replacing := options
		replacing.Define = map[string]string{"global": "globalThis"}
		if out := api.Transform(string(r.code), replacing); len(out.Errors) == 0 {
			r.code = out.Code
		}
	}
	if err := b.checkPatterns(file, r.code, options); err != nil {
		return api.OnLoadResult{}, err
	}
	result := contents(string(r.code), loader)
	if len(r.warnings) > 0 {
		text := string(data) // all warnings share it
		for _, w := range r.warnings {
			result.Warnings = append(result.Warnings, b.messageAt(namespace, name, text, w.offset, failf("", "%s", w.text)))
		}
	}
	return result, nil
}
