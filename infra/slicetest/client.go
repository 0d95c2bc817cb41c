package slicetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"

	"devplatform/infra/openapi/contract"
	"devplatform/shared/fault"
)

// Client is an HTTP client with its own cookies. It does not follow redirects.
type Client struct {
	// Header contains the headers that are sent with every request.
	Header http.Header
	// HTTP sends the requests. Tests also use it to send requests to other servers with the same cookies.
	HTTP *http.Client

	t    testing.TB
	base *url.URL
	log  *Log
}

// NewClient returns a client without cookies. server is the base URL of the server, and log is its log.
func NewClient(t testing.TB, server string, log *Log) *Client {
	t.Helper()
	base, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Client{Header: http.Header{}, t: t, base: base, log: log, HTTP: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Cookie returns the value of the cookie with the given name, or "" if there is none.
func (c *Client) Cookie(name string) string {
	for _, cookie := range c.HTTP.Jar.Cookies(c.base) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// SetCookie adds a cookie to the client's cookies.
func (c *Client) SetCookie(name, value string) {
	cookie := &http.Cookie{Name: name, Value: value, Path: "/"} //nolint:gosec // the server uses plain HTTP
	c.HTTP.Jar.SetCookies(c.base, []*http.Cookie{cookie})
}

// Header returns an option of Do that sets a header of the request.
func Header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Get sends a GET request. See Do.
func (c *Client) Get(path string) Response {
	c.t.Helper()
	return c.Do(http.MethodGet, path, nil)
}

// Do sends a request and returns the response. If body is a string, it is sent unchanged. If body is nil, the request
// has no body. Any other body is encoded as JSON. Do reports a test error if there is no response, or if the response
// does not match the OpenAPI document. If there is no response, Do returns a Response with status 0. Do is safe for
// concurrent use.
func (c *Client) Do(method, path string, body any, options ...func(*http.Request)) Response {
	c.t.Helper()
	response, err := c.send(method, path, body, options)
	if err != nil {
		c.t.Errorf("%s %s: %v", method, path, err)
		return response
	}
	contract.Check(c.t, method, path, response.Status, response.Header, []byte(response.Raw))
	isError := response.Status >= http.StatusBadRequest
	if isError && (len(response.Body) != 2 || response.Text("error") == "" || response.Text("code") == "") {
		c.t.Errorf("%s %s: got %s, want an error with exactly the fields error and code", method, path, response.Raw)
	}
	return response
}

//nolint:wrapcheck // Do adds the method and the path
func (c *Client) send(method, path string, body any, options []func(*http.Request)) (Response, error) {
	var reader io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return Response{}, err
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base.String()+path, reader)
	if err != nil {
		return Response{}, err
	}
	for name, values := range c.Header {
		r.Header[name] = values
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, option := range options {
		option(r)
	}
	res, err := c.HTTP.Do(r)
	if err != nil {
		return Response{}, err
	}
	defer res.Body.Close() //nolint:errcheck // errors of the body are returned by ReadAll
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return Response{}, err
	}
	counted := c.log.Calls(res.Header.Get("X-Request-Id"))
	response := Response{
		Status: res.StatusCode,
		Header: res.Header,
		Raw:    string(raw),
		Calls:  counted.Number,
		Depth:  counted.Depth,
	}
	if len(raw) > 0 && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/") {
		err = json.Unmarshal(raw, &response.Body)
	}
	return response, err
}

// Response is an HTTP response whose body has been read.
type Response struct {
	Status int
	Header http.Header
	Body   map[string]any // the decoded JSON object, nil for a stream or an empty body
	Raw    string
	Calls  int64 // the number of DynamoDB calls that the server made for the request
	Depth  int64 // the length of the longest chain of these calls, see awsclient.Depth
}

// Text returns the value of a string field of the body, or "" if the field is missing or not a string.
func (r Response) Text(field string) string {
	s, _ := r.Body[field].(string)
	return s
}

// List returns the objects in a list field of the body, or nil if the field is missing or not a list.
func (r Response) List(field string) []map[string]any {
	values, _ := r.Body[field].([]any)
	var all []map[string]any
	for _, v := range values {
		object, _ := v.(map[string]any)
		all = append(all, object)
	}
	return all
}

// Values returns the value of field in each object of List(list).
func (r Response) Values(list, field string) []any {
	all := []any{}
	for _, object := range r.List(list) {
		all = append(all, object[field])
	}
	return all
}

// Texts is like Values for a string field. It returns "" for each value that is not a string.
func (r Response) Texts(list, field string) []string {
	var all []string
	for _, v := range r.Values(list, field) {
		s, _ := v.(string)
		all = append(all, s)
	}
	return all
}

// Want stops the test if the response does not have the given status, or the given error code if one is passed. It
// returns the response.
func (r Response) Want(t testing.TB, status int, code ...fault.Code) Response {
	t.Helper()
	if r.Status != status || (len(code) > 0 && r.Text("code") != string(code[0])) {
		t.Fatalf("got status %d with body %s, want status %d %v", r.Status, r.Raw, status, code)
	}
	return r
}

// Concurrently calls do(0) to do(n-1) at the same time, and returns the response of do(i) at index i.
func Concurrently(n int, do func(i int) Response) []Response {
	responses := make([]Response, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			responses[i] = do(i)
		})
	}
	close(start)
	wg.Wait()
	return responses
}

// CountStatuses returns the number of responses by status.
func CountStatuses(responses []Response) map[int]int {
	counts := map[int]int{}
	for _, r := range responses {
		counts[r.Status]++
	}
	return counts
}
