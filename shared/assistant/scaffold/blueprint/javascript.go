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
		"app", "console", "controller", "crypto", "document", "error", "errors", "event", "exports", "fetch", "global", "history", "location", "module", "navigator",
		"next", "process", "request", "req", "require", "res", "response", "router", "self", "status", "styles", "test", "values", "window",
	}
}

// jsTypes are globals and what the frameworks export by these names.
func jsTypes() []string {
	return []string{
		"Array", "Boolean", "Component", "Date", "Document", "Element", "Error", "Event", "Fragment", "Function", "Headers", "Image", "Infinity", "Intl", "Link", "Location",
		"Map", "Math", "Metadata", "Node", "Number", "Object", "Partial", "Promise", "Proxy", "React", "Record", "Reflect", "Request", "Response", "Router", "Script", "Set", "String",
		"Suspense", "Symbol", "Text", "Window",
	}
}

// jsView is what the templates of scripts know.
type jsView struct {
	// TS asks for TypeScript; Client for the directive that makes a module of Next.js one of the browser.
	TS, Client bool
	// Name is the module's main export; Type a record's type; One and Many are variables for one and several of them.
	Name, Type, One, Many string
	// OneText and ManyText name them within sentences, OneTitle and ManyTitle at their start; Title is the thing's own, as a heading.
	OneText, ManyText, OneTitle, ManyTitle, Title string
	// Address is the resource in addresses: order-items.
	Address string
	Fields  []jsField
	Text    formText
	Methods []string
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
		TS: s.TypeScript, Type: jsType(one), One: jsVariable(one), Many: jsVariable(many),
		OneText: one.lower(), ManyText: many.lower(), OneTitle: one.sentence(), ManyTitle: many.sentence(), Title: resource.sentence(),
		Address: many.path(), Text: formTextOf(resource), Imports: map[string]string{}, Has: map[string]bool{},
	}
	if v.One == v.Many { // news is one and many
		v.One += "Item"
	}
	for _, f := range inputs(s, resource) {
		v.Fields = append(v.Fields, jsField{input: f, login: isLogin(resource)})
		v.Has[f.Type] = true
		v.Has["required"] = v.Has["required"] || f.Required
	}
	return v
}

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
