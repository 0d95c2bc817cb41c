package platformtest

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"devplatform/infra/openapi/contract"
)

// Client is an HTTP client with its own cookies. It does not follow redirects.
type Client struct {
	Base string // the URL to which paths are appended
	HTTP *http.Client
	T    testing.TB
}

// NewClient returns a client of the server with that base URL. It accepts any certificate.
func NewClient(t testing.TB, base string) *Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is self-signed
		MaxIdleConnsPerHost: 64,
		ForceAttemptHTTP2:   true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{T: t, Base: base, HTTP: &http.Client{
		Jar: jar, Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do sends a request and checks the response against the OpenAPI document. path is a path or a URL. A body other than
// "" is sent with the content type of JSON. Each header has the form "Name: value". The secrets in the request and the
// response must not appear in a platform's log (see Secret).
func (c *Client) Do(method, path, body string, headers ...string) Response {
	c.T.Helper()
	response, err := c.Try(method, path, body, headers...)
	if err != nil {
		c.T.Fatalf("%s %s: %v", method, path, err)
	}
	if strings.HasPrefix(path, "/api/") {
		contract.Check(c.T, method, path, response.Status, response.Header, response.Body)
	}
	return response
}

// Try sends a request as Do does, but returns an error if there is no response, and does not check the response.
func (c *Client) Try(method, path, body string, headers ...string) (Response, error) {
	url := path
	if strings.HasPrefix(path, "/") {
		url = c.Base + path
	}
	request, err := http.NewRequestWithContext(c.T.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return Response{}, fmt.Errorf("platformtest: %w", err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	addBodySecrets([]byte(body))
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Response{}, fmt.Errorf("platformtest: %w", err)
	}
	addHeaderSecrets(response.Header)
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	read, err := io.ReadAll(response.Body)
	if err != nil {
		err = fmt.Errorf("platformtest: %w", err)
	}
	return Response{Status: response.StatusCode, Header: response.Header, Body: read}, err
}

// Response is a captured response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Want stops the test unless the response has the status and its body is empty or a JSON object. It returns the fields
// of the object.
func (r Response) Want(t testing.TB, status int) map[string]any {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got status %d with body %s, want status %d", r.Status, r.Body, status)
	}
	fields := map[string]any{}
	if len(r.Body) > 0 {
		if err := json.Unmarshal(r.Body, &fields); err != nil {
			t.Fatalf("got body %s, want a JSON object", r.Body)
		}
	}
	return fields
}

// WantError checks that the response is an error with that status and code, exactly the fields error and code, and an
// X-Request-Id.
func (r Response) WantError(t testing.TB, status int, code string) {
	t.Helper()
	fields := r.Want(t, status)
	message, _ := fields["error"].(string)
	if len(fields) != 2 || fields["code"] != code || message == "" {
		t.Fatalf("got body %s, want exactly the fields error and code, with code %s", r.Body, code)
	}
	if r.Header.Get("X-Request-Id") == "" {
		t.Error("the error response has no X-Request-Id header")
	}
}

// List returns the objects of a list field. It stops the test unless the status is 200 and the field is a list.
func (r Response) List(t testing.TB, field string) []map[string]any {
	t.Helper()
	values, ok := r.Want(t, http.StatusOK)[field].([]any)
	if !ok {
		t.Fatalf("got body %s, want one with the list %s", r.Body, field)
	}
	var objects []map[string]any
	for _, value := range values {
		object, _ := value.(map[string]any)
		objects = append(objects, object)
	}
	return objects
}
