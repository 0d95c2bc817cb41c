package scaffold

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// outlineJSON reads a JSON document: its members in their order, of a package.json what it says.
func outlineJSON(content string) []string {
	value := jsontext.Value(content)
	if !value.IsValid() {
		return []string{"It is not valid JSON (comments and trailing commas are not part of it)."}
	}
	switch value.Kind() {
	case '{':
	case '[':
		n := 0
		var items []jsontext.Value
		if json.Unmarshal(value, &items) == nil {
			n = len(items)
		}
		return []string{"A list of " + plural(n, "item")}
	default:
		return []string{"A single " + kindName(value.Kind())}
	}
	names, values := members(value)
	if slices.Contains(names, "dependencies") || slices.Contains(names, "scripts") || slices.Contains(names, "devDependencies") {
		return outlinePackage(names, values)
	}
	described := make([]string, len(names))
	for i, n := range names {
		described[i] = n + " (" + kindName(values[n].Kind()) + ")"
	}
	return point("Members", described)
}

// members are an object's, in their order.
func members(value jsontext.Value) (names []string, values map[string]jsontext.Value) {
	values = map[string]jsontext.Value{}
	d := jsontext.NewDecoder(strings.NewReader(string(value)))
	if _, err := d.ReadToken(); err != nil {
		return nil, values
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if errors.Is(err, io.EOF) || err != nil {
			break
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			break
		}
		names = append(names, key)
		values[key] = v.Clone()
	}
	return names, values
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "object"
	case '[':
		return "list"
	case '"':
		return "text"
	case '0':
		return "number"
	case 't', 'f':
		return "boolean"
	}
	return "null"
}

// outlinePackage says what a package.json has.
func outlinePackage(names []string, values map[string]jsontext.Value) []string {
	var points []string
	text := func(name string) string {
		var s string
		if json.Unmarshal(values[name], &s) != nil {
			return ""
		}
		return s
	}
	if slices.Contains(names, "name") {
		points = append(points, strings.TrimSpace(fmt.Sprintf("The package %s %s", code(text("name")), text("version"))))
	}
	for _, section := range []struct{ name, label, between string }{
		{"scripts", "Scripts", ": "}, {"dependencies", "Dependencies", "@"}, {"devDependencies", "For development", "@"},
	} {
		if values[section.name].Kind() != '{' {
			continue
		}
		keys, inner := members(values[section.name])
		for i, k := range keys {
			var v string
			if json.Unmarshal(inner[k], &v) == nil {
				keys[i] = k + section.between + v
			}
		}
		points = append(points, point(section.label, keys)...)
	}
	return points
}

// outlineMarkdown reads a document's headings and blocks of code.
func outlineMarkdown(content string) []string {
	var headings, blocks []string
	fence := ""
	for line := range strings.Lines(content) {
		text := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) && strings.Trim(text, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
			fence = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
			blocks = append(blocks, firstOf(strings.TrimSpace(text[len(fence):]), "no language"))
			if fence[0] == '`' && strings.Contains(text[len(fence):], "`") { // code within a line
				fence, blocks = "", blocks[:len(blocks)-1]
			}
		case strings.HasPrefix(text, "#"):
			if level := len(text) - len(strings.TrimLeft(text, "#")); level <= 6 && strings.HasPrefix(text[level:], " ") {
				headings = append(headings, strings.TrimSpace(strings.Trim(text, "#")))
			}
		}
	}
	points := point("Headings", headings)
	if len(blocks) > 0 {
		points = append(points, point(plural(len(blocks), "block")+" of code", blocks)...)
	}
	return points
}
