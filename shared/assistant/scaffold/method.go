package scaffold

import (
	"slices"
	"strings"
)

// crudVerbs are what people call the methods of a resource.
var crudVerbs = lazily(func() map[string]string {
	return map[string]string{
		"list": "GET", "get": "GET", "read": "GET", "fetch": "GET", "show": "GET", "find": "GET", "search": "GET", "listing": "GET", "reading": "GET", "fetching": "GET",
		"retrieve": "GET", "return": "GET", "returns": "GET", "getting": "GET", "lists": "GET", "fetches": "GET",
		"create": "POST", "add": "POST", "insert": "POST", "save": "POST", "submit": "POST", "creating": "POST", "adding": "POST", "creates": "POST", "post": "POST",
		"update": "PUT", "edit": "PUT", "replace": "PUT", "updating": "PUT", "editing": "PUT", "updates": "PUT", "put": "PUT",
		"patch": "PATCH", "modify": "PATCH",
		"delete": "DELETE", "remove": "DELETE", "deleting": "DELETE", "removing": "DELETE", "deletes": "DELETE",
	}
})

var methodNames = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// methodAt is the method that a word is: one in capitals, or any right before "endpoint" or a route; "" if none.
func methodAt(words []word, i int) string {
	w := words[i]
	upper := strings.ToUpper(w.text)
	if w.quoted || !slices.Contains(methodNames, upper) {
		return ""
	}
	if w.text == upper {
		return upper
	}
	if i+1 < len(words) && words[i+1].before == space && (methodWord.of(words[i+1].low) || strings.HasPrefix(words[i+1].text, "/") && !strings.Contains(words[i+1].text, ".")) {
		return upper
	}
	return ""
}

// methodsOf are those that an endpoint's words ask for, in the usual order; none where they ask for what is usual.
func methodsOf(r *request) []string {
	asked := map[string]bool{}
	for _, w := range r.all {
		if w.method != "" {
			asked[w.method] = true
		}
		if w.low == "crud" {
			return nil
		}
	}
	if len(asked) == 0 {
		for _, c := range r.tail {
			if c.lead == leadDo || c.lead == leadFor {
				for _, m := range crudVerbsIn(c.words) {
					asked[m] = true
				}
			}
		}
	}
	var out []string
	for _, m := range methodNames {
		if asked[m] {
			out = append(out, m)
		}
	}
	return out
}

var methodWord = setOf("endpoint endpoints handler route routes request requests method methods api")

// crudVerbsIn are the methods of the verbs at the start of a clause: "list and delete users".
func crudVerbsIn(words []word) []string {
	var out []string
	for i, w := range words {
		m, ok := crudVerbs.look(w.low)
		if !ok || i > 0 && w.before == space {
			break
		}
		out = append(out, m)
	}
	return out
}
