package build

import (
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// glob is a call of import.meta.glob.
type glob struct {
	patterns []string
	eager    bool
	name     string // the export that is imported, or "" for all
	query    string // such as "?raw"
	assets   bool   // leave out scripts, style sheets, JSON and files that may contain secrets
}

var (
	metaGlob = regexp.MustCompile(`^import\s*\.\s*meta\s*\.\s*glob(\w*)\s*`)
	// typeArguments matches the types of a call in TypeScript, up to a parenthesis.
	typeArguments = regexp.MustCompile("^<[^;]{0,500}?[^=]>\\s*\\(\\s*[\"'`\\[]")
	globToken     = regexp.MustCompile("^(?:\\s|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*" +
		"(\"[^\"\\\\\\n]*\"|'[^'\\\\\\n]*'|`[^`\\\\$]*`|\\w+|[(){}\\[\\],:])")
	exportName = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)
	globQuery  = map[string]string{"raw": "?raw", "?raw": "?raw", "url": "?url", "?url": "?url", "": ""}
)

// rewriteGlob replaces a call of import.meta.glob by an object with the files that match.
func (r *metaRewriter) rewriteGlob(offset int) *metaError {
	m := metaGlob.FindSubmatchIndex(r.code[offset:])
	args := r.code[offset+m[1]:]
	if types := typeArguments.FindIndex(args); types != nil {
		open := strings.LastIndexByte(string(args[:types[1]]), '(')
		args = args[open:]
	}
	p := globParser{rest: string(args)}
	g, err := p.call()
	if err != nil || m[2] != m[3] {
		return &metaError{offset, failf(failure.BuildFailed, "This use of import.meta.glob is not supported. Write "+
			"import.meta.glob with a string or an array of strings, and the options eager, import and query, all without "+
			"variables. query can be \"?raw\" or \"?url\".")}
	}
	text, failed := r.expand(g)
	if failed != nil {
		return &metaError{offset, failed}
	}
	r.edits = append(r.edits, edit{offset, len(r.code) - len(p.rest), text})
	return nil
}

var errGlob = errors.New("the arguments are not supported")

// globParser parses the arguments of a call, which must be constants.
type globParser struct{ rest string }

// next returns the next token, or "" if there is none.
func (p *globParser) next() string {
	m := globToken.FindStringSubmatchIndex(p.rest)
	if m == nil {
		return ""
	}
	token := p.rest[m[2]:m[3]]
	p.rest = p.rest[m[3]:]
	return token
}

// call parses "(patterns)" or "(patterns, options)".
func (p *globParser) call() (g glob, err error) {
	if p.next() != "(" {
		return g, errGlob
	}
	token := p.next()
	if token == "[" {
		for token = p.next(); token != "]"; token = p.next() {
			if text, ok := unquote(token); ok {
				g.patterns = append(g.patterns, text)
			} else if token != "," {
				return g, errGlob
			}
		}
	} else if text, ok := unquote(token); ok {
		g.patterns = []string{text}
	}
	token = p.next()
	if token == "," {
		if token = p.next(); token == "{" {
			if err := p.options(&g); err != nil {
				return g, err
			}
			if token = p.next(); token == "," {
				token = p.next()
			}
		}
	}
	if token != ")" || len(g.patterns) == 0 {
		return g, errGlob
	}
	return g, nil
}

// options parses the options after "{".
func (p *globParser) options(g *glob) error {
	for token := p.next(); token != "}"; token = p.next() {
		if token == "," {
			continue
		}
		if key, ok := unquote(token); ok {
			token = key
		}
		if p.next() != ":" {
			return errGlob
		}
		value := p.next()
		text, ok := unquote(value)
		query, known := globQuery[text]
		switch {
		case token == "eager" && (value == "true" || value == "false"):
			g.eager = value == "true"
		case token == "import" && ok && (text == "*" || exportName.MatchString(text)):
			g.name = strings.TrimPrefix(text, "*")
		case token == "query" && ok && known:
			g.query = query
		case token == "as" && ok && known: // the older name of query with the import default
			g.query, g.name = query, "default"
		default:
			return errGlob
		}
	}
	return nil
}

func unquote(token string) (string, bool) {
	if token == "" || !strings.Contains("\"'`", token[:1]) {
		return "", false
	}
	return token[1 : len(token)-1], true
}

// expand returns an object with a property for each file that a glob means.
func (r *metaRewriter) expand(g glob) (string, *failure.Error) {
	dir := path.Dir(r.file)
	included, excluded, err := r.compile(dir, g.patterns)
	if err != nil {
		return "", err
	}
	absolute := slices.ContainsFunc(g.patterns, func(p string) bool {
		return !strings.HasPrefix(p, ".") && !strings.HasPrefix(p, "!")
	})
	matches := func(all []*regexp.Regexp, file string) bool {
		return slices.ContainsFunc(all, func(re *regexp.Regexp) bool { return re.MatchString(file[1:]) })
	}
	var properties []string
	for _, file := range r.names {
		name, _, _ := r.sitePath(file)
		isLeftOut := isNeverPublished(name) || g.assets && (isCode(file) || mayBeSecret(file))
		if file == r.file || isLeftOut || strings.ContainsAny(file, "?#") || !matches(included, file) ||
			matches(excluded, file) {
			continue
		}
		key := file
		if !absolute {
			key, _ = filepath.Rel(dir, file) // both are absolute
			if key = filepath.ToSlash(key); !strings.HasPrefix(key, ".") {
				key = "./" + key
			}
		}
		properties = append(properties, quoteJSON(key)+":"+r.importExpression(g, file))
	}
	return "Object.assign({" + strings.Join(properties, ",") + "})", nil
}

// importExpression returns the value of a file in the object of a glob.
func (r *metaRewriter) importExpression(g glob, file string) string {
	spec := file + g.query
	switch {
	case g.eager && g.name != "":
		return r.add("{"+g.name+" as %s}", spec)
	case g.eager:
		return r.add("* as %s", spec)
	case g.name != "":
		return "()=>import(" + quoteJSON(spec) + ").then(m=>m." + g.name + ")"
	}
	return "()=>import(" + quoteJSON(spec) + ")"
}

// maxGlobPatterns is the number of patterns in a build: each is compared with all files.
const maxGlobPatterns = 500

// compile returns the expressions of patterns. Those of the patterns that begin with "!" are in excluded.
func (r *metaRewriter) compile(dir string, patterns []string) (included, excluded []*regexp.Regexp, _ *failure.Error) {
	for _, written := range patterns {
		pattern, negative := strings.CutPrefix(written, "!")
		file, ok := "", false
		switch {
		case strings.HasPrefix(pattern, "/"), strings.HasPrefix(pattern, "**"):
			file, ok = join("/", "./"+pattern)
		case strings.HasPrefix(pattern, "."):
			file, ok = join(dir, pattern)
		default:
			if files := r.config.candidates(pattern); len(files) > 0 {
				file, ok = files[0], true
			}
		}
		switch {
		case !ok || strings.ContainsAny(file, "[]()") || !hasValidBraces(file) || len(file) > maxPatternBytes:
			return nil, nil, failf(failure.BuildFailed, "The pattern %s of import.meta.glob is not supported. Patterns begin "+
				"with ./, ../ or /, and can have *, **, ? and {a,b}.", quote(written))
		case r.patterns.Add(1) > maxGlobPatterns:
			return nil, nil, failf(failure.BuildFailed, "The project has more than %d patterns of import.meta.glob. Combine "+
				"some of them.", maxGlobPatterns)
		}
		if negative {
			excluded = append(excluded, globPattern(file))
		} else {
			included = append(included, globPattern(file))
		}
	}
	return included, excluded, nil
}

// hasValidBraces reports whether the braces of a pattern are balanced and not nested, with all commas inside.
func hasValidBraces(pattern string) bool {
	open := false
	for _, c := range pattern {
		switch c {
		case '{', '}':
			if open == (c == '{') {
				return false
			}
			open = !open
		case ',':
			if !open {
				return false
			}
		}
	}
	return !open
}

// maxPatternBytes limits a pattern.
const maxPatternBytes = 256

// globPattern returns the expression of a pattern.
func globPattern(pattern string) *regexp.Regexp {
	expression := regexp.QuoteMeta(strings.TrimPrefix(pattern, "/"))
	for _, r := range [][2]string{
		{`\*\*/`, "(.*/)?"}, {`\*\*`, ".*"}, {`\*`, "[^/]*"}, {`\?`, "[^/]"}, {`\{`, "("}, {`\}`, ")"}, {",", "|"},
	} {
		expression = strings.ReplaceAll(expression, r[0], strings.ReplaceAll(r[1], "*", "\x00"))
	}
	return regexp.MustCompile("^" + strings.ReplaceAll(expression, "\x00", "*") + "$")
}
