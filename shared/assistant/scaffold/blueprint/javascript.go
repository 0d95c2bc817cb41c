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
