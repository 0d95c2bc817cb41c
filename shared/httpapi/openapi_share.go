package httpapi

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// share keeps what several operations say in the same words once, among the components, and refers to it: errors, and parameters that are
// not part of the path. Names and numbers follow from the order of the operations.
func (d *document) share() {
	responses := pool[huma.Response]{prefix: "#/components/responses/"}
	parameters := pool[huma.Param]{prefix: "#/components/parameters/"}
	all := append(d.operations(), operationsOf(d.Webhooks)...)
	for _, op := range d.operations() {
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
		for status, answer := range op.Responses {
			if ref := responses.ref(answer); ref != "" {
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

// pool is what several operations may share, by how it is written.
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
	key := written(value)
	if p.found == nil {
		p.found, p.names = map[string]*pooled[T]{}, map[string]bool{}
	}
	one := p.found[key]
	if one == nil {
		one = &pooled[T]{value: value}
		p.found[key] = one
	}
	if one.uses++; one.uses != 2 { // the second use makes it worth a name
		return
	}
	one.name = name
	for n := 2; p.names[one.name]; n++ {
		one.name = name + strconv.Itoa(n)
	}
	p.names[one.name] = true
}

// ref refers to the component that a value has become; "" if it has not.
func (p *pool[T]) ref(value *T) string {
	if one := p.found[written(value)]; one != nil && one.name != "" {
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

func written(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic("api: document: " + err.Error()) // what can't be written is found by the document's own writing, too
	}
	return string(data)
}

// responseName is what an error answer is called: after its codes, or after its status where the gateway gives it in a function's stead.
func responseName(status string, answer *huma.Response) string {
	switch status {
	case "502":
		return "BadGateway"
	case "504":
		return "GatewayTimeout"
	}
	var names []string
	for code := range strings.SplitSeq(answer.Description, ", ") {
		names = append(names, camel(strings.ToLower(code)))
	}
	return strings.Join(names, "Or")
}

// camel writes AUTH_INVALID_TOKEN and If-Match as AuthInvalidToken and IfMatch.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
