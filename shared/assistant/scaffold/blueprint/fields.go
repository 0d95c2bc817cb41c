package blueprint

import "strconv"

// The types of Field.
const (
	text     = "text"
	longtext = "longtext"
	email    = "email"
	password = "password"
	number   = "number"
	boolean  = "boolean"
	date     = "date"
	url      = "url"
	tel      = "tel"
)

func isFieldType(t string) bool {
	return isOneOf(t, []string{text, longtext, email, password, number, boolean, date, url, tel})
}

// defaultFields are the usual ones, or what anything has.
func defaultFields(n name) []Field {
	if fields := usualFields(n); fields != nil {
		return fields
	}
	return []Field{{Name: []string{"name"}, Type: text, Required: true}, {Name: []string{"description"}, Type: longtext}}
}

// usualFields are those that something of a well-known name has, for a prompt that names none; nil for any other name.
func usualFields(n name) []Field {
	field := func(kind string, required bool, words ...string) Field {
		return Field{Name: words, Type: kind, Required: required}
	}
	for _, word := range n.words {
		switch singularOf(word) {
		case "login", "signin", "sign", "auth":
			return []Field{field(email, true, "email"), field(password, true, "password")}
		case "signup", "register", "registration", "account":
			return []Field{field(text, true, "name"), field(email, true, "email"), field(password, true, "password")}
		case "contact", "feedback", "support", "inquiry":
			return []Field{field(text, true, "name"), field(email, true, "email"), field(longtext, true, "message")}
		case "newsletter", "subscribe", "subscription", "waitlist":
			return []Field{field(email, true, "email")}
		case "search":
			return []Field{field(text, true, "query")}
		case "todo", "task":
			return []Field{field(text, true, "title"), field(boolean, false, "done")}
		case "user", "customer", "member", "person", "profile", "employee", "author":
			return []Field{field(text, true, "name"), field(email, true, "email")}
		case "product", "item", "cart":
			return []Field{field(text, true, "name"), field(number, true, "price")}
		case "post", "article", "blog", "note", "page":
			return []Field{field(text, true, "title"), field(longtext, true, "body")}
		case "comment", "message", "review":
			return []Field{field(text, true, "author"), field(longtext, true, "body")}
		case "event", "booking", "appointment", "meeting":
			return []Field{field(text, true, "title"), field(date, true, "date")}
		case "order", "invoice":
			return []Field{field(text, true, "customer"), field(number, true, "total"), field(date, true, "date")}
		}
	}
	return nil
}

// input is a Field as forms, tables and resources need it, whatever the framework.
type input struct {
	name
	Type     string
	Required bool
	// Label is the name for people: First name. No two fields of a Spec have the same.
	Label string
	// Key is the property: camelCase, fit to be a variable, too; differs from every other one's and from id.
	Key string
}

// fieldsOf are a Spec's fields, or the usual ones.
func fieldsOf(s Spec, n name) []Field {
	if len(s.Fields) > 0 {
		return s.Fields
	}
	return defaultFields(n)
}

// with is the Spec with other fields.
func (s Spec) with(fields []Field) Spec {
	s.Fields = fields
	return s
}

// inputs are what fieldsOf are to forms, tables and resources.
func inputs(s Spec, n name) []input {
	fields := fieldsOf(s, n)
	keys := make([]string, 0, len(fields)+1)
	keys = append(keys, "id")
	labels := make([]string, len(fields))
	out := make([]input, len(fields))
	for i, f := range fields {
		out[i] = input{name: nameOf(f.Name, "field"), Type: f.Type, Required: f.Required}
		keys, labels[i] = append(keys, jsKey(out[i].camel())), out[i].sentence()
	}
	for i, key := range distinct(keys)[1:] {
		out[i].Key = key
	}
	for i, label := range distinct(labels) {
		out[i].Label = label
	}
	return out
}

// Kebab is the field's name in addresses, ids and classes.
func (f input) Kebab() string { return f.kebab() }

// HTML is the type of its input element; a longtext has none, being a textarea.
func (f input) HTML() string {
	switch f.Type {
	case boolean:
		return "checkbox"
	case longtext:
		return "textarea"
	}
	return f.Type
}

// IsText reports whether its value is a string.
func (f input) IsText() bool { return f.Type != number && f.Type != boolean }

// Autocomplete is its autocomplete attribute (HTML, "Autofill"); "" where none is right.
func (f input) Autocomplete() string {
	switch f.Type {
	case email:
		return "email"
	case tel:
		return "tel"
	case url:
		return "url"
	case password:
		if isOneOf("current", f.words) || isOneOf("old", f.words) {
			return "current-password"
		}
		return "new-password"
	case text:
		return autocompleteOf(f.kebab())
	}
	return ""
}

func autocompleteOf(kebab string) string {
	switch kebab {
	case "name", "username", "organization", "country":
		return kebab
	case "full-name":
		return "name"
	case "first-name":
		return "given-name"
	case "last-name", "surname":
		return "family-name"
	case "company":
		return "organization"
	case "address", "street":
		return "street-address"
	case "city":
		return "address-level2"
	case "state":
		return "address-level1"
	case "zip", "zip-code", "postal-code", "postcode":
		return "postal-code"
	}
	return ""
}

// Sample is a value for tests and examples as people would type it; n tells samples apart.
func (f input) Sample(n int) string {
	i := strconv.Itoa(n)
	switch f.Type {
	case email:
		return "ada" + i + "@example.com"
	case password:
		return "correct horse battery " + i
	case number:
		return strconv.Itoa(40 + n)
	case boolean:
		return "true"
	case date:
		return "2026-01-" + strconv.Itoa(10+n)
	case url:
		return "https://example.com/" + i
	case tel:
		return "+1 555 010" + i
	case longtext:
		return f.Label + " in more words " + i
	}
	return f.Label + " " + i
}
