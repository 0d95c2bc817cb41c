package e2e

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"devplatform/infra/openapi/contract"
)

// client is a user agent with its own cookies, like one browser profile.
type client struct {
	t    testing.TB
	base string
	http *http.Client
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// newClient makes a user agent for one base URL. It follows no redirects and takes any certificate.
func newClient(t testing.TB, base string) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, // the certificate is self-signed
		MaxIdleConnsPerHost: 64,
		ForceAttemptHTTP2:   true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, base: base, http: &http.Client{
		Jar: jar, Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// do sends a request and holds the answer against the OpenAPI document. A body that is not "" is sent as JSON.
// header lines are "Name: value".
func (c *client) do(method, path, body string, header ...string) answer {
	c.t.Helper()
	a, err := c.try(method, path, body, header...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	if strings.HasPrefix(path, "/api/") {
		contract.Check(c.t, method, path, a.status, a.header, a.body)
	}
	return a
}

// try is do for requests that may fail.
func (c *client) try(method, path, body string, header ...string) (answer, error) {
	url := path
	if strings.HasPrefix(path, "/") {
		url = c.base + path
	}
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: read}, err
}

// want checks the status and answers the body's fields.
func (a answer) want(t testing.TB, status int) map[string]any {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	fields := map[string]any{}
	if len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &fields); err != nil {
			t.Fatalf("not a JSON object: %s", a.body)
		}
	}
	return fields
}

// wantError checks the status, the code and that the body has exactly the contract's two fields.
func (a answer) wantError(t testing.TB, status int, code string) {
	t.Helper()
	fields := a.want(t, status)
	message, _ := fields["error"].(string)
	if len(fields) != 2 || fields["code"] != code || message == "" {
		t.Fatalf("error body %s, want exactly error and code %s", a.body, code)
	}
	if got := a.header.Get("X-Request-Id"); got == "" {
		t.Error("no X-Request-Id")
	}
}

// signUp makes an account and logs in to it.
func (c *client) signUp(name string) (userID string) {
	c.t.Helper()
	signup := c.do("POST", "/api/auth/signup", `{"email":"`+name+`@example.com","username":"`+name+`","password":"correct horse battery"}`)
	userID, _ = signup.want(c.t, http.StatusCreated)["userId"].(string)
	c.login(name).want(c.t, http.StatusOK)
	return userID
}

func (c *client) login(name string) answer {
	c.t.Helper()
	return c.do("POST", "/api/auth/login", `{"email":"`+name+`@example.com","password":"correct horse battery"}`)
}
