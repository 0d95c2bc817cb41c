package blueprint

import "strings"

// makeNext makes what Next.js is made of: pages and route handlers of the App Router, or of the Pages Router in a project that has that
// one alone; components as for React, those that act in the browser marked so.
func makeNext(s Spec) (Result, error) {
	m := &nextMaker{reactMaker: newReactMaker(s, true)}
	m.findRouter()
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
	return m.done("next", "react", "react-dom")
}

// nextMaker makes what React's makes, and what belongs to a router.
type nextMaker struct {
	*reactMaker
	router string // the folder of pages: app or pages
	legacy bool   // it is that of the Pages Router
}

// findRouter finds the folder of the router in use; a new project gets the App Router.
func (m *nextMaker) findRouter() {
	base := m.at.base("package.json")
	for _, folder := range []string{base + "/src/app", base + "/app"} {
		if m.at.hasFolder(folder) && m.at.isUsable(folder) {
			m.router = folder
			return
		}
	}
	for _, folder := range []string{base + "/src/pages", base + "/pages"} {
		if m.at.hasFolder(folder) && m.at.isUsable(folder) {
			m.router, m.legacy = folder, true
			return
		}
	}
	m.router = m.at.folder(nil, m.source+"/app")
}

// page makes a page at an address of its name.
func (m *nextMaker) page(n name) made {
	resource := n.without("page", "screen", "view")
	n = resource.with("page")
	v := m.view(m.Spec, resource)
	v.Variant, v.Has["missing"] = "page", isMissing(resource)
	v.Imports["pageText"] = n.lower()
	main, style, address := m.pagePlace(resource)
	v.Name = jsType(n)
	v.Imports["style"] = importPath(main, style)
	parts := len(m.out.Files)
	m.content(main, resource, &v)
	template, folder := "page", "nextjs"
	switch {
	case m.legacy:
		template = "pages-page"
	case isLogin(resource):
		folder = "react" // what it sends goes to an endpoint, so that all of it is the browser's
	}
	m.file(main, folder, template, v)
	m.file(style, "react", "page.css", v)
	m.out.Files = mainFirst(m.out.Files, parts, 2)
	m.says("The page is `%s`, at %s.", main, address)
	if call := v.Imports["call"]; call != "" {
		m.says("The page is `%s`, at %s. It calls `%s`, an endpoint that the project has to have.", main, address, call)
	}
	return made{main, v}
}

// pagePlace is where a page and its style go, and its address.
func (m *nextMaker) pagePlace(n name) (main, style, address string) {
	page := func(folder string) []string {
		return []string{folder + "/page" + m.component(), folder + "/page.module.css"}
	}
	if m.legacy {
		return m.legacyPlace(n)
	}
	if isMissing(n) {
		files := []string{m.router + "/not-found" + m.component(), m.router + "/not-found.module.css"}
		if m.at.isFree(files[0]) && m.at.isFree(files[1]) {
			m.at.free(func(string) []string { return files })
			return files[0], files[1], "every address that leads nowhere"
		}
	}
	if isOneOf(n.kebab(), []string{"home", "index", "landing", "start"}) {
		if files := page(m.router); m.at.isFree(files[0]) && m.at.isFree(files[1]) {
			m.at.free(func(string) []string { return files })
			return files[0], files[1], "`/`"
		}
	}
	route := n.path()
	if isOneOf(route, []string{"api"}) {
		route += "-page"
	}
	folder := func(suffix string) string { return m.router + "/" + joinSuffix(route, suffix) }
	suffix := m.at.free(func(suffix string) []string {
		return append(page(folder(suffix)), folder(suffix)+"/route.js")
	})
	files := page(folder(suffix))
	return files[0], files[1], "`/" + joinSuffix(route, suffix) + "`"
}

func (m *nextMaker) legacyPlace(n name) (main, style, address string) {
	route := n.path()
	switch {
	case isMissing(n):
		route = "404"
	case isOneOf(route, []string{"home", "landing", "start"}):
		route = "index"
	case isOneOf(route, []string{"api"}):
		route += "-page"
	}
	styles := m.at.folder([]string{"styles"}, m.source+"/styles")
	files := func(suffix string) []string {
		route := joinSuffix(route, suffix)
		return []string{m.router + "/" + route + m.component(), styles + "/" + route + ".module.css", m.router + "/" + route + "/index.js"}
	}
	suffix := m.at.free(files)
	address = "`/" + strings.TrimSuffix(joinSuffix(route, suffix), "index") + "`"
	return files(suffix)[0], files(suffix)[1], address
}

// joinSuffix puts a number behind a name in an address: user-2, 404-2.
func joinSuffix(text, suffix string) string {
	if suffix == "" {
		return text
	}
	return text + "-" + suffix
}

// content makes what a page shows, and what feeds it.
func (m *nextMaker) content(main string, resource name, v *jsView) {
	isList := resource.isPlural() && (len(m.Fields) > 0 || usualFields(resource) != nil)
	isEntry := isForm(resource) || len(m.Fields) > 0 && !resource.isPlural()
	switch {
	case v.Has["missing"] || !isList && !isEntry:
		return
	case m.legacy || isEntry && isLogin(resource):
		m.reactMaker.content(main, resource, v)
		v.Imports["call"] = "/api/" + sentOrSame(resource, isEntry).plural().path()
		return
	case isEntry:
		part := m.form(formOn(resource))
		store, schema := m.records(m.with(fieldsOf(m.Spec, resource)), sent(resource), []string{"POST"})
		action := m.action(main, store, schema)
		v.Variant = "form page"
		v.Imports["part"], v.Imports["partName"] = importPath(main, stem(part.path)), part.view.Name
		v.Imports["send"], v.Imports["sendName"] = importPath(main, stem(action)), store.view.Fn("create")
	default:
		part := m.list(resource)
		store, _ := m.records(m.Spec, resource, []string{"GET", "POST"})
		v.Variant = "list page"
		v.Has["table"] = m.Table
		v.Imports["part"], v.Imports["partName"] = importPath(main, stem(part.path)), part.view.Name
		v.Imports["store"] = importPath(main, stem(store.path))
	}
}

func sentOrSame(n name, isEntry bool) name {
	if isEntry {
		return sent(n)
	}
	return n
}

// action makes a page's server action.
func (m *nextMaker) action(page string, store, schema made) string {
	folder := page[:strings.LastIndexByte(page, '/')]
	named := func(suffix string) string { return folder + "/actions" + suffix + m.script() }
	path := named(m.at.free(func(suffix string) []string { return []string{named(suffix)} }))
	v := store.view
	v.Imports = map[string]string{
		"store": importPath(path, stem(store.path)), "schema": importPath(path, stem(schema.path)), "schemaName": schema.view.Imports["schemaName"],
	}
	m.file(path, "nextjs", "action", v)
	return path
}

// records makes a store in memory and the schema of what is in it.
func (m *nextMaker) records(s Spec, resource name, methods []string) (store, schema made) {
	v := m.view(s, resource)
	v.Methods = methods
	v.Has["writes"] = v.Does("POST", "PUT", "PATCH")
	folder := m.at.folder([]string{"lib"}, m.source+"/lib")
	one, many := resource.singular(), resource.plural()
	files := func(suffix string) []string {
		return []string{folder + "/" + many.numbered(suffix).with("store").camel() + m.script(), folder + "/" + one.numbered(suffix).with("schema").camel() + m.script()}
	}
	paths := files(m.at.free(files))
	v.Imports["schemaName"] = one.with("schema").camel()
	if v.Has["writes"] || m.TypeScript {
		v.Imports["schema"] = importPath(paths[0], stem(paths[1]))
		m.file(paths[1], "javascript", "schema", v)
	}
	m.file(paths[0], "javascript", "store", v)
	return made{paths[0], v}, made{paths[1], v}
}

// endpoint makes the route handlers of a resource.
func (m *nextMaker) endpoint() made {
	resource := m.name("item").without("endpoint", "api", "route", "handler")
	methods := m.Methods
	if len(methods) == 0 {
		methods = usualMethods()
	}
	v := m.view(m.Spec, resource)
	v.Methods, v.Variant = methods, "route"
	routes := m.routes(&v)
	store, schema := m.records(m.Spec, resource, methods)
	var kept []made
	for _, route := range routes {
		w := v
		w.Imports = map[string]string{
			"store": importPath(route.path, stem(store.path)), "schema": importPath(route.path, stem(schema.path)), "schemaName": schema.view.Imports["schemaName"],
		}
		m.file(route.path, "nextjs", route.view.Variant, w)
		kept = append(kept, made{route.path, w})
	}
	m.out.Files = mainFirst(m.out.Files, 0, len(kept))
	main := kept[0]
	if len(kept) > 1 {
		main.view.Imports["item"] = kept[1].path
	}
	m.says("`%s` answers at `/api/%s`, with `%s` as its store in memory: put a database behind that one's functions.", main.path, v.Address, store.path)
	return main
}

// routes are the files of a resource's endpoints and their templates; the view's address becomes theirs.
func (m *nextMaker) routes(v *jsView) []made {
	collection, item := m.router+"/api/%/route"+m.script(), m.router+"/api/%/[id]/route"+m.script()
	if m.legacy {
		collection, item = m.router+"/api/%/index"+m.script(), m.router+"/api/%/[id]"+m.script()
	}
	prefix := ""
	if m.legacy {
		prefix = "pages-"
	}
	address := v.Address
	files := func(suffix string) []string {
		at := joinSuffix(address, suffix)
		return []string{strings.Replace(collection, "%", at, 1), strings.Replace(item, "%", at, 1)}
	}
	suffix := m.at.free(func(suffix string) []string {
		return append(files(suffix), m.router+"/api/"+joinSuffix(address, suffix)+m.script())
	})
	v.Address = joinSuffix(address, suffix)
	var routes []made
	if len(v.CollectionMethods()) > 0 {
		routes = append(routes, made{files(suffix)[0], jsView{Variant: prefix + "collection"}})
	}
	if len(v.ItemMethods()) > 0 {
		routes = append(routes, made{files(suffix)[1], jsView{Variant: prefix + "item"}})
	}
	return routes
}

// test makes a test of a module that exists, or else the module and its test.
func (m *nextMaker) test() {
	if m.SubjectPath != "" {
		m.testExisting(m.SubjectPath)
		return
	}
	var subject made
	switch m.Subject {
	case Page:
		subject = m.page(m.name("page"))
	case Endpoint:
		subject = m.endpoint()
	default:
		m.reactMaker.test()
		return
	}
	template, folder, extension := "test-page", "nextjs", m.component()
	if m.Subject == Endpoint {
		template, extension = "test-route", m.script()
		if m.legacy {
			template = "test-pages-route"
		}
	}
	path := m.routeTest(subject.path, extension)
	v := subject.view
	imports := map[string]string{"subject": importPath(path, stem(subject.path))}
	if item := v.Imports["item"]; item != "" {
		imports["item"] = importPath(path, stem(item))
	}
	if v.Variant == "list page" && v.Imports["store"] != "" {
		imports["store"] = importPath(path, stem(m.storePath()))
	}
	v.Has["browserList"] = v.Variant == "list page" && imports["store"] == ""
	v.Imports = imports
	m.file(path, folder, template, v)
	m.config()
	m.says("`npx vitest run` runs the test in `%s`. The project had nothing of that name to test, so `%s` is new as well.", path, subject.path)
}

// storePath is the store that was made.
func (m *nextMaker) storePath() string {
	for _, file := range m.out.Files {
		if strings.HasSuffix(stem(file.Path), "Store") || strings.Contains(file.Content, "const records") {
			return file.Path
		}
	}
	return ""
}

// routeTest is where a route's test goes: beside it, but never among the files of the Pages Router, each of which is a page.
func (m *nextMaker) routeTest(subject, extension string) string {
	if !m.legacy {
		return m.testPath(subject, extension)
	}
	folder := m.at.folder([]string{"__tests__", "tests", "test"}, m.at.base("package.json")+"/__tests__")
	base := strings.NewReplacer("/", "-", "[", "", "]", "").Replace(strings.TrimPrefix(stem(subject), m.router+"/"))
	named := func(suffix string) string { return folder + "/" + base + suffix + ".test" + extension }
	return named(m.at.free(func(suffix string) []string { return []string{named(suffix)} }))
}
