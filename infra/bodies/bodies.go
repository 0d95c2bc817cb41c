// Package bodies generates the most expensive request bodies of each endpoint, from the endpoint's schema in the
// OpenAPI document, and measures their costs. Its test limits the costs, and `make bench` prints the times.
package bodies

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"devplatform/shared/httpapi"
)

// Body is a request body of the maximum size.
type Body struct {
	// Endpoint is the method and path of the endpoint. Shape describes the contents of the body.
	Endpoint, Shape string
	// Valid reports whether the body is the endpoint's example with white space. The others are compared with it.
	Valid bool

	// Data returns the bytes of the body.
	Data func() []byte

	target target
}

// For returns the bodies of the endpoints, one endpoint after the other. The first body of an endpoint is valid.
func For(routes *httpapi.Routes) ([]Body, error) {
	all, err := targets(routes)
	if err != nil {
		return nil, err
	}
	var bodies []Body
	for _, t := range all {
		add := func(shape string, data func() []byte) {
			bodies = append(bodies, Body{t.endpoint.Method + " " + t.endpoint.Path, shape, shape == valid, data, t})
		}
		size := t.endpoint.MaxBody()
		add(valid, func() []byte {
			return t.fill(nil, t.example, func(n int) string { return strings.Repeat(" ", n) }, size)
		})
		for _, p := range t.positions {
			for _, s := range shapes {
				if s.fits(p.schema) {
					add(s.name+" in "+p.String(), func() []byte {
						return t.fill(p.path, placeholder, func(n int) string {
							return s.fill(encode(at(t.example, p.path)), n)
						}, size)
					})
				}
			}
		}
	}
	return bodies, nil
}

const (
	valid = "valid"
	// placeholder is replaced by the text that fills a body.
	placeholder = "\x7fplaceholder\x7f"
)

// fill returns a body of a size: the example with a value at a path, and the text that fill returns for the remaining
// number of bytes. The text replaces the value if that is the placeholder. Otherwise, it is appended to the body.
func (t target) fill(path []any, value any, fill func(n int) string, size int) []byte {
	begin, end, _ := strings.Cut(encode(with(t.example, path, value)), encode(placeholder))
	body := append(make([]byte, 0, size), begin...)
	body = append(body, fill(size-len(begin)-len(end))...)
	return append(body, end...)
}

func encode(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("bodies: %v", err)) // JSON that was decoded can be encoded
	}
	return string(data)
}

// shape is a kind of value that could be expensive to decode.
type shape struct {
	name string
	fits func(*schema) bool
	// fill returns a value of at most n bytes. example is the JSON of the example at the position, or null.
	fill func(example string, n int) string
}

var shapes = []shape{
	{"empty items", isList, func(_ string, n int) string { return repeat("[", "{}", ",", "]", n) }},
	{"empty texts", isList, func(_ string, n int) string { return repeat("[", `""`, ",", "]", n) }},
	{"valid items", isList, func(example string, n int) string {
		return repeat("[", strings.TrimSuffix(strings.TrimPrefix(example, "["), "]"), ",", "]", n)
	}},
	{"one long text", isText, func(_ string, n int) string { return repeat(`"`, "a", "", `"`, n) }},
	{"escapes", isText, func(_ string, n int) string { return repeat(`"`, `\u0061`, "", `"`, n) }},
	{"escapes of other letters", isText, func(_ string, n int) string { return repeat(`"`, `\u00e9`, "", `"`, n) }},
	{"digits", isNumber, func(_ string, n int) string { return repeat("1", "0", "", "", n) }},
	{"zeros of a fraction", isNumber, func(_ string, n int) string { return repeat("1.", "0", "", "", n) }},
	{"empty items in an unknown field", isObject, unknownField(func(n int) string {
		return repeat("[", "{}", ",", "]", n)
	})},
	{"escapes in an unknown field", isObject, unknownField(func(n int) string {
		return repeat(`"`, `\u0000`, "", `"`, n)
	})},
	{"digits in an unknown field", isObject, unknownField(func(n int) string { return repeat("1", "0", "", "", n) })},
	{"one long key", isObject, func(_ string, n int) string { return repeat(`{"`, "k", "", `":1}`, n) }},
	{"one long escaped key", isObject, func(_ string, n int) string { return repeat(`{"`, `\u00e9`, "", `":1}`, n) }},
	{"many keys", isObject, func(_ string, n int) string { return "{" + keys(n-2) + "}" }},
	{"many keys, and a duplicate", isObject, func(_ string, n int) string { return "{" + keys(n-8) + `,"0":0}` }},
	{"objects with keys", isObject, unknownField(func(n int) string {
		return repeat("[", "{"+keys(1000)+"}", ",", "]", n)
	})},
	{"deep nesting", isObject, unknownField(func(n int) string { // with the levels around it, at most 32
		return repeat("[", strings.Repeat("[", 28)+strings.Repeat("]", 28), ",", "]", n)
	})},
	{"too deep nesting", isObject, unknownField(func(n int) string {
		return strings.Repeat("[", n/2) + strings.Repeat("]", n/2)
	})},
}

// unknownField returns a fill of a shape: an object with an unknown field. value returns the value of the field, which
// has at most n bytes.
func unknownField(value func(n int) string) func(example string, n int) string {
	const begin, end = `{"x":`, "}"
	return func(_ string, n int) string { return begin + value(n-len(begin)-len(end)) + end }
}

func isList(s *schema) bool   { return s.accepts("array") }
func isText(s *schema) bool   { return s.accepts("string") }
func isNumber(s *schema) bool { return s.accepts("integer") }
func isObject(s *schema) bool { return s.accepts("object") }

// repeat returns at most n bytes: begin, then the item as often as it fits, then end. separator is between two items.
func repeat(begin, item, separator, end string, n int) string {
	var b strings.Builder
	b.Grow(n)
	b.WriteString(begin + item)
	for item = separator + item; b.Len()+len(item)+len(end) <= n; {
		b.WriteString(item)
	}
	b.WriteString(end)
	return b.String()
}

// keys returns at most n bytes of fields with different short names.
func keys(n int) string {
	var b strings.Builder
	b.Grow(n)
	for i := 0; ; i++ {
		field := `,"` + strconv.FormatInt(int64(i), 36) + `":0`
		if b.Len()+len(field) > n {
			return strings.TrimPrefix(b.String(), ",")
		}
		b.WriteString(field)
	}
}

// Cost is the cost of reading and validating a body.
type Cost struct {
	Allocated uint64 // bytes
	CPU       time.Duration
	Err       error // the error for the client
}

// Read reads and validates data as the endpoint does, and returns the cost. The process must do nothing else at the
// same time.
func (b Body) Read(data []byte) Cost {
	method, path := b.target.endpoint.Method, b.target.endpoint.Path
	r, err := http.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(data))
	if err != nil {
		return Cost{Err: err}
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range b.target.path {
		r.SetPathValue(name, value)
	}
	caller := httpapi.NewCaller("usr_1", "ses_1").Complete(httpapi.Account{}, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime()
	_, err = b.target.endpoint.Read(r, caller)
	took := processorTime() - began
	runtime.ReadMemStats(&after)
	return Cost{after.TotalAlloc - before.TotalAlloc, took, err}
}

// processorTime returns the CPU time of this process, which depends less on other processes than the elapsed time.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
