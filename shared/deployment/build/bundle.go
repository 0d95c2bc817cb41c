package build

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/contenttype"
	"devplatform/shared/deployment/failure"
)

// root is a path that cannot be a folder on any machine. The bundler's output is below it, and is never written.
const root = "/dev/null"

const maxEntries = 1000

// bundled is the result of the bundler.
type bundled struct {
	files    []File
	entries  map[string]bundledEntry // by key of the entry
	inputs   []string                // files of the project that are in the bundle
	warnings []string
}

// bundledEntry is the output of an entry.
type bundledEntry struct {
	path   string
	styles string // style sheet with what the script and the scripts that it loads later import, or ""
}

// bundle runs esbuild on the entries of the pages. Errors: *failure.Error; the error of ctx.
func bundle(ctx context.Context, in Input, s *pages) (bundled, error) {
	declared, err := readPackageJSON(in.Files)
	if err != nil {
		return bundled{}, err
	}
	config, err := readTSConfig(in.Files, declared)
	if err != nil {
		return bundled{}, err
	}
	defined, err := constants(in.Files)
	if err != nil {
		return bundled{}, err
	}
	p := &plugin{inline: map[string]entry{}, entries: map[string]string{}, state: &state{
		ctx: ctx, constants: defined, missing: map[[2]string]*failure.Error{}, modules: map[string]bool{},
		computing: map[string]bool{}, workerSlots: make(chan struct{}, 2),
		names:    sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(in.Files)) }),
		resolver: &resolver{tree: tree{in.Files, in.Packages}, config: config, imports: s.imports, declared: declared},
	}}
	p.resolver.budget = &p.budget
	points, err := p.entryPoints(s)
	if err != nil || len(points) == 0 {
		return bundled{}, err
	}
	b, err := p.build(options(p, points))
	if err != nil {
		return bundled{}, err
	}
	for _, w := range p.workers {
		b.files, b.inputs = append(b.files, w.files...), append(b.inputs, w.inputs...)
		b.warnings = append(b.warnings, w.warnings...)
	}
	for _, name := range slices.Sorted(maps.Keys(p.computing)) {
		b.warnings = append(b.warnings, fmt.Sprintf("The package %q computes the path of an import. The import is not "+
			"bundled, and fails when a visitor's browser reaches it.", name))
	}
	return b, nil
}

// build runs the bundler once. Errors: *failure.Error; the error of ctx.
func (p *plugin) build(o api.BuildOptions) (bundled, error) {
	result, err := run(p.ctx, o)
	if err != nil {
		return bundled{}, err
	}
	if err := p.failure(result.Errors); err != nil {
		return bundled{}, err
	}
	b := bundled{entries: map[string]bundledEntry{}, warnings: p.warnings(result.Warnings)}
	for _, f := range result.OutputFiles {
		name := strings.TrimPrefix(f.Path, root)
		contentType := contenttype.Of(name, utf8.Valid(f.Contents))
		b.files = append(b.files, File{Path: name, Data: f.Contents, ContentType: contentType, Hashed: true})
	}
	return b, b.readMetafile(result.Metafile)
}

// workerQuery is the query of an import whose value is the URL of the script of a worker.
const workerQuery = "?worker-url"

// workerMemory is an upper bound of the memory that the bundler needs for a small worker.
const workerMemory = 1 << 20

// buildWorker bundles the script of a worker into one file without imports, which all kinds of workers can load, and
// returns its URL. Errors: *failure.Error; the error of ctx.
func (p *plugin) buildWorker(file string) (string, error) {
	if p.isWorker {
		return "", failf(failure.BuildFailed, "A worker starts the worker %s, which is not supported. Move the script of "+
			"the inner worker to /public, and use its path.", file)
	}
	if err := p.budget.add(workerMemory, file, nil); err != nil {
		return "", err
	}
	select {
	case p.workerSlots <- struct{}{}:
		defer func() { <-p.workerSlots }()
	case <-p.ctx.Done():
		return "", fmt.Errorf("bundle: %w", p.ctx.Err())
	}
	const point = "worker:0"
	w := &plugin{state: p.state, entries: map[string]string{point: file}, isWorker: true}
	o := options(w, []api.EntryPoint{{InputPath: point, OutputPath: outputName(file)}})
	o.Format, o.Splitting = api.FormatIIFE, false
	o.Define = maps.Clone(p.constants)
	o.Define["import.meta.url"] = "self.location.href"
	b, err := w.build(o)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers = append(p.workers, b)
	return b.entries[file].path, nil
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// entryPoints returns the bundler's entry points: each script and style sheet of the pages once. Their names in the
// bundler are not paths, so that it does not look for them on the machine.
func (p *plugin) entryPoints(s *pages) ([]api.EntryPoint, error) {
	for _, page := range s.pages {
		for _, e := range page.entries {
			p.entries[e.key()] = ""
			if e.inline() {
				p.inline[e.key()] = e
			}
		}
	}
	if len(p.entries) > maxEntries {
		return nil, failf(failure.BuildFailed, "The pages load %d different scripts and style sheets, and the limit is %d. "+
			"Combine some of them.", len(p.entries), maxEntries)
	}
	var points []api.EntryPoint
	keys := slices.Sorted(maps.Keys(p.entries))
	clear(p.entries)
	for i, key := range keys {
		point := fmt.Sprintf("entry:%d", i)
		p.entries[point] = key
		file, _, _ := strings.Cut(key, "?")
		points = append(points, api.EntryPoint{InputPath: point, OutputPath: outputName(file)})
	}
	return points, nil
}

// outputName returns the name of the output of an entry, without the hash.
func outputName(file string) string {
	name := unsafeName.ReplaceAllString(strings.TrimSuffix(path.Base(file), path.Ext(file)), "_")
	return cmp.Or(strings.Trim(name, "."), "_")
}

// hasLargeStyles reports whether the project has so many style sheets that removing duplicate rules could take minutes:
// the bundler's time for it is quadratic.
func (t tree) hasLargeStyles() bool {
	const limit = 512 << 10
	total := 0
	for name, data := range t.files {
		if path.Ext(name) == ".css" {
			total += len(data)
		}
	}
	for name, data := range t.packages {
		if path.Ext(name) == ".css" && len(data) > limit {
			return true
		}
	}
	return total > limit
}

func options(p *plugin, points []api.EntryPoint) api.BuildOptions {
	return api.BuildOptions{
		EntryPointsAdvanced: points, AbsWorkingDir: root, Outdir: root, PublicPath: "/",
		Bundle: true, Splitting: true, Write: false, Metafile: true,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: !p.resolver.hasLargeStyles(),
		Format: api.FormatESModule, Platform: api.PlatformBrowser, Charset: api.CharsetUTF8,
		// The browsers that Vite's "baseline-widely-available" supports.
		Engines: []api.Engine{
			{Name: api.EngineChrome, Version: "107"}, {Name: api.EngineEdge, Version: "107"},
			{Name: api.EngineFirefox, Version: "104"}, {Name: api.EngineSafari, Version: "16"},
		},
		EntryNames: "assets/[name]-[hash]", ChunkNames: "assets/[name]-[hash]", AssetNames: "assets/[name]-[hash]",
		Define: p.constants, TsconfigRaw: p.resolver.config.raw,
		LogLevel: api.LogLevelSilent, Color: api.ColorNever,
		Plugins: []api.Plugin{{Name: "deployment", Setup: p.setup}},
	}
}

// run runs the bundler. If ctx ends, it returns at once, and the bundler stops in the background.
func run(ctx context.Context, o api.BuildOptions) (api.BuildResult, error) {
	type outcome struct {
		result api.BuildResult
		err    error
	}
	done := make(chan outcome, 1)
	builder, contextErr := api.Context(o)
	if contextErr != nil {
		return api.BuildResult{}, fmt.Errorf("configure the bundler: %w", contextErr)
	}
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- outcome{err: fmt.Errorf("the bundler panicked: %v", r)}
			}
		}()
		result := builder.Rebuild()
		builder.Dispose()
		done <- outcome{result: result}
	}()
	select {
	case o := <-done:
		if ctx.Err() != nil {
			return api.BuildResult{}, fmt.Errorf("bundle: %w", ctx.Err())
		}
		return o.result, o.err
	case <-ctx.Done():
		go builder.Cancel()
		return api.BuildResult{}, fmt.Errorf("bundle: %w", ctx.Err())
	}
}

// metafile is the part of the bundler's report that says which outputs belong to an entry.
type metafile struct {
	Inputs  map[string]struct{} `json:"inputs"`
	Outputs map[string]struct {
		EntryPoint string `json:"entryPoint"`
		CSSBundle  string `json:"cssBundle"`
	} `json:"outputs"`
}

var errMetafile = errors.New("the bundler's report is not valid")

func (b *bundled) readMetafile(data string) error {
	var m metafile
	if err := json.Unmarshal([]byte(data), &m); err != nil {
		return fmt.Errorf("%w: %w", errMetafile, err)
	}
	for name := range m.Inputs {
		if file, ok := strings.CutPrefix(name, nsFile+":"); ok {
			b.inputs = append(b.inputs, file)
		}
	}
	for name, o := range m.Outputs {
		_, key, ok := strings.Cut(o.EntryPoint, ":")
		if !ok {
			continue
		}
		e := bundledEntry{path: "/" + name}
		if o.CSSBundle != "" {
			e.styles = "/" + o.CSSBundle
		}
		b.entries[key] = e
	}
	return nil
}
