package blueprint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// void are the elements without an end.
var void = []string{"meta", "link", "input", "br", "img", "hr"}

// htmlFaults are what is wrong with a page: elements that are not closed, ids that occur twice, labels without their field and fields
// without their label, and references to ids that are not there.
func htmlFaults(name, page string) []string {
	var found []string
	say := func(format string, args ...any) { found = append(found, name+": "+fmt.Sprintf(format, args...)) }
	var open, ids, fields, refs []string
	labels := map[string]bool{}
	tokens := html.NewTokenizer(strings.NewReader(page))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		token := tokens.Token()
		attributes := map[string]string{}
		for _, a := range token.Attr {
			if _, twice := attributes[a.Key]; twice {
				say("%s has %s twice", token.Data, a.Key)
			}
			attributes[a.Key] = a.Val
		}
		switch kind {
		case html.StartTagToken:
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
			if id := attributes["id"]; id != "" {
				if slices.Contains(ids, id) {
					say("the id %s occurs twice", id)
				}
				ids = append(ids, id)
			}
			switch token.Data {
			case "label":
				labels[attributes["for"]] = true
			case "input", "textarea", "select":
				fields = append(fields, attributes["id"])
			case "th":
				if attributes["scope"] == "" {
					say("a th without scope")
				}
			}
			refs = append(refs, strings.Fields(attributes["aria-describedby"]+" "+attributes["aria-labelledby"])...)
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				say("</%s> closes %v", token.Data, open)
				return found
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		say("not closed: %v", open)
	}
	for _, field := range fields {
		if !labels[field] {
			say("no label for %s", field)
		}
		delete(labels, field)
	}
	for label := range labels {
		say("no field for the label of %s", label)
	}
	for _, ref := range refs {
		if !slices.Contains(ids, ref) {
			say("no element %s", ref)
		}
	}
	for _, must := range []string{"<!doctype html>", `<html lang="`, "<title>", "<main", "<h1>"} {
		if !strings.Contains(page, must) {
			say("no %s", must)
		}
	}
	return found
}

func TestHTMLFaultsAreFound(t *testing.T) {
	t.Parallel()
	whole := `<!doctype html><html lang="en"><head><title>A</title></head><body><main><h1>A</h1>%s</main></body></html>`
	for part, want := range map[string]int{
		`<label for="a">A</label><input id="a">`: 0, `<p>`: 1, `<input id="a">`: 1, `<label for="a">A</label>`: 1, `<p id="a"></p><p id="a"></p>`: 1, `<p aria-describedby="x"></p>`: 1, `<table><tr><th></th></tr></table>`: 1,
	} {
		if found := htmlFaults("page", fmt.Sprintf(whole, part)); len(found) != want {
			t.Errorf("%s: %q", part, found)
		}
	}
}
