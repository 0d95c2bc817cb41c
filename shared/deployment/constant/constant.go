// Package constant evaluates files of settings, such as vite.config.ts, which are programs that builds do not run. It
// finds their values as far as these are constants. It must not interpret the values.
//
// A value is a string, a float64, a bool, nil, a map[string]any, a []any, a Module, or a value of another type of this
// package, which stands for anything else.
package constant

import (
	"errors"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// unknown is a value that is not a constant.
type unknown struct{}

// MarshalJSON returns an error, so that a value that contains an unknown one is not encoded.
func (unknown) MarshalJSON() ([]byte, error) { return nil, errors.New("the value is not a constant") }

type function struct {
	unknown

	params js.Params
	body   js.BlockStmt
}

// Module is a module, or the result of a call of its default export.
type Module struct {
	unknown

	Name string
}

// options are the options for JSON that is also a JavaScript expression, which can be in a page. A text can contain
// single surrogates.
var options = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(true),
	jsontext.EscapeForJS(true))

// scheme matches the scheme of a URL.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

// scope has the values of variables by name.
type scope map[string]any

// Evaluate returns the value that a program exports: the default export, or module.exports. If it is a function, as in
// vite.config, the value is what the function returns for a build. The program can read env, which has strings and
// booleans, as process.env and through loadEnv.
func Evaluate(name string, code []byte, env map[string]any) any {
	values := map[string]any{
		"__dirname": "/", "__filename": name, "import.meta.dirname": "/", "import.meta.filename": name,
		"import.meta.url": "file://" + name, "process.env.NODE_ENV": "production",
	}
	variables := map[string]any{}
	for name, value := range env {
		values["process.env."+name], variables[name] = value, value
	}
	defined := map[string]string{}
	for name, value := range values {
		defined[name], _ = Encode(value)
	}
	// esbuild removes types, and evaluates templates and other constants.
	out := api.Transform(string(code), api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, MinifySyntax: true, Charset: api.CharsetUTF8, Define: defined,
		Supported: map[string]bool{"template-literal": false}, LogLevel: api.LogLevelSilent,
	})
	program, err := js.Parse(parse.NewInputBytes(out.Code), js.Options{})
	if len(out.Errors) > 0 || err != nil {
		return unknown{}
	}
	s := scope{"undefined": nil, "loadEnv": variables}
	value := s.run(program.List)
	if f, ok := value.(function); ok {
		if len(f.params.List) > 0 {
			s.bind(f.params.List[0].Binding, map[string]any{
				"mode": "production", "command": "build", "isSsrBuild": false, "isPreview": false,
			})
		}
		return s.run(f.body.List)
	}
	return value
}

// run returns the value that statements return or export.
func (s scope) run(statements []js.IStmt) any {
	var exported any = unknown{}
	for _, statement := range statements {
		switch t := statement.(type) {
		case *js.VarDecl:
			for _, item := range t.List {
				s.bind(item.Binding, s.value(item.Default))
			}
		case *js.FuncDecl:
			s[string(t.Name.Name())] = s.value(t)
		case *js.ImportStmt:
			s[string(t.Default)] = Module{Name: strings.Trim(string(t.Module), `"'`)}
		case *js.IfStmt:
			if s.value(t.Cond) != false {
				return unknown{}
			}
		case *js.ReturnStmt:
			return s.value(t.Value)
		case *js.ExportStmt:
			if t.Default {
				exported = s.value(t.Decl)
			}
		case *js.ExprStmt:
			if set, ok := t.Value.(*js.BinaryExpr); ok && set.Op == js.EqToken && set.X.String() == "(module.exports)" {
				exported = s.value(set.Y)
			}
		}
	}
	return exported
}

// bind gives a name, or the names of an object pattern, their values.
func (s scope) bind(binding js.IBinding, value any) {
	switch b := binding.(type) {
	case *js.Var:
		s[string(b.Name())] = value
	case *js.BindingObject:
		for _, item := range b.List {
			if name, ok := item.Value.Binding.(*js.Var); ok {
				key := name.Name()
				if item.Key != nil && item.Key.Literal.Data != nil {
					key = item.Key.Literal.Data
				}
				s[string(name.Name())] = field(value, string(key))
			}
		}
	}
}

// field returns a field of an object, or the path of a URL.
func field(value any, key string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[key]
	case string:
		if key == "pathname" {
			return strings.TrimPrefix(v, "file://")
		}
	}
	return unknown{}
}

// value returns the value of an expression.
func (s scope) value(expression js.IExpr) any {
	switch x := expression.(type) {
	case *js.LiteralExpr:
		return literal(x)
	case *js.Var:
		if value, ok := s[string(x.Name())]; ok {
			return value
		}
	case *js.GroupExpr:
		return s.value(x.X)
	case *js.ArrowFunc:
		return function{params: x.Params, body: x.Body}
	case *js.FuncDecl:
		return function{params: x.Params, body: x.Body}
	case *js.ObjectExpr:
		return s.object(x)
	case *js.ArrayExpr:
		all := []any{}
		for _, item := range x.List {
			all = append(all, s.value(item.Value))
		}
		return all
	case *js.DotExpr:
		return field(s.value(x.X), x.Y.String())
	case *js.CondExpr:
		switch s.value(x.Cond) {
		case true:
			return s.value(x.X)
		case false:
			return s.value(x.Y)
		}
	case *js.BinaryExpr:
		return binary(x.Op, s.value(x.X), s.value(x.Y))
	case *js.UnaryExpr: // esbuild writes !0 for true
		if number, ok := s.value(x.X).(float64); ok && x.Op == js.NotToken {
			return number == 0
		} else if ok && x.Op == js.NegToken {
			return -number
		}
	case *js.NewExpr: // a URL relative to the program
		if x.X.String() == "URL" && x.Args != nil && len(x.Args.List) == 2 {
			if text, ok := s.value(x.Args.List[0].Value).(string); ok && !scheme.MatchString(text) {
				return "file://" + path.Join("/", text)
			}
		}
	case *js.CallExpr:
		return s.call(x)
	}
	return unknown{}
}

func literal(x *js.LiteralExpr) any {
	text := string(x.Data)
	switch {
	case x.TokenType == js.IdentifierToken:
		return text // the name of a field
	case text[0] == '\'':
		text = `"` + strings.NewReplacer(`\'`, `'`, `"`, `\"`).Replace(text[1:len(text)-1]) + `"`
	}
	var value any
	if json.Unmarshal([]byte(text), &value, options) != nil {
		return unknown{}
	}
	return value
}

func (s scope) object(x *js.ObjectExpr) any {
	all := map[string]any{}
	for _, p := range x.List {
		switch {
		case p.Spread:
			more, _ := s.value(p.Value).(map[string]any)
			maps.Copy(all, more)
		case p.Name != nil && !p.Name.IsComputed():
			if key, ok := literal(&p.Name.Literal).(string); ok {
				all[key] = s.value(p.Value)
			}
		}
	}
	return all
}

func binary(op js.TokenType, left, right any) any {
	a, isText := left.(string)
	b, isOtherText := right.(string)
	areTexts := isText && isOtherText
	switch {
	case areTexts && (op == js.EqEqToken || op == js.EqEqEqToken):
		return a == b
	case areTexts && (op == js.NotEqToken || op == js.NotEqEqToken):
		return a != b
	case areTexts && op == js.AddToken:
		return a + b
	case op == js.OrToken || op == js.NullishToken:
		if left == (unknown{}) || left == nil || op == js.OrToken && (left == "" || left == false) {
			return right
		}
		return left
	}
	return unknown{}
}

// call returns the result of a known function.
func (s scope) call(x *js.CallExpr) any {
	name := strings.Trim(x.X.String(), "()")
	name = name[strings.LastIndexByte(name, '.')+1:]
	var arguments []any
	var texts []string
	for _, argument := range x.Args.List {
		value := s.value(argument.Value)
		arguments = append(arguments, value)
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	callee, isModule := s.value(x.X).(Module)
	allTexts := len(texts) == len(arguments) && len(texts) > 0
	switch {
	case isModule:
		return callee
	case name == "require" && allTexts:
		return Module{Name: texts[0]}
	case name == "cwd":
		return "/"
	case name == "loadEnv":
		return s[name]
	case name == "defineConfig" && len(arguments) == 1:
		return arguments[0]
	case name == "stringify" && len(arguments) > 0:
		if text, ok := Encode(arguments[0]); ok {
			return text
		}
	case name == "resolve" && allTexts:
		last := len(texts) - 1
		for last > 0 && !strings.HasPrefix(texts[last], "/") {
			last--
		}
		return path.Join(slices.Insert(texts[last:], 0, "/")...)
	case name == "join" && allTexts:
		return path.Join(texts...)
	case name == "dirname" && allTexts:
		return path.Dir(texts[0])
	case name == "fileURLToPath" && allTexts:
		return strings.TrimPrefix(texts[0], "file://")
	}
	return unknown{}
}

// maxConstants is the maximum number of values in a constant. A value that several others contain counts for each of
// them.
const maxConstants = 10_000

// Encode returns a constant as JSON. ok is false if the value is too large, or not a constant.
func Encode(value any) (text string, ok bool) {
	if left := maxConstants; !isSmall(value, &left) {
		return "", false
	}
	data, err := json.Marshal(value, options)
	return string(data), err == nil
}

// Quote returns a value as a JavaScript expression. The value consists of texts, booleans, and maps of them.
func Quote(value any) string {
	text, err := json.Marshal(value, options)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// isSmall reports whether a constant has at most left values. It subtracts their number from left.
func isSmall(value any, left *int) bool {
	*left--
	switch v := value.(type) {
	case map[string]any:
		for _, field := range v {
			if *left < 0 || !isSmall(field, left) {
				return false
			}
		}
	case []any:
		for _, item := range v {
			if *left < 0 || !isSmall(item, left) {
				return false
			}
		}
	}
	return *left >= 0
}
