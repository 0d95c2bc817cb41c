package blueprint

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// staticProject is a site of HTML, CSS and modules without a build that things are put into.
type staticProject struct {
	Spec
	*place
	// root is where the pages are, scripts where the modules are.
	root, scripts string
	// drawn is what the last template of a module saw, which its test sees, too.
	drawn    sheet
	template string
	// tested is the file that a test is about.
	tested string
}

func makeStatic(s Spec) (Result, error) {
	p := newPlace(s.Paths)
	v := &staticProject{Spec: s, place: p, root: p.siteRoot()}
	v.scripts = p.folder([]string{"js", "scripts", "assets/js", "src/js"}, v.root+"/js")
	if s.Kind == Test {
		return v.test()
	}
	return v.build(s.Kind)
}

// siteRoot is the topmost folder with a page in it.
func (p *place) siteRoot() string {
	best, found := "", false
	for _, file := range p.files {
		at := strings.LastIndexByte(file, '/')
		if !strings.HasSuffix(file, ".html") || !p.isUsable(file[:at]) {
			continue
		}
		if folder := file[:at]; !found || strings.Count(folder, "/") < strings.Count(best, "/") {
			best, found = folder, true
		}
	}
	return best
}

func (v *staticProject) build(kind Kind) (Result, error) {
	switch kind {
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
	}
	return v.component()
}

// write renders a template into one more file of a result.
func (v *staticProject) write(result *Result, template string, data sheet, path string) error {
	code, err := render("static", template, data)
	if err != nil {
		return err
	}
	result.Files = append(result.Files, File{Path: path, Content: code})
	if strings.HasSuffix(template, ".js") || template == "page.html" {
		v.drawn, v.template, v.tested = data, template, path
	}
	return nil
}

// styled is the site's own style sheet, or a new one if it has none.
func (v *staticProject) styled() (path string, isNew bool) {
	for _, base := range []string{"styles.css", "style.css", "main.css", "index.css", "global.css", "globals.css", "app.css", "site.css"} {
		for _, file := range v.files {
			if baseName(file) == base && strings.HasPrefix(file, v.root+"/") {
				return file, false
			}
		}
	}
	folder := v.folder([]string{"css", "styles", "assets/css"}, v.root+"/css")
	at := func(suffix string) string { return folder + "/styles" + suffix + ".css" }
	return at(v.free(func(suffix string) []string { return []string{at(suffix)} })), true
}

// paths are free paths by a number that goes into each at its *.
func (v *staticProject) paths(patterns ...string) (files []string, suffix string) {
	at := func(suffix string) []string {
		files := make([]string, len(patterns))
		for i, pattern := range patterns {
			files[i] = strings.Replace(pattern, "*", suffix, 1)
		}
		return files
	}
	suffix = v.free(at)
	return at(suffix), suffix
}

// document is a page that a template makes, with the style sheet that it needs.
func (v *staticProject) document(result *Result, template string, data sheet, path string) error {
	style, isNew := v.styled()
	data.Style = importPath(path, style)
	if data.Lead == "" {
		data.Lead = data.Title + "."
	}
	if err := v.write(result, template, data, path); err != nil {
		return err
	}
	if isNew {
		return v.write(result, "styles.css", data, style)
	}
	return nil
}

func (v *staticProject) component() (Result, error) {
	n := nameOf(v.Name, "component").without("component", "partial")
	if isForm(n) {
		return v.form()
	}
	return v.element(n)
}

// element is a custom element, whose name must have a hyphen.
func (v *staticProject) element(n name) (Result, error) {
	tag := n
	if len(tag.code()) == 1 {
		tag = name{words: append([]string{"app"}, n.words...), noun: n.noun}
	}
	files, suffix := v.paths(v.folder([]string{"components"}, v.scripts+"/components") + "/" + tag.kebab() + "*.js")
	data := sheetOf(v.Spec, n, tag.numbered(suffix))
	data.Title = n.title()
	if len(v.Fields) > 0 {
		data = data.with(visible(v.Spec, n))
	} else if componentShape(n) == "navigation" {
		data.Shape = "navigation"
	}
	result := Result{Says: fmt.Sprintf("Add `<script type=\"module\" src=%q></script>` to a page and write `<%s></%s>` where it is to be.", strings.TrimPrefix(files[0], v.root), data.Class, data.Class)}
	return result, v.write(&result, "component.js", data, files[0])
}

func (v *staticProject) page() (Result, error) {
	n := nameOf(v.Name, "page").without("page", "view", "screen")
	switch {
	case isForm(n):
		return v.form()
	case len(v.Fields) > 0 && n.isPlural():
		return v.list()
	}
	base := n.path()
	if isOneOf(base, []string{"home", "homepage"}) {
		base = "index"
	}
	files, _ := v.paths(v.root + "/" + base + "*.html")
	data := sheetOf(v.Spec, n, n)
	data.Title, data.Lead = n.title(), leadOf(n)
	var inner Result
	if len(v.Fields) > 0 {
		var err error
		if inner, err = v.element(n.with("details")); err != nil {
			return Result{}, err
		}
		data.Class, data.Inputs = v.drawn.Class, v.drawn.Inputs
		data.Part = &part{Import: importPath(files[0], inner.Files[0].Path)}
	}
	result := Result{Says: fmt.Sprintf("Open `%s` through any web server, such as `npx serve`.", files[0])}
	if err := v.document(&result, "page.html", data, files[0]); err != nil {
		return Result{}, err
	}
	result.Files = append(result.Files, inner.Files...)
	return result, nil
}

func (v *staticProject) form() (Result, error) {
	n := nameOf(v.Name, "form").without("component", "form", "page", "view")
	base := n.path()
	files, suffix := v.paths(v.root+"/"+base+"*.html", v.scripts+"/"+n.with("form").kebab()+"*.js")
	data := sheetOf(v.Spec, n, n.with("form").numbered(suffix)).with(inputs(v.Spec, n))
	data.Title = n.title()
	data.Part = &part{Import: importPath(files[0], files[1])}
	result := Result{Says: fmt.Sprintf("A static site can't take in what is sent: put the address of a service that does into the form's `action`, which is `%s` now.", data.API)}
	if err := v.document(&result, "form.html", data, files[0]); err != nil {
		return Result{}, err
	}
	return result, v.write(&result, "form.js", data, files[1])
}

func (v *staticProject) list() (Result, error) {
	kind := "list"
	if v.Table {
		kind = "table"
	}
	n := nameOf(v.Name, "item").without("component", "list", "table", "page", "view")
	many := n.plural().path()
	data := sheetOf(v.Spec, n, n.singular().with(kind)).with(visible(v.Spec, n))
	files, suffix := v.paths(v.root+"/"+many+"*.html", v.scripts+"/"+data.Class+"*.js", v.folder([]string{"data"}, v.root+"/data")+"/"+many+"*.json")
	if suffix != "" {
		data.Class += "-" + suffix
	}
	data.Title, data.Lead = data.ManyTitle, "All "+data.ManyLower+"."
	data.Part = &part{Import: importPath(files[0], files[1])}
	data.Data = importPath(files[0], files[2])
	result := Result{Says: fmt.Sprintf("The page shows what is in `%s`: put your %s there, or another address into its `data-source`.", files[2], data.ManyLower)}
	if err := v.document(&result, "list.html", data, files[0]); err != nil {
		return Result{}, err
	}
	if err := v.write(&result, "data.json", data, files[2]); err != nil {
		return Result{}, err
	}
	return result, v.write(&result, "list.js", data, files[1])
}

// endpoint is what comes nearest to one on a site without a server: a file of JSON and a module that reads it.
func (v *staticProject) endpoint() (Result, error) {
	n := nameOf(v.Name, "item").without("client", "api", "endpoint", "service")
	data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
	many := n.plural().path()
	files, _ := v.paths(v.scripts+"/api/"+many+"*.js", v.folder([]string{"data"}, v.root+"/data")+"/"+many+"*.json")
	data.Data = importPath(files[0], files[1])
	result := Result{Says: fmt.Sprintf("A static site has no server, so this is a file of %s and a module that reads it. Creating, changing and deleting need a server.", data.ManyLower)}
	if err := v.write(&result, "fixture-client.js", data, files[0]); err != nil {
		return Result{}, err
	}
	return result, v.write(&result, "data.json", data, files[1])
}

func (v *staticProject) utility() (Result, error) {
	n := nameOf(v.Name, "item").without("client", "api", "service", "store", "helper", "util", "utility", "function", "hook")
	var result Result
	switch v.Utility {
	case "client":
		data := sheetOf(v.Spec, n, n).with(visible(v.Spec, n))
		files, _ := v.paths(v.scripts + "/api/" + n.plural().path() + "*.js")
		result.Says = fmt.Sprintf("Import its functions where you talk to `%s`, which a server must offer.", data.API)
		return result, v.write(&result, "client.js", data, files[0])
	case "store", "hook":
		data := sheetOf(v.Spec, n, n.plural()).with(visible(v.Spec, n))
		files, _ := v.paths(v.folder([]string{"stores"}, v.scripts) + "/" + data.Class + "-store*.js")
		result.Says = fmt.Sprintf("`create%sStore()` keeps the %s in this browser only.", data.TypeMany, data.ManyLower)
		return result, v.write(&result, "store.js", data, files[0])
	}
	data := sheetOf(v.Spec, n, n).with(inputs(v.Spec, n))
	data.Shape = helperShape(n)
	data.Fn = helperFunction(n, data.Shape)
	files, _ := v.paths(v.folder([]string{"utils", "lib", "helpers"}, v.scripts+"/lib") + "/" + n.kebab() + "*.js")
	result.Says = fmt.Sprintf("Import it in a module from `%s`.", strings.TrimPrefix(files[0], v.root))
	return result, v.write(&result, "helper.js", data, files[0])
}

// test is a test for Node's own runner, of what the project has or of what is made with it.
func (v *staticProject) test() (Result, error) {
	var subject Result
	var data sheet
	tested, path, template := v.SubjectPath, v.SubjectPath, ""
	if tested != "" {
		data = existing(v.Spec, v.SubjectPath)
		template = "existing.js"
		if hasSuffix(tested, ".html", ".htm") {
			template = "existing.html"
		}
	} else {
		var err error
		if subject, err = v.build(v.Subject); err != nil {
			return Result{}, err
		}
		data, template, path = v.drawn, v.template, v.tested
	}
	folder := v.folder([]string{"tests", "test"}, v.root+"/tests")
	files, _ := v.paths(folder + "/" + stem(baseName(path)) + "*.test.mjs")
	data.Tested, data.Part = template, &part{Import: importPath(files[0], path)}
	result := Result{Says: fmt.Sprintf("Run it with `node --test %s`.", strings.TrimPrefix(files[0], "/"))}
	if tested == "" {
		result.Says = "The project had nothing of that name, so it comes with the test. " + result.Says
	} else {
		result.Says += " It holds for any subject, for what yours does is not known here: add what it is to do."
	}
	if err := v.write(&result, "node-test.js", data, files[0]); err != nil {
		return Result{}, err
	}
	result.Files = append(result.Files, subject.Files...)
	if manifest := v.root + "/package.json"; v.isFree(manifest) && v.isFree("/package.json") {
		// Without it older versions of Node take the modules for CommonJS.
		return result, v.write(&result, "package.json", data, manifest)
	}
	return result, nil
}

// Attribute is a field as an attribute of a custom element: one that means something to every element is told apart.
func (v sheet) Attribute(f input) string {
	kebab := v.ID(f)
	if isOneOf(kebab, []string{"class", "id", "style", "title", "hidden", "lang", "dir", "slot", "part", "is", "role", "tabindex", "draggable", "translate", "popover", "inert", "nonce", "autofocus", "spellcheck", "accesskey"}) {
		return "data-" + kebab
	}
	return kebab
}

// StoredJSON is a record as JSON.
func (v sheet) StoredJSON(n int) string {
	parts := []string{`"id": ` + strconv.Quote(strconv.Itoa(n))}
	for _, f := range v.Inputs {
		value := f.Sample(n)
		if f.IsText() {
			if quoted, err := json.Marshal(value); err == nil {
				value = string(quoted)
			}
		}
		parts = append(parts, strconv.Quote(f.Key)+": "+value)
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
