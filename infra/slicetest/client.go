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

// Client is a user agent with cookies of its own. It follows no redirects.
type Client struct {
	// Header goes with every request.
	Header http.Header
	// SessionCalls is what a [Crowd] saves of every request, counted in Answer.Calls: reading the session is one call.
	SessionCalls int64
	// HTTP is for requests to others than the server.
	HTTP *http.Client

	t    testing.TB
	base *url.URL
	log  *Log
}

// NewClient makes a client of a server, which logs to log.
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

// Cookie is a cookie's value, "" if there is none.
func (c *Client) Cookie(name string) string {
	for _, cookie := range c.HTTP.Jar.Cookies(c.base) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// SetCookie gives the client a cookie.
func (c *Client) SetCookie(name, value string) {
	c.HTTP.Jar.SetCookies(c.base, []*http.Cookie{{Name: name, Value: value, Path: "/"}}) //nolint:gosec // the server is plain HTTP
}

// Header sets a header of one request.
func Header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Get is Do for requests that only read.
func (c *Client) Get(path string) Response {
	c.t.Helper()
	return c.Do(http.MethodGet, path, nil)
}

// Do makes a request. body is text as it is, or anything else as JSON; nil is none. The answer must be as the OpenAPI document
// says. A request without an answer fails the test; it may be made beside others, and the test goes on, with a status of 0.
func (c *Client) Do(method, path string, body any, change ...func(*http.Request)) Response {
	c.t.Helper()
	a, err := c.send(method, path, body, change)
	if err != nil {
		c.t.Errorf("%s %s: %v", method, path, err)
		return a
	}
	contract.Check(c.t, method, path, a.Status, a.Header, []byte(a.Raw))
	if a.Status >= http.StatusBadRequest && (len(a.Body) != 2 || a.Text("error") == "" || a.Text("code") == "") {
		c.t.Errorf("%s %s: an error has exactly two fields: %s", method, path, a.Raw)
	}
	return a
}

//nolint:wrapcheck // Do says which request it was
func (c *Client) send(method, path string, body any, change []func(*http.Request)) (Response, error) {
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
	for _, f := range change {
		f(r)
	}
	res, err := c.HTTP.Do(r)
	if err != nil {
		return Response{}, err
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return Response{}, err
	}
	a := Response{Status: res.StatusCode, Header: res.Header, Raw: string(raw), Calls: c.SessionCalls + c.log.Calls(res.Header.Get("X-Request-Id"))}
	if len(raw) > 0 && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/") {
		err = json.Unmarshal(raw, &a.Body)
	}
	return a, err
}

// Response is a response, read.
type Response struct {
	Status int
	Header http.Header
	Body   map[string]any // of a body that is a JSON object, as all are but streams
	Raw    string
	Calls  int64 // to DynamoDB
}

// Text is a field that holds text, "" if it does not.
func (a Response) Text(field string) string {
	s, _ := a.Body[field].(string)
	return s
}

// List is a field that holds objects.
func (a Response) List(field string) []map[string]any {
	values, _ := a.Body[field].([]any)
	var all []map[string]any
	for _, v := range values {
		object, _ := v.(map[string]any)
		all = append(all, object)
	}
	return all
}

// Values are what one field of a list's objects says.
func (a Response) Values(list, field string) []any {
	all := []any{}
	for _, object := range a.List(list) {
		all = append(all, object[field])
	}
	return all
}

// Texts are Values that are text.
func (a Response) Texts(list, field string) []string {
	var all []string
	for _, v := range a.Values(list, field) {
		s, _ := v.(string)
		all = append(all, s)
	}
	return all
}

// Want ends the test unless the answer has that status and, for an error, that code.
func (a Response) Want(t testing.TB, status int, code ...fault.Code) Response {
	t.Helper()
	if a.Status != status || (len(code) > 0 && a.Text("code") != string(code[0])) {
		t.Fatalf("answer %d %s, want %d %v", a.Status, a.Raw, status, code)
	}
	return a
}

// Concurrently makes n requests at one moment and answers in their order.
func Concurrently(n int, do func(i int) Response) []Response {
	answers := make([]Response, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			answers[i] = do(i)
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// CountStatuses is how often each status came back.
func CountStatuses(answers []Response) map[int]int {
	n := map[int]int{}
	for _, a := range answers {
		n[a.Status]++
	}
	return n
}
