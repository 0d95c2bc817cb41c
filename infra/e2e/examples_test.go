package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/shared/docs"
)

// operation is an operation of the OpenAPI document.
type operation struct {
	method, path string
	Parameters   []parameter `json:"parameters"`
	Request      struct {
		Content map[string]struct {
			Example json.RawMessage `json:"example"`
		} `json:"content"`
	} `json:"requestBody"`
}

type parameter struct {
	Ref     string `json:"$ref"`
	Name    string `json:"name"`
	In      string `json:"in"`
	Example any    `json:"example"`
}

// readOperations returns all operations of the document, sorted by path and method, with resolved parameters.
func readOperations(t *testing.T) []operation {
	t.Helper()
	var document struct {
		Paths      map[string]map[string]operation `json:"paths"`
		Components struct {
			Parameters map[string]parameter `json:"parameters"`
		} `json:"components"`
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	var all []operation
	for path, methods := range document.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			for i, p := range op.Parameters {
				if name, shared := strings.CutPrefix(p.Ref, "#/components/parameters/"); shared {
					op.Parameters[i] = document.Components.Parameters[name]
				}
			}
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

// position returns 1 and 2 for the operations that end the session, which must come last, and 0 for all others.
func (op operation) position() int {
	return slices.Index([]string{"DELETE /api/auth/me", "POST /api/auth/logout"}, op.method+" "+op.path) + 1
}

// send sends the example request of an operation. It omits the cursor, because an example of a cursor is never valid.
func (op operation) send(c *platformtest.Client) platformtest.Response {
	path, query, headers := op.path, url.Values{}, []string{}
	for _, p := range op.Parameters {
		value := fmt.Sprint(p.Example)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case p.In == "header":
			headers = append(headers, p.Name+": "+value)
		case p.Name != "cursor":
			query.Set(p.Name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.Do(op.method, path, string(op.Request.Content["application/json"].Example), headers...)
}

// TestExamplesAreValid sends the example request of every operation. The IDs in it may not exist, but the request must
// be valid.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	operations := readOperations(t)
	for _, step := range []struct { // sign up and log in first
		path   string
		status int
	}{{"/api/auth/signup", http.StatusCreated}, {"/api/auth/login", http.StatusOK}} {
		i := slices.IndexFunc(operations, func(op operation) bool { return op.path == step.path })
		operations[i].send(c).Want(t, step.status)
		operations = slices.Delete(operations, i, i+1)
	}
	slices.SortStableFunc(operations, func(a, b operation) int { return cmp.Compare(a.position(), b.position()) })
	for _, op := range operations {
		response := op.send(c)
		for _, code := range []string{
			"VALIDATION_FAILED", "AUTH_INVALID_TOKEN", "UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE",
			"ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED",
		} {
			if bytes.Contains(response.Body, []byte(`"code":"`+code+`"`)) {
				t.Errorf("%s %s: the example is not valid: %s", op.method, op.path, response.Body)
			}
		}
		if response.Status >= http.StatusInternalServerError {
			t.Errorf("%s %s: got status %d with body %s, want less than 500", op.method, op.path, response.Status, response.Body)
		}
	}
}
