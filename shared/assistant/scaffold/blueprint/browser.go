package blueprint

import (
	"slices"
	"strconv"
	"strings"
)

// sheet is what the templates of vue, svelte and static see of a thing: what it is called in code and by people, its fields, and the
// language to write.
type sheet struct {
	dialect Framework
	TS      bool
	// Name is the component's, Class that of its outermost element.
	Name, Class string
	// One and Many are variables for a record and for several, Type and TypeMany the same as types.
	One, Many, Type, TypeMany string
	// OneKebab is One as an attribute.
	OneKebab string
	// What people read.
	Title, Sentence, Lower, ManyTitle, ManySentence, ManyLower string
	Text                                                       formText
	Lead                                                       string
	// API is the address that it talks to.
	API string
	// Fn is the function, store or composable that a module exports.
	Fn string
	// Shape is which of the well-known things of its kind it is; "" for none of them.
	Shape  string
	Inputs []input
	Table  bool
	login  bool
	// Methods are an endpoint's.
	Methods []string
	// Part is what a page, an endpoint or a test imports.
	Part *part
	// LoadsHere and LoadsThere say whether a page gets its record itself or from the router.
	LoadsHere, LoadsThere bool
	// Shallow asks a page's test to leave out what the page imports.
	Shallow bool
	// Style and Data are the addresses of a static page's style sheet and of its data; Tested is the template that a test is about.
	Style, Data, Tested string
}

// part is a module that another one imports.
type part struct{ Name, Import string }

// sheetOf describes a thing that is about n, written as a component or module called as.
func sheetOf(s Spec, n, as name) sheet {
	one, many := n.singular(), n.plural()
	v := sheet{
		dialect: s.Framework, TS: s.TypeScript && s.Framework != Static, Name: jsType(as), Class: as.kebab(),
		One: variable(one), Many: variable(many), Type: jsType(one), TypeMany: jsType(many),
		Title: as.title(), Sentence: one.sentence(), Lower: one.lower(),
		ManyTitle: many.title(), ManySentence: many.sentence(), ManyLower: many.lower(),
		Text: formTextOf(n), API: "/api/" + many.path(), Table: s.Table, login: isLogin(n),
		Methods: s.Methods,
	}
	if v.One == v.Many {
		v.One = variable(name{words: append(append([]string(nil), one.words...), "entry"), noun: one.noun})
	}
	v.OneKebab = kebabOf(v.One)
	if isForm(n) {
		v.API = "/api/" + n.path()
	}
	if len(v.Methods) == 0 {
		v.Methods = []string{"GET", "POST", "PUT", "DELETE"}
	}
	return v
}

// kebabOf is camelCase as an attribute writes it.
func kebabOf(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if 'A' <= r && r <= 'Z' {
			b.WriteString("-" + strings.ToLower(string(r)))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// variable is a name as a variable that hides none of those that the templates have of their own.
func variable(n name) string {
	v := jsVariable(n)
	if isOneOf(v, []string{
		"action", "add", "address", "attempt", "attrs", "cause", "class", "count", "current", "data", "dialog", "emit", "failed", "failure", "form", "found", "headingId",
		"id", "isLoading", "isOpen", "isWebAddress", "item", "items", "key", "load", "open", "pending", "props", "records", "ref", "remove", "send", "sent", "signal", "slot",
		"slots", "source", "state", "style", "submit", "title", "url", "validate", "watch", "wrapper", "name", "params", "is", "children", "json", "onMounted", "text", "computed",
	}) {
		return v + nameOf(nil, n.noun).pascal()
	}
	return v
}

// ID is a field in ids and attributes: unlike its kebab, it differs from every other field's.
func (v sheet) ID(f input) string { return kebabOf(f.Key) }

// with is the sheet with fields.
func (v sheet) with(fields []input) sheet {
	v.Inputs = fields
	return v
}

// visible are the fields that may be shown and sent around: all but passwords, and a name if nothing is left.
func visible(s Spec, n name) []input {
	var out []input
	for _, f := range inputs(s, n) {
		if f.Type != password {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return inputs(Spec{Fields: []Field{{Name: []string{"name"}, Type: text, Required: true}}}, n)
	}
	return out
}

// Heading is the field that names a record, if its first one does.
func (v sheet) Heading() *input {
	if len(v.Inputs) > 0 && v.Inputs[0].Type == text {
		return &v.Inputs[0]
	}
	return nil
}

// Details are the fields beside the Heading.
func (v sheet) Details() []input {
	if v.Heading() != nil {
		return v.Inputs[1:]
	}
	return v.Inputs
}

// HasURL reports whether an address of the web is shown as a link.
func (v sheet) HasURL() bool { return v.hasType(url) }

// HasBox reports whether a form has anything to type into.
func (v sheet) HasBox() bool { return v.HasArea() || v.HasLine() }

// HasMany reports whether a table has more than one column.
func (v sheet) HasMany() bool { return len(v.Inputs) > 1 }

// HasSave reports whether records are written.
func (v sheet) HasSave() bool { return v.HasBody() }

// HasArea and HasLine say which kinds of text boxes a form has.
func (v sheet) HasArea() bool { return v.hasType(longtext) }

// HasLine is as HasArea.
func (v sheet) HasLine() bool { return v.hasType(text, email, password, number, date, url, tel) }

// HasRequired reports whether a form can be sent empty.
func (v sheet) HasRequired() bool {
	for _, f := range v.Inputs {
		if f.Required {
			return true
		}
	}
	return false
}

func (v sheet) hasType(types ...string) bool {
	for _, f := range v.Inputs {
		if isOneOf(f.Type, types) {
			return true
		}
	}
	return false
}

// Autocomplete is a field's autocomplete attribute; a log-in asks for the password that there is.
func (v sheet) Autocomplete(f input) string {
	if v.login && f.Type == password {
		return "current-password"
	}
	return f.Autocomplete()
}

// TypeOf is a field's type in TypeScript.
func (v sheet) TypeOf(f input) string {
	switch f.Type {
	case number, boolean:
		return f.Type
	}
	return "string"
}

// Blank is what a field holds before anybody has typed.
func (v sheet) Blank(f input) string {
	switch f.Type {
	case number:
		return "null"
	case boolean:
		return "false"
	}
	return "''"
}

// Sample is a value of a field as JavaScript.
func (v sheet) Sample(f input, n int) string {
	if f.IsText() {
		return jsString(f.Sample(n))
	}
	return f.Sample(n)
}

// Shows is what people see of a sample, as a JavaScript string.
func (v sheet) Shows(f input, n int) string {
	if f.Type == boolean {
		return "'Yes'"
	}
	return jsString(f.Sample(n))
}

// Record is an object with a sample of every field.
func (v sheet) Record(n int) string {
	parts := make([]string, len(v.Inputs))
	for i, f := range v.Inputs {
		parts[i] = f.Key + ": " + v.Sample(f, n)
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// Stored is a Record as a server answers it.
func (v sheet) Stored(n int) string {
	return "{ id: '" + strconv.Itoa(n) + "', " + strings.TrimPrefix(v.Record(n), "{ ")
}

// Checks are the statements that look at `values` and put a message a field into an object: what stands behind each, and what an empty
// number is, differ by the language's habits and by how its inputs are bound.
func (v sheet) Checks(into, blank, end string) string {
	var lines []string
	for _, f := range v.Inputs {
		value, problem := "values."+f.Key, into+"."+f.Key
		missing := ""
		switch {
		case !f.Required:
		case f.Type == boolean:
			lines = append(lines, "if (!"+value+") "+problem+" = 'Tick this box to go on'"+end)
		case f.Type == number:
			missing = value + " === " + blank
		case f.Type == password:
			missing = "!" + value
		default:
			missing = "!" + value + ".trim()"
		}
		if missing != "" {
			lines = append(lines, "if ("+missing+") "+problem+" = "+jsString(f.sentence()+" is required")+end)
		}
		if rule, message := v.rule(f); rule != "" {
			lead := "if (" + value + " && "
			if f.Required {
				lead = "else if ("
			}
			lines = append(lines, lead+rule+") "+problem+" = "+jsString(message)+end)
		}
	}
	return "  " + strings.Join(lines, "\n  ")
}

// CanFail reports whether a field has a check.
func (v sheet) CanFail(f input) bool {
	rule, _ := v.rule(f)
	return f.Required || rule != ""
}

// HasChecks reports whether any field has one.
func (v sheet) HasChecks() bool { return slices.ContainsFunc(v.Inputs, v.CanFail) }

// IsTrimmed reports whether the space around what is typed does not count.
func (v sheet) IsTrimmed(f input) bool { return f.IsText() && f.Type != password && f.Type != date }

// rule is what a value must not be beyond missing, and what to say of it.
func (v sheet) rule(f input) (condition, message string) {
	value := "values." + f.Key
	switch f.Type {
	case email:
		return `!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(` + value + ")", "Enter an email address such as name@example.com"
	case url:
		return `!/^https?:\/\/\S+$/i.test(` + value + ")", "Enter an address that begins with https://"
	case tel:
		return `!/^\+?[\d\s().-]{6,24}$/.test(` + value + ")", "Enter a phone number such as +1 555 0100"
	case date:
		return "Number.isNaN(Date.parse(" + value + "))", "Enter a date"
	case password:
		if v.login || v.Autocomplete(f) == "current-password" {
			return "", ""
		}
		return value + ".length < 8", "Use at least 8 characters"
	}
	return "", ""
}

// Payload is what a form sends: its values, numbers that nobody typed as null.
func (v sheet) Payload(blank string) string {
	out := "values"
	for _, f := range v.Inputs {
		if f.Type == number && !f.Required {
			out += ", " + f.Key + ": values." + f.Key + " === " + blank + " ? null : values." + f.Key
		}
	}
	if out == "values" {
		return out
	}
	return "{ ..." + out + " }"
}

// Indented moves lines to the right.
func (v sheet) Indented(by, lines string) string {
	return by + strings.ReplaceAll(lines, "\n", "\n"+by)
}

// Has reports whether an endpoint has a method.
func (v sheet) Has(method string) bool { return isOneOf(method, v.Methods) }

// HasOne reports whether anything is done to a single record.
func (v sheet) HasOne() bool {
	return v.Has("GET") || v.Has("PUT") || v.Has("PATCH") || v.Has("DELETE")
}

// HasBody reports whether anything is sent.
func (v sheet) HasBody() bool { return v.Has("POST") || len(v.Writes()) > 0 }

// Writes are the methods that change a record.
func (v sheet) Writes() []string {
	var out []string
	for _, method := range []string{"PUT", "PATCH"} {
		if v.Has(method) {
			out = append(out, method)
		}
	}
	return out
}

// Cell shows a field of the record, as text or as the link that it is.
func (v sheet) Cell(f input) string {
	value := v.One + "." + f.Key
	guard := v.Table && !f.Required
	if v.dialect == Svelte {
		return svelteCell(f, value, guard)
	}
	return vueCell(f, value, guard)
}

// leadOf is a page's first sentence.
func leadOf(n name) string {
	switch n.kebab() {
	case "home", "homepage", "landing", "index", "welcome":
		return "Welcome. It is good to have you here."
	case "about", "about-us":
		return "Who we are, and what we do."
	case "not-found", "404", "page-404":
		return "There is no page at this address."
	case "dashboard":
		return "Everything that matters, at a glance."
	}
	return "All about " + n.lower() + "."
}

// componentShape is which of the well-known components a name asks for.
func componentShape(n name) string {
	switch n.words[len(n.words)-1] {
	case "button":
		return "button"
	case "modal", "dialog", "popup":
		return "dialog"
	case "navbar", "nav", "navigation", "menu", "sidebar", "header", "footer", "breadcrumb", "breadcrumbs":
		return "navigation"
	case "counter":
		return "counter"
	}
	return "content"
}

// hookShape is which of the well-known hooks a name asks for.
func hookShape(n name) string {
	for _, word := range n.words {
		switch word {
		case "toggle", "counter", "storage", "media":
			return word
		case "debounce", "debounced":
			return "debounce"
		}
	}
	return ""
}

// helperShape is which of the well-known helpers a name asks for.
func helperShape(n name) string {
	for _, word := range n.words {
		switch singularOf(word) {
		case "date", "time":
			return "date"
		case "currency", "price", "money", "amount":
			return "currency"
		case "slug", "slugify":
			return "slug"
		case "debounce":
			return "debounce"
		case "truncate", "ellipsis", "shorten":
			return "truncate"
		case "capitalize", "capitalise":
			return "capitalize"
		case "clamp":
			return "clamp"
		case "email":
			return "email"
		}
	}
	return ""
}

// helperFunction is what a well-known helper is called: by the name, with a verb where that has none.
func helperFunction(n name, shape string) string {
	verbs := map[string]string{"date": "format", "currency": "format", "slug": "", "debounce": "", "truncate": "", "capitalize": "", "clamp": "", "email": "is"}
	if verb := verbs[shape]; verb != "" && len(n.words) == 1 {
		n = name{words: append([]string{verb}, n.words...), noun: n.noun}
	}
	return jsVariable(n)
}

// extension of scripts.
func (v sheet) extension() string {
	if v.TS {
		return "ts"
	}
	return "js"
}

// withoutSemicolons is code as people write it who leave semicolons at the ends of lines out.
func withoutSemicolons(code string) string {
	return strings.ReplaceAll(strings.ReplaceAll(code, ";\n", "\n"), ";\r\n", "\n")
}
