package infra_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// waits are the functions that limit a wait by an argument of type time.Duration.
var waits = map[string]bool{
	"After": true, "NewTimer": true, "AfterFunc": true, "Sleep": true, "WithTimeout": true, "WithTimeoutCause": true,
	"EventuallyWithin": true, "SetDeadline": true, "SetReadDeadline": true,
}

// fakeTime matches the source of tests that run in fake time. bubble is the function of infra/local/triggers that
// starts one.
var fakeTime = regexp.MustCompile(`synctest|\bbubble\(t`)

// TestLongWaitsAreNamed checks that a wait of more than five seconds in a test is a constant, whose name and comment
// describe the wait. Waits in fake time are short, so the test ignores files whose tests run in a bubble of synctest.
func TestLongWaitsAreNamed(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, folder := range []string{"functions", "infra", "shared"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "platformtest") {
				return err
			}
			if filepath.Ext(path) != ".go" || fakeTime.MatchString(readFile(t, strings.TrimPrefix(path, root+"/"))) {
				return err
			}
			checked++
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok && waits[nameOf(call.Fun)] && hasLongLiteral(call.Args) {
					t.Errorf("%s: a wait of more than 5 s has no name", files.Position(call.Pos()))
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 100 {
		t.Errorf("found %d files of tests, want at least 100", checked)
	}
}

// nameOf returns the last identifier of a function's name, such as "After" of time.After.
func nameOf(function ast.Expr) string {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// hasLongLiteral reports whether the arguments of a call contain a duration of more than five seconds as a literal,
// such as time.Minute or 10*time.Second. It does not look into functions.
func hasLongLiteral(arguments []ast.Expr) bool {
	isLong := false
	for _, argument := range arguments {
		ast.Inspect(argument, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncLit:
				return false
			case *ast.SelectorExpr:
				isLong = isLong || n.Sel.Name == "Minute" || n.Sel.Name == "Hour"
			case *ast.BinaryExpr:
				if number, ok := n.X.(*ast.BasicLit); ok && nameOf(n.Y) == "Second" {
					seconds, err := strconv.Atoi(number.Value)
					isLong = isLong || err == nil && seconds > 5
				}
			}
			return true
		})
	}
	return isLong
}
