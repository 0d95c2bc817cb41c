// Package contract holds answers of the API against the committed OpenAPI document. It is for tests of every room; what
// the document says comes from the code, never from here.
package contract

import (
	"bytes"
	"devplatform/shared/docs"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract is the document, ready to be compared with.
type contract struct {
	paths    map[string]any
	shared   map[string]any // responses that several operations have, by name
	compiler *jsonschema.Compiler
	mu       sync.Mutex
}

const (
	documentURL = "openapi.json"
	mediaType   = "application/json"
)

// theContract reads the document once.
var theContract = sync.OnceValues(func() (*contract, error) { return read(docs.OpenAPI) })

func read(text []byte) (*contract, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	closeObjects(document)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(documentURL, document); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	whole, _ := document.(map[string]any)
	paths, _ := whole["paths"].(map[string]any)
	if len(paths) == 0 {
		return nil, errors.New("openapi.json has no paths")
	}
	components, _ := whole["components"].(map[string]any)
	shared, _ := components["responses"].(map[string]any)
	return &contract{paths: paths, shared: shared, compiler: compiler}, nil
}

// closeObjects lets no object of the document, as tests see it, have a field that the document does not name. The
// published one stays open, for clients that meet a later version; but a field that nobody wrote down is a leak.
func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		_, named := node["properties"].(map[string]any)
		if _, typed := node["additionalProperties"].(map[string]any); named && !typed {
			node["additionalProperties"] = false
		}
		for _, inner := range node {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range node {
			closeObjects(inner)
		}
	}
}

// Check fails the test when an answer is not as the document says, or has a field that the document does not name. A path
// that the document does not have may only be refused.
func Check(t testing.TB, method, path string, status int, header http.Header, body []byte) {
	t.Helper()
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	c.check(t, method, path, status, header, body)
}

func (c *contract) check(t testing.TB, method, path string, status int, header http.Header, body []byte) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	pattern, operation := c.operation(method, path)
	if operation == nil {
		if status < http.StatusBadRequest && method != http.MethodOptions && method != http.MethodHead {
			t.Errorf("%s %s: answered %d, and the OpenAPI document does not know it", method, path, status)
		}
		return
	}
	at := "#/paths/" + escape(pattern) + "/" + strings.ToLower(method) + "/responses/" + strconv.Itoa(status)
	response, at := c.response(operation, status, at)
	if response == nil {
		t.Errorf("%s %s: status %d is not in the OpenAPI document: %s", method, path, status, body)
		return
	}
	content, _ := response["content"].(map[string]any)
	if len(content) == 0 {
		if len(body) > 0 {
			t.Errorf("%s %s: %d has a body, by the OpenAPI document it has none: %s", method, path, status, body)
		}
		return
	}
	media := header.Get("Content-Type")
	if _, documented := content[media]; !documented {
		t.Errorf("%s %s: %d has Content-Type %q, by the OpenAPI document it is one of %q", method, path, status, media, slices.Sorted(maps.Keys(content)))
		return
	}
	if media != mediaType { // text, of which a schema says nothing
		return
	}
	if err := c.validate(at+"/content/application~1json/schema", body); err != nil {
		t.Errorf("%s %s: not as the OpenAPI document says: %v\n%s", method, path, err, body)
	}
}

// response is what an operation answers with a status, and where the document says so: at, unless several operations share it. It is
// nil where the document does not say.
func (c *contract) response(operation map[string]any, status int, at string) (response map[string]any, where string) {
	const components = "#/components/responses/"
	responses, _ := operation["responses"].(map[string]any)
	response, _ = responses[strconv.Itoa(status)].(map[string]any)
	ref, _ := response["$ref"].(string)
	if name, shared := strings.CutPrefix(ref, components); shared {
		response, _ = c.shared[name].(map[string]any)
		return response, components + escape(name)
	}
	return response, at
}

// validate compares a body with the schema at a pointer into the document.
func (c *contract) validate(pointer string, body []byte) error {
	c.mu.Lock()
	schema, err := c.compiler.Compile(documentURL + pointer)
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", pointer, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

// operation finds what the document says of a method on a path; nil where it says nothing.
func (c *contract) operation(method, path string) (pattern string, operation map[string]any) {
	for pattern, item := range c.paths {
		if !matches(pattern, path) {
			continue
		}
		methods, _ := item.(map[string]any)
		if operation, ok := methods[strings.ToLower(method)].(map[string]any); ok {
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
