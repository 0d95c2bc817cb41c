package build

import (
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/tree"
)

// builtins are the modules of Node.js that have no equivalent in browsers. packagedBuiltins are the modules of Node.js
// that an npm package with the same name replaces.
var (
	builtins = wordSet(`async_hooks child_process cluster crypto dgram diagnostics_channel dns domain fs http http2 https
		inspector module net os perf_hooks readline repl sys timers tls trace_events tty v8 vm wasi worker_threads zlib`)
	packagedBuiltins = wordSet("assert buffer console constants events path process punycode querystring stream " +
		"string_decoder url util")
)

// isBuiltin reports whether a specifier means a module of Node.js, if no package has its name. A slash at the end means
// the package.
func isBuiltin(spec string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(spec, "node:"), "/")
	return (builtins[name] || packagedBuiltins[name]) && !strings.HasSuffix(spec, "/")
}

// builtin handles a module of Node.js. A package with the same name wins. Otherwise, in packages, modules without an
// equivalent in browsers are empty, because packages often import one that they do not need there.
func (b *bundler) builtin(pb api.PluginBuild, ref reference) (api.OnResolveResult, error) {
	bare := strings.TrimPrefix(ref.spec, "node:")
	for _, spec := range []string{ref.spec, bare} { // the field browser can replace both
		if found, ok := b.find(pb, ref, spec, ref.dir); ok {
			return b.module(ref, found)
		}
	}
	name, _, _ := strings.Cut(bare, "/")
	switch {
	case name == "process":
		return api.OnResolveResult{Path: "/process", Namespace: nsGlobal}, nil
	case !tree.IsInPackage(ref.importer), packagedBuiltins[name] && bare != ref.spec:
		return noResult, b.errMissing(ref.importer, ref.spec)
	case packagedBuiltins[name]:
		return noResult, nil // an error, unless the package handles it
	}
	_, importer := tree.PackageOf(ref.importer)
	b.warn(fmt.Sprintf("The package %q imports %q, a module of Node.js that browsers do not have. It is empty in the "+
		"bundle, so what needs it fails.", importer, name))
	return api.OnResolveResult{Path: ref.spec, Namespace: nsEmpty}, nil
}
