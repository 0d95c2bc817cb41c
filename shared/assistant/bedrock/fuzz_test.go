package bedrock

import "testing"

// FuzzObject checks that any input of a tool is converted to a JSON object.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, ` {"a":"\ud800"} `, `[]`, ``, `{"a":1,"a":2}`, `{"a":`, "{\"a\":\"\xff\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		object := objectOf(input)
		if !object.IsValid() || object.Kind() != '{' {
			t.Fatalf("%q is converted to %q, want an object", input, object)
		}
		if repeated := objectOf(string(object)); string(repeated) != string(object) {
			t.Fatalf("the object %q is converted to %q, want no change", object, repeated)
		}
	})
}
