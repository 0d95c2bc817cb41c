package assistant

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// completion returns text that completes the object whose beginning j accepted.
func completion(j jsonPrefix) string {
	text := ""
	switch j.state {
	case jsonStart:
		return "{}"
	case jsonString:
		text = `"`
	case jsonEscape:
		text = `n"`
	case jsonHex:
		text = "0000"[:j.hex] + `"`
	case jsonColon:
		text = ":0"
	case jsonName:
		text = `"":0`
	case jsonWord:
		text = j.word
	case jsonValue, jsonMinus, jsonPoint, jsonExponent, jsonExponentSign:
		text = "0"
	}
	isString := j.state == jsonString || j.state == jsonEscape || j.state == jsonHex
	if isString && j.isName {
		text += ":0"
	}
	for _, bracket := range slices.Backward(j.open) {
		text += string(bracket)
	}
	return text
}

// isObject reports whether text is a JSON object. Duplicate names and invalid UTF-8 are allowed.
func isObject(text string) bool {
	v := jsontext.Value(text)
	return v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) && v.Kind() == '{'
}

// checkPrefix checks whether jsonPrefix accepts text correctly: accepted text must be the beginning of an object, and
// text with a rejected prefix must not be an object.
func checkPrefix(t interface{ Fatalf(string, ...any) }, text string) {
	var j jsonPrefix
	for i := range len(text) {
		if !j.accept(text[i : i+1]) {
			if isObject(text) {
				t.Fatalf("%q is an object, but was rejected at byte %d", text, i)
			}
			return
		}
	}
	if strings.Contains(text, `\u`) {
		return // jsonPrefix does not check for lone surrogates
	}
	if completed := text + completion(j); !isObject(completed) {
		t.Fatalf("%q was accepted, but its completion %q is not an object", text, completed)
	}
}

func TestJSONPrefix(t *testing.T) {
	t.Parallel()
	const object = ` {"path":"/a\\\"\n\u00e9", "n":[-0.5e+3,10, 0,1E5 , true,false,null,{}, [ ]],"":{"a":[[{}]]} } `
	for i := range len(object) + 1 {
		var j jsonPrefix
		if !j.accept(object[:i]) {
			t.Errorf("accept(%q): got false, want true", object[:i])
		}
		checkPrefix(t, object[:i])
	}
	for _, text := range []string{
		"[", `"`, "x", "{1", "{,", `{"a",`, `{"a":}`, `{"a":,`, `{"a":1,}`, `{"a":[1,]`, `{"a":[}`, `{"a":1]`,
		`{}}`, `{} x`, `{"a":01`, `{"a":-.`, `{"a":1.e`, `{"a":1e,`, `{"a":+1`, `{"a":tru }`, `{"a":nul"`,
		"{\"a\":\"\n", `{"a":"\x`, `{"a":"\u00g`, `{"a" 1`, `{"a"::`, `{"a":1 2`, `{"a":.5`, `{"a":--`,
	} {
		var j jsonPrefix
		if j.accept(text) {
			t.Errorf("accept(%q): got true, want false", text)
		}
		if j.accept("}") {
			t.Errorf("accept(%q) after the rejected text %q: got true, want false", "}", text)
		}
	}
}

func TestJSONPrefixAgreesWithDecoder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkPrefix(t, "{"+rapid.StringOf(rapid.SampledFrom([]rune(`{}[]:,"\ab0123e+-.truefalsn `))).Draw(t, "text"))
	})
}

func FuzzJSONPrefix(f *testing.F) {
	f.Add(`{"path":"/a","content":"x\ny"}`)
	f.Add(`{"a":[1.5e-3,true,{"b":null}]}`)
	f.Fuzz(func(t *testing.T, text string) { checkPrefix(t, text) })
}
