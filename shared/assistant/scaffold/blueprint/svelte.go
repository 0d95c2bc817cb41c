package blueprint

import (
	"fmt"
	"regexp"
	"strings"
)

// svelteProject is a Svelte project that things are put into.
type svelteProject struct {
	Spec
	*place
	src string
	// routes is SvelteKit's folder of routes; "" where there is no SvelteKit.
	routes string
	// drawn is what the last template saw, which its test sees, too.
	drawn    sheet
	template string
}

func makeSvelte(s Spec) (Result, error) {
	p := newPlace(s.Paths)
	v := &svelteProject{Spec: s, place: p, src: p.source("package.json", true)}
	if routes := v.src + "/routes"; strings.HasSuffix(v.src, "/src") && p.hasFolder(routes) && p.isUsable(routes) {
		v.routes = routes
	}
	return v.build()
}

func (v *svelteProject) build() (Result, error) {
	switch v.Kind {
	case Page:
		return v.page()
	case Endpoint:
		return v.endpoint()
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

// make renders a template into one file; folder svelte's own, or static's, which it shares.
func (v *svelteProject) make(folder, template string, data sheet, path, says string) (Result, error) {
	v.drawn, v.template = data, template
	code, err := render(folder, template, data)
	if err != nil {
		return Result{}, err
	}
	return Result{Files: []File{{Path: path, Content: withTabs(code)}}, Says: says}, nil
}

var leadingSpaces = regexp.MustCompile(`(?m)^(?:  )+`)

// withTabs is code as new Svelte projects indent it.
func withTabs(code string) string {
	return leadingSpaces.ReplaceAllStringFunc(code, func(spaces string) string { return strings.Repeat("\t", len(spaces)/2) })
}

// lib is the folder of what is not a route.
func (v *svelteProject) lib() string { return v.folder([]string{"src/lib"}, v.src+"/lib") }

// importOf is how a file imports another one: by SvelteKit's name for lib where that is nearer.
func (v *svelteProject) importOf(from, to string) string {
	if inLib, ok := strings.CutPrefix(to, v.src+"/lib/"); ok && v.routes != "" {
		return "$lib/" + inLib
	}
	return importPath(from, to)
}

func (v *svelteProject) components() string {
	if v.routes != "" {
		return v.folder([]string{"components"}, v.lib()+"/components")
	}
	return v.folder([]string{"components"}, v.lib())
}

func (v *svelteProject) componentPath(folder string, n name) (name, string) {
	n = n.without("component")
	path := func(suffix string) string { return folder + "/" + jsType(n.numbered(suffix)) + ".svelte" }
	suffix := v.free(func(suffix string) []string { return []string{path(suffix)} })
	return n.numbered(suffix), path(suffix)
}

func (v *svelteProject) component() (Result, error) {
	n := nameOf(v.Name, "component")
	if isForm(n) {
		return v.form()
	}
	as, path := v.componentPath(v.components(), n)
	return v.componentAt(n, as, path)
}

func (v *svelteProject) componentAt(n, as name, path string) (Result, error) {
	about := n.without("component", "card", "details")
	data := sheetOf(v.Spec, about, as)
	shape := componentShape(n)
	if shape == "content" && len(v.Fields) > 0 {
		data = data.with(visible(v.Spec, about))
	}
	use := "<" + data.Name + " />"
	switch {
	case len(data.Inputs) > 0:
		use = fmt.Sprintf("<%s {%s} />", data.Name, data.One)
	case shape == "dialog":
		use = fmt.Sprintf("<%s bind:open>…</%s>", data.Name, data.Name)
	case shape == "counter":
		use = fmt.Sprintf("<%s bind:count />", data.Name)
	case shape != "navigation":
		use = fmt.Sprintf("<%s>…</%s>", data.Name, data.Name)
	}
	data.Title = n.without("component").title()
	return v.make("svelte", shape+".svelte", data, path, fmt.Sprintf("Use it as `%s`.", use))
}

func (v *svelteProject) form() (Result, error) {
	n := nameOf(v.Name, "form").without("component", "form", "page", "view")
	as, path := v.componentPath(v.components(), n.with("form"))
	data := sheetOf(v.Spec, n, as).with(inputs(v.Spec, n))
	says := fmt.Sprintf("`<%s />` checks what was typed and sends it as JSON to `%s`, or where its `action` prop says; it calls `onsaved` afterwards.", data.Name, data.API)
	return v.make("svelte", "form.svelte", data, path, says)
}

func (v *svelteProject) list() (Result, error) {
	kind := "list"
	if v.Table {
		kind = "table"
	}
	n := nameOf(v.Name, "item").without("component", "list", "table", "page", "view")
	as, path := v.componentPath(v.components(), n.singular().with(kind))
	data := sheetOf(v.Spec, n, as).with(visible(v.Spec, n))
	says := fmt.Sprintf("`<%s />` loads an array from `%s`, or from where its `source` prop says.", data.Name, data.API)
	return v.make("svelte", "list.svelte", data, path, says)
}

// page is a route of SvelteKit or a component to be shown as one, with what its name and fields ask for in it.
func (v *svelteProject) page() (Result, error) {
	n := nameOf(v.Name, "page").without("page", "view", "screen")
	var inner Result
	var err error
	loads := false
	switch {
	case isForm(n):
		inner, err = v.form()
	case len(v.Fields) > 0 && n.isPlural():
		inner, err = v.list()
	case len(v.Fields) > 0:
		as, path := v.componentPath(v.components(), n.with("details"))
		inner, err = v.componentAt(n, as, path)
		loads = true
	}
	if err != nil {
		return Result{}, err
	}
	path, load, says := v.pagePath(n)
	data := sheetOf(v.Spec, n, n.with("page"))
	data.Title, data.Lead = n.title(), leadOf(n)
	if len(inner.Files) > 0 {
		file := inner.Files[0].Path
		data.Part = &part{Name: stem(baseName(file)), Import: v.importOf(path, file)}
	}
	var more []File
	if loads {
		data.LoadsHere, data.LoadsThere, data.API = v.routes == "", v.routes != "", "/api/"+n.path()
		data = data.with(visible(v.Spec, n))
		says += fmt.Sprintf(" It loads from `%s`.", data.API)
	}
	if data.LoadsThere {
		loader, err := v.make("svelte", "page-load.js", data, load, "")
		if err != nil {
			return Result{}, err
		}
		more = loader.Files
	}
	result, err := v.make("svelte", "page.svelte", data, path, says)
	result.Files = append(append(result.Files, more...), inner.Files...)
	return result, err
}

// pagePath is where a page goes, and what loads its data in SvelteKit.
func (v *svelteProject) pagePath(n name) (page, load, says string) {
	if v.routes == "" {
		folder := v.folder([]string{"pages", "views"}, v.lib())
		_, page = v.componentPath(folder, n.with("page"))
		return page, "", "There is no router in the project: show the page where it belongs, as `<" + stem(baseName(page)) + " />`."
	}
	route := "/" + n.path()
	if isOneOf(route, []string{"/home", "/homepage", "/index"}) && v.isFree(v.routes+"/+page.svelte") {
		route = ""
	}
	extension := sheet{TS: v.TypeScript}.extension()
	at := func(suffix string) []string {
		if route == "" && suffix == "" {
			return []string{v.routes + "/+page.svelte", v.routes + "/+page." + extension}
		}
		folder := v.routes + route + suffix
		return []string{folder + "/+page.svelte", folder + "/+page." + extension}
	}
	suffix := v.free(at)
	files := at(suffix)
	return files[0], files[1], fmt.Sprintf("It is at `%s`.", "/"+strings.TrimPrefix(route+suffix, "/"))
}

// endpoint is a resource of SvelteKit: its records, and the two routes to all and to one.
func (v *svelteProject) endpoint() (Result, error) {
	if v.routes == "" {
		return v.client("The project has no SvelteKit, hence no server: this is a client for %s, which a server must offer.")
	}
	n := nameOf(v.Name, "item").without("api", "endpoint", "route", "handler", "resource")
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	extension := data.extension()
	base := n.plural().path()
	at := func(suffix string) []string {
		folder := v.routes + "/api/" + base + suffix
		return []string{folder + "/+server." + extension, folder + "/[id]/+server." + extension, v.lib() + "/server/" + base + suffix + "." + extension}
	}
	suffix := v.free(at)
	files := at(suffix)
	data.API += suffix
	data.Part = &part{}
	says := fmt.Sprintf("The %s are at `%s` and kept in memory only: put a database behind `%s` before you deploy.", data.ManyLower, data.API, baseName(files[2]))
	var result Result
	for _, f := range []struct {
		wanted         bool
		template, path string
	}{
		{data.Has("GET") || data.Has("POST"), "collection-server.js", files[0]},
		{data.HasOne(), "one-server.js", files[1]},
		{true, "records.js", files[2]},
	} {
		if !f.wanted {
			continue
		}
		data.Part = &part{Import: strings.TrimSuffix(v.importOf(f.path, files[2]), "."+extension)}
		made, err := v.make("svelte", f.template, data, f.path, says)
		if err != nil {
			return Result{}, err
		}
		result.Files = append(result.Files, made.Files...)
	}
	result.Says = says
	return result, nil
}

// CollectionImports are what the route to all records needs of them.
func (v sheet) CollectionImports() string {
	var names []string
	if v.Has("GET") {
		names = append(names, "list"+v.TypeMany)
	}
	if v.Has("POST") {
		names = append(names, "read"+v.Type, "save"+v.Type)
	}
	return strings.Join(names, ", ")
}

// HasFind reports whether the route to one record looks it up.
func (v sheet) HasFind() bool { return v.Has("GET") || len(v.Writes()) > 0 }

// OneImports are what the route to one record needs of them.
func (v sheet) OneImports() string {
	var names []string
	if v.HasFind() {
		names = append(names, "find"+v.Type)
	}
	if len(v.Writes()) > 0 {
		names = append(names, "read"+v.Type)
	}
	if v.Has("DELETE") {
		names = append(names, "remove"+v.Type)
	}
	if len(v.Writes()) > 0 {
		names = append(names, "save"+v.Type)
	}
	return strings.Join(names, ", ")
}

// module is a free path of a script in a folder.
func (v *svelteProject) module(names []string, otherwise, base, extension string) (path, suffix string) {
	folder := v.folder(names, v.lib()+otherwise)
	at := func(suffix string) string {
		return folder + "/" + base + suffix + extension + "." + sheet{TS: v.TypeScript}.extension()
	}
	suffix = v.free(func(suffix string) []string { return []string{at(suffix)} })
	return at(suffix), suffix
}

func (v *svelteProject) utility() (Result, error) {
	n := nameOf(v.Name, "item")
	switch v.Utility {
	case "hook":
		return v.hook(n.without("composable", "hook"))
	case "helper":
		return v.helper(n.without("helper", "util", "utility", "function"))
	case "client":
		return v.client("Import its functions where you talk to `%s`; an answer that is no success is thrown as an error with a `status`.")
	}
	if hookShape(n) != "" && v.Utility == "" {
		return v.hook(n)
	}
	n = n.without("store", "state")
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	path, suffix := v.module([]string{"stores", "state"}, "", n.camel(), ".svelte")
	data.Fn = data.Many + "Store" + suffix
	if data.Fn == data.TypeMany+"Store" {
		data.Fn += "Instance"
	}
	return v.make("svelte", "store.svelte.js", data, path, fmt.Sprintf("Import `%s` and call its `load()`: it loads from `%s`.", data.Fn, data.API))
}

func (v *svelteProject) hook(n name) (Result, error) {
	if n.words[0] == "use" && len(n.words) > 1 {
		n.words = n.words[1:]
	}
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	data.Shape = hookShape(n)
	path, suffix := v.module([]string{"hooks", "state"}, "", "use"+n.pascal(), ".svelte")
	data.Fn = "use" + n.pascal() + suffix
	return v.make("svelte", "rune.svelte.js", data, path, fmt.Sprintf("Call `%s` in a component's `<script>`; do not destructure what it answers, or it stops changing.", data.Fn))
}

func (v *svelteProject) helper(n name) (Result, error) {
	data := sheetOf(v.Spec, n, n).with(inputs(v.Spec, n))
	data.Shape = helperShape(n)
	data.Fn = helperFunction(n, data.Shape)
	base := n.camel()
	if data.Shape != "" {
		base = data.Fn
	}
	path, _ := v.module([]string{"utils", "helpers"}, "", base, "")
	return v.make("static", "helper.js", data, path, fmt.Sprintf("Import it from `%s`.", "$lib"+strings.TrimPrefix(stem(path), v.lib())))
}

func (v *svelteProject) client(says string) (Result, error) {
	n := nameOf(v.Name, "item").without("client", "api", "endpoint", "service")
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	path, _ := v.module([]string{"lib/api", "services", "clients"}, "/api", n.plural().camel(), "")
	return v.make("static", "client.js", data, path, fmt.Sprintf(says, data.API))
}

// svelteCell shows a field of a record in Svelte's markup.
func svelteCell(f input, value string, guard bool) string {
	shown := "{" + value + "}"
	cell := shown
	switch f.Type {
	case email:
		cell = `<a href="mailto:` + shown + `">` + shown + `</a>`
	case tel:
		cell = `<a href="tel:` + shown + `">` + shown + `</a>`
	case date:
		cell = `<time datetime=` + shown + `>` + shown + `</time>`
	case url:
		return "{#if isWebAddress(" + value + `)}<a href=` + shown + ` rel="noopener noreferrer">` + shown + "</a>{:else}" + shown + "{/if}"
	case boolean:
		return "{" + value + " ? 'Yes' : 'No'}"
	}
	if guard && cell != shown {
		return "{#if " + value + "}" + cell + "{/if}"
	}
	return cell
}
