package assistant

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// completion returns text that completes the object whose beginning j has accepted.
func completion(j jsonPrefix) string {
	var rest strings.Builder
	afterName := func() { rest.WriteString(`:0`) }
	switch j.state {
	case jsonStart:
		return "{}"
	case jsonString, jsonEscape, jsonHex:
		switch j.state {
		case jsonEscape:
			rest.WriteString("n")
		case jsonHex:
			rest.WriteString("0000"[:j.hex])
		}
		rest.WriteString(`"`)
		if j.isName {
			afterName()
		}
	case jsonColon:
		afterName()
	case jsonValue:
		rest.WriteString("0")
	case jsonName:
		rest.WriteString(`"":0`)
	case jsonWord:
		rest.WriteString(j.word)
	case jsonMinus, jsonPoint, jsonExponent, jsonExponentSign:
		rest.WriteString("0")
	}
	for i := len(j.open) - 1; i >= 0; i-- {
		rest.WriteByte(j.open[i])
	}
	return rest.String()
}

func isObject(text string) bool {
	v := jsontext.Value(text)
	return v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) && v.Kind() == '{'
}

// checkPrefix checks that accepted text can be completed to an object, and that text with a rejected prefix is not an
// object.
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
	// jsonPrefix does not check for lone surrogates.
	if strings.Contains(text, `\u`) {
		return
	}
	if whole := text + completion(j); !isObject(whole) {
		t.Fatalf("%q was accepted, but %q is not an object", text, whole)
	}
}

func TestJSONPrefix(t *testing.T) {
	t.Parallel()
	const object = ` {"path":"/a\\\"\n\u00e9", "n":[-0.5e+3,10, 0,1E5 , true,false,null,{}, [ ]],"":{"a":[[{}]]} } `
	for i := range len(object) + 1 {
		var j jsonPrefix
		if !j.accept(object[:i]) {
			t.Errorf("%q was rejected", object[:i])
		}
		checkPrefix(t, object[:i])
	}
	for _, text := range []string{
		"[", `"`, "x", "{1", "{,", `{"a",`, `{"a":}`, `{"a":,`, `{"a":1,}`, `{"a":[1,]`, `{"a":[}`, `{"a":1]`, `{}}`, `{} x`, `{"a":01`, `{"a":-.`,
		`{"a":1.e`, `{"a":1e,`, `{"a":+1`, `{"a":tru }`, `{"a":nul"`, "{\"a\":\"\n", `{"a":"\x`, `{"a":"\u00g`, `{"a" 1`, `{"a"::`, `{"a":1 2`, `{"a":.5`, `{"a":--`,
	} {
		var j jsonPrefix
		if j.accept(text) {
			t.Errorf("%q was accepted", text)
		}
		if j.accept("}") {
			t.Errorf("%q was rejected, but accepted with more text", text)
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
