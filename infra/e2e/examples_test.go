package e2e

import (
	"bytes"
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

// described is an operation as the OpenAPI document shows it.
type described struct {
	method, path string
	Parameters   []describedParameter `json:"parameters"`
	Request      struct {
		Content map[string]struct {
			Example json.RawMessage `json:"example"`
		} `json:"content"`
	} `json:"requestBody"`
}

type describedParameter struct {
	Ref     string `json:"$ref"`
	Name    string `json:"name"`
	In      string `json:"in"`
	Example any    `json:"example"`
}

// describedOperations are all of the document's, by path and method, with the parameters that they share.
func describedOperations(t *testing.T) []described {
	t.Helper()
	var document struct {
		Paths      map[string]map[string]described `json:"paths"`
		Components struct {
			Parameters map[string]describedParameter `json:"parameters"`
		} `json:"components"`
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	var all []described
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
	slices.SortFunc(all, func(a, b described) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

// send sends the example of an operation. A cursor is left out: an example of one is never what a list has given out.
func (op described) send(c *platformtest.Client) platformtest.Response {
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

// TestExamplesAreTaken sends the example of every operation, as a reader does who tries them one after another: the platform may know nothing
// of what they name, but never finds fault with the request.
func TestExamplesAreTaken(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	operations := describedOperations(t)
	for _, first := range []struct {
		path   string
		status int
	}{{"/api/auth/signup", http.StatusCreated}, {"/api/auth/login", http.StatusOK}} {
		i := slices.IndexFunc(operations, func(op described) bool { return op.path == first.path })
		operations[i].send(c).Want(t, first.status)
		operations = slices.Delete(operations, i, i+1)
	}
	i := slices.IndexFunc(operations, func(op described) bool { return op.path == "/api/auth/logout" })
	operations = append(slices.Delete(slices.Clone(operations), i, i+1), operations[i]) // what comes behind it would have no session
	for _, op := range operations {
		a := op.send(c)
		for _, fault := range []string{"VALIDATION_FAILED", "AUTH_INVALID_TOKEN", "UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE", "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"} {
			if bytes.Contains(a.Body, []byte(`"code":"`+fault+`"`)) {
				t.Errorf("%s %s: %s", op.method, op.path, a.Body)
			}
		}
		if a.Status >= http.StatusInternalServerError {
			t.Errorf("%s %s: %d %s", op.method, op.path, a.Status, a.Body)
		}
	}
}
