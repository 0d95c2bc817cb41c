// Package blueprint is the code that the built-in generator writes: for each well-known framework and each kind of thing, complete
// files made of the names that a prompt has. It is pure and deterministic: the same Spec gives the same files. What a prompt means is
// not known here.
package blueprint

// Framework is one that there are blueprints for.
type Framework string

// The well-known frameworks (API.md §4).
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

// Result is what was made.
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

// builders are one a framework; each framework's own file has its own.
var builders = map[Framework]builder{}
