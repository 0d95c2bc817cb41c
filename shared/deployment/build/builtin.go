package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// builtins are the modules of Node.js. The value says whether npm has a package with the same name that does the same
// in browsers.
var builtins = func() map[string]bool {
	all := wordSet(`async_hooks child_process cluster crypto dgram diagnostics_channel dns domain fs http http2 https
		inspector module net os perf_hooks readline repl sys timers tls trace_events tty v8 vm wasi worker_threads zlib`)
	for name := range all {
		all[name] = false
	}
	maps.Copy(all, wordSet(`assert buffer console constants events path process punycode querystring stream
		string_decoder url util`))
	return all
}()

// isBuiltin reports whether a specifier means a module of Node.js, if no package has its name. A slash at the end means
// the package.
func isBuiltin(spec string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(spec, "node:"), "/")
	_, ok := builtins[name]
	return ok && !strings.HasSuffix(spec, "/")
}

// builtin handles a module of Node.js. A package with the same name wins. Otherwise, in packages, modules without an
// equivalent in browsers are empty, because packages often import one that they do not need there.
func (b *bundler) builtin(pb api.PluginBuild, ref reference) (api.OnResolveResult, error) {
	spec := strings.TrimPrefix(ref.spec, "node:")
	if found, ok := b.find(pb, ref, spec, ref.dir); ok {
		if spec == ref.spec {
			return unchanged, nil // it may be replaced by the field browser of the package
		}
		return b.module(ref, found)
	}
	name, _, _ := strings.Cut(spec, "/")
	if !isInPackage(ref.importer) {
		return unchanged, b.missing(ref.importer, ref.spec)
	}
	if builtins[name] {
		if spec == ref.spec {
			return unchanged, nil // an error, unless the package handles it
		}
		return unchanged, b.missing(ref.importer, ref.spec)
	}
	_, importer := packageOf(ref.importer)
	b.warn(fmt.Sprintf("The package %q imports %q, a module of Node.js that browsers do not have. It is empty in the "+
		"bundle, so what needs it fails.", importer, name))
	return api.OnResolveResult{Path: ref.spec, Namespace: nsEmpty}, nil
}

// disabled is the part of a field browser that replaces modules by empty ones: packages, and paths of files. The
// bundler does not tell the plugin that a module is replaced.
type disabled map[string]bool

// disabledBy returns the modules that the nearest field browser above a file of a package replaces.
func (b *bundler) disabledBy(file string) disabled {
	home, _ := packageOf(file)
	dir := path.Dir(file)
	if known, ok := b.disabled.Load(dir); ok {
		return known.(disabled) //nolint:forcetypeassert // the map has no other values
	}
	found := disabled{}
	for folder := dir; within(home, folder); folder = path.Dir(folder) {
		data, err := b.read(folder + manifestPath)
		var m struct{ Browser json.RawMessage }
		var all map[string]any
		if err != nil || json.Unmarshal(trimBOM(data), &m) != nil || json.Unmarshal(m.Browser, &all) != nil {
			continue
		}
		for name, to := range all {
			if to != false {
				continue
			}
			if strings.HasPrefix(name, "./") {
				name = path.Join(folder, name)
			}
			found[name] = true
		}
		break
	}
	b.disabled.Store(dir, found)
	return found
}

// isDisabled reports whether the package of a file replaces the file by an empty module.
func (b *bundler) isDisabled(file string) bool {
	for name := range b.disabledBy(file) {
		if name == file || strings.HasPrefix(name, "/") && (withoutExtension(name) == withoutExtension(file) ||
			withoutExtension(file) == name+"/index") {
			return true
		}
	}
	return false
}

// withoutExtension returns the path of a file without the extension of a script.
func withoutExtension(file string) string {
	if ext := path.Ext(file); loaders[ext] != api.LoaderNone {
		return strings.TrimSuffix(file, ext)
	}
	return file
}
