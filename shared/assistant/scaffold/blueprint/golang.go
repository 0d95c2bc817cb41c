package blueprint

import (
	"fmt"
	"go/format"
	"regexp"
	"strings"
)

// goProject is a Go module that things are put into: each into a package of its own, since of the others only their paths are known.
type goProject struct {
	Spec
	*place
	root string
}

// goSheet is what the templates of Go see.
type goSheet struct {
	// Package is its name, Type a record's and TypeMany that of several.
	Package, Type, TypeMany string
	// What people read.
	Title, Sentence, Lower, ManyTitle, ManyLower string
	Text                                         formText
	Lead                                         string
	// Route is where it is served.
	Route  string
	Fn     string
	Shape  string
	Inputs []goInput
	Table  bool
	// Handler says that a store comes with one.
	Handler bool
	login   bool
	sheet
}

// goInput is a field with its name in Go.
type goInput struct {
	input
	Go string
}

func makeGo(s Spec) (Result, error) {
	p := newPlace(s.Paths)
	g := &goProject{Spec: s, place: p, root: p.base("go.mod")}
	if s.Kind != Test {
		return g.build(s.Kind)
	}
	if s.SubjectPath != "" {
		return g.testOfExisting()
	}
	result, err := g.build(s.Subject)
	if err != nil {
		return Result{}, err
	}
	for i, file := range result.Files { // the test is the main thing
		if strings.HasSuffix(file.Path, "_test.go") {
			result.Files[0], result.Files[i] = result.Files[i], result.Files[0]
			break
		}
	}
	result.Says = "The project had nothing of that name, so it comes with the test. " + result.Says
	return result, nil
}

func (g *goProject) build(kind Kind) (Result, error) {
	switch kind {
	case Page:
		return g.page()
	case Endpoint:
		return g.endpoint()
	case Form:
		return g.form()
	case List:
		return g.list()
	case Utility:
		return g.utility()
	}
	return g.partial()
}

// goFile is a template and the file that it becomes.
type goFile struct{ template, file string }

// make renders templates into a new package about n, called as.
func (g *goProject) make(n, as name, data goSheet, says string, files ...goFile) (Result, error) {
	parent := g.folder([]string{"internal", "pkg"}, g.root+"/internal")
	base := as.joined()
	if isOneOf(base, goReserved()) {
		base += n.noun
	}
	folder := parent + "/" + base
	for i := 2; g.hasFolder(folder) || !g.isUsable(folder); i++ {
		folder = fmt.Sprintf("%s/%s%d", parent, base, i)
	}
	data.Package = baseName(folder)
	var result Result
	for _, f := range files {
		content, err := render("go", f.template, data)
		if err != nil {
			return Result{}, err
		}
		if strings.HasSuffix(f.file, ".go") {
			source, err := format.Source([]byte(imports(content)))
			if err != nil {
				return Result{}, fmt.Errorf("the template go/%s makes no Go: %w", f.template, err)
			}
			content = string(source)
		}
		result.Files = append(result.Files, File{Path: folder + "/" + f.file, Content: content})
	}
	if len(g.files) == 0 || !g.has(g.root+"/go.mod") {
		says += " The project has no `go.mod` yet: `go mod init example.com/app` makes one."
	}
	result.Says = strings.ReplaceAll(says, "PACKAGE", data.Package)
	return result, nil
}

// sheetOf describes a thing that is about n.
func (g *goProject) sheetOf(n name, fields []input) goSheet {
	web := sheetOf(g.Spec, n, n)
	web.Inputs = fields
	data := goSheet{
		Type: goType(n.singular()), TypeMany: goType(n.plural()), Title: n.title(), Sentence: n.singular().sentence(), Lower: n.singular().lower(),
		ManyTitle: n.plural().title(), ManyLower: n.plural().lower(), Text: web.Text, Lead: leadOf(n), Route: "/" + n.path(), Table: g.Table,
		login: isLogin(n), sheet: web,
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = goName(f.name)
	}
	for i, unique := range distinct(names) {
		data.Inputs = append(data.Inputs, goInput{fields[i], unique})
	}
	return data
}

// goName is a name as an exported identifier, abbreviations in capitals.
func goName(n name) string {
	var b strings.Builder
	for _, word := range n.code() {
		switch {
		case isOneOf(word, []string{"api", "css", "html", "http", "https", "id", "ip", "json", "sql", "ui", "uri", "url", "uuid", "xml"}):
			word = strings.ToUpper(word)
		default:
			word = capital(word)
		}
		if b.Len() > 0 && isDigit(word[0]) && isDigit(b.String()[b.Len()-1]) {
			b.WriteByte('_')
		}
		b.WriteString(word)
	}
	return b.String()
}

// goType is a name as a type that differs from those that every package has.
func goType(n name) string {
	identifier := goName(n)
	if isOneOf(identifier, []string{"Store", "Handler", "Values", "Client", "Register", "Check", "New", "NewHandler", "NewStore", "NewClient", "ErrNotFound", "ErrDuplicate", "Render", "Link", "Row", "StatusError", "Load", "Save", "Template"}) {
		return identifier + capital(n.noun)
	}
	return identifier
}

// goReserved are names that a package would be troublesome under: words of the language, and the packages that its own files import.
func goReserved() []string {
	return []string{
		"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto", "if", "import", "interface", "map",
		"package", "range", "return", "select", "struct", "switch", "type", "var", "main", "internal", "init", "vendor", "testdata", "any", "error", "string", "len", "new", "nil", "true", "false",
		"bytes", "cmp", "context", "embed", "errors", "fmt", "html", "http", "httptest", "io", "json", "mail", "maps", "rand", "regexp", "slices", "slog", "strconv", "strings", "sync", "template", "testing", "time", "unicode", "url", "utf8",
	}
}

func (g *goProject) endpoint() (Result, error) {
	n := nameOf(g.Name, "item").without("api", "endpoint", "handler", "route", "resource")
	data := g.sheetOf(n, visible(g.Spec, n))
	data.Route, data.Handler = "/api/"+n.plural().path(), true
	says := fmt.Sprintf("Add its routes with `PACKAGE.NewHandler(PACKAGE.NewStore()).Register(mux)`: they are under `%s`. The records are kept in memory only.", data.Route)
	return g.make(n, n.singular(), data, says,
		goFile{"handler.gotmpl", "handler.go"}, goFile{"values.gotmpl", "values.go"}, goFile{"store.gotmpl", "store.go"}, goFile{"handler_test.gotmpl", "handler_test.go"})
}

func (g *goProject) form() (Result, error) {
	n := nameOf(g.Name, "form").without("form", "page", "view", "component")
	data := g.sheetOf(n, inputs(g.Spec, n))
	says := fmt.Sprintf("Add its routes with `PACKAGE.New(save).Register(mux)`, where `save` is your function that keeps what was sent: the form is at `%s`.", data.Route)
	return g.make(n, n.with("form"), data, says, goFile{"form.gotmpl", "form.go"}, goFile{"form.html", "form.html"}, goFile{"form_test.gotmpl", "form_test.go"})
}

func (g *goProject) list() (Result, error) {
	kind := "list"
	if g.Table {
		kind = "table"
	}
	n := nameOf(g.Name, "item").without("list", "table", "page", "view", "component")
	data := g.sheetOf(n, visible(g.Spec, n))
	data.Route = "/" + n.plural().path()
	says := fmt.Sprintf("Add its route with `PACKAGE.New(load).Register(mux)`, where `load` is your function that reads the %s: it is at `%s`.", data.ManyLower, data.Route)
	return g.make(n, n.singular().with(kind), data, says, goFile{"list.gotmpl", "list.go"}, goFile{"list.html", "list.html"}, goFile{"list_test.gotmpl", "list_test.go"})
}

func (g *goProject) page() (Result, error) {
	n := nameOf(g.Name, "page").without("page", "view", "screen")
	switch {
	case isForm(n):
		return g.form()
	case len(g.Fields) > 0 && n.isPlural():
		return g.list()
	}
	var fields []input
	made, says := "New()", ""
	if len(g.Fields) > 0 {
		fields = visible(g.Spec, n)
		made, says = "New(load)", ", where `load` is your function that reads what it shows"
	}
	data := g.sheetOf(n, fields)
	says = fmt.Sprintf("Add its route with `PACKAGE.%s.Register(mux)`%s: it is at `%s`.", made, says, data.Route)
	return g.make(n, n.with("page"), data, says, goFile{"page.gotmpl", "page.go"}, goFile{"page.html", "page.html"}, goFile{"page_test.gotmpl", "page_test.go"})
}

// partial is a piece of HTML.
func (g *goProject) partial() (Result, error) {
	n := nameOf(g.Name, "component").without("component", "partial")
	if isForm(n) {
		return g.form()
	}
	var fields []input
	if len(g.Fields) > 0 {
		fields = visible(g.Spec, n)
	}
	data := g.sheetOf(n, fields)
	if len(fields) == 0 && componentShape(n) == "navigation" {
		data.Shape = "navigation"
	}
	data.Type = goType(n)
	says := fmt.Sprintf("`PACKAGE.Render(w, PACKAGE.%s{…})` writes it; what it is given is escaped.", data.Type)
	return g.make(n, n, data, says, goFile{"partial.gotmpl", "partial.go"}, goFile{"partial.html", "partial.html"}, goFile{"partial_test.gotmpl", "partial_test.go"})
}

func (g *goProject) utility() (Result, error) {
	n := nameOf(g.Name, "item").without("client", "store", "helper", "util", "utility", "function", "hook")
	switch g.Utility {
	case "store":
		data := g.sheetOf(n, visible(g.Spec, n))
		data.Methods = []string{"GET", "POST", "PUT", "DELETE"}
		return g.make(n, n.singular().with("store"), data, "`PACKAGE.NewStore()` keeps its records in memory only: they are gone when the process ends.",
			goFile{"store.gotmpl", "store.go"}, goFile{"values.gotmpl", "values.go"}, goFile{"store_test.gotmpl", "store_test.go"})
	case "client":
		data := g.sheetOf(n, visible(g.Spec, n))
		data.Route = "/api/" + n.plural().path()
		data.Methods = []string{"GET", "POST", "PUT", "DELETE"}
		return g.make(n, n.singular().with("client"), data, fmt.Sprintf("`PACKAGE.NewClient(baseURL, nil)` talks to `%s` there.", data.Route),
			goFile{"client.gotmpl", "client.go"}, goFile{"client_test.gotmpl", "client_test.go"})
	}
	data := g.sheetOf(n, inputs(g.Spec, n))
	data.Shape = helperShape(n)
	if !isOneOf(data.Shape, []string{"date", "slug", "truncate", "capitalize", "email", "clamp"}) {
		data.Shape = ""
		return g.make(n, n.singular(), data, "`PACKAGE.Check(values)` says what is wrong with what somebody typed, a message a field.",
			goFile{"values.gotmpl", "values.go"}, goFile{"values_test.gotmpl", "values_test.go"})
	}
	data.Fn = goName(nameOf([]string{helperFunctionWords(n, data.Shape)}, "item"))
	return g.make(n, n, data, fmt.Sprintf("Call it as `PACKAGE.%s`.", data.Fn), goFile{"helper.gotmpl", "helper.go"}, goFile{"helper_test.gotmpl", "helper_test.go"})
}

// helperFunctionWords is what helperFunction is made of.
func helperFunctionWords(n name, shape string) string {
	words := strings.Join(n.words, " ")
	if len(n.words) == 1 && shape == "date" {
		return "format " + words
	}
	if len(n.words) == 1 && shape == "email" {
		return "is " + words
	}
	return words
}

// testOfExisting tests code that nobody has seen here by what it is likely to be called.
func (g *goProject) testOfExisting() (Result, error) {
	n := nameOf(g.Name, "item")
	data := g.sheetOf(n, visible(g.Spec, n))
	folder := g.SubjectPath[:strings.LastIndexByte(g.SubjectPath, '/')]
	data.Package = nameOf([]string{strings.TrimPrefix(baseName("/"+folder), "/")}, "main").joined()
	if folder == "" || folder == g.root || strings.Contains(folder+"/", "/cmd/") {
		data.Package = "main"
	}
	data.Fn = goName(n)
	data.Route = "/api/" + n.plural().path()
	template, says := "existing-handler_test.gotmpl", "`NewHandler` and `NewStore` with `Register`"
	if g.Subject == Utility {
		template, says = "existing-function_test.gotmpl", "`"+data.Fn+"`, a function of a text"
	}
	at := func(suffix string) string {
		return strings.TrimSuffix(stem(g.SubjectPath), "_test") + suffix + "_test.go"
	}
	path := at(g.free(func(suffix string) []string { return []string{at(suffix)} }))
	content, err := render("go", template, data)
	if err != nil {
		return Result{}, err
	}
	source, err := format.Source([]byte(content))
	if err != nil {
		return Result{}, fmt.Errorf("the template go/%s makes no Go: %w", template, err)
	}
	return Result{
		Files: []File{{Path: path, Content: string(source)}},
		Says:  fmt.Sprintf("What `%s` holds is not known here: the test expects %s. If yours is called otherwise, change that one place.", g.SubjectPath, says),
	}, nil
}

// GoType is a field's type in Go, where a number that is not there is told from 0.
func (f goInput) GoType() string {
	switch f.Type {
	case number:
		return "*float64"
	case boolean:
		return "bool"
	}
	return "string"
}

// GoSample is a sample as Go.
func (f goInput) GoSample(n int) string {
	switch f.Type {
	case number:
		return "ptr(" + f.Sample(n) + ".0)"
	case boolean:
		return "true"
	}
	return `"` + f.Sample(n) + `"`
}

// HasType reports whether a field of that type is there.
func (s goSheet) HasType(t string) bool { return s.hasType(t) }

// Checked reports whether a field's text is held to a form.
func (s goSheet) Checked(t string) bool { return s.HasType(t) }

// HasText reports whether a field is trimmed.
func (s goSheet) HasText() bool {
	return s.hasType(text, longtext, email, number, date, url, tel)
}

// NewPassword reports whether a password is one to be chosen.
func (s goSheet) NewPassword(f goInput) bool {
	return f.Type == password && !s.login && f.Autocomplete() == "new-password"
}

// HasNewPassword is NewPassword of any.
func (s goSheet) HasNewPassword() bool {
	for _, f := range s.Inputs {
		if s.NewPassword(f) {
			return true
		}
	}
	return false
}

// imports are written as people do where there is one or none.
func imports(source string) string {
	source = strings.Replace(source, "import (\n)\n", "", 1)
	return singleImport.ReplaceAllString(source, "import $1\n")
}

var singleImport = regexp.MustCompile(`import \(\n\t("[^"\n]+")\n\)\n`)
