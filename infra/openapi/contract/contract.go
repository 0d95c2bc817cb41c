// Package contract checks in tests that responses of the API conform to the committed OpenAPI document.
package contract

import (
	"bytes"
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

	"devplatform/shared/docs"
)

// contract is a parsed OpenAPI document.
type contract struct {
	paths    map[string]any
	shared   map[string]any // responses that several operations share, by name
	compiler *jsonschema.Compiler
	mu       sync.Mutex
}

const (
	documentURL = "openapi.json"
	mediaType   = "application/json"
)

// committed returns the committed document. It is parsed once.
var committed = sync.OnceValues(func() (*contract, error) { return read(docs.OpenAPI) })

// read parses a document.
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
	root, _ := document.(map[string]any)
	paths, _ := root["paths"].(map[string]any)
	if len(paths) == 0 {
		return nil, errors.New("openapi.json has no paths")
	}
	components, _ := root["components"].(map[string]any)
	shared, _ := components["responses"].(map[string]any)
	return &contract{paths: paths, shared: shared, compiler: compiler}, nil
}

// closeObjects forbids fields that the document does not describe. The published document allows them, so that clients
// accept responses of later versions. In tests, they are errors, because they could reveal internal data.
func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		_, hasProperties := node["properties"].(map[string]any)
		if _, isMap := node["additionalProperties"].(map[string]any); hasProperties && !isMap {
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

// Check fails the test if a response does not conform to the document or has an undocumented field. It also fails the
// test if a request for an undocumented operation succeeds.
func Check(t testing.TB, method, path string, status int, header http.Header, body []byte) {
	t.Helper()
	c, err := committed()
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
			t.Errorf("%s %s: got status %d for an operation that is not in the OpenAPI document", method, path, status)
		}
		return
	}
	pointer := "#/paths/" + escape(pattern) + "/" + strings.ToLower(method) + "/responses/" + strconv.Itoa(status)
	response, pointer := c.response(operation, status, pointer)
	if response == nil {
		t.Errorf("%s %s: status %d is not in the OpenAPI document: %s", method, path, status, body)
		return
	}
	content, _ := response["content"].(map[string]any)
	if len(content) == 0 {
		if len(body) > 0 {
			t.Errorf("%s %s: status %d has a body, but the OpenAPI document describes none: %s",
				method, path, status, body)
		}
		return
	}
	media := header.Get("Content-Type")
	if _, documented := content[media]; !documented {
		t.Errorf("%s %s: status %d has Content-Type %q, but the OpenAPI document has %q",
			method, path, status, media, slices.Sorted(maps.Keys(content)))
		return
	}
	if media != mediaType { // only JSON can be validated against its schema
		return
	}
	if err := c.validate(pointer+"/content/application~1json/schema", body); err != nil {
		t.Errorf("%s %s: does not conform to the OpenAPI document: %v\n%s", method, path, err, body)
	}
}

// response returns an operation's response for a status, and the JSON pointer of the response. The response is nil if
// the document has none. If several operations share the response, the pointer refers to the component. Otherwise, it
// is the parameter own, which must refer to the operation's entry for the status.
func (c *contract) response(operation map[string]any, status int, own string) (found map[string]any, pointer string) {
	const components = "#/components/responses/"
	responses, _ := operation["responses"].(map[string]any)
	found, _ = responses[strconv.Itoa(status)].(map[string]any)
	ref, _ := found["$ref"].(string)
	if name, shared := strings.CutPrefix(ref, components); shared {
		found, _ = c.shared[name].(map[string]any)
		return found, components + escape(name)
	}
	return found, own
}

// validate returns an error if a body does not conform to the schema at a JSON pointer.
func (c *contract) validate(pointer string, body []byte) error {
	c.mu.Lock()
	schema, err := c.compiler.Compile(documentURL + pointer)
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", pointer, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

// operation returns the operation for a method and a path, and the pattern that the path matches. The operation is nil
// if the document does not contain it.
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

// matches reports whether a path matches a pattern such as /api/auth/sessions/{id}.
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

// escape escapes a name for a JSON pointer in a URI fragment.
func escape(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}
