package build

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment/tree"

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sass"
)

// bundled is the result of the bundler.
type bundled struct {
	files   map[string][]byte       // with hashed names
	entries map[string]bundledEntry // by key of the entry
	inputs  map[string]bool         // files of the project that are in the bundle
}

// bundledEntry is the output of an entry.
type bundledEntry struct {
	path   string
	styles string // path of the style sheet of the script and of its dynamic imports, or ""
	text   string // of an inline style sheet, which has no path
}

// bundle runs esbuild on the entries of the pages. Errors: *failure.Error.
func bundle(p *project, s *pages) (*bundled, error) {
	b := &bundler{
		state: &state{
			project: p, importMap: s.imports, used: usage{}, nested: make(chan struct{}, 2), tailwind: new(tailwindCSS),
			result: &bundled{files: map[string][]byte{}, inputs: map[string]bool{}},
		},
		inline: map[string]entry{}, entries: map[string]string{},
	}
	defer b.tailwind.close()
	b.sass = sass.New(sassProject{b})
	defer b.sass.Close()
	b.barrels = sync.OnceValue(p.findBarrelUse)
	b.components = component.New(componentProject{b}, p.svelte)
	defer b.components.Close()
	points := b.entryPoints(s)
	if len(points) == 0 {
		return b.result, nil
	}
	entries, files, err := b.build(b.options(points))
	if err == nil {
		err = b.used.check()
	}
	if err != nil {
		return nil, err
	}
	b.result.entries = entries
	b.publish(files)
	for key, e := range b.inline {
		if e.isStyle() {
			name := entries[key].path
			entries[key] = bundledEntry{text: string(bytes.TrimSpace(files[name]))}
			delete(b.result.files, name)
		}
	}
	return b.result, nil
}

// bundler runs esbuild once: for the pages, or for a module that is a bundle of its own, such as a worker.
type bundler struct {
	*state

	inline  map[string]entry  // inline scripts and style sheets by key
	entries map[string]string // keys of entries by entry point
	nesting []string          // the files whose bundles contain this one
	isBlob  bool              // whether the bundle is an inline worker, whose URL is not one of the site
	pb      api.PluginBuild
}

// state is shared by the bundler of the pages and the bundlers of nested bundles.
type state struct {
	*project

	components *component.Compilers
	sass       *sass.Compiler
	barrels    func() barrelUse

	importMap []string      // keys of import maps
	nested    chan struct{} // limits the nested bundles that run at the same time
	bundles   atomic.Int64  // number of nested bundles
	tailwind  *tailwindCSS
	sheets    sync.Map // what style sheets of the project use, by path

	mu       sync.Mutex
	patterns []string // of imports with computed paths
	used     usage
	result   *bundled
}

// build runs the bundler once, and logs its warnings. It returns the entries by key, and the files by path. Errors:
// *failure.Error.
func (b *bundler) build(o api.BuildOptions) (map[string]bundledEntry, map[string][]byte, error) {
	run := api.Build(o)
	if err := b.failure(run.Errors); err != nil {
		return nil, nil, err
	}
	var m metafile
	if err := json.Unmarshal([]byte(run.Metafile), &m, tree.JSON); err != nil {
		return nil, nil, fmt.Errorf("read the bundler's report: %w", err)
	}
	b.logWarnings(run.Warnings)
	files := map[string][]byte{}
	for _, f := range run.OutputFiles {
		if name, ok := b.path(f.Path); ok {
			files[name] = f.Contents
		}
	}
	return b.entriesOf(m), files, nil
}

// publish adds the files of a run to the result.
func (b *bundler) publish(files map[string][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.result.files, files)
}

// note adds a line to the log, once.
func (s *state) note(text string) { s.log(&s.notes, text) }
func (s *state) warn(text string) { s.log(&s.warnings, text) }

func (s *state) log(to *lines, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.addOnce(text)
}

// maxNested is the number of nested bundles in a build.
const maxNested = 100

// buildNested bundles a script or a style sheet into one file without imports. kind is the kind of the module that uses
// the bundle. Errors:
// *failure.Error.
func (b *bundler) buildNested(file, kind string) (e bundledEntry, text []byte, err error) {
	switch {
	case slices.Contains(b.nesting, file):
		return e, nil, failf(failure.BuildFailed, "The worker %s starts itself, directly or through other workers. Move "+
			"its script to /public, and use its path.", file)
	case b.bundles.Add(1) > maxNested:
		return e, nil, failf(failure.BuildFailed, "The project starts more than %d workers. Combine some of them.", maxNested)
	case len(b.nesting) == 0:
		b.nested <- struct{}{}
		defer func() { <-b.nested }()
	}
	const point = "nested:0"
	n := &bundler{state: b.state, entries: map[string]string{point: file}, nesting: append(slices.Clone(b.nesting), file)}
	o := n.options([]api.EntryPoint{{InputPath: point, OutputPath: outputName(file)}})
	o.Splitting = false
	if kind != kindInline {
		o.Format = api.FormatIIFE
		o.Define = maps.Clone(b.constants)
		o.Define["import.meta.url"] = "self.location.href"
		if n.isBlob = kind == kindInlineWorker; n.isBlob {
			o.Define["import.meta.url"] = "self.location.origin"
		}
	}
	entries, files, err := n.build(o)
	if err != nil {
		return e, nil, err
	}
	e = entries[file]
	text = files[e.path]
	if kind == kindInline || n.isBlob {
		delete(files, e.path)
	}
	b.publish(files)
	return e, text, nil
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// entryPoints returns the bundler's entry points: each script and style sheet of the pages once. The input
// paths are keys instead of paths, because esbuild would read a * in a path as a pattern.
func (b *bundler) entryPoints(s *pages) (points []api.EntryPoint) {
	keys := map[string]bool{}
	for _, page := range s.pages {
		for _, e := range page.entries {
			if e.isInline() {
				b.inline[e.key()] = e
			}
			if e.file != "" {
				keys[e.key()] = true
			}
		}
	}
	for i, key := range slices.Sorted(maps.Keys(keys)) {
		point := fmt.Sprintf("entry:%d", i)
		b.entries[point] = key
		file, _, _ := strings.Cut(key, "?")
		name := outputName(file)
		if b.inline[key].isStyle() {
			name += "~" // the output is not published, so it must not be the output of another entry
		}
		points = append(points, api.EntryPoint{InputPath: point, OutputPath: name})
	}
	return points
}

// outputName returns the name of the output of an entry, without the hash.
func outputName(file string) string {
	name := unsafeName.ReplaceAllString(strings.TrimSuffix(path.Base(file), path.Ext(file)), "_")
	return cmp.Or(strings.Trim(name, "."), "_")
}

func (b *bundler) options(points []api.EntryPoint) api.BuildOptions {
	o := api.BuildOptions{
		EntryPointsAdvanced: points, AbsWorkingDir: b.dir, Outdir: b.dir, PublicPath: "/",
		Bundle: true, Splitting: true, Write: false, Metafile: true,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Format: api.FormatESModule, Platform: api.PlatformBrowser, Charset: api.CharsetUTF8,
		Engines: b.engines, Supported: map[string]bool{"top-level-await": true},
		EntryNames: "assets/[name]-[hash]", ChunkNames: "assets/[name]-[hash]", AssetNames: "assets/[name]-[hash]",
		Conditions: []string{"module", "production"}, ResolveExtensions: extensions,
		Define: b.constants, TsconfigRaw: b.tsconfig, Alias: b.packages, PreserveSymlinks: true,
		LogLevel: api.LogLevelSilent, Color: api.ColorNever, LogOverride: map[string]api.LogLevel{
			"unsupported-dynamic-import": api.LogLevelWarning, "unsupported-require-call": api.LogLevelWarning,
		},
		Plugins: []api.Plugin{{Name: "build", Setup: b.setup}},
	}
	if b.manifest.has("svelte") { // packages have components as sources
		o.Conditions = append(o.Conditions, "svelte")
		o.MainFields = []string{"svelte", "browser", "module", "main"}
	}
	return o
}

var extensions = []string{".tsx", ".ts", ".jsx", ".mjs", ".js", ".cjs", ".css", ".json", ".mts", ".cts"}

// metafile is the part of the bundler's report that is used.
type metafile struct {
	Outputs map[string]struct {
		EntryPoint string `json:"entryPoint"`
		CSSBundle  string `json:"cssBundle"`
	} `json:"outputs"`
}

// namespaced matches the name of an input that is not a file, such as "raw:/src/a.svg".
var namespaced = regexp.MustCompile(`^([a-z-]+):(/.*)$`)

// entriesOf returns the outputs of the entries.
func (b *bundler) entriesOf(m metafile) map[string]bundledEntry {
	entries := map[string]bundledEntry{}
	for name, o := range m.Outputs {
		if o.EntryPoint == "" {
			continue
		}
		key := "/" + o.EntryPoint
		if in := namespaced.FindStringSubmatch(o.EntryPoint); in != nil {
			key = in[2]
		}
		e := bundledEntry{path: "/" + name}
		if o.CSSBundle != "" {
			e.styles = "/" + o.CSSBundle
		}
		entries[key] = e
	}
	return entries
}
