package build

import (
	"bytes"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/glob"
)

// globCall is a call of import.meta.glob.
type globCall struct {
	patterns []string
	eager    bool
	name     string // the export that is imported, or "" for all
	query    string // such as "?raw"
	assets   bool   // leave out scripts, style sheets, JSON and files that may contain secrets
}

var (
	metaGlob   = regexp.MustCompile(`^import\s*\.\s*meta\s*\.\s*glob\w*`)
	exportName = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)
	// globQuery has the queries that the options query and as mean.
	globQuery = map[string]string{"raw": "?raw", "?raw": "?raw", "url": "?url", "?url": "?url", "": ""}
)

// rewriteGlob replaces a call of import.meta.glob by an object with the files that match.
func (r *rewriter) rewriteGlob(start, length int) *failure.Error {
	name := r.code[start : start+length]
	text, end := arguments(string(r.code[start+length:]))
	values, _ := constant.Evaluate("", []byte("export default ["+text+"]"), nil).([]any)
	g, ok := parseGlob(values)
	if !ok || !bytes.HasSuffix(name, []byte("glob")) { // older versions of Vite also had import.meta.globEager
		return failf(failure.BuildFailed, "This use of import.meta.glob is not supported. Write import.meta.glob with a "+
			"string or an array of strings, and the options eager, import and query, all without variables. query can be "+
			"\"?raw\" or \"?url\".")
	}
	object, err := r.expand(g)
	r.edits = append(r.edits, edit{start, start + length + end, object})
	return err
}

// arguments returns the text of the arguments of a call, and where the call ends. The text can begin with type
// arguments. If it is not a call, the end is 0.
func arguments(text string) (inner string, end int) {
	lexer := js.NewLexer(parse.NewInputString(text))
	depth, open := 0, -1
	for {
		token, word := lexer.Next()
		switch token {
		case js.ErrorToken:
			return "", 0
		case js.OpenParenToken, js.OpenBraceToken, js.OpenBracketToken, js.LtToken:
			if depth == 0 && token == js.OpenParenToken {
				open = end + 1
			}
			depth++
		case js.CloseParenToken, js.CloseBraceToken, js.CloseBracketToken, js.GtToken, js.GtGtToken, js.GtGtGtToken:
			depth -= len(word)
		}
		if end += len(word); open > 0 && depth == 0 {
			return text[open : end-1], end
		}
	}
}

// parseGlob parses the arguments of a call of import.meta.glob.
func parseGlob(values []any) (g globCall, ok bool) {
	if len(values) == 0 || len(values) > 2 {
		return g, false
	}
	patterns, isList := values[0].([]any)
	if !isList {
		patterns = values[:1]
	}
	for _, pattern := range patterns {
		text, ok := pattern.(string)
		if !ok {
			return g, false
		}
		g.patterns = append(g.patterns, text)
	}
	if len(values) == 1 {
		return g, true
	}
	options, ok := values[1].(map[string]any)
	for key, value := range options {
		text, isText := value.(string)
		query, isQuery := globQuery[text]
		isEager, isBool := value.(bool)
		switch {
		case key == "eager" && isBool:
			g.eager = isEager
		case key == "import" && isText && (text == "*" || exportName.MatchString(text)):
			g.name = strings.TrimPrefix(text, "*")
		case key == "query" && isText && isQuery:
			g.query = query
		case key == "as" && isText && isQuery: // the older form of query, which implies import: "default"
			g.query, g.name = query, "default"
		default:
			return g, false
		}
	}
	return g, ok
}

// expand returns an object with a property for each file that matches a glob. The name of a property is an absolute
// path if a pattern is absolute or begins with an alias, otherwise a relative path.
func (r *rewriter) expand(g globCall) (string, *failure.Error) {
	dir := path.Dir(r.file)
	var included, excluded []string
	for _, written := range g.patterns {
		pattern, isNegative := strings.CutPrefix(written, "!")
		file, ok := r.aliasedFile(pattern)
		switch {
		case strings.HasPrefix(pattern, "/"), strings.HasPrefix(pattern, "**"):
			file, ok = join("/", "./"+pattern)
		case strings.HasPrefix(pattern, "."):
			file, ok = join(dir, pattern)
		}
		switch {
		case !ok || !glob.IsValid(file) || !utf8.ValidString(file):
			return "", failf(failure.BuildFailed, "The pattern %s of import.meta.glob is not supported. Patterns begin with "+
				"./, ../ or /, and can have *, **, ?, [abc] and {a,b}.", quote(written))
		case isNegative:
			excluded = append(excluded, file)
		default:
			included = append(included, file)
		}
	}
	isAbsolute := slices.ContainsFunc(g.patterns, func(p string) bool { return p != "" && p[0] != '.' && p[0] != '!' })
	var properties []string
	for _, file := range r.names {
		matches := func(pattern string) bool { return glob.Match(pattern, file) }
		name, _, _ := r.sitePath(file)
		if file == r.file || strings.ContainsAny(file, "?#") || isNeverPublished(name) ||
			g.assets && (isCode(file) || secretFiles.MatchString(file)) ||
			!slices.ContainsFunc(included, matches) || slices.ContainsFunc(excluded, matches) {
			continue
		}
		key := file
		if !isAbsolute {
			key = relative(dir, file)
		}
		properties = append(properties, constant.Quote(key)+":"+importExpression(g, file))
	}
	return "Object.assign({" + strings.Join(properties, ",") + "})", nil
}

// relative returns the path of a file relative to a folder. It begins with "./" or "../".
func relative(dir, file string) string {
	rel, err := filepath.Rel(dir, file)
	if err != nil { // both are absolute
		return file
	}
	if rel = filepath.ToSlash(rel); !isRelative(rel) {
		rel = "./" + rel
	}
	return rel
}

// importExpression returns the value of a file in the object of a glob.
func importExpression(g globCall, file string) string {
	spec := file + g.query
	isText := g.query != "" // the module is a text, which is also its default export
	switch {
	case g.eager && g.name == "default" && isText, g.eager && g.name == "" && !isText:
		return requireCall(spec)
	case g.eager && g.name == "":
		return "{default:" + requireCall(spec) + "}"
	case g.eager:
		return requireCall(spec) + "." + g.name
	case g.name != "":
		return "()=>import(" + constant.Quote(spec) + ").then(m=>m." + g.name + ")"
	}
	return "()=>import(" + constant.Quote(spec) + ")"
}
