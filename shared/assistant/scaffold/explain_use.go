package scaffold

import (
	"slices"
	"strings"
)

// use notes a call at i that is worth a word: of a hook, for a route, of a test, of a module.
func (o *scriptOutline) use(i int) {
	t, open, first := o.tok(i), o.tok(i+1), o.tok(i+2)
	if t.kind != tokenName || open.kind != tokenMark || open.text != "(" && open.text != "<" || o.tok(i-1).text == "function" {
		return
	}
	switch p := parts(t.text); {
	case (t.text == "require" || t.text == "import") && first.kind == tokenString && open.text == "(":
		o.imports = append(o.imports, first.text)
	case len(p) > 1 && p[0] == "use" && !o.isMember(i) && !strings.Contains(t.text, "_"):
		o.uses = append(o.uses, t.text)
	case (t.text == "test" || t.text == "it" || t.text == "describe") && first.kind == tokenString && !o.isMember(i):
		o.tests = append(o.tests, first.text)
	case o.isMember(i) && first.kind == tokenString && strings.HasPrefix(first.text, "/") && isRouter(o.tok(i-2).text):
		if slices.Contains([]string{"get", "post", "put", "patch", "delete", "all", "use"}, t.text) {
			method := strings.ToUpper(t.text)
			if t.text == "use" {
				method = "all under"
			}
			o.routes = append(o.routes, method+" "+first.text)
		}
	case t.text == "defineProps" || t.text == "defineEmits" || t.text == "defineModel" || t.text == "defineExpose" || t.text == "defineStore":
		o.macros = append(o.macros, t.text)
	}
}

// isRouter reports what routes are registered on.
func isRouter(name string) bool {
	low := strings.ToLower(name)
	return low == "app" || low == "server" || low == "api" || strings.HasSuffix(low, "router") || strings.HasSuffix(low, "routes")
}
