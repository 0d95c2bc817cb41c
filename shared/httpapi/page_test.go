package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

const fourMiB = 4 << 20

type listOutput struct {
	Body struct {
		Rows       []string `json:"rows" nullable:"false"`
		NextCursor string   `json:"nextCursor,omitempty"`
	}
}

// TestFitProxyResponseSize checks that as many items as possible fit, and that the proxy response never exceeds 4 MiB.
func TestFitProxyResponseSize(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":    strings.Repeat("a", 4000),
		"escaped":  strings.Repeat(`"\`, 1000),
		"controls": strings.Repeat("\n\x01<&>é😀\u2028", 200),
		"short":    strings.Repeat("a", 16), // the commas between the items matter
		"large":    strings.Repeat("a", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items := make([]string, fourMiB/(len(text)+4)+2)
			for i := range items {
				items[i] = text
			}
			n := httpapi.Fit(items, 0)
			if n == len(items) || n == 0 {
				t.Fatalf("%d of %d items fit, want some but not all", n, len(items))
			}
			size := encodedSize(t, items[:n])
			itemSize := encodedSize(t, items[:2]) - encodedSize(t, items[:1])
			const unused = 20 << 10 // more than Fit reserves for the other fields
			if size > fourMiB || size+itemSize <= fourMiB-unused {
				t.Errorf("%d items of %d bytes make a response of %d bytes, want at most 4 MiB and no room for another item",
					n, itemSize, size)
			}
		})
	}
}

// encodedSize returns the size of a response with these items: the length of the body in the JSON of the proxy
// response.
func encodedSize(t *testing.T, items []string) int {
	t.Helper()
	router := newRouter(func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "rows", Method: http.MethodGet, Path: "/api/rows"},
			func(context.Context, *struct{}) (*listOutput, error) {
				out := &listOutput{}
				out.Body.Rows = items
				out.Body.NextCursor = strings.Repeat("x", 1800) // longer than any cursor
				return out, nil
			})
	})
	payload, err := json.Marshal(edgetest.Event(http.MethodGet, "/api/rows"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := apigateway.New(router).Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(response, &parts); err != nil {
		t.Fatal(err)
	}
	return len(parts["body"])
}

func TestFitLimits(t *testing.T) {
	t.Parallel()
	huge := []string{strings.Repeat("x", 5<<20), "a", "b"}
	for name, tc := range map[string]struct{ got, want int }{
		"no items":                {httpapi.Fit([]int(nil), 0), 0},
		"no items, limited":       {httpapi.Fit([]int{}, 5), 0},
		"no limit":                {httpapi.Fit(make([]int, 500), 0), 500},
		"more than the limit":     {httpapi.Fit(make([]int, 500), 100), 100},
		"fewer than the limit":    {httpapi.Fit(make([]int, 5), 100), 5},
		"first item is too large": {httpapi.Fit(huge, 0), 1},
		"third item is too large": {httpapi.Fit([]string{"a", "b", huge[0]}, 0), 2},
		"not encodable":           {httpapi.Fit([]any{1, func() {}, 2}, 0), 3},
		"5,000 files":             {httpapi.Fit(slices.Repeat([]string{file}, 5000), 0), 5000},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %d items fit, want %d", name, tc.got, tc.want)
		}
	}
}

func TestPageInput(t *testing.T) {
	t.Parallel()
	type input struct {
		httpapi.PageInput
		Path string `query:"path"`
	}
	var got httpapi.PageInput
	router := newRouter(func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "rows", Method: http.MethodGet, Path: "/api/rows"},
			func(_ context.Context, in *input) (*listOutput, error) {
				got = in.PageInput
				if in.Path != "" {
					return nil, fault.Invalid(fault.Field("path", "is not allowed"))
				}
				if in.Cursor == "forged" {
					return nil, fmt.Errorf("list: %w", db.ErrCursor)
				}
				return &listOutput{}, nil
			})
	})
	get := func(query string) edgetest.Response {
		return edgetest.Request{Method: http.MethodGet, Target: "/api/rows" + query}.Send(t, router)
	}
	for query, want := range map[string]httpapi.PageInput{
		"": {}, "?limit=1": {Limit: 1}, "?limit=100&cursor=abc-_": {Limit: 100, Cursor: "abc-_"},
	} {
		if response := get(query); response.Status != http.StatusOK || got != want {
			t.Errorf("%s: got %d %s and the input %+v, want %+v", query, response.Status, response.Body, got, want)
		}
	}
	for query, want := range map[string]string{
		"?limit=-1":      "limit: must be at least 1",
		"?limit=1.5":     "limit: must be a whole number",
		"?path=/a":       "path: is not allowed",
		"?cursor=forged": "cursor: must be the nextCursor of a page of this list",
	} {
		message := edgetest.WantError(t, get(query), http.StatusBadRequest, fault.CodeValidationFailed)
		if message != want {
			t.Errorf("%s: got %q, want %q", query, message, want)
		}
	}
}

// file is as long as the description of a file in a list.
var file = strings.Repeat("x", 400)

// BenchmarkFit measures Fit for a list of 5,000 files.
func BenchmarkFit(b *testing.B) {
	files := slices.Repeat([]string{file}, 5000)
	b.ReportAllocs()
	for b.Loop() {
		if got := httpapi.Fit(files, 0); got != len(files) {
			b.Fatalf("%d files fit, want %d", got, len(files))
		}
	}
}
