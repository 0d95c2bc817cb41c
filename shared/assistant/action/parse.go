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
)

// Parse reads a model's call. Error: *Problem, for a tool that does not exist, input that is no JSON object, and fields that are
// missing, of the wrong type or not the tool's. A path without its leading slash, or in another Unicode form than NFC, is put right;
// nothing else is guessed.
func Parse(call model.Call) (Action, error) {
	at := slices.IndexFunc(tools, func(t tool) bool { return string(t.action) == call.Name })
	if at < 0 {
		return Action{}, problemf("There is no tool %s. There are: %s.", shown(call.Name), strings.Join(toolNames(), ", "))
	}
	t := tools[at]
	fields, err := readObject(call.Input)
	if err != nil {
		return Action{}, problemf("The input of %s %s. Nothing was done.", t.action, err.Error())
	}
	a := Action{Type: t.action}
	var wrong []string
	for _, name := range fieldsOf(t.input) {
		if rule := a.set(name, fields[name]); rule != "" {
			wrong = append(wrong, name+" "+rule)
		}
		delete(fields, name)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		wrong = append(wrong, fmt.Sprintf("%s is no field of this tool", shown(name)))
	}
	if len(wrong) > 0 {
		return Action{}, problemf("The input of %s is not right: %s. It has the fields %s, all of them required.",
			t.action, strings.Join(wrong, "; "), strings.Join(fieldsOf(t.input), ", "))
	}
	return a, nil
}

// readObject is an input's fields. Its error completes the sentence "The input …".
func readObject(input string) (map[string]jsontext.Value, error) {
	if strings.TrimSpace(input) == "" {
		input = "{}" // how some providers tell of a call without any fields
	}
	d := jsontext.NewDecoder(strings.NewReader(input))
	value, err := d.ReadValue()
	if err != nil {
		return nil, notJSON(err)
	}
	value = value.Clone()
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("is followed by something after its closing brace")
	}
	if value.Kind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	fields := map[string]jsontext.Value{}
	if err := json.Unmarshal(value, &fields); err != nil {
		return nil, notJSON(err)
	}
	return fields, nil
}

// notJSON says why an input can't be read, for the model: what encoding it meant is not told by a position.
func notJSON(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is not complete JSON: it was cut off, perhaps because the answer became too long")
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return fmt.Errorf("has the field %s twice", shown(syntax.JSONPointer.LastToken()))
	case errors.As(err, &syntax):
		return fmt.Errorf("is not valid JSON (at byte %d: %w)", syntax.ByteOffset, syntax.Err)
	}
	return errors.New("is not valid JSON")
}

// set gives a field its value. The answer is what is wrong with that, or "".
func (a *Action) set(name string, value jsontext.Value) string {
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
		a.Path = asPath(text)
	case "to":
		to := asPath(text)
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

func (a *Action) setPackages(value jsontext.Value) string {
	const rule, most = "must be a list of strings, at least one and at most 50", 50
	if value.Kind() != '[' {
		return rule
	}
	var elements []jsontext.Value
	if json.Unmarshal(value, &elements) != nil || len(elements) == 0 || len(elements) > most {
		return rule
	}
	for _, element := range elements {
		var text string
		if element.Kind() != '"' || json.Unmarshal(element, &text) != nil {
			return rule
		}
		a.Packages = append(a.Packages, text)
	}
	return ""
}

// asPath puts right what models write for paths, where it can mean nothing else.
func asPath(text string) string {
	text = norm.NFC.String(text)
	text = strings.TrimPrefix(text, "./")
	if text != "" && text[0] != '/' {
		text = "/" + text
	}
	return text
}

func toolNames() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = string(t.action)
	}
	return names
}

// shown is a name that a model made up, safe to be quoted to it: as JSON, and not too long.
func shown(name string) string {
	const most = 80
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return quoted(strings.ToValidUTF8(name, "\uFFFD"))
}
