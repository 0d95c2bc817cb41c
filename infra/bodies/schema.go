package bodies

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"devplatform/shared/docs"
	"devplatform/shared/httpapi"
)

// schema is the part of a JSON schema that determines the shapes of bodies.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a text, or a list of texts for a value that may be null
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
}

// accepts reports whether a value of a JSON type, such as "object", conforms to the schema.
func (s *schema) accepts(jsonType string) bool {
	list, _ := s.Type.([]any)
	return s.Type == jsonType || slices.Contains(list, any(jsonType))
}

// document is the part of the OpenAPI document that describes requests.
type document struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name    string `json:"name"`
			In      string `json:"in"`
			Example any    `json:"example"`
		} `json:"parameters"`
		RequestBody struct {
			Content map[string]struct {
				Schema  *schema        `json:"schema"`
				Example map[string]any `json:"example"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

// position is a place in a body: the names of the fields and the indexes of the elements that lead to it.
type position struct {
	path   []any
	schema *schema
}

// String returns the path as error messages name it, such as "body.operations[0].path".
func (p position) String() string {
	var b strings.Builder
	for _, step := range p.path {
		if index, ok := step.(int); ok {
			fmt.Fprintf(&b, "[%d]", index)
		} else {
			fmt.Fprintf(&b, ".%s", step)
		}
	}
	return "body" + b.String()
}

// positions returns the position of a schema and the positions below it, sorted by name.
func (d *document) positions(s *schema, path ...any) []position {
	if name, found := strings.CutPrefix(s.Ref, "#/components/schemas/"); found {
		s = d.Components.Schemas[name]
	}
	all := []position{{path, s}}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, d.positions(s.Properties[name], append(slices.Clone(path), name)...)...)
	}
	if s.Items != nil {
		all = append(all, d.positions(s.Items, append(slices.Clone(path), 0)...)...)
	}
	return all
}

// with returns a copy of a JSON value whose value at a path is replaced. It adds missing objects and lists. Every index
// of the path is 0, as in positions.
func with(value any, path []any, replacement any) any {
	if len(path) == 0 {
		return replacement
	}
	if name, ok := path[0].(string); ok {
		fields, _ := value.(map[string]any)
		changed := map[string]any{}
		for key, field := range fields {
			changed[key] = field
		}
		changed[name] = with(fields[name], path[1:], replacement)
		return changed
	}
	list, _ := value.([]any)
	if len(list) == 0 {
		list = []any{nil}
	}
	changed := slices.Clone(list)
	changed[0] = with(changed[0], path[1:], replacement)
	return changed
}

// at returns the value at a path of a JSON value, or nil.
func at(value any, path []any) any {
	for _, step := range path {
		if index, ok := step.(int); ok {
			list, _ := value.([]any)
			if index >= len(list) {
				return nil
			}
			value = list[index]
		} else {
			fields, _ := value.(map[string]any)
			value = fields[step.(string)]
		}
	}
	return value
}

// target is an endpoint that reads a body.
type target struct {
	endpoint  *httpapi.Endpoint
	path      map[string]string // the path parameters
	example   any
	positions []position
}

// targets returns the endpoints that read a body. It returns an error if the document does not describe the body.
func targets(routes *httpapi.Routes) ([]target, error) {
	var d document
	if err := json.Unmarshal(docs.OpenAPI, &d); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	var all []target
	for _, e := range routes.Endpoints {
		if _, hasBody := e.Input.FieldByName("Body"); !hasBody {
			continue
		}
		op := d.Paths[e.Path][strings.ToLower(e.Method)]
		content, found := op.RequestBody.Content["application/json"]
		if !found || content.Schema == nil || content.Example == nil {
			return nil, fmt.Errorf("openapi.json: no body, or no example of it, in %s %s", e.Method, e.Path)
		}
		t := target{
			endpoint: e, path: map[string]string{}, example: content.Example, positions: d.positions(content.Schema),
		}
		for _, p := range op.Parameters {
			if text, ok := p.Example.(string); ok && p.In == "path" {
				t.path[p.Name] = text
			}
		}
		all = append(all, t)
	}
	return all, nil
}
