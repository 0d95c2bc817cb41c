package scaffold

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// request is one request of a prompt.
type request struct {
	piece piece
	// topic is the first word of the piece's own name, such as "login". It is empty for most pieces.
	topic string
	// name is the name of the piece in the prompt, or "".
	name      string
	framework framework
	// records is the plural of the records that the piece shows or stores, such as "users", or "".
	records string
	fields  []field
	// path, to and packages are set for changes of files.
	path, to string
	packages []string
}

// field is a field of a form, or a column. Its exported members are for templates.
type field struct {
	words []string
	// Key is a name in JSON and JavaScript, such as firstName. Label is for people.
	Key, Label string
	// Type is the type of an HTML input, or "textarea".
	Type, Autocomplete string
	Optional           bool
	MinLength          int
}

// complete sets the members that follow from the words and the type.
func (f *field) complete(topic string) {
	if slices.Equal(f.words[:min(2, len(f.words))], []string{"e", "mail"}) {
		f.words = append([]string{"email"}, f.words[2:]...)
	}
	f.Key = camel(f.words)
	f.Label = capital(strings.Join(f.words, " "))
	switch {
	case f.Type == "password" && topic == "login":
		f.Autocomplete = "current-password"
	case f.Type == "password":
		f.Autocomplete, f.MinLength = "new-password", 8
	case f.Type == "email" || f.Type == "tel":
		f.Autocomplete = f.Type
	}
}

// Required reports whether a form demands a value.
func (f field) Required() bool { return !f.Optional && f.Type != "checkbox" }

// ScriptType returns what typeof returns for a value of the field in JavaScript.
func (f field) ScriptType() string {
	return cmp.Or(map[string]string{"number": "number", "checkbox": "boolean"}[f.Type], "string")
}

// GoType returns the type of the field in Go.
func (f field) GoType() string {
	return cmp.Or(map[string]string{"number": "float64", "checkbox": "bool"}[f.Type], "string")
}

// GoName returns the name of the field in Go.
func (f field) GoName() string { return pascal(f.words) }

// Sample returns the n-th example of a value, as JSON.
func (f field) Sample(n int) string {
	formats := map[string]string{
		"number": "%d0", "date": `"2026-0%d-15"`, "time": `"1%d:30"`, "email": `"user%d@example.com"`,
		"url": `"https://example.com/%d"`, "tel": `"+1 555 010%d"`, "": `"` + f.Label + ` %d"`,
	}
	if f.Type == "checkbox" {
		return strconv.FormatBool(n%2 == 1)
	}
	return fmt.Sprintf(cmp.Or(formats[f.Type], formats[""]), n)
}

// templateNames are names that templates use. A piece with such a name gets its kind as a suffix.
var templateNames = set("field, json, object, boolean, date, number")

// nameWords returns the words of the piece's name.
func (r request) nameWords() []string {
	switch {
	case templateNames[strings.ToLower(r.name)]:
		return append(nameParts(r.name), string(r.piece))
	case r.name != "":
		return nameParts(r.name)
	case r.piece == todo:
		return []string{r.topic, "list"}
	case r.records != "":
		return []string{singular(r.records), string(r.piece)}
	case r.piece == page:
		return []string{r.topic}
	case r.piece == list || r.piece == table:
		return []string{"data", string(r.piece)}
	case r.topic != "":
		return []string{r.topic, string(r.piece)}
	default:
		return []string{string(r.piece)}
	}
}

// recordsName returns the plural of the records for messages.
func (r request) recordsName() string { return cmp.Or(r.records, "records") }

// componentName returns the name as a component of JavaScript, such as LoginForm.
func (r request) componentName() string { return pascal(r.nameWords()) }

// fileName returns the name as part of a URL, such as login-form.
func (r request) fileName() string { return strings.ToLower(strings.Join(r.nameWords(), "-")) }

// title returns the name for people, such as "Login form".
func (r request) title() string {
	switch {
	case r.name != "":
		return r.name
	case r.records != "" && r.piece != form:
		return capital(r.records)
	default:
		return capital(strings.ToLower(strings.Join(r.nameWords(), " ")))
	}
}

var namePart = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// nameParts splits a name at spaces, hyphens, underscores, and before capital letters.
func nameParts(name string) []string { return namePart.FindAllString(name, -1) }

func pascal(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(capital(w))
	}
	return b.String()
}

func camel(words []string) string {
	return words[0] + pascal(words[1:])
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// irregular maps singulars to plurals that do not follow the rules below. The last two have no plural.
var irregular = map[string]string{
	"person": "people", "child": "children", "movie": "movies", "status": "statuses", "content": "content", "news": "news",
}

// plural returns the plural of an English noun.
func plural(noun string) string {
	if p, ok := irregular[noun]; ok {
		return p
	}
	for _, ending := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(noun, ending) {
			return noun + "es"
		}
	}
	before, found := strings.CutSuffix(noun, "y")
	if found && before != "" && !strings.ContainsAny(before[len(before)-1:], "aeiou") {
		return before + "ies"
	}
	return noun + "s"
}

// singular returns the singular of an English noun. A singular is returned unchanged.
func singular(noun string) string {
	for one, many := range irregular {
		if noun == many || noun == one {
			return one
		}
	}
	if before, found := strings.CutSuffix(noun, "ies"); found && len(before) > 1 {
		return before + "y"
	}
	for _, ending := range []string{"sses", "xes", "zes", "ches", "shes"} {
		if strings.HasSuffix(noun, ending) {
			return strings.TrimSuffix(noun, "es")
		}
	}
	for _, ending := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(noun, ending) {
			return noun
		}
	}
	return strings.TrimSuffix(noun, "s")
}

// clip shortens a text that an answer quotes.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "�")
	if utf8.RuneCountInString(s) > 60 {
		s = string([]rune(s)[:60]) + "…"
	}
	return s
}
