package gateway

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/resources"
)

func TestRouting(t *testing.T) {
	t.Parallel()
	r := newRouter("api", []resources.Route{
		{Method: "ANY", Path: "/", Function: "root"},
		{Method: "ANY", Path: "/api/auth", Function: "auth"},
		{Method: "ANY", Path: "/api/auth/{proxy+}", Function: "auth proxy"},
		{Method: "GET", Path: "/api/users/{id}", Function: "get user"},
		{Method: "ANY", Path: "/api/users/{id}", Function: "user"},
		{Method: "GET", Path: "/api/users/me", Function: "me"},
		{Method: "GET", Path: "/api/users/{id}/posts/{post}", Function: "post"},
		{Method: "GET", Path: "/api/users/me/posts", Function: "my posts"},
		{Method: "ANY", Path: "/api/users/{id}/{rest+}", Function: "rest"},
		{Method: "POST", Path: "/only/post", Function: "only"},
	})
	tests := []struct {
		method, path, function string
		values                 []string
	}{
		{"GET", "/", "root", nil},
		{"GET", "/api/auth", "auth", nil},
		{"GET", "/api/auth/", "auth", nil},
		{"GET", "/api/auth/me", "auth proxy", []string{"me"}},
		{"OPTIONS", "/api/auth/a/b/", "auth proxy", []string{"a/b"}},
		{"GET", "/api/auth/a%2Fb", "auth proxy", []string{"a%2Fb"}},
		{"TRACE", "/api/auth/me", "", nil}, // ANY is seven methods
		{"GET", "/api/users/7", "get user", []string{"7"}},
		{"PUT", "/api/users/7", "user", []string{"7"}},
		{"GET", "/api/users/me", "me", nil},
		{"PUT", "/api/users/me", "", nil}, // the resource is chosen by path alone
		{"GET", "/api/users/me/posts", "my posts", nil},
		{"GET", "/api/users/me/posts/1", "post", []string{"me", "1"}}, // backtracks from the literal branch
		{"PUT", "/api/users/me/posts/1/2", "rest", []string{"me", "posts/1/2"}},
		{"GET", "/api/users", "", nil},
		{"GET", "/api", "", nil},
		{"GET", "/API/auth", "", nil},
		{"GET", "/only/post", "", nil},
		{"POST", "/only/post", "only", nil},
		{"GET", "//api/auth", "", nil},
		{"GET", "/api//auth", "", nil},
		{"GET", "/api/auth//", "", nil},
		{"GET", "/api/auth//me", "", nil},
		{"GET", "//", "", nil},
		{"GET", "/api/./auth", "", nil},
		{"GET", "/api/auth/../auth", "", nil},
		{"GET", "/api/auth/%2e%2E/x", "", nil},
		{"GET", "/api/auth/.%2e", "", nil},
		{"GET", "/api/auth/%2e", "", nil},
		{"GET", "/api/auth/...", "auth proxy", []string{"..."}},
		{"GET", "*", "", nil},
		{"GET", "", "", nil},
	}
	for _, test := range tests {
		found, values := r.match(test.method, test.path)
		function := ""
		if found != nil {
			function = found.function
		}
		if function != test.function || function != "" && !slices.Equal(values, test.values) {
			t.Errorf("%s %s: %q %q, want %q %q", test.method, test.path, function, values, test.function, test.values)
		}
	}
}

// naive returns the best of all patterns that match: literals rank before variables, and variables before greedy ones.
func naive(patterns []string, path string) string {
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	best, bestRank := "", ""
	for _, pattern := range patterns {
		if rank, ok := rankOf(strings.Split(pattern[1:], "/"), segments); ok && (best == "" || rank < bestRank) {
			best, bestRank = pattern, rank
		}
	}
	return best
}

func rankOf(pattern, segments []string) (rank string, ok bool) {
	for i, p := range pattern {
		if i >= len(segments) {
			return "", false
		}
		switch {
		case strings.HasSuffix(p, "+}"):
			return rank + "c", true
		case p[0] == '{':
			rank += "b"
		case p == segments[i]:
			rank += "a"
		default:
			return "", false
		}
	}
	return rank, len(pattern) == len(segments)
}

// TestRoutingProperty compares the router with the naive matcher.
func TestRoutingProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.SampledFrom([]string{"a", "b", "c", "{v}"})
		pattern := rapid.Custom(func(t *rapid.T) string {
			segments := rapid.SliceOfN(segment, 0, 4).Draw(t, "segments")
			for i := range segments { // each level has its own name
				segments[i] = strings.Replace(segments[i], "v", "v"+string(rune('0'+i)), 1)
			}
			if len(segments) == 0 || rapid.Bool().Draw(t, "greedy") {
				segments = append(segments, "{rest+}")
			}
			return "/" + strings.Join(segments, "/")
		})
		patterns := rapid.SliceOfNDistinct(pattern, 1, 12, rapid.ID).Draw(t, "patterns")
		var routes []resources.Route
		for _, p := range patterns {
			routes = append(routes, resources.Route{Method: "ANY", Path: p, Function: p})
		}
		r := newRouter("api", routes)
		path := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "%61"}), 1, 6).Draw(t, "path"), "/")
		if rapid.Bool().Draw(t, "slash") {
			path += "/"
		}
		decoded := strings.ReplaceAll(path, "%61", "a")
		want, got := naive(patterns, decoded), ""
		found, values := r.match("GET", path)
		if found != nil {
			got = found.function
		}
		if got != want {
			t.Fatalf("%s: %q, want %q of %q", path, got, want, patterns)
		}
		if found != nil && len(values) != len(found.resource.params) {
			t.Fatalf("%s: %d values for %q", path, len(values), found.resource.params)
		}
	})
}
