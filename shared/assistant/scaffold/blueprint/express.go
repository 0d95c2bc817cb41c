package blueprint

import (
	"fmt"
	"strings"
)

// makeExpress makes routers for an application to mount, each with what it needs in modules of its own: a schema, a store, or a view, which
// is a function that returns HTML. Modules are of the ES kind, unless the project's own are CommonJS's.
func makeExpress(s Spec) (Result, error) {
	m := newExpressMaker(s)
	switch s.Kind {
	case Test:
		m.test()
	default:
		m.thing(s.Kind)
	}
	m.out.Packages = npmPackages(m.out.Files, "express")
	if s.TypeScript && s.Kind == Test && isOneOf("supertest@^7.3.0", m.out.Packages) {
		m.out.Packages = append(m.out.Packages, "@types/supertest@^7.2.0")
	}
	return m.out, m.err
}

// expressMaker makes modules of an Express project.
type expressMaker struct {
	Spec
	at        *place
	source    string
	extension string
	common    bool // modules are CommonJS's
	out       Result
	err       error
}

func newExpressMaker(s Spec) *expressMaker {
	at := newPlace(s.Paths)
	m := &expressMaker{Spec: s, at: at, source: at.source("package.json", true), extension: ".js"}
	switch {
	case s.TypeScript:
		m.extension = ".ts"
	case isCommonJS(at):
		m.extension, m.common = ".cjs", true
	case hasModules(at):
		m.extension = ".mjs"
	}
	return m
}

// isCommonJS reports whether the project's scripts say by their extension that they are CommonJS modules.
func isCommonJS(at *place) bool {
	return countOf(at, ".cjs") > 0 && countOf(at, ".mjs") == 0 && countOf(at, ".js") == 0
}

// hasModules reports whether the project's scripts say by their extension that they are ES modules.
func hasModules(at *place) bool { return countOf(at, ".mjs") > 0 && countOf(at, ".js") == 0 }

// countOf counts the project's own scripts of an extension; what configures a tool is none.
func countOf(at *place, extension string) int {
	count := 0
	for _, file := range at.files {
		if strings.HasSuffix(file, extension) && !strings.Contains(baseName(file), ".config.") && !isForeign(file) {
			count++
		}
	}
	return count
}

func (m *expressMaker) file(path, folder, template string, v jsView) {
	content, err := render(folder, template, v)
	if err != nil && m.err == nil {
		m.err = err
	}
	if m.common {
		content = commonJS(content)
	}
	m.out.Files = append(m.out.Files, File{Path: path, Content: content})
}

func (m *expressMaker) says(format string, args ...any) { m.out.Says = fmt.Sprintf(format, args...) }

// from is how one module imports another: with its extension, which is .js of a TypeScript module, too.
func (m *expressMaker) from(importer, module string) string {
	path := importPath(importer, module)
	if rest, ok := strings.CutSuffix(path, ".ts"); ok {
		return rest + ".js"
	}
	return path
}

// folder is where modules of a sort lie: the one of the names that is in use, or else the first of them among the sources.
func (m *expressMaker) folder(names ...string) string {
	return m.at.folder(names, m.source+"/"+names[0])
}

// place finds a path for a module in a folder.
func (m *expressMaker) place(folder string, n name) (path string, free name) {
	named := func(suffix string) string { return folder + "/" + n.numbered(suffix).camel() + m.extension }
	suffix := m.at.free(func(suffix string) []string { return []string{named(suffix)} })
	return named(suffix), n.numbered(suffix)
}

func (m *expressMaker) name(noun string) name { return nameOf(m.Name, noun) }

// thing makes what is asked for.
func (m *expressMaker) thing(kind Kind) made {
	switch kind {
	case Endpoint:
		return m.endpoint()
	case Form:
		return m.form(m.name("form").without("form", "page", "component"))
	case List:
		return m.list(m.name("item").without("list", "table", "page", "view", "grid"))
	case Utility:
		return m.utility()
	case Page:
		n := m.name("page").without("page", "screen", "view")
		switch {
		case isMissing(n):
		case isForm(n) || len(m.Fields) > 0 && !n.isPlural():
			return m.form(n)
		case n.isPlural() && (len(m.Fields) > 0 || usualFields(n) != nil):
			return m.list(n)
		}
		return m.page(n)
	}
	n := m.name("component").without("component")
	if isForm(n) {
		return m.form(n.without("form"))
	}
	return m.component(n)
}

// component makes a function that returns HTML.
func (m *expressMaker) component(n name) made {
	resource := n.without("card", "details", "detail", "view", "item", "panel", "section")
	v := newJSView(m.Spec, resource)
	v.Variant, v.Title = "component", n.sentence()
	v.Has["details"] = (len(m.Fields) > 0 || usualFields(resource) != nil) && len(v.Shown()) > 0
	path, free := m.place(m.folder("views"), n)
	v.Name = jsVariable(free)
	if v.Name == v.One {
		v.One = "record"
	}
	m.file(path, "express", "component", v)
	m.says("Express has no components: `%s` of `%s` is a function that returns HTML, every value in it escaped.", v.Name, path)
	return made{path, v}
}

// page makes a view and the route that answers with it.
func (m *expressMaker) page(n name) made {
	v := newJSView(m.Spec, n)
	v.Variant, v.Has["missing"] = "page", isMissing(n)
	v.Imports["pageText"] = n.with("page").lower()
	view, free := m.place(m.folder("views"), n.with("page"))
	v.Name = jsVariable(free)
	path, router := m.router(n.with("page"))
	w := v
	w.Name = router
	w.Imports = map[string]string{"view": m.from(path, view), "viewName": v.Name}
	m.file(path, "express", "page-router", w)
	m.file(view, "express", "page", v)
	if v.Has["missing"] {
		m.says("Put `app.use(%s)` behind all other routes; it is exported by `%s`.", w.Name, path)
	} else {
		m.says("Mount the page with `app.use('/%s', %s)`; the router is in `%s`.", n.path(), w.Name, path)
	}
	return made{path, w}
}

// router finds the place and the name of a router.
func (m *expressMaker) router(n name) (path, router string) {
	path, free := m.place(m.folder("routes", "routers"), n)
	return path, free.with("router").camel()
}

// list makes the view of a list and the router of its page.
func (m *expressMaker) list(n name) made {
	v := newJSView(m.Spec, n)
	v.Variant, v.Has["table"] = "list", m.Table
	v.Title = n.plural().sentence()
	kind := "list"
	if m.Table {
		kind = "table"
	}
	view, free := m.place(m.folder("views"), n.singular().with(kind))
	v.Name = jsVariable(free)
	path, router := m.router(n.plural().with("page"))
	w := v
	w.Name = "create" + strings.ToUpper(router[:1]) + router[1:]
	w.Imports = map[string]string{"view": m.from(path, view), "viewName": v.Name}
	m.file(path, "express", "list-router", w)
	m.file(view, "express", "list", v)
	m.says("Mount the page with `app.use('/%s', %s({ list }))`, where `list` gives the %s; it is exported by `%s`.", v.Address, w.Name, v.ManyText, path)
	return made{path, w}
}

// form makes the view of a form, the schema of what it sends, and the router of both.
func (m *expressMaker) form(n name) made {
	v := newJSView(m.Spec, n)
	v.Variant = "form"
	for _, f := range v.Fields {
		v.Has["keeps"] = v.Has["keeps"] || f.Type != password
	}
	view, free := m.place(m.folder("views"), n.with("form"))
	v.Name = jsVariable(free)
	schema, _ := m.place(m.folder("schemas", "validators"), n.with("form").with("schema"))
	path, router := m.router(n)
	w := v
	w.Name = "create" + strings.ToUpper(router[:1]) + router[1:]
	done := free.camel() + "Done"
	v.Imports = map[string]string{"doneName": done, "schemaName": n.with("form").with("schema").camel()}
	w.Imports = map[string]string{
		"view": m.from(path, view), "viewName": v.Name, "doneName": done, "schema": m.from(path, schema), "schemaName": v.Imports["schemaName"],
	}
	m.file(path, "express", "form-router", w)
	m.file(view, "express", "form", v)
	m.file(schema, "express", "form-schema", v)
	m.says("Mount the form with `app.use('/%s', %s({ onSubmit }))`, where `onSubmit` gets the checked values; it is exported by `%s`.", n.path(), w.Name, path)
	return made{path, w}
}

// probes are endpoints that say how the process is.
func isProbe(n name) bool {
	return isOneOf(n.kebab(), []string{"health", "healthz", "health-check", "healthcheck", "ping", "ready", "readiness", "liveness", "status"})
}

// endpoint makes the router of a resource, its schema, and a store in memory.
func (m *expressMaker) endpoint() made {
	n := m.name("item").without("endpoint", "api", "route", "router")
	if isProbe(n) {
		v := newJSView(m.Spec, n)
		v.Variant = "probe"
		path, router := m.router(n)
		v.Name = router
		m.file(path, "express", "probe", v)
		m.says("Mount it with `app.use('/%s', %s)`; the router is in `%s`.", n.path(), router, path)
		return made{path, v}
	}
	methods := m.Methods
	if len(methods) == 0 {
		methods = usualMethods()
	}
	path, router := m.router(n.plural())
	v, store := m.records(n, methods, true)
	v.Name, v.Variant = router, "router"
	v.Imports = map[string]string{"store": m.from(path, store), "schema": m.from(path, m.schemaPath()), "schemaName": v.Imports["schemaName"]}
	m.file(path, "express", "router", v)
	m.out.Files = mainFirst(m.out.Files, 0, 1)
	m.says("Mount it with `app.use('/api/%s', %s)`, exported by `%s`. `%s` keeps the %s in memory: put a database behind its functions.", v.Address, router, path, store, v.ManyText)
	return made{path, v}
}

// records makes a store in memory and the schema of what is in it.
func (m *expressMaker) records(n name, methods []string, schema bool) (v jsView, store string) {
	v = newJSView(m.Spec, n)
	v.Methods = methods
	v.Has["writes"] = v.Does("POST", "PUT", "PATCH")
	v.Imports["schemaName"] = n.singular().with("schema").camel()
	store, _ = m.place(m.folder("stores", "store", "repositories", "data"), n.singular().with("store"))
	if schema && (v.Has["writes"] || m.TypeScript) {
		path, _ := m.place(m.folder("schemas", "validators"), n.singular().with("schema"))
		v.Imports["schema"] = m.from(store, path)
		m.file(path, "javascript", "schema", v)
	}
	m.file(store, "javascript", "store", v)
	return v, store
}

// schemaPath is the schema that was made; "" if none was.
func (m *expressMaker) schemaPath() string {
	if len(m.out.Files) > 1 {
		return m.out.Files[len(m.out.Files)-2].Path
	}
	return m.out.Files[0].Path
}

// commonJS turns a module that a template made from ES's kind into CommonJS's.
func commonJS(content string) string {
	var out, exports []string
	for line := range strings.SplitSeq(strings.TrimSuffix(content, "\n"), "\n") {
		if names, module, ok := strings.Cut(strings.TrimPrefix(line, "import "), " from "); ok && strings.HasPrefix(line, "import ") {
			line = "const " + strings.TrimPrefix(names, "* as ") + " = require(" + strings.TrimSuffix(module, ";") + ");"
		}
		if declared, ok := strings.CutPrefix(line, "export "); ok {
			words := strings.FieldsFunc(strings.TrimPrefix(declared, "async "), func(r rune) bool { return strings.ContainsRune(" (=", r) })
			exports = append(exports, words[1])
			line = declared
		}
		out = append(out, line)
	}
	if len(exports) > 0 {
		out = append(out, "", "module.exports = { "+strings.Join(exports, ", ")+" };")
	}
	return strings.Join(out, "\n") + "\n"
}

// Escapes reports whether the HTML of the fields, or what stands for them where none may be shown, has text in it.
func (v jsView) Escapes() bool {
	shown := v.Shown()
	for _, f := range shown {
		if f.Type != boolean {
			return true
		}
	}
	return len(shown) == 0 || v.Variant == "component" && !v.Has["details"]
}
