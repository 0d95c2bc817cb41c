package blueprint

import (
	"fmt"
	"strings"
)

// vueProject is a Vue project that things are put into.
type vueProject struct {
	Spec
	*place
	src string
	// drawn is what the last template saw, which its test sees, too.
	drawn    sheet
	template string
}

func makeVue(s Spec) (Result, error) {
	p := newPlace(s.Paths)
	v := &vueProject{Spec: s, place: p, src: p.source("package.json", true)}
	return v.build()
}

func (v *vueProject) build() (Result, error) {
	switch v.Kind {
	case Page:
		return v.page()
	case Endpoint:
		return v.client("Vue runs in the browser and has no endpoints of its own: this is a client for %s, which a server must offer.")
	case Form:
		return v.form()
	case List:
		return v.list()
	case Utility:
		return v.utility()
	case Test:
		return v.test()
	}
	return v.component()
}

// make renders a template into one file.
func (v *vueProject) make(template string, data sheet, path, says string) (Result, error) {
	v.drawn, v.template = data, template
	code, err := render("vue", template, data)
	if err != nil {
		return Result{}, err
	}
	return Result{Files: []File{{Path: path, Content: code}}, Says: says}, nil
}

// shared renders one of the templates that static projects have too, in Vue's habits.
func (v *vueProject) shared(template string, data sheet, path, says string) (Result, error) {
	v.drawn, v.template = data, template
	code, err := render("static", template, data)
	if err != nil {
		return Result{}, err
	}
	return Result{Files: []File{{Path: path, Content: withoutSemicolons(code)}}, Says: says}, nil
}

// componentPath puts a component's name and path together: a name of several words, or at least none of an HTML element's.
func (v *vueProject) componentPath(folder string, n name) (name, string) {
	n = n.without("component")
	if len(n.code()) == 1 && isElement(n.kebab()) {
		n = name{words: append([]string{"app"}, n.words...), noun: n.noun}
	}
	path := func(suffix string) string { return folder + "/" + jsType(n.numbered(suffix)) + ".vue" }
	suffix := v.free(func(suffix string) []string { return []string{path(suffix)} })
	return n.numbered(suffix), path(suffix)
}

// isElement reports whether HTML has an element of that name, which a component can't share.
func isElement(kebab string) bool {
	return isOneOf(kebab, []string{
		"a", "abbr", "address", "area", "article", "aside", "audio", "base", "body", "button", "canvas", "caption", "code", "col", "data", "details", "dialog", "div",
		"embed", "fieldset", "figure", "footer", "form", "head", "header", "html", "iframe", "image", "img", "input", "label", "legend", "link", "main", "map", "mark", "menu", "meta", "meter",
		"nav", "object", "option", "output", "p", "picture", "progress", "q", "script", "search", "section", "select", "slot", "source", "span", "style", "summary", "svg",
		"table", "template", "text", "textarea", "time", "title", "track", "video",
		"component", "transition", "teleport", "suspense",
	})
}

func (v *vueProject) components() string {
	return v.folder([]string{"components"}, v.src+"/components")
}

func (v *vueProject) component() (Result, error) {
	n := nameOf(v.Name, "component")
	if isForm(n) {
		return v.form()
	}
	as, path := v.componentPath(v.components(), n)
	return v.componentAt(n, as, path)
}

func (v *vueProject) componentAt(n, as name, path string) (Result, error) {
	about := n.without("component", "card", "details")
	data := sheetOf(v.Spec, about, as)
	shape := componentShape(n)
	if shape == "content" && len(v.Fields) > 0 {
		data = data.with(visible(v.Spec, about))
	}
	use := "<" + data.Name + " />"
	switch {
	case len(data.Inputs) > 0:
		use = fmt.Sprintf("<%s :%s=%q />", data.Name, data.OneKebab, data.One)
	case shape == "dialog":
		use = fmt.Sprintf(`<%s v-model:open="isOpen">…</%s>`, data.Name, data.Name)
	case shape == "counter":
		use = fmt.Sprintf(`<%s v-model="count" />`, data.Name)
	case shape != "navigation":
		use = fmt.Sprintf("<%s>…</%s>", data.Name, data.Name)
	}
	data.Title = n.without("component").title()
	return v.make(shape+".vue", data, path, fmt.Sprintf("Use it as `%s`.", use))
}

func (v *vueProject) form() (Result, error) {
	n := nameOf(v.Name, "form").without("component", "form", "page", "view")
	as, path := v.componentPath(v.components(), n.with("form"))
	data := sheetOf(v.Spec, n, as).with(inputs(v.Spec, n))
	return v.make("form.vue", data, path, fmt.Sprintf("`<%s />` checks what was typed and sends it as JSON to `%s`, or where its `action` prop says; it emits `saved` afterwards.", data.Name, data.API))
}

func (v *vueProject) list() (Result, error) {
	kind := "list"
	if v.Table {
		kind = "table"
	}
	n := nameOf(v.Name, "item").without("component", "list", "table", "page", "view")
	as, path := v.componentPath(v.components(), n.singular().with(kind))
	data := sheetOf(v.Spec, n, as).with(visible(v.Spec, n))
	return v.make("list.vue", data, path, fmt.Sprintf("`<%s />` loads an array from `%s`, or from where its `source` prop says.", data.Name, data.API))
}

// page is a view of the router: with a form or a list in it where its name or fields ask for one, else with what it loads or just text.
func (v *vueProject) page() (Result, error) {
	n := nameOf(v.Name, "page").without("page", "view", "screen")
	folder := v.folder([]string{"views", "pages"}, v.src+"/views")
	kind := "view"
	if strings.HasSuffix(folder, "/pages") {
		kind = "page"
	}
	var inner Result
	var err error
	switch {
	case isForm(n):
		inner, err = v.form()
	case len(v.Fields) > 0 && n.isPlural():
		inner, err = v.list()
	case len(v.Fields) > 0:
		as, path := v.componentPath(v.components(), n.with("details"))
		inner, err = v.componentAt(n, as, path)
	}
	if err != nil {
		return Result{}, err
	}
	as, path := v.componentPath(folder, n.with(kind))
	data := sheetOf(v.Spec, n, as)
	data.Title, data.Lead = n.title(), leadOf(n)
	if len(inner.Files) > 0 {
		file := inner.Files[0].Path
		data.Part = &part{Name: stem(baseName(file)), Import: importPath(path, file)}
	}
	if len(v.Fields) > 0 && !isForm(n) && !n.isPlural() {
		data.LoadsHere, data.API = true, "/api/"+n.path()
		data = data.with(visible(v.Spec, n))
	}
	route := "/" + n.path()
	if route == "/home" {
		route = "/"
	}
	says := fmt.Sprintf("Add a route for it: `{ path: '%s', component: () => import('%s') }`.", route, "@"+strings.TrimPrefix(path, v.src))
	result, err := v.make("page.vue", data, path, says)
	result.Files = append(result.Files, inner.Files...)
	return result, err
}

// module is a free path of a script in a folder.
func (v *vueProject) module(names []string, otherwise, base string) (path, suffix string) {
	folder := v.folder(names, v.src+otherwise)
	at := func(suffix string) string {
		return folder + "/" + base + suffix + "." + sheet{TS: v.TypeScript}.extension()
	}
	suffix = v.free(func(suffix string) []string { return []string{at(suffix)} })
	return at(suffix), suffix
}

func (v *vueProject) utility() (Result, error) {
	switch v.Utility {
	case "store":
		return v.store()
	case "helper":
		return v.helper()
	case "client":
		return v.client("Import its functions where you talk to `%s`; an answer that is no success is thrown as an error with a `status`.")
	}
	n := nameOf(v.Name, "item").without("composable", "hook")
	if n.words[0] == "use" && len(n.words) > 1 {
		n.words = n.words[1:]
	}
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	data.Shape = hookShape(n)
	path, suffix := v.module([]string{"composables", "hooks"}, "/composables", "use"+n.pascal())
	data.Fn = "use" + n.pascal() + suffix
	return v.make("composable.js", data, path, fmt.Sprintf("Call `%s` in a component's `<script setup>`.", data.Fn))
}

func (v *vueProject) store() (Result, error) {
	n := nameOf(v.Name, "item").without("store", "pinia")
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	path, suffix := v.module([]string{"stores", "store"}, "/stores", n.camel())
	data.Fn, data.Class = "use"+n.pascal()+"Store"+suffix, n.kebab()+suffix
	result, err := v.make("store.js", data, path, fmt.Sprintf("`%s()` needs Pinia: `app.use(createPinia())` in your main file. It loads from `%s`.", data.Fn, data.API))
	result.Packages = []string{pinia}
	return result, err
}

func (v *vueProject) helper() (Result, error) {
	n := nameOf(v.Name, "item").without("helper", "util", "utility", "function")
	data := sheetOf(v.Spec, n, n).with(inputs(v.Spec, n))
	data.Shape = helperShape(n)
	data.Fn = helperFunction(n, data.Shape)
	base := n.camel()
	if data.Shape != "" {
		base = data.Fn
	}
	path, _ := v.module([]string{"utils", "lib", "helpers"}, "/utils", base)
	return v.shared("helper.js", data, path, fmt.Sprintf("Import it from `%s`.", "@"+strings.TrimPrefix(stem(path), v.src)))
}

func (v *vueProject) client(says string) (Result, error) {
	n := nameOf(v.Name, "item").without("client", "api", "endpoint", "service")
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	path, _ := v.module([]string{"api", "services", "clients"}, "/api", n.plural().camel())
	return v.shared("client.js", data, path, fmt.Sprintf(says, data.API))
}

// vueCell shows a field of a record in a template of Vue.
func vueCell(f input, value string, guard bool) string {
	condition := ""
	if guard {
		condition = ` v-if="` + value + `"`
	}
	shown := "{{ " + value + " }}"
	switch f.Type {
	case email:
		return "<a" + condition + " :href=\"`mailto:${" + value + "}`\">" + shown + "</a>"
	case tel:
		return "<a" + condition + " :href=\"`tel:${" + value + "}`\">" + shown + "</a>"
	case url:
		return `<a v-if="isWebAddress(` + value + `)" :href="` + value + `" rel="noopener noreferrer">` + shown + `</a><template v-else>` + shown + `</template>`
	case date:
		return `<time` + condition + ` :datetime="` + value + `">` + shown + `</time>`
	case boolean:
		return "{{ " + value + " ? 'Yes' : 'No' }}"
	}
	return shown
}
