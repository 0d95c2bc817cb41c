package main

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// share moves errors and parameters that several operations have in common to the components, and refers to them. Their
// names and numbers follow from the order of the operations.
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
				parameters.add(camel(p.Name), p)
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

// pool collects values that several operations may share, by their JSON.
type pool[T any] struct {
	prefix string
	found  map[string]*pooled[T]
	names  map[string]bool
}

type pooled[T any] struct {
	value *T
	name  string
	uses  int
}

func (p *pool[T]) add(name string, value *T) {
	key := encoded(value)
	if p.found == nil {
		p.found, p.names = map[string]*pooled[T]{}, map[string]bool{}
	}
	one := p.found[key]
	if one == nil {
		one = &pooled[T]{value: value}
		p.found[key] = one
	}
	if one.uses++; one.uses != 2 { // only a value with a second use becomes a component
		return
	}
	one.name = name
	for n := 2; p.names[one.name]; n++ {
		one.name = name + strconv.Itoa(n)
	}
	p.names[one.name] = true
}

// ref returns the reference to the component of a value, or "" if it is not shared.
func (p *pool[T]) ref(value *T) string {
	if one := p.found[encoded(value)]; one != nil && one.name != "" {
		return p.prefix + one.name
	}
	return ""
}

func (p *pool[T]) shared() map[string]*T {
	components := map[string]*T{}
	for _, one := range p.found {
		if one.name != "" {
			components[one.name] = one.value
		}
	}
	return components
}

func encoded(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic("document: " + err.Error()) // encode would fail, too
	}
	return string(data)
}

// responseName names an error response after its codes, or after its status if the gateway returns it.
func responseName(status string, response *huma.Response) string {
	switch status {
	case "502":
		return "BadGateway"
	case "504":
		return "GatewayTimeout"
	}
	var names []string
	for code := range strings.SplitSeq(response.Description, ", ") {
		names = append(names, camel(strings.ToLower(code)))
	}
	return strings.Join(names, "Or")
}

// camel converts AUTH_INVALID_TOKEN and If-Match to AuthInvalidToken and IfMatch.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
