// Package blueprint is the code that the built-in generator writes: for each well-known framework and each kind of thing, complete
// files made of the names that a prompt has. It is pure and deterministic: the same Spec gives the same files. What a prompt means is
// not known here.
package blueprint

import (
	"fmt"
	"strings"

	"devplatform/shared/project/path"
)

// Framework is one that there are blueprints for.
type Framework string

// The well-known frameworks.
const (
	React   Framework = "react"
	Next    Framework = "nextjs"
	Vue     Framework = "vue"
	Svelte  Framework = "svelte"
	Express Framework = "express"
	Go      Framework = "go"
	Static  Framework = "static"
)

// Kind is what is to be made.
type Kind string

// The kinds. A framework without a thing of that kind makes what comes nearest: a component of static HTML is a partial, a page of
// express a route that answers with HTML.
const (
	Component Kind = "component"
	Page      Kind = "page"
	Endpoint  Kind = "endpoint"
	Form      Kind = "form"
	List      Kind = "list" // or table, with Spec.Table
	Utility   Kind = "utility"
	Test      Kind = "test" // of the thing that Spec.Subject says
)

// Spec says what is to be made.
type Spec struct {
	Framework Framework
	Kind      Kind
	// Name is what it is called, in the words of the prompt, lower case, singular or plural as they were: {"user", "profile"}.
	Name []string
	// Fields are those that the prompt names, of a form, a table, an endpoint's resource; may be empty.
	Fields []Field
	// Table asks a List for columns instead of lines.
	Table bool
	// Utility says which: "hook", "store", "helper", "client", "" for what is usual.
	Utility string
	// Subject is what a Test is about: the kind of thing of that Name.
	Subject Kind
	// SubjectPath is the file of a Test's subject, if the project has it.
	SubjectPath string
	// Methods are those of an Endpoint, in upper case; empty: what the resource needs.
	Methods []string
	// TypeScript asks for it where the framework has both.
	TypeScript bool
	// Paths are the project's files, so that what is made lies where its like lies (src/components or components, app or pages).
	Paths []string
}

// Field is a named value.
type Field struct {
	// Name in words: {"first", "name"}.
	Name []string
	// Type is one of: text, longtext, email, password, number, boolean, date, url, tel.
	Type     string
	Required bool
}

// File is one that was made.
type File struct{ Path, Content string }

// Result is what was made. Tests are among the files only where a test was asked for; if its subject does not exist, that is made, too.
type Result struct {
	// Files in the order in which they are to be created; at least one, the main one first. None of them is in Spec.Paths.
	Files []File
	// Packages are what the files import, tests included, and a new project of the framework does not have: name@range each, of npm or,
	// for Go, module@version.
	Packages []string
	// Says is one or two sentences about how to use it, as Markdown.
	Says string
}

// builder makes a Result for every kind of one framework.
type builder func(Spec) (Result, error)

// builderOf finds the builder of a framework; nil if there are no blueprints for it. Each framework's own file has its builder.
func builderOf(f Framework) builder {
	switch f {
	case React:
		return makeReact
	case Next:
		return makeNext
	case Vue:
		return makeVue
	case Svelte:
		return makeSvelte
	case Express:
		return makeExpress
	case Go:
		return makeGo
	case Static:
		return makeStatic
	}
	return nil
}

// What a Spec may have at most.
const (
	maxFields     = 20
	maxNameBytes  = 100 // of the name, all words together
	maxFieldBytes = 60  // of a field's name
	maxFiles      = 20
)

// Make makes the thing. Errors: a Spec that asks for what is not offered, or for too much of it.
func Make(s Spec) (Result, error) {
	build := builderOf(s.Framework)
	if build == nil {
		return Result{}, fmt.Errorf("there are no blueprints for the framework %q", s.Framework)
	}
	if err := s.check(); err != nil {
		return Result{}, err
	}
	result, err := build(s)
	if err != nil {
		return Result{}, err
	}
	return result, result.check(s)
}

func (s Spec) check() error {
	switch s.Kind {
	case Component, Page, Endpoint, Form, List, Utility:
	case Test:
		if !isOneOf(string(s.Subject), []string{string(Component), string(Page), string(Endpoint), string(Form), string(List), string(Utility)}) {
			return fmt.Errorf("there are no tests for the kind %q", s.Subject)
		}
		if s.SubjectPath != "" && path.Check(s.SubjectPath) != "" {
			return fmt.Errorf("the path of the test's subject %s", path.Check(s.SubjectPath))
		}
	default:
		return fmt.Errorf("there are no blueprints for the kind %q", s.Kind)
	}
	if !isOneOf(s.Utility, []string{"", "hook", "store", "helper", "client"}) {
		return fmt.Errorf("there is no utility %q", s.Utility)
	}
	if size := len(strings.Join(s.Name, " ")); size > maxNameBytes {
		return fmt.Errorf("the name has %d bytes, at most %d make sense", size, maxNameBytes)
	}
	return s.checkParts()
}

func (s Spec) checkParts() error {
	if len(s.Fields) > maxFields {
		return fmt.Errorf("there are %d fields, at most %d make sense", len(s.Fields), maxFields)
	}
	for i, f := range s.Fields {
		if !isFieldType(f.Type) {
			return fmt.Errorf("field %d has the unknown type %q", i+1, f.Type)
		}
		if size := len(strings.Join(f.Name, " ")); size > maxFieldBytes {
			return fmt.Errorf("the name of field %d has %d bytes, at most %d make sense", i+1, size, maxFieldBytes)
		}
	}
	for _, method := range s.Methods {
		if !isOneOf(method, []string{"GET", "POST", "PUT", "PATCH", "DELETE"}) {
			return fmt.Errorf("there are no endpoints for the method %q", method)
		}
	}
	return nil
}

// check holds what Result promises of its files.
func (r Result) check(s Spec) error {
	if len(r.Files) == 0 || len(r.Files) > maxFiles {
		return fmt.Errorf("a %s of %s came to %d files", s.Kind, s.Framework, len(r.Files))
	}
	exists := make(map[string]bool, len(s.Paths)+len(r.Files))
	for _, file := range s.Paths {
		exists[file] = true
	}
	for _, file := range r.Files {
		if rule := path.Check(file.Path); rule != "" {
			return fmt.Errorf("the path of a new file %s", rule)
		}
		if exists[file.Path] {
			return fmt.Errorf("the path of a new file exists")
		}
		exists[file.Path] = true
	}
	return nil
}
