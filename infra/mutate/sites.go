package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
)

// mutation is a change of one place of a file: the bytes from start to end are replaced by text.
type mutation struct {
	pkg        string // import path
	file       string
	line       int
	start, end int
	old, text  string
}

func (m mutation) String() string {
	return fmt.Sprintf("%s:%d: %s → %s", m.file, m.line, m.old, m.text)
}

// operators are the replacements of operators.
var operators = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// fileMutations returns the mutations of a file. Some of them may not compile.
func fileMutations(pkg, file string) ([]mutation, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read a file: %w", err)
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, 0)
	if err != nil {
		return nil, fmt.Errorf("parse a file: %w", err)
	}
	var found []mutation
	add := func(from, to token.Pos, text string) {
		start, end := files.Position(from), files.Position(to)
		found = append(found, mutation{
			pkg: pkg, file: file, line: start.Line, start: start.Offset, end: end.Offset,
			old: string(source[start.Offset:end.Offset]), text: text,
		})
	}
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil { // a changed constant or table is often not a fault
			continue
		}
		ast.Inspect(function.Body, func(node ast.Node) bool {
			mutateNode(node, add)
			return true
		})
	}
	return found, nil
}

// mutateNode calls add for each mutation of a node.
func mutateNode(node ast.Node, add func(from, to token.Pos, text string)) {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		if other, ok := operators[n.Op]; ok {
			add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
		}
	case *ast.BasicLit:
		if number, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			add(n.Pos(), n.End(), strconv.Itoa(number+1))
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			add(n.OpPos, n.OpPos+1, "")
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 0 {
			return
		}
		last := n.Results[len(n.Results)-1]
		if name, ok := last.(*ast.Ident); ok && name.Name == "err" {
			add(last.Pos(), last.End(), "nil")
		}
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			add(n.Pos(), n.End(), "")
		}
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.BREAK || n.Tok == token.CONTINUE) {
			add(n.Pos(), n.End(), "")
		}
	}
}
