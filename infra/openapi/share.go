package main

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// share finds the error responses and parameters that several operations have in common. It moves them to the
// components, and replaces them with references. The names of the components depend on the order of the operations.
func (d *document) share() {
	responses := pool[huma.Response]{prefix: "#/components/responses/"}
	parameters := pool[huma.Param]{prefix: "#/components/parameters/"}
	all := append(operationsOf(d.Paths), operationsOf(d.Webhooks)...)
	for _, op := range operationsOf(d.Paths) {
		for _, status := range sortedKeys(op.Responses) {
			if status >= "400" {
				responses.add(responseName(status, op.Responses[status]), op.Responses[status])
			}
		}
	}
	for _, op := range all {
		for _, p := range op.Parameters {
			if p.In != "path" {
				parameters.add(pascal(p.Name), p)
			}
		}
	}
	for _, op := range all {
		for status, response := range op.Responses {
			if ref := responses.ref(response); ref != "" {
				op.Responses[status] = &huma.Response{Ref: ref}
			}
		}
		for i, p := range op.Parameters {
			if ref := parameters.ref(p); ref != "" {
				op.Parameters[i] = &huma.Param{Ref: ref}
			}
		}
	}
	d.Components.Responses, d.Components.Parameters = responses.shared(), parameters.shared()
}

// pool finds the values that several operations share. Values are equal if their JSON is equal.
type pool[T any] struct {
	prefix string // the beginning of a reference to a component
	found  map[string]*pooled[T]
	names  map[string]bool
}

// pooled is a value and the number of its uses. name is empty until the second use makes it a component.
type pooled[T any] struct {
	value *T
	name  string
	uses  int
}

// add counts a use of a value.
func (p *pool[T]) add(name string, value *T) {
	key := encoded(value)
	if p.found == nil {
		p.found, p.names = map[string]*pooled[T]{}, map[string]bool{}
	}
	entry := p.found[key]
	if entry == nil {
		entry = &pooled[T]{value: value}
		p.found[key] = entry
	}
	if entry.uses++; entry.uses != 2 {
		return
	}
	entry.name = name
	for n := 2; p.names[entry.name]; n++ {
		entry.name = name + strconv.Itoa(n)
	}
	p.names[entry.name] = true
}

// ref returns the reference to the component of a value, or "" if it is not shared.
func (p *pool[T]) ref(value *T) string {
	if entry := p.found[encoded(value)]; entry != nil && entry.name != "" {
		return p.prefix + entry.name
	}
	return ""
}

// shared returns the components by name.
func (p *pool[T]) shared() map[string]*T {
	components := map[string]*T{}
	for _, entry := range p.found {
		if entry.name != "" {
			components[entry.name] = entry.value
		}
	}
	return components
}

// encoded returns the JSON of a part of the document.
func encoded(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic("document: " + err.Error()) // the types of OpenAPI can always be encoded
	}
	return string(data)
}

// responseName returns the name of the component for an error response. It consists of the error codes. A 504 has
// its own name because its error code, SERVICE_UNAVAILABLE, normally has status 503. A 502 is equal to a 500 and shares
// its component.
func responseName(status string, response *huma.Response) string {
	if status == "504" {
		return "GatewayTimeout"
	}
	var names []string
	for code := range strings.SplitSeq(response.Description, ", ") {
		names = append(names, pascal(strings.ToLower(code)))
	}
	return strings.Join(names, "Or")
}

// pascal converts auth_invalid_token, If-Match and file.created to AuthInvalidToken, IfMatch and FileCreated.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("_-.", r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
