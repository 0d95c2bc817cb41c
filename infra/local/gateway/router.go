package gateway

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/resources"
)

const (
	anyMethod = "ANY"
	// defaultTimeout is AWS's integration time-out if the template sets none.
	defaultTimeout = 29 * time.Second
)

// anyMethods are the methods of ANY on AWS.
var anyMethods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost,
	http.MethodPut,
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

// newRouter returns a router for routes that the stack package has checked.
func newRouter(apiID string, routes []resources.Route) *router {
	r := new(router)
	for _, def := range routes {
		r.root.insert(apiID, def.Path).add(def)
	}
	return r
}

// insert returns the resource of a path pattern. It creates it if it does not exist.
func (n *node) insert(apiID, pattern string) *resource {
	var params []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		name, isParameter := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
		name, isGreedy := strings.CutSuffix(name, "+")
		switch {
		case segment == "": // the pattern is "/"
		case !isParameter:
			n = n.child(segment)
		case isGreedy:
			if n.greedy == nil {
				n.greedy = newResource(apiID, pattern, append(params, name))
			}
			return n.greedy
		default:
			params = append(params, name)
			if n.variable == nil {
				n.variable = new(node)
			}
			n = n.variable
		}
	}
	if n.resource == nil {
		n.resource = newResource(apiID, pattern, params)
	}
	return n.resource
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

func newResource(apiID, pattern string, params []string) *resource {
	return &resource{
		path: pattern, id: shortID(apiID, pattern), params: slices.Clone(params), methods: make(map[string]*route),
	}
}

func (res *resource) add(def resources.Route) {
	res.methods[def.Method] = &route{
		function: def.Function, stream: def.Stream, timeout: cmp.Or(def.Timeout, defaultTimeout), resource: res,
	}
}

// route returns the resource's route for a method: the route of the method, or else the route of ANY.
func (res *resource) route(method string) *route {
	if found := res.methods[method]; found != nil {
		return found
	}
	if slices.Contains(anyMethods, method) {
		return res.methods[anyMethod]
	}
	return nil
}

// match returns the route of a path in wire form (percent-encoded, beginning with a slash) and the values of its path
// parameters, in the order of the pattern and not decoded. It returns nil if there is no route.
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

// find returns the most specific resource below n that matches rest. done means that no segment is left.
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

// literalChild compares decoded segments: /%61pi is /api (RFC 3986, section 6.2.2.2).
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

// cleanSegments reports whether rest, a path without its outer slashes, has neither empty nor dot segments.
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
