// Compilers bundles the compilers of builds, which are npm packages, for package engine. `make compilers` runs it. It
// needs npm. The same versions make the same bundles on every machine. A bundle is bytecode of the interpreter, so
// `make compilers` also has to run when its version in go.mod changes.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/klauspost/compress/zstd"
	"modernc.org/quickjs"

	"devplatform/shared/deployment/engine"
)

// names are the compilers. Each has an entry file.
var names = []string{"tailwind3", "tailwind4", "vue", "svelte", sass}

const (
	source = "infra/compilers"
	// cache is the folder in which npm installs the packages.
	cache    = ".build/compilers"
	target   = "shared/deployment/engine/compilers"
	licences = "infra/licences/COMPILERS.md"
)

func main() {
	err := install()
	if err == nil {
		err = run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compilers:", err)
		os.Exit(1)
	}
}

// run bundles the packages that install has installed, and writes the bundles and the list of their licences.
func run() error {
	packages := map[string]bool{}
	for _, name := range names {
		code, inputs, err := bundle(name)
		if err != nil {
			return err
		}
		for _, input := range inputs {
			if home := packageOf(input); home != "" {
				packages[home] = true
			}
		}
		data, err := bytecode(code)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := write(filepath.Join(target, name+".zst"), data); err != nil {
			return err
		}
	}
	version, err := interpreter()
	if err == nil {
		err = write(filepath.Join(target, "VERSION"), []byte(version+"\n"))
	}
	if err != nil {
		return err
	}
	text, err := listLicences(packages)
	if err != nil {
		return err
	}
	return write(licences, text)
}

// install copies the sources to the cache, and installs the packages of the lock file there.
func install() error {
	files, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); ext != ".js" && ext != ".json" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(source, f.Name()))
		if err == nil {
			err = write(filepath.Join(cache, f.Name()), data)
		}
		if err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund") //nolint:noctx // a tool
	npm.Dir = cache
	npm.Stderr = os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm ci: %w", err)
	}
	return nil
}

// nodeModules are replacements of modules that the compilers import. A replacement has only what the compilers use.
var nodeModules = map[string]string{
	"fs": `import preflight from "tailwindcss3/lib/css/preflight.css"; export const readFileSync = () => preflight;
		export default { readFileSync }`,
	"process": "module.exports = globalThis.process", "crypto": "", "os": "", "url": "", "util": "", "v8": "",
	// Packages that the compilers use only for what builds do themselves.
	"fast-glob": "", "jiti": "", "read-cache": "", "resolve": "", "source-map-js": "", "sucrase": "",
	// The compiler of Vue cannot be asked to make no source maps.
	"vue-source-map-js": `const none = { add() {} }; export class SourceMapGenerator {
		_sources = none; _mappings = none; _names = new Set(); setSourceContent() {} toJSON() {} }`,
	"vue-url": `export const parse = (text) => { const at = (text + "#").indexOf("#")
		return { path: text.slice(0, at), hash: text.slice(at) } }`,
	"vue-util": `export const deprecate = (f) => f`,
	"picocolors": `const same = (text) => text; module.exports = { red: same, bold: same, gray: same, dim: same,
		cyan: same, yellow: same, magenta: same, green: same, createColors: () => module.exports }`,
}

// sass is the compiler of Sass. Short identifiers make it start faster, because it is several times as large as the
// others.
const sass = "sass"

// constants returns the values that replace expressions in the code of a compiler.
func constants(name string) map[string]string {
	values := map[string]string{
		"process.env.NODE_ENV": `"production"`, "process.env.DEBUG": "undefined", "process.env.OXIDE": "undefined",
		"process.env.JEST_WORKER_ID": "undefined", "__dirname": `"/"`, "__OXIDE__": "false",
	}
	if name == sass {
		values["process"] = "undefined" // otherwise it needs modules of Node.js
	}
	return values
}

// bundle returns the code of a compiler, and the files from which it was bundled.
func bundle(name string) (code []byte, inputs []string, err error) {
	dir, err := filepath.Abs(cache)
	if err != nil {
		return nil, nil, err
	}
	out := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, EntryPoints: []string{name + ".js"}, Bundle: true, Format: api.FormatIIFE,
		Platform: api.PlatformBrowser, Target: api.ES2023, Metafile: true, MinifySyntax: true, MinifyWhitespace: true,
		MinifyIdentifiers: name == sass, LegalComments: api.LegalCommentsNone,
		Loader: map[string]api.Loader{".css": api.LoaderText},
		Alias: map[string]string{
			"path": "path-browserify",
			// The modules for browsers need a document.
			"@vue/compiler-core": "@vue/compiler-core/dist/compiler-core.cjs.prod.js",
			"@vue/compiler-dom":  "@vue/compiler-dom/dist/compiler-dom.cjs.prod.js",
			"@vue/compiler-ssr":  "@vue/compiler-ssr/dist/compiler-ssr.cjs.js",
			"@vue/shared":        "@vue/shared/dist/shared.cjs.prod.js",
		},
		Define: constants(name),
		Plugins: []api.Plugin{{Name: "node", Setup: func(b api.PluginBuild) {
			b.OnResolve(api.OnResolveOptions{Filter: `^[a-z0-9-]+$`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				if vue := "vue-" + a.Path; nodeModules[vue] != "" && strings.Contains(a.Importer, "@vue") {
					a.Path = vue
				}
				if _, ok := nodeModules[a.Path]; !ok {
					return api.OnResolveResult{}, nil
				}
				return api.OnResolveResult{Path: a.Path, Namespace: "node"}, nil
			})
			b.OnResolve(api.OnResolveOptions{Filter: `^[a-z]`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				_, err := os.Stat(filepath.Join(dir, "node_modules", a.Path))
				isUnused := err != nil && strings.HasSuffix(a.Importer, "compiler-sfc.cjs.js") && a.Path != "path"
				return api.OnResolveResult{External: isUnused}, nil // a language of templates that is not installed
			})
			b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "node"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				text := nodeModules[a.Path]
				return api.OnLoadResult{Contents: &text, ResolveDir: dir}, nil
			})
		}}},
	})
	if len(out.Errors) > 0 {
		return nil, nil, fmt.Errorf("%s: %v", name, api.FormatMessages(out.Errors, api.FormatMessagesOptions{}))
	}
	var meta struct {
		Inputs map[string]any `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(out.Metafile), &meta); err != nil {
		return nil, nil, err //nolint:wrapcheck // cannot happen
	}
	return out.OutputFiles[0].Contents, slices.Collect(maps.Keys(meta.Inputs)), nil
}

// packageOf returns the folder of the package of a file, or "".
func packageOf(file string) string {
	_, rest, ok := strings.Cut(file, "node_modules/")
	if !ok {
		return ""
	}
	if i := strings.LastIndex(rest, "node_modules/"); i >= 0 {
		return rest[:i] + "node_modules/" + packageOf(rest[i:])
	}
	n := 1 + strings.Count(rest[:1], "@")
	return strings.Join(strings.Split(rest, "/")[:n], "/")
}

// bytecode returns a program as compressed bytecode.
func bytecode(code []byte) ([]byte, error) {
	if bytes.Count(code, []byte("\n")) >= engine.CompilerLines {
		return nil, errors.New("the bundle has too many lines")
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err //nolint:wrapcheck // names the interpreter
	}
	defer func() { _ = vm.Close() }()
	data, err := vm.Compile(string(code), quickjs.EvalGlobal)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the place
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstd.MaxWindowSize>>4))
	if err != nil {
		return nil, err //nolint:wrapcheck // cannot happen
	}
	return w.EncodeAll(data, nil), w.Close()
}

// interpreter returns the version of the interpreter.
func interpreter() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "modernc.org/libquickjs" {
				return module.Version, nil
			}
		}
	}
	return "", errors.New("the version of the interpreter is not known")
}

const introduction = `# Licences of the compilers

This page lists the npm packages in the compilers that builds run, with their licences. ` + "`make compilers`" + ` generates it.
`

// listLicences returns the list of the licences of packages, with their texts.
func listLicences(packages map[string]bool) ([]byte, error) {
	table, texts := "\n| package | version | licence |\n|---|---|---|\n", ""
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		home := filepath.Join(cache, "node_modules", name)
		var manifest struct{ Name, Version, License string }
		data, err := os.ReadFile(filepath.Join(home, "package.json"))
		if err == nil {
			err = json.Unmarshal(data, &manifest)
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // names the file
		}
		if !slices.Contains([]string{"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}, manifest.License) {
			return nil, fmt.Errorf("the licence of %s is %q", name, manifest.License)
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", manifest.Name, manifest.Version, manifest.License)
		files, _ := filepath.Glob(filepath.Join(home, "[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			texts += fmt.Sprintf("\n## %s %s\n\n```\n%s\n```\n", manifest.Name, manifest.Version, bytes.TrimSpace(text))
		}
	}
	return []byte(introduction + table + texts), nil
}

func write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600) //nolint:gosec // the path is a constant; names the file
}
