// Package component compiles single-file components of Vue and Svelte to scripts and style sheets, with their own
// compilers in an interpreter (package engine). How a bundle uses the results does not belong here.
//
//	component.go  the compilers, which start when the first file needs them
//	vue.go        .vue files
//	svelte.go     .svelte files, and scripts with runes; typescript.go: scripts that Svelte does not understand
package component

import (
	"errors"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/engine"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sass"
	"devplatform/shared/deployment/tree"
)

// maxTime limits the processor time for one file.
const maxTime = 10 * time.Second

// Project is the part of a project that compilers may read.
type Project interface {
	// Source returns a script or a component, or false if it does not exist or must not be read.
	Source(file string) ([]byte, bool)
	// Resolve returns the file of the project that an import in another file means, or "".
	Resolve(importer, spec string) string
	// Package returns a file of a package of the project, or nil if it does not exist.
	Package(file string) []byte
	// Sass returns the CSS of a style sheet. Errors: *failure.Error.
	Sass(sheet sass.Sheet) (string, error)
}

// Component is a compiled file.
type Component struct {
	Code string
	// Lang is the language of the code: "js", "ts", "jsx" or "tsx".
	Lang   string
	Styles []Style
	// Notes and Warnings are lines for the log.
	Notes, Warnings []string
}

// Style is a style sheet of a component. The code imports it by the name of the component and StyleQuery.
type Style struct {
	Code     string
	File     string // to which its paths are relative
	IsModule bool   // whether its names are local
	IsSass   bool   // whether the code was in Sass, so that its lines are not the lines of the file
}

// StyleQuery is the query, followed by an index, with which the code of a component imports one of its style sheets.
const StyleQuery = "?style-"

// IsComponent reports whether a file needs a compiler.
func IsComponent(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".vue" || ext == ".svelte" || isSvelteModule(file)
}

// Compilers are the compilers of a build. They are safe for concurrent use.
type Compilers struct {
	project Project
	options map[string]any // of Svelte

	vue, svelte compiler
	svelteMajor int // of the version of the compiler
}

// New returns the compilers of a project, with the values of compilerOptions of its svelte.config. The caller must call
// Close.
func New(p Project, options map[string]any) *Compilers {
	return &Compilers{
		project: p, options: options, vue: compiler{limit: maxTime, files: map[string]result{}},
		svelte: compiler{limit: maxTime, files: map[string]result{}},
	}
}

// Close releases the memory of the compilers.
func (c *Compilers) Close() {
	c.vue.close()
	c.svelte.close()
}

// Compile compiles a file. Later calls with the file return the first result. Errors: *failure.Error; any other error
// is a bug.
func (c *Compilers) Compile(file string, source []byte) (*Component, error) {
	if strings.EqualFold(path.Ext(file), ".vue") {
		return c.vue.compileOnce(file, source, c.compileVue)
	}
	return c.svelte.compileOnce(file, source, c.compileSvelte)
}

// compiler is a compiler in an engine. One goroutine at a time uses it.
type compiler struct {
	limit   time.Duration // for one file
	mu      sync.Mutex
	engine  *engine.Engine
	err     error // why it did not start
	notes   []string
	files   map[string]result
	file    string // that is being compiled
	hostErr error  // the first error of a function that the compiler called
}

// result is the result for a file.
type result struct {
	component *Component
	err       error
}

func (c *compiler) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine != nil {
		c.engine.Close()
	}
}

// compileOnce returns the result for a file. It calls compile only if this is the first call with the file.
func (c *compiler) compileOnce(
	file string, source []byte, compile func(file string, source []byte) (*Component, error),
) (*Component, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.files[file]
	if !ok {
		c.file = file
		r.component, r.err = compile(file, source)
		if r.component != nil {
			r.component.Notes = append(c.notes, r.component.Notes...)
			c.notes = nil
		}
		c.files[file] = r
	}
	return r.component, r.err
}

// start starts the compiler and calls prepare. Later calls only return the result of the first call.
func (c *compiler) start(name string, prepare func() error) error {
	if c.engine != nil || c.err != nil {
		return c.err
	}
	c.engine, c.err = engine.New(c.limit)
	if c.err == nil {
		c.err = c.engine.LoadCompiler(name)
	}
	if c.err == nil {
		c.err = prepare()
	}
	return c.err
}

// problem is an error or a warning of a compiler. Line is 0 if it has no place.
type problem struct {
	Message, Code, File string
	Line, Column        int
}

func (p problem) failure(file string) *failure.Error {
	if p.File != "" {
		file = p.File
	}
	f := &failure.Error{Code: failure.BuildFailed, Message: failure.Sentence(p.Message), Path: file}
	if p.Line > 0 {
		f.Line, f.Column = p.Line, max(p.Column, 1)
	}
	return f
}

// call calls the compiler for a file. Errors: *failure.Error; any other error is a bug.
func (c *compiler) call(in, out any) error {
	c.engine.Reset()
	err := c.engine.Call("compile", in, out)
	thrown, isThrown := errors.AsType[*engine.Error](err)
	message := ""
	switch {
	case errors.Is(err, engine.ErrTime):
		message = "The component takes too long to compile. Divide it into smaller components, or make its types simpler."
	case errors.Is(err, engine.ErrMemory):
		message = "The components need too much memory to compile. Divide large components into smaller ones."
	case errors.Is(err, engine.ErrNesting):
		message = "The component is nested too deeply. Make it simpler."
	case isThrown:
		message = "The component cannot be compiled: " + thrown.Message
	default:
		return err
	}
	return problem{Message: message}.failure(c.file)
}

// source returns a file for a compiler. A package's file may use only files of packages.
func (c *Compilers) source(importer, file string) ([]byte, bool) {
	if tree.IsInPackage(importer) && !tree.IsInPackage(file) {
		return nil, false
	}
	return c.project.Source(file)
}

// versionOf returns the version of a package of the project, such as "5.28", and its first number. It returns "" if the
// package is not installed.
func (c *Compilers) versionOf(name string) (version string, major int) {
	var manifest struct {
		Version string `json:"version"`
	}
	data := c.project.Package(tree.PackageFolder + name + "/package.json")
	if err := json.Unmarshal(data, &manifest, tree.JSON); err != nil {
		return "", 0
	}
	parts := strings.Split(manifest.Version, ".")
	major, _ = strconv.Atoi(parts[0])
	return strings.Join(parts[:min(2, len(parts))], "."), major
}

// quotedStylePath returns the path with which the code of a component imports one of its style sheets, in quotes.
func quotedStylePath(file string, i int) string {
	return constant.Quote("./" + path.Base(file) + StyleQuery + strconv.Itoa(i))
}
