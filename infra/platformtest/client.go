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

// Client is a user agent with its own cookies, like one browser profile.
type Client struct {
	Base string // what paths are appended to
	HTTP *http.Client
	T    testing.TB
}

// NewClient makes a user agent for one base URL. It follows no redirects and takes any certificate.
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

// Do sends a request and holds the answer against the OpenAPI document. A body that is not "" is sent as JSON.
// header lines are "Name: value". What is secret in both must not be in a platform's log.
func (c *Client) Do(method, path, body string, header ...string) Response {
	c.T.Helper()
	a, err := c.Try(method, path, body, header...)
	if err != nil {
		c.T.Fatalf("%s %s: %v", method, path, err)
	}
	if strings.HasPrefix(path, "/api/") {
		contract.Check(c.T, method, path, a.Status, a.Header, a.Body)
	}
	return a
}

// Try is Do for requests that may fail.
func (c *Client) Try(method, path, body string, header ...string) (Response, error) {
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
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	noteBody([]byte(body))
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Response{}, fmt.Errorf("platformtest: %w", err)
	}
	noteHeader(response.Header)
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	read, err := io.ReadAll(response.Body)
	if err != nil {
		err = fmt.Errorf("platformtest: %w", err)
	}
	return Response{Status: response.StatusCode, Header: response.Header, Body: read}, err
}

// Response is a response, read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Want checks the status and answers the body's fields.
func (a Response) Want(t testing.TB, status int) map[string]any {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	fields := map[string]any{}
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &fields); err != nil {
			t.Fatalf("not a JSON object: %s", a.Body)
		}
	}
	return fields
}

// WantError checks the status, the code and that the body has exactly the contract's two fields.
func (a Response) WantError(t testing.TB, status int, code string) {
	t.Helper()
	fields := a.Want(t, status)
	message, _ := fields["error"].(string)
	if len(fields) != 2 || fields["code"] != code || message == "" {
		t.Fatalf("error body %s, want exactly error and code %s", a.Body, code)
	}
	if got := a.Header.Get("X-Request-Id"); got == "" {
		t.Error("no X-Request-Id")
	}
}

// List answers the objects of a list.
func (a Response) List(t testing.TB, name string) []map[string]any {
	t.Helper()
	var all []map[string]any
	values, ok := a.Want(t, http.StatusOK)[name].([]any)
	if !ok {
		t.Fatalf("no list %s in %s", name, a.Body)
	}
	for _, value := range values {
		one, _ := value.(map[string]any)
		all = append(all, one)
	}
	return all
}
