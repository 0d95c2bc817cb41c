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

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sass"
	"devplatform/shared/deployment/tree"
)

// bundleResult is the result of the bundler.
type bundleResult struct {
	files   map[string][]byte      // with hashed names
	entries map[string]entryOutput // by key of the entry
	inputs  map[string]bool        // files of the project that are in the bundle
}

// entryOutput is the output of an entry.
type entryOutput struct {
	path   string
	styles string // path of the style sheet of the script and of its dynamic imports, or ""
	text   string // of an inline style sheet, which has no path
}

// bundle runs esbuild on the entries of the pages. Errors: *failure.Error.
func bundle(p *project, s *pages) (*bundleResult, error) {
	b := &bundler{
		buildState: &buildState{
			project: p, importMapKeys: s.importMapKeys, used: usage{}, nestedSlots: make(chan struct{}, 2),
			tailwind: new(tailwindCSS), result: &bundleResult{files: map[string][]byte{}, inputs: map[string]bool{}},
		},
		inline: map[string]entry{}, entries: map[string]string{},
	}
	defer b.tailwind.close()
	b.sass = sass.New(sassProject{b})
	defer b.sass.Close()
	b.usedNames = sync.OnceValue(p.findUsedNames)
	b.components = component.New(componentProject{b}, p.svelteOptions)
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
			entries[key] = entryOutput{text: string(bytes.TrimSpace(files[name]))}
			delete(b.result.files, name)
		}
	}
	return b.result, nil
}

// bundler runs esbuild once: for the pages, or for a module that is a bundle of its own, such as a worker.
type bundler struct {
	*buildState

	inline     map[string]entry  // inline scripts and style sheets by key
	entries    map[string]string // keys of entries by entry point
	outerFiles []string          // the files whose bundles contain this one
	isBlob     bool              // whether the bundle is an inline worker, whose URL is not one of the site
	pb         api.PluginBuild
}

// buildState is shared by the bundler of the pages and the bundlers of nested bundles.
type buildState struct {
	*project

	components *component.Compilers
	sass       *sass.Compiler
	usedNames  func() usedNames

	importMapKeys []string      // keys of import maps
	nestedSlots   chan struct{} // limits the nested bundles that run at the same time
	nestedCount   atomic.Int64  // number of nested bundles
	tailwind      *tailwindCSS
	sheets        sync.Map // the sheetUse of style sheets of the project, by path

	mu       sync.Mutex // protects the following fields, and the notes and warnings of the project
	patterns []string   // of imports with computed paths
	used     usage      // of packages
	result   *bundleResult
}

// build runs the bundler once, and logs its warnings. It returns the outputs of the entries by key, and the files by
// path. Errors: *failure.Error.
func (b *bundler) build(o api.BuildOptions) (map[string]entryOutput, map[string][]byte, error) {
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

// note and warn add a line to the log, once.
func (s *buildState) note(text string) { s.log(&s.notes, text) }
func (s *buildState) warn(text string) { s.log(&s.warnings, text) }

func (s *buildState) log(to *lines, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.addOnce(text)
}

// maxNestedBundles is the maximum number of nested bundles in a build.
const maxNestedBundles = 100

// buildNested bundles a script or a style sheet into one file without imports. kind is the kind of the module that uses
// the bundle. Errors: *failure.Error.
func (b *bundler) buildNested(file, kind string) (e entryOutput, text []byte, err error) {
	switch {
	case slices.Contains(b.outerFiles, file):
		return e, nil, failf(failure.BuildFailed, "The worker %s starts itself, directly or through other workers. Move "+
			"its script to /public, and use its path.", file)
	case b.nestedCount.Add(1) > maxNestedBundles:
		return e, nil, failf(failure.BuildFailed, "The project starts more than %d workers. Combine some of them.",
			maxNestedBundles)
	case len(b.outerFiles) == 0: // bundles inside this one use its slot
		b.nestedSlots <- struct{}{}
		defer func() { <-b.nestedSlots }()
	}
	const point = "nested:0"
	n := &bundler{
		buildState: b.buildState, entries: map[string]string{point: file},
		outerFiles: append(slices.Clone(b.outerFiles), file),
	}
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
	for _, page := range s.list {
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
		Define: b.constants, TsconfigRaw: b.tsconfig, Alias: b.packageAliases, PreserveSymlinks: true,
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

// namespacedInput matches the name of an input that is not a file, such as "raw:/src/a.svg".
var namespacedInput = regexp.MustCompile(`^([a-z-]+):(/.*)$`)

// entriesOf returns the outputs of the entries.
func (b *bundler) entriesOf(m metafile) map[string]entryOutput {
	entries := map[string]entryOutput{}
	for name, o := range m.Outputs {
		if o.EntryPoint == "" {
			continue
		}
		key := "/" + o.EntryPoint
		if in := namespacedInput.FindStringSubmatch(o.EntryPoint); in != nil {
			key = in[2]
		}
		e := entryOutput{path: "/" + name}
		if o.CSSBundle != "" {
			e.styles = "/" + o.CSSBundle
		}
		entries[key] = e
	}
	return entries
}
