package blueprint

// jsVariable is a name as a variable of JavaScript: camelCase, with the noun behind it where that is a reserved word or hides a global.
func jsVariable(n name) string {
	if camel := n.camel(); !isOneOf(camel, jsReserved()) && !isOneOf(camel, jsGlobals()) {
		return camel
	}
	return n.camel() + nameOf(nil, n.noun).pascal()
}

// jsType is a name as a component, class or type: PascalCase, with the noun behind it where that hides something well known.
func jsType(n name) string {
	if pascal := n.pascal(); !isOneOf(pascal, jsTypes()) {
		return pascal
	}
	return n.pascal() + nameOf(nil, n.noun).pascal()
}

// jsKey is an identifier as a property that can be destructured into a variable as well; id is the record's own.
func jsKey(identifier string) string {
	switch {
	case identifier == "id":
		return "identifier"
	case isOneOf(identifier, jsReserved()):
		return identifier + "Value"
	}
	return identifier
}

// jsReserved are the words that can't be variables, and the properties that every object has or that mean something to the language.
func jsReserved() []string {
	return []string{
		"arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum", "eval",
		"export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in", "instanceof", "interface", "let", "new", "null",
		"package", "private", "protected", "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "undefined", "var",
		"void", "while", "with", "yield",
		"constructor", "prototype", "hasOwnProperty", "isPrototypeOf", "then", "toJson", "toString", "toLocaleString", "valueOf",
	}
}

// jsGlobals are variables that code in browsers and servers uses by these names.
func jsGlobals() []string {
	return []string{
		"added", "app", "attempt", "body", "cause", "changes", "console", "controller", "create", "crypto", "current", "document", "endpoint", "entities", "error", "errors", "escape", "event", "exports", "express", "fetch", "filled", "global", "history", "html", "id", "initial", "invalid", "list", "location", "method", "module", "navigator",
		"next", "notFound", "path", "process", "record", "replaced", "request", "req", "require", "res", "response", "result", "router", "screen", "self", "send", "set", "signal", "state", "status", "styles", "test", "updated", "value", "values", "window", "z",
	}
}

// jsTypes are globals and what the frameworks export by these names.
func jsTypes() []string {
	return []string{
		"ApiError", "Array", "Boolean", "Component", "Date", "Document", "Element", "Error", "Event", "FormErrors", "Fragment", "Function", "Headers", "Image", "Infinity", "Intl", "Link", "Location",
		"Map", "Math", "Metadata", "Node", "Number", "Object", "Partial", "Promise", "Proxy", "React", "Record", "Reflect", "Request", "Response", "Router", "Script", "Set", "State", "String",
		"Suspense", "Symbol", "Text", "Window",
	}
}

// jsView is what the templates of scripts know.
type jsView struct {
	// TS asks for TypeScript; Client for the directive that makes a module of Next.js one of the browser.
	TS, Client bool
	// Name is the module's main export; Type a record's type; One and Many are variables for one and several of them.
	Name, Type, One, Many string
	// ManyName is Many within other names.
	ManyName string
	// OneText and ManyText name them within sentences, OneTitle and ManyTitle at their start; Title is the thing's own, as a heading.
	OneText, ManyText, OneTitle, ManyTitle, Title string
	// Address is the resource in addresses: order-items.
	Address string
	Fields  []jsField
	Text    formText
	Methods []string
	// Link is the element of a link; Variant tells templates of one kind apart.
	Link, Variant string
	// Imports are paths by what they are of: style, subject, store, ...
	Imports map[string]string
	// Has says what applies, beside the rest: shared templates differ by it.
	Has map[string]bool
}

// jsField is an input in scripts.
type jsField struct {
	input
	login bool
}

// newJSView fills what depends on the Spec alone. The resource is the thing without the word for its kind.
func newJSView(s Spec, resource name) jsView {
	one, many := resource.singular(), resource.plural()
	v := jsView{
		TS: s.TypeScript, Type: jsType(one), One: jsVariable(one), Many: jsVariable(many), ManyName: many.pascal(),
		OneText: one.lower(), ManyText: many.lower(), OneTitle: one.sentence(), ManyTitle: many.sentence(), Title: resource.sentence(),
		Address: many.path(), Text: formTextOf(resource), Imports: map[string]string{}, Has: map[string]bool{},
	}
	if v.One == v.Many { // news is one and many
		v.One += "Item"
	}
	others := false
	for _, in := range inputs(s, resource) {
		f := jsField{input: in, login: isLogin(resource)}
		v.Fields = append(v.Fields, f)
		v.Has[f.Type] = true
		v.Has["required"] = v.Has["required"] || f.Required
		v.Has["ids"] = v.Has["ids"] || f.Type != boolean || f.Fails()
		v.Has["fails"] = v.Has["fails"] || f.Fails()
		v.Has["converts"] = v.Has["converts"] || f.Converted() != ""
		others = others || f.Type != boolean
	}
	v.Has["onlyBoolean"] = !others
	return v
}

// Fn is the function that calls one endpoint of the resource: listTodos, createTodo.
func (v jsView) Fn(verb string) string {
	if verb == "list" {
		return verb + v.ManyName
	}
	return verb + v.Type
}

// Set is the function that sets the state of that name.
func (v jsView) Set() string { return "set" + v.ManyName }

// T is its text in TypeScript, nothing in JavaScript.
func (v jsView) T(text string) string {
	if v.TS {
		return text
	}
	return ""
}

// Shown are the fields that may be seen: passwords may not.
func (v jsView) Shown() []jsField {
	var fields []jsField
	for _, f := range v.Fields {
		if f.Type != password {
			fields = append(fields, f)
		}
	}
	return fields
}

// Does reports whether the endpoint answers the method.
func (v jsView) Does(methods ...string) bool {
	for _, method := range methods {
		if isOneOf(method, v.Methods) {
			return true
		}
	}
	return false
}

// Autocomplete is the field's autocomplete attribute; a login's password is one that exists.
func (f jsField) Autocomplete() string {
	if f.Type == password && f.login {
		return "current-password"
	}
	return f.input.Autocomplete()
}

// IsNew reports whether the field is a password that is being chosen.
func (f jsField) IsNew() bool { return f.Autocomplete() == "new-password" }

// Full is the label in a form.
func (f jsField) Full() string {
	if f.Required || f.Type == boolean {
		return f.Label
	}
	return f.Label + " (optional)"
}

// TSType is the type of its value in a record.
func (f jsField) TSType() string {
	switch f.Type {
	case number, boolean:
		return f.Type
	}
	return "string"
}

// Optional is the mark behind the property of a record that may lack it.
func (f jsField) Optional() string {
	if f.Required {
		return ""
	}
	return "?"
}

// Zero is its value in an empty form.
func (f jsField) Zero() string {
	if f.Type == boolean {
		return "false"
	}
	return "''"
}

// Literal is a sample of its value as JavaScript.
func (f jsField) Literal(n int) string {
	if f.IsText() {
		return jsString(f.Sample(n))
	}
	return f.Sample(n)
}

// Entered is a sample as a form holds it: as a string, but for a checkbox.
func (f jsField) Entered() string {
	if f.Type == boolean {
		return f.Literal(1)
	}
	return jsString(f.Sample(1))
}

// Zod is the schema of its value.
func (f jsField) Zod() string {
	var schema string
	switch f.Type {
	case number, boolean:
		schema = "z." + f.Type + "()"
	case email, url:
		schema = "z." + f.Type + "()"
	case date:
		schema = "z.iso.date()"
	case password:
		schema = "z.string().min(8).max(200)"
	case longtext:
		schema = "z.string().trim()" + f.least() + ".max(10_000)"
	default:
		schema = "z.string().trim()" + f.least() + ".max(200)"
	}
	if !f.Required {
		schema += ".optional()"
	}
	return schema
}

func (f jsField) least() string {
	if f.Required {
		return ".min(1)"
	}
	return ""
}

// Trims reports whether blanks around what was entered mean nothing.
func (f jsField) Trims() bool { return f.Type != password }

// Check is a condition under which what a form holds for it, not being empty, is wrong; "" if there is none.
func (f jsField) Check() string {
	value := "values." + f.Key
	switch {
	case f.Type == email:
		return `!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(` + value + ")"
	case f.Type == number:
		return "Number.isNaN(Number(" + value + "))"
	case f.Type == url:
		return "!URL.canParse(" + value + ")"
	case f.Type == tel:
		return `!/^[+\d][\d\s()./-]{4,}$/.test(` + value + ")"
	case f.IsNew():
		return value + ".length < 8"
	}
	return ""
}

// Problem is what a form says where Check holds.
func (f jsField) Problem() string {
	switch f.Type {
	case email:
		return "Please enter an email address like ada@example.com."
	case number:
		return f.Label + " must be a number."
	case url:
		return "Please enter a whole address like https://example.com."
	case tel:
		return "Please enter a phone number like +1 555 0100."
	}
	return f.Label + " must have at least 8 characters."
}

// Fails reports whether a form can find fault with it.
func (f jsField) Fails() bool { return f.Required || f.Check() != "" }

// Converted is the property that a form hands on where that differs from what it holds; "" where it does not.
func (f jsField) Converted() string {
	value := "values." + f.Key
	switch {
	case f.Type == number && f.Required:
		return f.Key + ": Number(" + value + ")"
	case f.Type == number:
		return f.Key + ": " + value + " === '' ? undefined : Number(" + value + ")"
	case f.Type != boolean && !f.Required:
		return f.Key + ": " + value + " || undefined"
	}
	return ""
}

// jsValue is a field of a variable, to be shown.
type jsValue struct {
	jsField
	Path string
}

// Of is the field of a variable.
func (f jsField) Of(variable string) jsValue { return jsValue{f, variable + "." + f.Key} }

// jsIndented is a field whose attributes stand at an indentation.
type jsIndented struct {
	jsField
	Indent string
}

// In is the field at an indentation.
func (f jsField) In(indent string) jsIndented { return jsIndented{f, indent} }

// Missing is what a form says where it is not given.
func (f jsField) Missing() string {
	if f.Type == boolean {
		return f.Label + " must be ticked."
	}
	return f.Label + " is required."
}

// Verbs are the functions of a client, in their order.
func (v jsView) Verbs() []string {
	var verbs []string
	for _, pair := range [][2]string{{"GET", "list"}, {"GET", "get"}, {"POST", "create"}, {"PUT", "replace"}, {"PATCH", "update"}, {"DELETE", "delete"}} {
		if v.Does(pair[0]) {
			verbs = append(verbs, pair[1])
		}
	}
	return verbs
}

// Writer is the function of a client that takes a whole record.
func (v jsView) Writer() string {
	if v.Does("POST") {
		return "create"
	}
	return "replace"
}

// Entry is the schema of what an HTML form sends for it, with what it says of a value that is wrong.
func (f jsField) Entry() string {
	problem, missing := jsString(f.Problem()), jsString(f.Missing())
	empty := "z.literal('').transform(() => undefined).or("
	var schema string
	switch {
	case f.Type == boolean && f.Required:
		return "z.literal('on', " + missing + ").transform(() => true)"
	case f.Type == boolean:
		return "z.literal('on').optional().transform((ticked) => ticked === 'on')"
	case f.Type == number && f.Required:
		return "z.string().trim().min(1, " + missing + ").pipe(z.coerce.number(" + problem + "))"
	case f.Type == number:
		return empty + "z.coerce.number(" + problem + "))"
	case f.Type == email:
		schema = "z.email(" + problem + ")"
	case f.Type == url:
		schema = "z.url(" + problem + ")"
	case f.Type == date:
		schema = "z.iso.date(" + jsString("Please enter a date like 2026-01-31.") + ")"
	case f.IsNew():
		return "z.string().min(8, " + problem + ").max(200)"
	case f.Type == password:
		return "z.string().min(1, " + missing + ").max(200)"
	case f.Type == longtext:
		schema = "z.string().trim().max(10_000)"
	default:
		schema = "z.string().trim().max(200)"
	}
	if f.Required {
		return "z.string().trim().min(1, " + missing + ").pipe(" + schema + ")"
	}
	return empty + schema + ")"
}

// ItemVerbs are the functions of a store that one record's endpoint calls.
func (v jsView) ItemVerbs() []string {
	var verbs []string
	for _, pair := range [][2]string{{"GET", "find"}, {"PUT", "replace"}, {"PATCH", "update"}, {"DELETE", "delete"}} {
		if v.Does(pair[0]) {
			verbs = append(verbs, pair[1])
		}
	}
	return verbs
}

// CollectionMethods are the methods of the endpoint of all records, ItemMethods those of one record's.
func (v jsView) CollectionMethods() []string { return v.methods("GET", "POST") }

// ItemMethods are the methods of the endpoint of one record.
func (v jsView) ItemMethods() []string { return v.methods("GET", "PUT", "PATCH", "DELETE") }

func (v jsView) methods(of ...string) []string {
	var methods []string
	for _, method := range of {
		if v.Does(method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// Secrets are the passwords.
func (v jsView) Secrets() []jsField {
	var fields []jsField
	for _, f := range v.Fields {
		if f.Type == password {
			fields = append(fields, f)
		}
	}
	return fields
}

// StoreVerbs are the functions of a store, in their order.
func (v jsView) StoreVerbs() []string {
	var verbs []string
	for _, pair := range [][2]string{{"POST", "create"}, {"DELETE", "delete"}, {"GET", "find"}, {"GET", "list"}, {"PUT", "replace"}, {"PATCH", "update"}} {
		if v.Does(pair[0]) {
			verbs = append(verbs, pair[1])
		}
	}
	return verbs
}

// Origin is where a client looks for its API: in a browser, where the page is from.
func (v jsView) Origin() string {
	if v.Has["server"] {
		return "http://localhost:3000"
	}
	return ""
}
