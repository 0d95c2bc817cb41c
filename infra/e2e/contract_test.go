package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract is the committed OpenAPI document, against which every answer of these tests is held.
type contract struct {
	paths    map[string]any
	compiler *jsonschema.Compiler
	mu       sync.Mutex
}

const documentURL = "openapi.json"

// theContract reads the document once.
var theContract = sync.OnceValues(func() (*contract, error) {
	data, err := os.ReadFile(filepath.Join(root, "infra", "openapi.json"))
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(documentURL, document); err != nil {
		return nil, err
	}
	return &contract{paths: document.(map[string]any)["paths"].(map[string]any), compiler: compiler}, nil
})

// check fails the test when an answer of the API is not as the document says. Paths that the document does not have are
// the gateway's to refuse, in the shape of an error.
func (c *contract) check(t testing.TB, method, path string, a answer) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	pattern, operation := c.operation(method, path)
	if operation == nil || a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout {
		if a.status < http.StatusBadRequest {
			t.Errorf("%s %s: answered %d, and the OpenAPI document does not know it", method, path, a.status)
		}
		return
	}
	response, documented := operation["responses"].(map[string]any)[strconv.Itoa(a.status)].(map[string]any)
	if !documented {
		t.Errorf("%s %s: status %d is not in the OpenAPI document: %s", method, path, a.status, a.body)
		return
	}
	content, _ := response["content"].(map[string]any)
	if _, isJSON := content["application/json"]; !isJSON {
		if len(a.body) > 0 && content == nil {
			t.Errorf("%s %s: %d has a body, by the OpenAPI document it has none: %s", method, path, a.status, a.body)
		}
		return
	}
	if media := a.header.Get("Content-Type"); media != "application/json" {
		t.Errorf("%s %s: Content-Type %q", method, path, media)
	}
	pointer := "#/paths/" + escape(pattern) + "/" + strings.ToLower(method) + "/responses/" + strconv.Itoa(a.status) + "/content/application~1json/schema"
	c.mu.Lock()
	schema, err := c.compiler.Compile(documentURL + pointer)
	c.mu.Unlock()
	if err != nil {
		t.Fatalf("%s: %v", pointer, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	if err != nil {
		t.Errorf("%s %s: %v: %s", method, path, err, a.body)
		return
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s %s: not as the OpenAPI document says: %v\n%s", method, path, err, a.body)
	}
}

// operation finds what the document says of a method on a path; nil where it says nothing.
func (c *contract) operation(method, path string) (pattern string, operation map[string]any) {
	for pattern, item := range c.paths {
		if !matches(pattern, path) {
			continue
		}
		if operation, ok := item.(map[string]any)[strings.ToLower(method)].(map[string]any); ok {
			return pattern, operation
		}
	}
	return "", nil
}

// matches compares a path with a pattern such as /api/auth/sessions/{id}.
func matches(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && (!strings.HasPrefix(want[i], "{") || have[i] == "") {
			return false
		}
	}
	return true
}

// escape writes a string as one step of a JSON pointer in a URI fragment.
func escape(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}
