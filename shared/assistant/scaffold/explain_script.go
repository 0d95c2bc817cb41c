package scaffold

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scriptOutline is what a script imports, exports and declares at its top level, and what it calls that is worth a word.
type scriptOutline struct {
	src                          string
	tokens                       []scriptToken
	imports, exports             []string
	components, hooks, functions []string
	classes, types, values       []string
	uses, routes, tests, macros  []string
	jsx                          bool
}

// outlineScript reads JavaScript and TypeScript, with JSX or without.
func outlineScript(content string) []string {
	return append(leadingComment(content), readScript(content).points()...)
}

// leadingComment is what a script says of itself at its beginning: the first sentence.
func leadingComment(content string) []string {
	content = strings.TrimSpace(content)
	var text string
	switch {
	case strings.HasPrefix(content, "/*"):
		text, _, _ = strings.Cut(strings.TrimLeft(content[1:], "*!"), "*/")
		text = strings.ReplaceAll(text, "\n *", "\n")
	case strings.HasPrefix(content, "//"):
		for line := range strings.Lines(content) {
			more, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
			if !ok {
				break
			}
			text += more + " "
		}
	}
	if text = firstSentence(oneLine(text)); text == "" {
		return nil
	}
	return []string{"It says of itself: " + clip(text, 160)}
}

func readScript(content string) *scriptOutline {
	o := &scriptOutline{src: content, tokens: scanScript(content)}
	o.jsx = o.hasJSX()
	depth := 0
	for i, t := range o.tokens {
		if t.first && t.kind == tokenName && topWords.of(t.text) {
			depth = 0 // well-formed code tells where a declaration begins, whatever text in JSX did to the brackets
		}
		if depth == 0 && t.kind == tokenName && !o.isMember(i) {
			o.declaration(i)
		}
		if t.kind == tokenMark {
			switch t.text {
			case "{", "(", "[":
				depth++
			case "}", ")", "]":
				depth = max(depth-1, 0)
			}
		}
		o.use(i)
	}
	return o
}

var topWords = setOf("import export function const let var class async interface type enum module exports describe test it app router")

func (o *scriptOutline) points() []string {
	return slices.Concat(point("Imports", o.imports), point("Exports", o.exports), point("Components", o.components), point("Hooks", o.hooks),
		point("Functions", o.functions), point("Classes", o.classes), point("Types", o.types), point("Values", o.values),
		point("Uses the hooks", exceptFor(o.uses, o.hooks)), point("Routes", o.routes), point("Tests", o.tests))
}

// exceptFor leaves out what has been said.
func exceptFor(names, said []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return slices.ContainsFunc(said, func(s string) bool { return s == n || strings.HasPrefix(s, n+"(") })
	})
}

// tok is the token at i, an empty mark behind the end.
func (o *scriptOutline) tok(i int) scriptToken {
	if i < 0 || i >= len(o.tokens) {
		return scriptToken{kind: tokenMark}
	}
	return o.tokens[i]
}

// isMember reports a name behind a dot, or a key.
func (o *scriptOutline) isMember(i int) bool {
	return o.tok(i-1).text == "." && o.tok(i-1).kind == tokenMark
}

// hasJSX looks for a tag where an expression begins.
func (o *scriptOutline) hasJSX() bool {
	for i, t := range o.tokens {
		if t.kind != tokenMark || t.text != "<" {
			continue
		}
		before, after := o.tok(i-1), o.tok(i+1)
		begins := before.text == "return" || before.kind == tokenMark && strings.Contains("(=>?:&|{[,", before.text) && before.text != ""
		tag := after.kind == tokenName && after.at == t.at+1 || after.text == ">"
		generic := before.text == "=" && after.kind == tokenName && o.tok(i+2).text == ">" && o.tok(i+3).text == "("
		if begins && tag && !generic {
			return true
		}
	}
	return false
}

// declaration notes what the name at i declares, imports or exports.
func (o *scriptOutline) declaration(i int) {
	switch o.tokens[i].text {
	case "import":
		o.importAt(i)
	case "export":
		o.exportAt(i)
	case "function":
		o.functionAt(i)
	case "class":
		if n := o.tok(i + 1); n.kind == tokenName && n.text != "extends" {
			o.classes = append(o.classes, n.text)
		}
	case "interface", "enum":
		if n := o.tok(i + 1); n.kind == tokenName {
			o.types = append(o.types, n.text)
		}
	case "type":
		if n := o.tok(i + 1); n.kind == tokenName && (o.tok(i+2).text == "=" || o.tok(i+2).text == "<") {
			o.types = append(o.types, n.text)
		}
	case "const", "let", "var":
		o.valueAt(i + 1)
	case "module":
		if o.tok(i+2).text == "exports" && o.tok(i+3).text == "=" {
			o.exports = append(o.exports, "module.exports")
		}
	case "exports":
		if o.tok(i+1).text == "." && o.tok(i+3).text == "=" {
			o.exports = append(o.exports, o.tok(i+2).text)
		}
	}
}

// importAt notes the module of an import statement: the first string behind it, before anything that ends it.
func (o *scriptOutline) importAt(i int) {
	for j := i + 1; j < len(o.tokens) && j < i+200; j++ {
		t := o.tokens[j]
		if t.kind == tokenString {
			o.imports = append(o.imports, t.text)
			return
		}
		if t.kind == tokenMark && !strings.Contains("{},*", t.text) || t.kind == tokenOther {
			return
		}
	}
}

// exportAt notes what is exported; a declaration behind it is noted by itself.
func (o *scriptOutline) exportAt(i int) {
	j := i + 1
	prefix := ""
	if o.tok(j).text == "default" {
		prefix = "default"
		j++
	}
	for slices.Contains([]string{"async", "abstract", "declare"}, o.tok(j).text) {
		j++
	}
	switch t := o.tok(j); {
	case t.text == "function" || t.text == "class" || t.text == "const" || t.text == "let" || t.text == "var" || t.text == "interface" || t.text == "enum" || t.text == "type" && o.tok(j+1).kind == tokenName:
		n := o.tok(j + 1)
		if n.text == "*" {
			n = o.tok(j + 2)
		}
		if n.kind == tokenName {
			o.exports = append(o.exports, strings.TrimSpace(prefix+" "+n.text))
		} else if prefix != "" {
			o.exports = append(o.exports, prefix)
		}
	case t.text == "{" && prefix == "":
		o.exportList(j + 1)
	case t.text == "type" && o.tok(j+1).text == "{":
		o.exportList(j + 2)
	case t.text == "*":
		o.importAt(j)
	case prefix != "" && t.kind == tokenName && !isCallOrArrow(o.tok(j+1)):
		o.exports = append(o.exports, prefix+" "+t.text)
	case prefix != "":
		o.exports = append(o.exports, prefix)
	}
}

func isCallOrArrow(t scriptToken) bool {
	return t.kind == tokenMark && (t.text == "=" || t.text == "(")
}

// exportList notes the names in export { a, b as c }.
func (o *scriptOutline) exportList(j int) {
	name := ""
	for ; j < len(o.tokens); j++ {
		t := o.tokens[j]
		switch {
		case t.kind == tokenName && t.text != "as" && t.text != "type":
			name = t.text
		case t.text == "," || t.text == "}":
			if name != "" {
				o.exports = append(o.exports, name)
			}
			name = ""
			if t.text == "}" {
				if o.tok(j+1).text == "from" && o.tok(j+2).kind == tokenString {
					o.imports = append(o.imports, o.tok(j+2).text)
				}
				return
			}
		}
	}
}

// functionAt notes a function by its name and parameters.
func (o *scriptOutline) functionAt(i int) {
	j := i + 1
	if o.tok(j).text == "*" {
		j++
	}
	n := o.tok(j)
	if n.kind != tokenName {
		return
	}
	for j++; j < len(o.tokens) && o.tok(j).text != "(" && j < i+40; j++ {
	}
	o.callable(n.text, j)
}

// callable notes a function under what it is; open is its opening bracket.
func (o *scriptOutline) callable(name string, open int) {
	first, _ := utf8.DecodeRuneInString(name)
	switch p := parts(name); {
	case unicode.IsUpper(first) && o.jsx:
		o.components = append(o.components, name+o.parameters(open))
	case len(p) > 1 && p[0] == "use":
		o.hooks = append(o.hooks, name+o.parameters(open))
	default:
		o.functions = append(o.functions, name+o.parameters(open))
	}
}

// parameters is the source from an opening bracket to its closing one, in one line.
func (o *scriptOutline) parameters(open int) string {
	if t := o.tok(open); t.text != "(" {
		return ""
	}
	depth := 0
	for j := open; j < len(o.tokens) && j < open+300; j++ {
		switch o.tokens[j].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return clip(oneLine(o.src[o.tokens[open].at:o.tokens[j].at+1]), 70)
			}
		}
	}
	return "(…)"
}

// valueAt notes a variable, as a function if that is what it is given.
func (o *scriptOutline) valueAt(i int) {
	n := o.tok(i)
	if n.text == "enum" {
		return
	}
	if n.text == "{" || n.text == "[" {
		o.destructured(i)
		return
	}
	j := i + 1
	if n.kind == tokenName {
		for depth := 0; j < len(o.tokens) && j < i+80; j++ { // over a type
			text := o.tok(j).text
			if o.tok(j).kind == tokenMark {
				if strings.Contains("{([", text) {
					depth++
				} else if strings.Contains("})]", text) {
					depth--
				}
			}
			if depth <= 0 && (text == "=" && o.tok(j+1).text != ">" || text == ";") {
				break
			}
		}
	}
	if o.tok(j+1).text == "require" && o.tok(j+3).kind == tokenString {
		return // noted as an import
	}
	switch {
	case n.kind != tokenName:
		return
	case o.tok(j).text == "=" && o.isFunction(j+1):
		open := j + 1
		for o.tok(open).kind == tokenName || o.tok(open).text == "<" || o.tok(open).text == ">" {
			open++
		}
		if o.isWrapped(j + 1) {
			open++
		}
		o.callable(n.text, open)
	default:
		o.values = append(o.values, n.text)
	}
}

// destructured notes the variables of const { a, b: c } = …, unless that only takes a module apart.
func (o *scriptOutline) destructured(i int) {
	depth := 0
	var names []string
	for j := i; j < len(o.tokens) && j < i+200; j++ {
		t := o.tokens[j]
		switch {
		case t.kind == tokenMark && strings.Contains("{[(", t.text):
			depth++
		case t.kind == tokenMark && strings.Contains("}])", t.text):
			if depth--; depth == 0 {
				if o.tok(j+2).text != "require" {
					o.values = append(o.values, names...)
				}
				return
			}
		case t.kind == tokenName && o.tok(j-1).text != "=" && strings.Contains(",}]=", o.tok(j+1).text) && o.tok(j+1).text != "":
			names = append(names, t.text)
		}
	}
}

// isWrapped reports a component in a call that makes one: memo(…), forwardRef(…).
func (o *scriptOutline) isWrapped(i int) bool {
	name := o.tok(i).text
	if o.tok(i+1).text == "." {
		name = o.tok(i + 2).text
		i += 2
	}
	return (name == "memo" || name == "forwardRef" || name == "lazy" || name == "observer") && o.tok(i+1).text == "("
}

// isFunction reports that an expression is a function.
func (o *scriptOutline) isFunction(i int) bool {
	if o.tok(i).text == "async" {
		i++
	}
	t := o.tok(i)
	switch {
	case t.text == "function" || o.isWrapped(i):
		return true
	case t.kind == tokenName:
		return o.tok(i+1).text == "=" && o.tok(i+2).text == ">"
	case t.text == "<" && o.tok(i+1).kind == tokenName && o.tok(i+2).text == ">": // <T>(x: T) => x
		return o.isFunction(i + 3)
	case t.text != "(":
		return false
	}
	depth := 0
	for j := i; j < len(o.tokens) && j < i+300; j++ {
		switch o.tokens[j].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				after := o.tok(j + 1)
				return after.text == "=" && o.tok(j+2).text == ">" || after.text == ":"
			}
		}
	}
	return false
}
