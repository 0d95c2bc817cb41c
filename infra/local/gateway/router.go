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
	path     string
	id       string
	segments []string
	rank     string   // has a letter for each segment, so that a literal is before {param}, which is before {proxy+}
	params   []string // names of the path parameters, in order
	methods  map[string]*route
}

// router finds the route of a request. It has the resources, the most specific first, and never changes.
type router []*resource

// newRouter returns a router for routes that the stack package has checked.
func newRouter(apiID string, routes []resources.Route) router {
	var r router
	for _, def := range routes {
		at := slices.IndexFunc(r, func(res *resource) bool { return res.path == def.Path })
		if at < 0 {
			at, r = len(r), append(r, newResource(apiID, def.Path))
		}
		r[at].methods[def.Method] = &route{
			function: def.Function, stream: def.Stream, timeout: cmp.Or(def.Timeout, defaultTimeout), resource: r[at],
		}
	}
	slices.SortStableFunc(r, func(a, b *resource) int { return strings.Compare(a.rank, b.rank) })
	return r
}

func newResource(apiID, pattern string) *resource {
	res := &resource{
		path: pattern, id: resources.Digest(6, apiID, pattern), segments: segmentsOf(pattern), methods: map[string]*route{},
	}
	for _, segment := range res.segments {
		name, kind := parameterOf(segment)
		res.rank += string(kind)
		if kind != literal {
			res.params = append(res.params, name)
		}
	}
	return res
}

// The kinds of segments of a pattern.
const (
	literal  = 'a'
	variable = 'b' // {name}
	greedy   = 'c' // {name+}
)

// parameterOf returns the name of the parameter in a segment of a pattern, and the segment's kind.
func parameterOf(segment string) (name string, kind rune) {
	name, isParameter := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
	name, isGreedy := strings.CutSuffix(name, "+")
	switch {
	case !isParameter:
		return "", literal
	case isGreedy:
		return name, greedy
	}
	return name, variable
}

// segmentsOf splits a path, which begins with a slash. One slash at its end is ignored.
func segmentsOf(path string) []string {
	path = strings.TrimSuffix(path[1:], "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
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
func (r router) match(method, path string) (*route, []string) {
	if !strings.HasPrefix(path, "/") {
		return nil, nil
	}
	segments := segmentsOf(path)
	if path != "/" && (len(segments) == 0 || slices.ContainsFunc(segments, isUnclean)) {
		return nil, nil
	}
	for _, res := range r {
		if values, ok := res.match(segments); ok {
			return res.route(method), values
		}
	}
	return nil, nil
}

// match reports whether the pattern matches, and returns the values of its parameters.
func (res *resource) match(segments []string) (values []string, ok bool) {
	for i, kind := range res.rank {
		switch {
		case i >= len(segments):
			return nil, false
		case kind == greedy:
			return append(values, strings.Join(segments[i:], "/")), true
		case kind == variable:
			values = append(values, segments[i])
		case !isLiteral(res.segments[i], segments[i]):
			return nil, false
		}
	}
	return values, len(segments) == len(res.segments)
}

// isLiteral reports whether a decoded segment equals a literal of a pattern: /%61pi is /api (RFC 3986, 6.2.2.2).
func isLiteral(pattern, segment string) bool {
	if strings.IndexByte(segment, '%') < 0 {
		return pattern == segment
	}
	decoded, err := url.PathUnescape(segment)
	return err == nil && pattern == decoded
}

// isUnclean reports whether a segment is empty or a dot segment.
func isUnclean(segment string) bool {
	return segment == "" || isLiteral(".", segment) || isLiteral("..", segment)
}
