package blueprint

import "fmt"

// makeReact makes function components with hooks, as Vite's template has them: each in a file of its name, its style in a CSS module
// beside it. There is no server, so that an endpoint is what the browser has of one: a client of the API, and a hook that uses it.
func makeReact(s Spec) (Result, error) {
	m := newReactMaker(s, false)
	switch s.Kind {
	case Page:
		m.page(m.name("page"))
	case Endpoint:
		m.endpoint()
	case Test:
		m.test()
	default:
		m.thing(s.Kind)
	}
	return m.done("react", "react-dom", "vite", "@vitejs/plugin-react")
}

// done is the Result; the packages of base are those that a new project has.
func (m *reactMaker) done(base ...string) (Result, error) {
	m.out.Packages = npmPackages(m.out.Files, base...)
	return m.out, m.err
}

// reactMaker makes what React and Next.js have in common.
type reactMaker struct {
	Spec
	at     *place
	source string // the folder that sources are in
	next   bool
	out    Result
	err    error
}

// made is a module that was made, or that a test found.
type made struct {
	path string
	view jsView
}

func newReactMaker(s Spec, next bool) *reactMaker {
	at := newPlace(s.Paths)
	return &reactMaker{Spec: s, at: at, source: at.source("package.json", !next), next: next}
}

func (m *reactMaker) name(noun string) name { return nameOf(m.Name, noun) }

// file renders a template into a file; the first error of any stays.
func (m *reactMaker) file(path, folder, template string, v jsView) {
	content, err := render(folder, template, v)
	if err != nil && m.err == nil {
		m.err = err
	}
	m.out.Files = append(m.out.Files, File{Path: path, Content: content})
}

func (m *reactMaker) says(format string, args ...any) { m.out.Says = fmt.Sprintf(format, args...) }

func (m *reactMaker) view(s Spec, resource name) jsView {
	v := newJSView(s, resource)
	v.Client, v.Has["next"] = m.next, m.next
	v.Link = "a"
	if m.next {
		v.Link = "Link"
	}
	return v
}

// component is the extension of files with markup, script of those without.
func (m *reactMaker) component() string { return m.extension("jsx", "tsx") }
func (m *reactMaker) script() string    { return m.extension("js", "ts") }

func (m *reactMaker) extension(js, ts string) string {
	if m.TypeScript {
		return "." + ts
	}
	return "." + js
}

// thing makes a component of the kind, or a utility.
func (m *reactMaker) thing(kind Kind) made {
	switch kind {
	case Form:
		return m.form(m.name("form").with("form"))
	case List:
		return m.list(m.name("item"))
	case Utility:
		return m.utility()
	}
	n := m.name("component").without("component")
	switch last := n.words[len(n.words)-1]; {
	case isForm(n) || isOneOf("search", n.words):
		if !isOneOf(last, []string{"bar", "box", "form", "field"}) {
			n = n.with("form")
		}
		return m.form(n)
	case widgetOf(n) != "" && len(m.Fields) == 0:
		return m.widget(n, widgetOf(n))
	case isOneOf(last, []string{"list", "table", "grid"}):
		m.Table = m.Table || last == "table"
		return m.list(n)
	}
	return m.details(n)
}

// widgetOf is the template of a component that everybody knows by that name.
func widgetOf(n name) string {
	switch n.words[len(n.words)-1] {
	case "button", "counter", "footer", "hero", "spinner", "alert":
		return n.words[len(n.words)-1]
	case "dialog", "modal", "popup":
		return "dialog"
	case "navbar", "nav", "navigation", "header", "menu":
		return "navbar"
	case "loader", "loading":
		return "spinner"
	case "toast", "notification":
		return "alert"
	case "card":
		if usualFields(n) == nil {
			return "card"
		}
	}
	return ""
}

func (m *reactMaker) widget(n name, template string) made {
	v := m.view(m.Spec, n)
	v.Variant = template
	return m.styled(n, template, v, m.components(), "`<%s />` is ready to be imported from `%s`.")
}

// details makes a component that shows a record, or a section where no fields are known.
func (m *reactMaker) details(n name) made {
	resource := n.without("component", "card", "details", "detail", "view", "item", "panel", "section")
	v := m.view(m.Spec, resource)
	v.Client = false
	v.Title = n.sentence()
	v.Has["details"] = len(m.Fields) > 0 || usualFields(resource) != nil
	v.Variant = "section"
	usage := "Wrap content in `<%s title=\"…\">`, imported from `%s`."
	if v.Has["details"] = v.Has["details"] && len(v.Shown()) > 0; v.Has["details"] {
		v.Variant = "details"
		usage = "Show a record with `<%s " + v.One + "={" + v.One + "} />`, imported from `%s`."
	}
	return m.styled(n, "component", v, m.components(), usage)
}

func (m *reactMaker) form(n name) made {
	v := m.view(m.Spec, n.without("form", "component", "page", "bar", "box"))
	v.Variant = "form"
	return m.styled(n, "form", v, m.components(), "Render `<%s onSubmit={save} />`, imported from `%s`; `save` gets the values, and what it throws is reported in the form.")
}

func (m *reactMaker) list(n name) made {
	resource := n.without("list", "table", "grid", "view", "component", "page")
	kind := "list"
	if m.Table {
		kind = "table"
	}
	v := m.view(m.Spec, resource)
	v.Client = false // it hands on what it is given
	v.Variant = kind
	return m.styled(resource.singular().with(kind), kind, v, m.components(), "Render `<%s "+v.Many+"={"+v.Many+"} />`, imported from `%s`; it has states for loading, an error and nothing to show as well.")
}

// styled makes a component and its style.
func (m *reactMaker) styled(n name, template string, v jsView, folder, usage string) made {
	named := func(suffix string) string { return jsType(n.numbered(suffix)) }
	suffix := m.at.free(func(suffix string) []string {
		return []string{folder + "/" + named(suffix) + m.component(), folder + "/" + named(suffix) + ".module.css"}
	})
	v.Name = named(suffix)
	v.Imports["style"] = "./" + v.Name + ".module.css"
	path := folder + "/" + v.Name + m.component()
	m.file(path, "react", template, v)
	m.file(folder+"/"+v.Name+".module.css", "react", template+".css", v)
	m.says(usage, v.Name, path)
	return made{path, v}
}

func (m *reactMaker) components() string {
	return m.at.folder([]string{"components"}, m.source+"/components")
}

// page makes a page; what it shows beside its heading is a component of its own.
func (m *reactMaker) page(n name) made {
	resource := n.without("page", "screen", "view")
	n = resource.with("page")
	folder := m.at.folder([]string{"pages", "views", "screens"}, m.source+"/pages")
	named := func(suffix string) string { return jsType(n.numbered(suffix)) }
	suffix := m.at.free(func(suffix string) []string {
		return []string{folder + "/" + named(suffix) + m.component(), folder + "/" + named(suffix) + ".module.css"}
	})
	v := m.view(m.Spec, resource)
	v.Name, v.Variant = named(suffix), "page"
	v.Imports["style"] = "./" + v.Name + ".module.css"
	v.Imports["pageText"] = n.lower()
	v.Has["missing"] = isMissing(resource)
	main := folder + "/" + v.Name + m.component()
	parts := len(m.out.Files)
	m.content(main, resource, &v)
	m.file(main, "react", "page", v)
	m.file(folder+"/"+v.Name+".module.css", "react", "page.css", v)
	m.out.Files = mainFirst(m.out.Files, parts, 2)
	address := resource.path()
	if isOneOf(address, []string{"home", "index", "landing", "start"}) {
		address = ""
	}
	m.says("The page is `%s`; have your router render `<%s />` at `/%s`.", main, v.Name, address)
	return made{main, v}
}

// isMissing reports whether a page is the one for addresses that lead nowhere.
func isMissing(n name) bool {
	return len(n.words) == 1 && n.words[0] == "404" || isOneOf(n.kebab(), []string{"not-found", "missing"})
}

// content makes what a page shows: a form with what it sends, a list with what it loads, or nothing.
func (m *reactMaker) content(main string, resource name, v *jsView) {
	switch {
	case v.Has["missing"]:
	case isForm(resource) || len(m.Fields) > 0 && !resource.isPlural():
		part := m.form(formOn(resource))
		client := m.client(m.with(fieldsOf(m.Spec, resource)), sent(resource), []string{"POST"})
		v.Variant = "form page"
		v.Imports["part"], v.Imports["partName"], v.Imports["partText"] = importPath(main, stem(part.path)), part.view.Name, resource.with("form").lower()
		v.Imports["send"], v.Imports["sendName"] = importPath(main, stem(client.path)), client.view.Fn("create")
	case resource.isPlural() && (len(m.Fields) > 0 || usualFields(resource) != nil):
		part := m.list(resource)
		client := m.client(m.Spec, resource, []string{"GET"})
		hook := m.clientHook(resource, client)
		v.Variant = "list page"
		v.Imports["part"], v.Imports["partName"] = importPath(main, stem(part.path)), part.view.Name
		v.Imports["hook"], v.Imports["hookName"] = importPath(main, stem(hook.path)), hook.view.Name
		v.Has["table"] = m.Table
	}
}

// formOn is the name of the form on a page. Where a page's words are of another script, its noun tells them apart: else both were PageForm.
func formOn(page name) name { return name{words: page.with("form").words, noun: "form"} }

// mainFirst moves the count last files, which are the main ones, before those that were made from index from on.
func mainFirst(files []File, from, count int) []File {
	main := append([]File(nil), files[len(files)-count:]...)
	return append(files[:from:from], append(main, files[from:len(files)-count]...)...)
}

// sent is the resource that a form's values become: a login is a session.
func sent(n name) name {
	for _, word := range n.words {
		switch word {
		case "login", "signin":
			return nameOf([]string{"session"}, n.noun)
		case "sign":
			if isOneOf("in", n.words) {
				return nameOf([]string{"session"}, n.noun)
			}
			return nameOf([]string{"account"}, n.noun)
		case "signup", "register", "registration":
			return nameOf([]string{"account"}, n.noun)
		case "contact", "feedback", "support":
			return nameOf([]string{"message"}, n.noun)
		case "newsletter", "subscribe", "waitlist":
			return nameOf([]string{"subscription"}, n.noun)
		case "checkout":
			return nameOf([]string{"order"}, n.noun)
		}
	}
	return n
}

// client makes a module with a function for each call of a resource's API.
func (m *reactMaker) client(s Spec, resource name, methods []string) made {
	v := m.view(s, resource)
	v.Methods, v.Variant = methods, "client"
	folder := m.at.folder([]string{"api", "services"}, m.source+"/api")
	if m.next {
		folder = m.at.folder([]string{"lib", "services"}, m.source+"/lib")
	}
	named := func(suffix string) string {
		n := resource.plural().numbered(suffix)
		if m.next {
			n = resource.singular().with("client").numbered(suffix)
		}
		return folder + "/" + n.camel() + m.script()
	}
	suffix := m.at.free(func(suffix string) []string { return []string{named(suffix)} })
	m.file(named(suffix), "react", "client", v)
	m.says("`%s` has a function for each call of `/api/%s`.", named(suffix), v.Address)
	return made{named(suffix), v}
}

func (m *reactMaker) clientHook(resource name, client made) made {
	v := client.view
	v.Variant = "client hook"
	v.Imports = map[string]string{}
	return m.hook(resource.plural(), "resource-hook", v, client.path)
}

// hook makes a hook of that name, which may import another module.
func (m *reactMaker) hook(n name, template string, v jsView, client string) made {
	folder := m.at.folder([]string{"hooks"}, m.source+"/hooks")
	named := func(suffix string) string { return "use" + n.numbered(suffix).pascal() }
	suffix := m.at.free(func(suffix string) []string { return []string{folder + "/" + named(suffix) + m.script()} })
	v.Name = named(suffix)
	path := folder + "/" + v.Name + m.script()
	if client != "" {
		v.Imports["client"] = importPath(path, stem(client))
	}
	m.file(path, "react", template, v)
	return made{path, v}
}

// endpoint makes what a browser has of one.
func (m *reactMaker) endpoint() made {
	resource := m.name("item").without("endpoint", "api", "route", "client")
	methods := m.Methods
	if len(methods) == 0 {
		methods = usualMethods()
	}
	client := m.client(m.Spec, resource, methods)
	if !client.view.Does("GET") {
		m.says("React has no server of its own, so this is what calls one: `%s` has a function for each call of `/api/%s`.", client.path, client.view.Address)
		return client
	}
	hook := m.clientHook(resource, client)
	m.says("React has no server of its own, so this is what calls one: `%s` has a function for each call of `/api/%s`, and `%s()` of `%s` gives components the data.",
		client.path, client.view.Address, hook.view.Name, hook.path)
	return client
}

// usualMethods are those of a resource that people list, make, change and delete.
func usualMethods() []string { return []string{"GET", "POST", "PATCH", "DELETE"} }
