package build

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/engine"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// loadModule bundles and evaluates a configuration or a plugin. It returns a JSON object for the compiler with the
// path, the folder and the key of the module. Errors: *failure.Error; the errors of package engine.
func (t *tailwindCSS) loadModule(id, base string) (string, error) {
	key := base + "\n" + id
	if answer := t.modules[key]; answer != "" {
		return answer, nil
	}
	b := &bundler{buildState: t.b.buildState}
	spec, folder := id, base
	if strings.HasPrefix(id, "/") {
		spec, folder = "."+id, "/"
	}
	code := fmt.Sprintf("import * as all from %s; globalThis.modules[%s] = () => all",
		constant.Quote(spec), constant.Quote(key))
	var entry string // the file of the module
	run := api.Build(api.BuildOptions{
		Stdin:         &api.StdinOptions{Contents: code, ResolveDir: b.file(folder)},
		AbsWorkingDir: b.dir, Outdir: b.dir, Bundle: true, Write: false,
		Format: api.FormatIIFE, Platform: api.PlatformBrowser, Target: api.ES2022, Charset: api.CharsetUTF8,
		Conditions: []string{"module", "production"}, ResolveExtensions: extensions, TsconfigRaw: b.tsconfig,
		PreserveSymlinks: true,
		Sourcemap:        api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		LogLevel: api.LogLevelSilent, Color: api.ColorNever,
		Define: map[string]string{
			"__dirname": `"/"`, "__filename": constant.Quote(id), "import.meta.dirname": `"/"`,
			"import.meta.url": constant.Quote("file:///"), "process.env.NODE_ENV": `"production"`,
		},
		Plugins: []api.Plugin{{Name: "module", Setup: func(pb api.PluginBuild) {
			register(pb, func(pb api.PluginBuild, a api.OnResolveArgs) (api.OnResolveResult, error) {
				return b.resolveModule(pb, a, &entry)
			}, b.loadCode)
		}}},
	})
	if err := b.failure(run.Errors); err != nil {
		if f, ok := errors.AsType[*failure.Error](err); ok && f.Path == "/<stdin>" {
			err = failf(f.Code, "%s", f.Message)
		}
		return "", err
	}
	var source, sourceMap []byte
	for _, f := range run.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			sourceMap = f.Contents
		} else {
			source = f.Contents
		}
	}
	if err := t.engine.Load(string(source), sourceMap); err != nil {
		return "", err
	}
	answer := constant.Quote(map[string]string{"path": entry, "base": path.Dir(entry), "key": key})
	t.modules[key] = answer
	return answer, nil
}

// The namespaces of modules of a configuration that are not files.
const (
	nsBuiltin    = "builtin" // a module that the engine has
	nsNodeModule = "node"    // a module of Node.js in a package, which fails if it runs
)

// engineModules matches the modules that the engine has.
var engineModules = regexp.MustCompile(`^(?:tailwindcss(?:/.*)?|(?:node:)?path(?:/posix)?|postcss)$`)

// resolveModule handles an import of a configuration. It sets entry to the file of the configuration itself. Errors:
// *failure.Error.
func (b *bundler) resolveModule(pb api.PluginBuild, a api.OnResolveArgs, entry *string) (api.OnResolveResult, error) {
	if _, isOwn := a.PluginData.(askedByPlugin); isOwn {
		return noResult, nil
	}
	ref := reference{dir: a.ResolveDir, spec: a.Path, kind: a.Kind}
	var ok bool
	if ref.importer, ok = b.path(a.Importer); !ok {
		name, _ := b.path(a.ResolveDir + "/")
		ref.importer = b.tailwind.importer(path.Join("/", name))
	}
	isEngineModule := engineModules.MatchString(a.Path)
	if isEngineModule || isBuiltin(a.Path) {
		if found, ok := b.find(pb, ref, a.Path, ref.dir); ok && !strings.HasPrefix(a.Path, "tailwindcss") {
			return b.module(ref, found)
		}
		switch {
		case isEngineModule:
			name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(a.Path, "node:"), ".js"), "/posix")
			return api.OnResolveResult{Path: name, Namespace: nsBuiltin}, nil
		case tree.IsInPackage(ref.importer):
			return api.OnResolveResult{Path: a.Path, Namespace: nsNodeModule}, nil
		}
		return noResult, failf(failure.BuildFailed, "%s is a module of Node.js, and a configuration can use only path. "+
			"Remove the import.", quote(a.Path))
	}
	if a.Importer == "<stdin>" {
		if _, ok := join(path.Dir(ref.importer), a.Path); isRelative(a.Path) && !ok {
			return noResult, errLeavesProject(a.Path)
		}
		found, ok := b.find(pb, ref, a.Path, ref.dir)
		if !ok {
			return noResult, b.errMissing(ref.importer, a.Path)
		}
		if tree.IsInPackage(ref.importer) && !tree.IsInPackage(found.file) {
			return noResult, errLeavesPackage(ref.importer)
		}
		*entry = found.file
		return api.OnResolveResult{Path: b.file(found.file)}, nil
	}
	return b.onResolve(pb, a)
}

// loadCode returns the content of a module of a configuration. Errors: *failure.Error.
func (b *bundler) loadCode(a api.OnLoadArgs) (api.OnLoadResult, error) {
	switch a.Namespace {
	case nsBuiltin:
		return contents("module.exports = globalThis.builtins["+constant.Quote(a.Path)+"] ?? "+
			throws("The module "+a.Path+" is not available.")+"()", api.LoaderJS), nil
	case nsNodeModule:
		return contents(throws(a.Path+" is a module of Node.js, and a configuration can use only path.")+"()", api.LoaderJS),
			nil
	case nsEmpty:
		return contents("", api.LoaderJS), nil
	case "file":
	default:
		return api.OnLoadResult{}, failf(failure.BuildFailed, "A configuration can import scripts and JSON only.")
	}
	file, isInside := b.path(a.Path)
	if !isInside {
		return api.OnLoadResult{}, errOutside
	}
	data, err := b.load(file)
	loader, ok := loaders[strings.ToLower(path.Ext(file))]
	switch {
	case err != nil:
		return api.OnLoadResult{}, err
	case !ok || loader == api.LoaderCSS:
		return api.OnLoadResult{}, failf(failure.BuildFailed, "A configuration can import scripts and JSON only.")
	}
	result := contents(string(trimBOM(data)), loader)
	result.ResolveDir = b.file(path.Dir(file))
	return result, nil
}

func throws(message string) string {
	return "(() => { throw new Error(" + constant.Quote(message) + ") })"
}

var (
	// placedMessage matches the message of an error of PostCSS.
	placedMessage = regexp.MustCompile(`(?s)^(?:\w*Error: )?(/[^:\n]*):(\d+):(\d+): (.*)`)
	quotedName    = regexp.MustCompile("`([^`\n]+)`")
	// errorName matches the name before a message of Tailwind CSS or PostCSS. Names such as TypeError stay.
	errorName = regexp.MustCompile(`^(?:CssSyntax)?Error: `)
)

// failure returns the error of a style sheet for the owners of the project.
func (t *tailwindCSS) failure(err error) error {
	if t.loadErr != nil {
		err = t.loadErr
	}
	refusal, isRefusal := errors.AsType[*failure.Error](err)
	thrown, isThrown := errors.AsType[*engine.Error](err)
	at := func(f *failure.Error, text string) error { // the place of a text, or the beginning of the style sheet
		offset := max(strings.Index(string(t.sheet.code), text), 0)
		if i := usesTailwind.FindIndex(t.sheet.code); offset == 0 && i != nil {
			offset = i[0]
		}
		return t.sheet.at(offset, f)
	}
	limit := func(what string) error {
		return at(failf(failure.BuildFailed, "Tailwind CSS with its configuration and plugins %s. Make the configuration "+
			"simpler, or name fewer files in it.", what), "")
	}
	switch {
	case errors.Is(err, engine.ErrTime):
		return limit(fmt.Sprintf("takes longer than %d seconds", int(maxEngineTime.Seconds())))
	case errors.Is(err, engine.ErrMemory):
		return limit("needs more than 256 MiB of memory")
	case errors.Is(err, engine.ErrNesting):
		return limit("has calls that are nested too deeply")
	case isRefusal && refusal.Path == "":
		return at(refusal, t.loadErrID)
	case isRefusal:
		return refusal
	case !isThrown:
		return err
	}
	message, _, _ := strings.Cut(thrown.Message, "\n") // the code around the place follows
	f := failf(failure.BuildFailed, "%s", failure.Sentence(t.b.withoutInternalNames(errorName.ReplaceAllString(message, ""))))
	if m := placedMessage.FindStringSubmatch(message); m != nil {
		f.Path, f.Message = m[1], failure.Sentence(m[4])
		_, _ = fmt.Sscan(m[2]+" "+m[3], &f.Line, &f.Column)
		switch lines := bytes.SplitAfterN(t.sheet.code, []byte("\n"), f.Line+1); {
		case f.Path != t.sheet.file:
		case t.sheet.source == nil:
			f.Line += t.sheet.line - 1
		case len(lines) >= f.Line && f.Line > 0: // the line of the CSS
			return t.sheet.at(len(bytes.Join(lines[:f.Line-1], nil))+f.Column-1, f)
		}
		return f
	}
	if thrown.File != "" {
		f.Path, f.Line, f.Column = "/"+strings.TrimPrefix(path.Clean(thrown.File), "/"), thrown.Line, thrown.Column
		return f
	}
	text := ""
	if m := quotedName.FindStringSubmatch(f.Message); m != nil {
		text = m[1]
	}
	return at(f, text)
}
