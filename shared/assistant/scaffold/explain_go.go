package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// goOutline is what a Go file declares.
type goOutline struct {
	fset                         *token.FileSet
	types                        []string
	methods                      map[string][]string
	functions, tests             []string
	constants, variables, routes []string
}

// outlineGo reads a Go file with Go's own parser.
func outlineGo(content string) []string {
	o := goOutline{fset: token.NewFileSet(), methods: map[string][]string{}}
	file, err := parser.ParseFile(o.fset, "", content, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || file.Name == nil {
		return []string{"It does not parse as Go: " + oneLine(err.Error())}
	}
	about := "Package " + code(file.Name.Name)
	if text := firstSentence(oneLine(file.Doc.Text())); text != "" {
		about += ": " + clip(text, 160)
	}
	points := []string{about}
	if err != nil {
		points = append(points, "It does not parse as a whole: "+clip(oneLine(err.Error()), 160))
	}
	points = append(points, goImports(file)...)
	for _, d := range file.Decls {
		o.take(d)
	}
	ast.Inspect(file, o.findRoutes)
	for i, t := range o.types {
		name, _, _ := strings.Cut(t, " ")
		if m := o.methods[name]; len(m) > 0 {
			o.types[i] += ", methods " + strings.Join(m[:min(len(m), 8)], " ")
		}
		delete(o.methods, name)
	}
	for name, methods := range o.methods { // of types that other files declare
		for _, m := range methods {
			o.functions = append(o.functions, name+"."+m)
		}
	}
	slices.Sort(o.functions[len(o.functions)-countMethods(o.methods):])
	return slices.Concat(points, point("Types", o.types), point("Functions", o.functions), point("Tests", o.tests),
		point("Routes", o.routes), point("Constants", o.constants), point("Variables", o.variables))
}

func countMethods(methods map[string][]string) int {
	n := 0
	for _, m := range methods {
		n += len(m)
	}
	return n
}

// goImports are a file's imports, the standard library's apart.
func goImports(file *ast.File) []string {
	var standard, others []string
	for _, i := range file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
			others = append(others, p)
		} else {
			standard = append(standard, p)
		}
	}
	return slices.Concat(point("Imports of the standard library or the module itself", standard), point("Imports of other modules", others))
}

// take notes a declaration.
func (o *goOutline) take(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		o.takeFunc(d)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				o.types = append(o.types, s.Name.Name+" "+goType(s.Type))
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.Name == "_" {
						continue
					}
					if d.Tok == token.CONST {
						o.constants = append(o.constants, n.Name)
					} else {
						o.variables = append(o.variables, n.Name)
					}
				}
			}
		}
	}
}

func (o *goOutline) takeFunc(d *ast.FuncDecl) {
	if d.Recv != nil && len(d.Recv.List) > 0 {
		name := receiver(d.Recv.List[0].Type)
		o.methods[name] = append(o.methods[name], d.Name.Name)
		return
	}
	var b bytes.Buffer
	if printer.Fprint(&b, o.fset, d.Type) != nil {
		b.Reset()
	}
	signature := d.Name.Name + strings.TrimPrefix(oneLine(b.String()), "func")
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if strings.HasPrefix(d.Name.Name, prefix) {
			o.tests = append(o.tests, d.Name.Name)
			return
		}
	}
	o.functions = append(o.functions, signature)
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// goType is a type in a few words.
func goType(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StructType:
		return fmt.Sprintf("(struct, %s)", plural(t.Fields.NumFields(), "field"))
	case *ast.InterfaceType:
		return fmt.Sprintf("(interface, %s)", plural(t.Methods.NumFields(), "method"))
	case *ast.FuncType:
		return "(function)"
	case *ast.MapType:
		return "(map)"
	case *ast.ArrayType:
		return "(slice or array)"
	case *ast.Ident:
		return "(" + t.Name + ")"
	}
	return "(type)"
}

// findRoutes notes the patterns that handlers are registered for.
func (o *goOutline) findRoutes(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return true
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "HandleFunc" && f.Sel.Name != "Handle" {
		return true
	}
	if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if pattern, err := strconv.Unquote(lit.Value); err == nil {
			o.routes = append(o.routes, pattern)
		}
	}
	return true
}
