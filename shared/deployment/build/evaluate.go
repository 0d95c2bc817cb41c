package build

import (
	"encoding/json"
	"maps"
	"path"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// The values of a configuration are evaluated as far as they are constants. A value is a string, a float64, a bool,
// nil, an *object, a []any, a function of the configuration, or unknown.

// unknown is a value that is not a constant.
type unknown struct{}

// object is an object whose fields keep their order.
type object struct {
	keys   []string
	fields map[string]any
}

func (o *object) set(key string, value any) {
	if _, ok := o.fields[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.fields[key] = value
}

func objectOf(fields map[string]any) *object {
	o := &object{fields: map[string]any{}}
	for key, value := range fields {
		o.set(key, value)
	}
	return o
}

// evaluator evaluates expressions. depth limits the recursion.
type evaluator struct {
	env   map[string]any
	names map[string]any
	depth int
}

const maxEvaluation = 200

// evaluateConfig returns the object that a configuration exports. ok is false if it is not a constant.
func evaluateConfig(code []byte, env map[string]any) (config *object, ok bool) {
	ast, err := js.Parse(parse.NewInputBytes(code), js.Options{})
	if err != nil {
		return nil, false
	}
	e := &evaluator{env: env, names: map[string]any{"undefined": nil}}
	for _, statement := range ast.List {
		switch s := statement.(type) {
		case *js.VarDecl:
			e.declare(s)
		case *js.ExportStmt:
			if s.Default {
				config, ok = e.configOf(e.value(s.Decl))
			}
		case *js.ExprStmt: // module.exports = …
			if b, is := s.Value.(*js.BinaryExpr); is && b.Op == js.EqToken && b.X.String() == "(module.exports)" {
				config, ok = e.configOf(e.value(b.Y))
			}
		}
	}
	return config, ok
}

// configOf returns the configuration that a value means: an object, or a function that returns one.
func (e *evaluator) configOf(value any) (*object, bool) {
	if f, ok := value.(*js.ArrowFunc); ok {
		mode := objectOf(map[string]any{"mode": "production", "command": "build", "isSsrBuild": false, "isPreview": false})
		value = e.call(f.Params, f.Body, mode)
	} else if f, ok := value.(*js.FuncDecl); ok {
		mode := objectOf(map[string]any{"mode": "production", "command": "build"})
		value = e.call(f.Params, f.Body, mode)
	}
	o, ok := value.(*object)
	return o, ok
}

// call returns what a function returns for an argument.
func (e *evaluator) call(params js.Params, body js.BlockStmt, argument *object) any {
	inner := &evaluator{env: e.env, names: maps.Clone(e.names), depth: e.depth + 1}
	if len(params.List) > 0 {
		inner.bind(params.List[0].Binding, argument)
	}
	for _, statement := range body.List {
		switch s := statement.(type) {
		case *js.VarDecl:
			inner.declare(s)
		case *js.ReturnStmt:
			return inner.value(s.Value)
		}
	}
	return unknown{}
}

func (e *evaluator) declare(d *js.VarDecl) {
	for _, item := range d.List {
		e.bind(item.Binding, e.value(item.Default))
	}
}

// bind gives a name, or the names of an object pattern, their values.
func (e *evaluator) bind(binding js.IBinding, value any) {
	switch b := binding.(type) {
	case *js.Var:
		e.names[string(b.Name())] = value
	case *js.BindingObject:
		o, ok := value.(*object)
		for _, item := range b.List {
			v, isName := item.Value.Binding.(*js.Var)
			if !isName {
				continue
			}
			key := string(v.Name())
			if item.Key != nil && item.Key.Literal.Data != nil {
				key = string(item.Key.Literal.Data)
			}
			e.names[string(v.Name())] = unknown{}
			if ok {
				e.names[string(v.Name())] = o.fields[key]
			}
		}
	}
}

// value returns the value of an expression.
func (e *evaluator) value(expression js.IExpr) any {
	if e.depth++; e.depth > maxEvaluation {
		return unknown{}
	}
	defer func() { e.depth-- }()
	switch x := expression.(type) {
	case *js.LiteralExpr:
		return literal(x)
	case *js.Var:
		if value, ok := e.names[string(x.Name())]; ok {
			return value
		}
	case *js.GroupExpr:
		return e.value(x.X)
	case *js.ArrowFunc, *js.FuncDecl:
		return x
	case *js.ObjectExpr:
		return e.object(x)
	case *js.ArrayExpr:
		all := []any{}
		for _, item := range x.List {
			if !item.Spread {
				all = append(all, e.value(item.Value))
			}
		}
		return all
	case *js.DotExpr:
		return e.member(x)
	case *js.CondExpr:
		if condition, ok := e.value(x.Cond).(bool); ok && condition {
			return e.value(x.X)
		} else if ok {
			return e.value(x.Y)
		}
	case *js.BinaryExpr:
		return e.binary(x)
	case *js.UnaryExpr: // esbuild writes !0 for true
		if number, ok := e.value(x.X).(float64); ok && x.Op == js.NotToken {
			return number == 0
		} else if ok && x.Op == js.NegToken {
			return -number
		}
	case *js.NewExpr:
		if x.X.String() == "URL" && x.Args != nil && len(x.Args.List) == 2 {
			return e.url(x.Args.List[0].Value)
		}
	case *js.CallExpr:
		return e.function(x)
	}
	return unknown{}
}

func literal(x *js.LiteralExpr) any {
	switch x.TokenType {
	case js.StringToken:
		var text string
		quoted := string(x.Data)
		if quoted[0] == '\'' {
			quoted = `"` + strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\'`, `'`), `"`, `\"`) + `"`
		}
		if json.Unmarshal([]byte(quoted), &text) == nil {
			return text
		}
	case js.TrueToken, js.FalseToken:
		return x.TokenType == js.TrueToken
	case js.NullToken:
		return nil
	case js.DecimalToken, js.IntegerToken:
		var number float64
		if json.Unmarshal(x.Data, &number) == nil {
			return number
		}
	}
	return unknown{}
}

func (e *evaluator) object(x *js.ObjectExpr) any {
	o := &object{fields: map[string]any{}}
	for _, p := range x.List {
		switch {
		case p.Spread:
			if spread, ok := e.value(p.Value).(*object); ok {
				for _, key := range spread.keys {
					o.set(key, spread.fields[key])
				}
			}
		case p.Name == nil:
		case p.Name.IsComputed():
			if key, ok := e.value(p.Name.Computed).(string); ok {
				o.set(key, e.value(p.Value))
			}
		default:
			key := string(p.Name.Literal.Data)
			if text, ok := literal(&p.Name.Literal).(string); ok {
				key = text
			}
			o.set(key, e.value(p.Value))
		}
	}
	return o
}

// member returns a member of an object, or the path of a URL.
func (e *evaluator) member(x *js.DotExpr) any {
	name := x.Y.String()
	switch o := e.value(x.X).(type) {
	case *object:
		if value, ok := o.fields[name]; ok {
			return value
		}
	case string:
		if name == "pathname" {
			return strings.TrimPrefix(o, "file://")
		}
	}
	return unknown{}
}

func (e *evaluator) binary(x *js.BinaryExpr) any {
	left, right := e.value(x.X), e.value(x.Y)
	a, isText := left.(string)
	b, both := right.(string)
	_, isUnknown := left.(unknown)
	switch {
	case isText && both && (x.Op == js.EqEqToken || x.Op == js.EqEqEqToken):
		return a == b
	case isText && both && (x.Op == js.NotEqToken || x.Op == js.NotEqEqToken):
		return a != b
	case isText && both && x.Op == js.AddToken:
		return a + b
	case x.Op == js.OrToken || x.Op == js.NullishToken:
		if isUnknown || left == nil || left == "" && x.Op == js.OrToken || left == false {
			return right
		}
		return left
	}
	return unknown{}
}

// url returns the URL of a file beside the configuration.
func (e *evaluator) url(relative js.IExpr) any {
	if text, ok := e.value(relative).(string); ok && !scheme.MatchString(text) {
		return "file://" + path.Join("/", text)
	}
	return unknown{}
}

// function returns the result of a known function.
func (e *evaluator) function(x *js.CallExpr) any {
	name := strings.Trim(x.X.String(), "()")
	name = name[strings.LastIndexByte(name, '.')+1:]
	var values []any
	var texts []string
	for _, argument := range x.Args.List {
		value := e.value(argument.Value)
		values = append(values, value)
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	allTexts := len(texts) == len(values) && len(texts) > 0
	switch {
	case name == "cwd" && len(values) == 0:
		return "/"
	case name == "defineConfig" && len(values) == 1:
		return values[0]
	case name == "loadEnv":
		return objectOf(e.env)
	case name == "resolve" && allTexts:
		resolved := "/"
		for _, text := range texts {
			if strings.HasPrefix(text, "/") {
				resolved = text
			} else {
				resolved = path.Join(resolved, text)
			}
		}
		return path.Clean(resolved)
	case name == "join" && allTexts:
		return path.Join(texts...)
	case name == "dirname" && allTexts:
		return path.Dir(texts[0])
	case name == "fileURLToPath" && allTexts:
		return strings.TrimPrefix(texts[0], "file://")
	case name == "stringify" && len(values) >= 1:
		if text, ok := encode(values[0]); ok {
			return text
		}
	}
	return unknown{}
}

// maxConstants is the number of values that one constant can contain. A value that several others contain counts for
// each of them.
const maxConstants = 10_000

// encode returns a constant as JSON. ok is false if it is not a constant, or is nested too deeply or too large.
func encode(value any) (text string, ok bool) {
	left := maxConstants
	plain, ok := plainValue(value, maxEvaluation, &left)
	if !ok {
		return "", false
	}
	return quoteJSON(plain), true
}

// plainValue returns a constant as package json encodes it. depth limits the nesting, and left the number of values.
func plainValue(value any, depth int, left *int) (plain any, ok bool) {
	if *left--; depth < 0 || *left < 0 {
		return nil, false
	}
	switch v := value.(type) {
	case string, float64, bool, nil:
		return v, true
	case *object:
		fields := map[string]any{}
		for key, field := range v.fields {
			if fields[key], ok = plainValue(field, depth-1, left); !ok {
				return nil, false
			}
		}
		return fields, true
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			if items[i], ok = plainValue(item, depth-1, left); !ok {
				return nil, false
			}
		}
		return items, true
	}
	return nil, false
}

func isJSON(text string) bool { return json.Valid([]byte(text)) }
