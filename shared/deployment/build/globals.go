package build

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// global is a variable that scripts use without importing it.
type global struct {
	code  string // of the module that exports it
	needs string // the package without which the variable does not exist
	// use matches what may be a use, other than a use that the constants of a build replace. It begins with plain text, so
	// that it is fast.
	use *regexp.Regexp
}

var globals = map[string]global{
	// Many packages of npm were written for the value that browserify and webpack 4 gave to process.
	"process": {`const none = () => {};
const process = module.exports = {
	title: "browser", browser: true, env: { NODE_ENV: "production" }, argv: [], version: "", versions: {}, release: {},
	platform: "browser", nextTick: (f, ...a) => queueMicrotask(() => f(...a)), cwd: () => "/", umask: () => 0,
	hrtime: () => [Math.floor(performance.now() / 1e3), 0], on: none, once: none, off: none, emit: none, addListener: none,
	removeListener: none, removeAllListeners: none, listeners: () => [],
};
process.process = process;`, "", regexp.MustCompile(`process\b(?:[^.]|\.(?:[^e]|e[^n]))`)},
	"React":  {`import * as React from "react"; export { React };`, "react", regexp.MustCompile(`React\.`)},
	"Buffer": {`export { Buffer } from "buffer/";`, "buffer", regexp.MustCompile(`Buffer\b`)},
}

// addGlobals returns the code of a script with imports of the variables that it uses but does not declare. Scripts that
// check whether a variable exists can do without it.
func (b *bundler) addGlobals(s script, options api.TransformOptions) []byte {
	const mark = "__deployment_"
	options.Define = map[string]string{}
	for name, g := range globals {
		if g.use.Match(s.code) && !bytes.Contains(s.code, []byte("typeof "+name)) &&
			(g.needs == "" || b.tree.HasFolder(tree.PackageFolder+g.needs)) &&
			(name != "React" || !tree.IsInPackage(s.file)) { // packages import it, and many use it
			options.Define[name] = mark + name
		}
	}
	if len(options.Define) == 0 {
		return s.code
	}
	replaced := api.Transform(string(s.code), options).Code // esbuild replaces variables that the script does not declare
	for _, name := range slices.Sorted(maps.Keys(options.Define)) {
		switch spec := constant.Quote(nsGlobal + ":" + name); {
		case !bytes.Contains(replaced, []byte(mark+name)):
		case usesModules.Match(s.code):
			s.code = fmt.Appendf(slices.Clip(s.code), "\n;import { %s } from %s;", name, spec)
		default:
			s.code = slices.Concat(fmt.Appendf(nil, "var %s = require(%s).%s;", name, spec, name), s.code)
		}
	}
	return s.code
}

// publicVariable matches a use of a public variable, bufferUse a use of Buffer, and bufferCheck code that imports
// Buffer or checks whether it exists.
var (
	publicVariable = regexp.MustCompile(`\.env\.((?:VITE|REACT_APP)_\w+)`)
	bufferUse      = regexp.MustCompile(`Buffer\.(?:from|alloc|concat|isBuffer)\(`)
	bufferCheck    = regexp.MustCompile(`typeof Buffer\b|["']buffer/?["']`)
)

// warnUses adds warnings about uses of variables that do not exist, and of directives of Vue in JSX.
func (b *bundler) warnUses(s script) {
	at := bufferUse.FindIndex(s.code)
	if at != nil && (bufferCheck.Match(s.code) || b.tree.HasFolder("/node_modules/buffer")) {
		at = nil
	}
	const remedy = "which browsers do not have. Add the npm package buffer to dependencies in /package.json."
	if tree.IsInPackage(s.file) {
		if _, name := tree.PackageOf(s.file); at != nil {
			b.warn(fmt.Sprintf("The package %q uses Buffer, %s", name, remedy))
		}
		return
	}
	if at != nil {
		b.warn(lineAt(s.at(at[0], failf("", "The script uses Buffer, %s", remedy))))
	}
	if m := vueDirective.FindSubmatchIndex(s.code); m != nil && b.isVue() && strings.HasSuffix(path.Ext(s.file), "x") {
		b.warn(lineAt(s.at(m[2], failf("", "%s has no effect in JSX without the plugin vue-jsx, and builds run no plugins. "+
			"Use the properties and events of the component, such as modelValue and onUpdate:modelValue.", s.code[m[2]:m[3]]))))
	}
	for _, m := range publicVariable.FindAllSubmatchIndex(s.code, -1) {
		name := string(s.code[m[2]:m[3]])
		if _, ok := b.env[name]; !ok {
			b.warn(lineAt(s.at(m[0], errNoValue(name))))
		}
	}
}

// vueDirective matches a directive of Vue in an element of JSX. Its group is the directive.
var vueDirective = regexp.MustCompile(`<[\w.]+\s[^<>]*?\b(v-(?:model|slots|show|html|text)(?::[\w-]+)?)\s*=`)

func errNoValue(variable string) *failure.Error {
	return failf("", "The variable %s has no value. Set it in the variables of the project or in /.env.", variable)
}
