package stack

import (
	"regexp"
	"slices"
	"strings"
)

// placedRoute is a route with where the template has it.
type placedRoute struct {
	api   string
	at    place
	line  int
	route Route
}

var methods = []string{"GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "ANY"}

func method(p object) string {
	given := p.required("Method")
	upper := strings.ToUpper(given)
	if given != "" && !slices.Contains(methods, upper) {
		p.problem("Method", "%q is no method of API Gateway's", given)
		return ""
	}
	return upper
}

var (
	literalPart  = regexp.MustCompile(`^[A-Za-z0-9._:~@$!&'()*+,;=%-]+$`)
	variablePart = regexp.MustCompile(`^\{[A-Za-z0-9._:-]+\}$`)
	greedyPart   = regexp.MustCompile(`^\{[A-Za-z0-9._:-]+\+\}$`)
)

// checkPath says what API Gateway has against a resource path; nothing is "".
func checkPath(path string) string {
	if path == "/" {
		return ""
	}
	if !strings.HasPrefix(path, "/") {
		return "must begin with /"
	}
	parts := strings.Split(path[1:], "/")
	seen := map[string]bool{}
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "":
			return "has an empty part"
		case greedyPart.MatchString(part) && !last:
			return "has the greedy parameter " + part + " elsewhere than at the end"
		case greedyPart.MatchString(part) || variablePart.MatchString(part):
			name := strings.TrimSuffix(part[1:len(part)-1], "+")
			if seen[name] {
				return "has the parameter " + name + " twice"
			}
			seen[name] = true
		case !literalPart.MatchString(part):
			return "has the part " + part + ", which is neither literal nor a parameter"
		}
	}
	return ""
}

// checkRoutes hands the routes over to their APIs. API Gateway keeps one tree of path parts: a method can stand on a path
// once only, and a part can have one variable child only.
func (r *resolver) checkRoutes() {
	taken := map[string]string{}
	variables := map[string]string{}
	for _, placed := range r.routes {
		key := placed.api + " " + placed.route.Method + " " + placed.route.Path
		if other := taken[key]; other != "" {
			r.add(placed.at, placed.line, "%s %s is already routed, to %s", placed.route.Method, placed.route.Path, other)
			continue
		}
		taken[key] = placed.route.Function
		if sibling := variableSibling(variables, placed); sibling != "" {
			r.add(placed.at, placed.line, "%s: beside the path part %s there can't be another variable one", placed.route.Path, sibling)
			continue
		}
		for i := range r.stack.APIs {
			if r.stack.APIs[i].LogicalID == placed.api {
				r.stack.APIs[i].Routes = append(r.stack.APIs[i].Routes, placed.route)
			}
		}
	}
}

// variableSibling remembers the variable child of every parent, and gives the one that a route's differs from.
func variableSibling(variables map[string]string, placed placedRoute) string {
	parent := placed.api
	for part := range strings.SplitSeq(placed.route.Path, "/") {
		if strings.HasPrefix(part, "{") {
			if known := variables[parent]; known != "" && known != part {
				return known
			}
			variables[parent] = part
		}
		parent += "/" + part
	}
	return ""
}
