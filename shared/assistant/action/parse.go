package action

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"devplatform/shared/assistant/model"
	"devplatform/shared/excerpt"
)

// Parse returns the action of a model's tool call. It makes relative paths absolute and converts paths to NFC. It
// changes nothing else. It returns a *Problem if the tool does not exist, or if the input is not a JSON object with
// exactly the tool's fields.
func Parse(call model.Call) (Action, error) {
	var names []string
	for _, t := range tools {
		names = append(names, string(t.action))
	}
	at := slices.Index(names, call.Name)
	if at < 0 {
		return Action{}, problemf("There is no tool %s. The tools are: %s.",
			shortQuote(call.Name), strings.Join(names, ", "))
	}
	t := tools[at]
	values, err := readObject(call.Input)
	if err != nil {
		return Action{}, problemf("The input of %s %s. Nothing was changed.", t.action, err.Error())
	}
	a := Action{Type: t.action}
	var violations []string
	for _, f := range t.fields {
		if rule := a.set(f.name, values[f.name]); rule != "" {
			violations = append(violations, f.name+" "+rule)
		}
		delete(values, f.name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		violations = append(violations, shortQuote(name)+" is not a field of this tool")
	}
	if len(violations) > 0 {
		return Action{}, problemf("The input of %s is not valid: %s. Required fields: %s.",
			t.action, strings.Join(violations, "; "), strings.Join(t.fieldNames(), ", "))
	}
	return a, nil
}

// readObject returns the members of the input. Its error completes a sentence that begins with "The input".
func readObject(input string) (map[string]jsontext.Value, error) {
	if strings.TrimSpace(input) == "" {
		input = "{}" // some providers send a blank input for a call without fields
	}
	d := jsontext.NewDecoder(strings.NewReader(input))
	value, err := d.ReadValue()
	if err != nil {
		return nil, describeSyntaxError(err)
	}
	value = value.Clone()
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more text after its closing brace")
	}
	if value.Kind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(value, &members); err != nil {
		return nil, describeSyntaxError(err)
	}
	return members, nil
}

// describeSyntaxError converts an error of the JSON decoder to an error that a model understands.
func describeSyntaxError(err error) error {
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is not complete JSON: it was cut off, perhaps because the answer became too long")
	case errors.Is(err, jsontext.ErrDuplicateName) && isSyntax:
		return fmt.Errorf("has the field %s twice", shortQuote(syntax.JSONPointer.LastToken()))
	case isSyntax:
		return fmt.Errorf("is not valid JSON (at byte %d: %w)", syntax.ByteOffset, syntax.Err)
	}
	return errors.New("is not valid JSON")
}

// set sets a field. It returns the rule that the value violates, or "".
func (a *Action) set(name string, value jsontext.Value) (rule string) {
	if value == nil {
		return "is missing"
	}
	if name == "packages" {
		return a.setPackages(value)
	}
	var text string
	if value.Kind() != '"' || json.Unmarshal(value, &text) != nil {
		return "must be a string"
	}
	if strings.ContainsRune(text, 0) {
		return "must not contain NUL"
	}
	switch name {
	case "path":
		a.Path = correctPath(text)
	case "to":
		to := correctPath(text)
		a.To = &to
	case "content":
		a.Content = &text
	case "search":
		a.Search = &text
	case "replace":
		a.Replace = &text
	}
	return ""
}

func (a *Action) setPackages(value jsontext.Value) (rule string) {
	rule = fmt.Sprintf("must be a list of strings, at least one and at most %d", maxPackages)
	var packages []*string // pointers, so that null can be rejected
	if json.Unmarshal(value, &packages) != nil || len(packages) == 0 || len(packages) > maxPackages {
		return rule
	}
	for _, p := range packages {
		if p == nil {
			return rule
		}
		a.Packages = append(a.Packages, *p)
	}
	return ""
}

// correctPath corrects frequent mistakes of models in a path, if the path can have only one meaning.
func correctPath(text string) string {
	text = strings.TrimPrefix(norm.NFC.String(text), "./")
	if text != "" && text[0] != '/' {
		text = "/" + text
	}
	return text
}

// shortQuote encodes a name as a JSON string, for the text of a problem. The model chose the name, so it can be long:
// shortQuote cuts it after 80 bytes.
func shortQuote(name string) string {
	return quote(excerpt.WithEllipsis(strings.ToValidUTF8(name, "\uFFFD"), 80))
}
