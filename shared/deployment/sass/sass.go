// Package sass compiles style sheets in Sass to CSS, with Dart Sass in an interpreter (package engine), and finds the
// files that a style sheet loads by the rules of Sass. Which files it may load, and how a bundle uses the CSS, does not
// belong here.
package sass

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/deployment/engine"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// maxTime limits the processor time for one style sheet with everything that it loads.
const maxTime = 10 * time.Second

// Project is the part of a project that the compiler may read.
type Project interface {
	// Has reports whether a file exists.
	Has(file string) bool
	// Read returns a file for the style sheet in the file sheet, to which its URLs become relative. Errors:
	// *failure.Error.
	Read(file, sheet string) ([]byte, error)
	// Candidates returns the paths that a reference in a file can mean if it is not relative to the file, without the
	// parts that Sass adds. Errors: *failure.Error, for example if a file of a package refers to the project.
	Candidates(importer, spec string) ([]string, error)
	// ErrMissing returns the error for a reference that means no file.
	ErrMissing(importer, spec string) *failure.Error
}

// Sheet is a style sheet in Sass.
type Sheet struct {
	File string // that contains the style sheet. References are relative to it.
	Text string
	// Before is code that is added before the text, such as variables for all style sheets of a project.
	Before string
	// Line is the line of the file in which the text begins.
	Line         int
	IsIndented   bool // whether the text has the indented syntax, without braces
	IsCompressed bool // whether the CSS is on one line
}

// IsSass reports whether a file is a style sheet in Sass.
func IsSass(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".scss" || ext == ".sass"
}

// SheetOf returns the style sheet that a file consists of.
func SheetOf(file string, text []byte) Sheet {
	return Sheet{File: file, Text: string(text), Line: 1, IsIndented: strings.EqualFold(path.Ext(file), ".sass")}
}

// Compiler is the compiler of a build. It starts when the first style sheet needs it. It is safe for concurrent use.
type Compiler struct {
	project Project
	limit   time.Duration

	mu      sync.Mutex // one style sheet at a time
	engine  *engine.Engine
	err     error // why it did not start
	sheet   Sheet // that is being compiled
	hostErr error // the first error of a function that the compiler called
}

// New returns the compiler of a project. The caller must call Close.
func New(p Project) *Compiler { return &Compiler{project: p, limit: maxTime} }

// Close releases the memory of the compiler.
func (c *Compiler) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine != nil {
		c.engine.Close()
	}
}

// Compile returns the CSS of a style sheet. Errors: *failure.Error; any other error is a bug.
func (c *Compiler) Compile(s Sheet) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine == nil && c.err == nil {
		c.err = c.start()
	}
	if c.err != nil {
		return "", c.err
	}
	c.engine.Reset()
	c.sheet, c.hostErr = s, nil
	before := s.Before
	if before != "" {
		before += "\n"
	}
	var r struct {
		CSS   string
		Error *problem
	}
	err := c.engine.Call("compile", map[string]any{
		"file": s.File, "source": before + strings.Repeat("\n", s.Line-1) + s.Text,
		"isIndented": s.IsIndented, "isCompressed": s.IsCompressed,
	}, &r)
	switch {
	case err != nil:
		return "", s.limitError(err)
	case r.Error != nil:
		return "", c.failure(*r.Error, strings.Count(before, "\n"))
	}
	return r.CSS, nil
}

func (c *Compiler) start() (err error) {
	if c.engine, err = engine.New(c.limit); err != nil {
		return err
	}
	return errors.Join(c.engine.LoadCompiler("sass"), c.engine.Register("findSheet", c.hostFunction(c.findSheet)),
		c.engine.Register("readSheet", c.hostFunction(c.readSheet)))
}

// hostFunction returns a function for the compiler, which calls it with one argument. It stores the first error in
// hostErr, because the compiler only sees an exception.
func (c *Compiler) hostFunction(f func(argument string) (string, error)) func([]string) (string, error) {
	return func(arguments []string) (string, error) {
		answer, err := f(strings.Join(arguments, ""))
		if err != nil && c.hostErr == nil {
			c.hostErr = err
		}
		return answer, err
	}
}

func (c *Compiler) readSheet(file string) (string, error) {
	data, err := c.project.Read(file, c.sheet.File)
	return string(data), err
}

// reference is a reference to a style sheet, as infra/compilers/sass.js sends it.
type reference struct {
	Spec     string
	Importer string // "" if the reference is relative
	// IsRelative reports whether Spec is the path that the reference means relative to its file.
	IsRelative bool
	// IsInPackage reports whether the importer of a relative reference is in a package.
	IsInPackage bool
	FromImport  bool // whether the rule is @import
}

// findSheet returns the file that a reference means, or "".
func (c *Compiler) findSheet(argument string) (string, error) {
	var ref reference
	err := json.Unmarshal([]byte(argument), &ref, json.MatchCaseInsensitiveNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "", err // a bug
	}
	paths := []string{ref.Spec}
	if !ref.IsRelative {
		if paths, err = c.project.Candidates(ref.Importer, ref.Spec); err != nil {
			return "", err
		}
		ref.IsInPackage = tree.IsInPackage(ref.Importer)
	}
	for _, name := range paths {
		file, err := c.lookUp(path.Clean("/"+name), ref.FromImport)
		if file != "" && ref.IsInPackage && !tree.IsInPackage(file) {
			file = "" // like a file that does not exist
		}
		if file != "" || err != nil {
			return file, err
		}
	}
	if !ref.IsRelative {
		return "", c.project.ErrMissing(ref.Importer, ref.Spec)
	}
	return "", nil
}

// lookUp returns the file of a path without the parts that Sass adds: an underscore, an extension, and the name index
// for a folder. Rules @import prefer files that end with .import.
func (c *Compiler) lookUp(name string, isImport bool) (string, error) {
	names, groups := []string{name, name + "/index"}, [][]string{{".sass", ".scss"}, {".css"}}
	if ext := path.Ext(name); IsSass(name) || ext == ".css" {
		names, groups = []string{strings.TrimSuffix(name, ext)}, [][]string{{ext}}
	}
	for _, name := range names {
		if isImport {
			if file, err := c.firstFile(name+".import", groups); file != "" || err != nil {
				return file, err
			}
		}
		if file, err := c.firstFile(name, groups); file != "" || err != nil {
			return file, err
		}
	}
	return "", nil
}

// firstFile adds the extensions of the groups to a path, and returns the file of the first group with a file. It
// returns "" if there is none, and an error if a group has two files.
func (c *Compiler) firstFile(name string, groups [][]string) (string, error) {
	for _, extensions := range groups {
		var found []string
		for _, ext := range extensions {
			for _, file := range []string{name + ext, path.Join(path.Dir(name), "_"+path.Base(name)) + ext} {
				if c.project.Has(file) {
					found = append(found, file)
				}
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return "", &failure.Error{Code: failure.BuildFailed, Message: fmt.Sprintf("The reference means both %s and %s. "+
				"Delete one of them, or write the extension.", found[0], found[1])}
		}
	}
	return "", nil
}
