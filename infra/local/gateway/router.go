package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/stack"
)

const (
	anyMethod = "ANY"
	// defaultTimeout is AWS's integration time-out where the template sets none.
	defaultTimeout = 29 * time.Second
)

// anyMethods are the methods that ANY stands for on AWS.
var anyMethods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost, http.MethodPut,
}

// route is one method of a resource.
type route struct {
	function string
	stream   bool
	timeout  time.Duration
	resource *resource
}

// resource is one path pattern of the API, such as /api/users/{id}.
type resource struct {
	path    string
	id      string
	params  []string // names of the path parameters, in order
	methods map[string]*route
	// head and context are the parts of an event that are the same for every request to the resource.
	head, context []byte
}

// router finds the route of a request. It never changes after it is made.
type router struct {
	root node
}

// node is one segment in the tree of resources.
type node struct {
	literal  map[string]*node
	variable *node // {param}
	greedy   *resource
	resource *resource
}

func newRouter(apiID string, routes []stack.Route) (*router, error) {
	r := new(router)
	names := make(map[*node]string)
	for _, def := range routes {
		res, err := r.root.insert(apiID, def.Path, names)
		if err != nil {
			return nil, fmt.Errorf("route %s %s: %w", def.Method, def.Path, err)
		}
		if err := res.add(def); err != nil {
			return nil, fmt.Errorf("route %s %s: %w", def.Method, def.Path, err)
		}
	}
	return r, nil
}

// insert walks pattern down from n, makes what is missing, and returns the resource at its end.
// names remembers what a variable node is called: AWS allows one variable a level.
func (n *node) insert(apiID, pattern string, names map[*node]string) (*resource, error) {
	segments, err := splitPattern(pattern)
	if err != nil {
		return nil, err
	}
	var params []string
	for i, segment := range segments {
		name, kind, err := parseSegment(segment)
		if err != nil {
			return nil, err
		}
		if kind != literalSegment && slices.Contains(params, name) {
			return nil, fmt.Errorf("parameter %s stands twice in the path", segment)
		}
		switch kind {
		case literalSegment:
			n = n.child(segment)
		case variableSegment:
			params = append(params, name)
			if n.variable == nil {
				n.variable = new(node)
				names[n.variable] = name
			}
			if other := names[n.variable]; other != name {
				return nil, fmt.Errorf("{%s} and {%s} stand at the same place: API Gateway allows one variable there", other, name)
			}
			n = n.variable
		case greedySegment:
			if i != len(segments)-1 {
				return nil, fmt.Errorf("%s may only be the last segment", segment)
			}
			params = append(params, name)
			if n.greedy == nil {
				n.greedy = newResource(apiID, pattern, params)
			}
			return n.greedy, nil
		}
	}
	if n.resource == nil {
		n.resource = newResource(apiID, pattern, params)
	}
	return n.resource, nil
}

func (n *node) child(segment string) *node {
	if n.literal == nil {
		n.literal = make(map[string]*node)
	}
	if n.literal[segment] == nil {
		n.literal[segment] = new(node)
	}
	return n.literal[segment]
}

func splitPattern(pattern string) ([]string, error) {
	rest, ok := strings.CutPrefix(pattern, "/")
	if !ok {
		return nil, fmt.Errorf("path does not begin with a slash")
	}
	if rest == "" {
		return nil, nil
	}
	return strings.Split(rest, "/"), nil
}

type segmentKind uint8

const (
	literalSegment segmentKind = iota
	variableSegment
	greedySegment
)

func parseSegment(segment string) (name string, kind segmentKind, err error) {
	if segment == "" {
		return "", 0, fmt.Errorf("path has an empty segment")
	}
	inner, open := strings.CutPrefix(segment, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !open && !closed && !strings.ContainsAny(segment, "{}") {
		return segment, literalSegment, nil
	}
	name, greedy := strings.CutSuffix(inner, "+")
	if !open || !closed || name == "" || strings.ContainsAny(name, "{}+") {
		return "", 0, fmt.Errorf("segment %q is neither literal nor a parameter", segment)
	}
	if greedy {
		return name, greedySegment, nil
	}
	return name, variableSegment, nil
}

func newResource(apiID, pattern string, params []string) *resource {
	return &resource{
		path: pattern, id: shortID(apiID, pattern), params: slices.Clone(params), methods: make(map[string]*route),
	}
}

func (res *resource) add(def stack.Route) error {
	if def.Method != anyMethod && !slices.Contains(anyMethods, def.Method) {
		return fmt.Errorf("API Gateway has no method %q", def.Method)
	}
	if res.methods[def.Method] != nil {
		return fmt.Errorf("stands twice in the API")
	}
	timeout := def.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	res.methods[def.Method] = &route{function: def.Function, stream: def.Stream, timeout: timeout, resource: res}
	return nil
}

// route returns the resource's route for method: the method itself goes before ANY.
func (res *resource) route(method string) *route {
	if found := res.methods[method]; found != nil {
		return found
	}
	if slices.Contains(anyMethods, method) {
		return res.methods[anyMethod]
	}
	return nil
}

// match finds the route of a path in wire form (percent-encoded, beginning with a slash) and the values of its path
// parameters, in the order of the pattern and as they stand in the path. It returns nil where there is none.
func (r *router) match(method, path string) (*route, []string) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, nil
	}
	rest = strings.TrimSuffix(rest, "/")
	if path != "/" && !cleanSegments(rest) {
		return nil, nil
	}
	res, values := r.root.find(rest, rest == "", nil)
	if res == nil {
		return nil, nil
	}
	return res.route(method), values
}

// find looks for the most specific resource below n that matches rest. done tells that no segment is left.
func (n *node) find(rest string, done bool, values []string) (*resource, []string) {
	if done {
		return n.resource, values
	}
	segment, tail, more := strings.Cut(rest, "/")
	if next := n.literalChild(segment); next != nil {
		if res, found := next.find(tail, !more, values); res != nil {
			return res, found
		}
	}
	if n.variable != nil {
		if res, found := n.variable.find(tail, !more, append(values, segment)); res != nil {
			return res, found
		}
	}
	if n.greedy != nil {
		return n.greedy, append(values, rest)
	}
	return nil, nil
}

// literalChild compares decoded: /%61pi is /api (RFC 3986, section 6.2.2.2).
func (n *node) literalChild(segment string) *node {
	if next := n.literal[segment]; next != nil || strings.IndexByte(segment, '%') < 0 {
		return next
	}
	decoded, err := url.PathUnescape(segment)
	if err != nil {
		return nil
	}
	return n.literal[decoded]
}

// cleanSegments tells whether rest, a path without its outer slashes, has neither empty nor dot segments.
func cleanSegments(rest string) bool {
	for more := true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if segment == "" || dotSegment(segment) {
			return false
		}
	}
	return true
}

func dotSegment(segment string) bool {
	if c := segment[0]; (c != '.' && c != '%') || len(segment) > len("%2e%2e") {
		return false
	}
	decoded, err := url.PathUnescape(segment)
	return err == nil && (decoded == "." || decoded == "..")
}

// each calls f with every resource below n, n's own included.
func (n *node) each(f func(*resource)) {
	for _, res := range []*resource{n.resource, n.greedy} {
		if res != nil {
			f(res)
		}
	}
	for _, child := range n.literal {
		child.each(f)
	}
	if n.variable != nil {
		n.variable.each(f)
	}
}
