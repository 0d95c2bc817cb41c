package platform

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// published is a template with two APIs. One of them has a wildcard domain. Its functions are this binary.
const published = `Transform: AWS::Serverless-2016-10-31
Parameters:
  SitesDomain: {Type: String, Default: ''}
Conditions:
  HasSites: !Not [!Equals [!Ref SitesDomain, '']]
Globals:
  Function:
    CodeUri: reader
    Handler: bootstrap
    Runtime: provided.al2023
    Timeout: 30
    Environment: {Variables: {TEST_URL: '%s', SITES_ORIGIN: ''}}
Resources:
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
  Reader:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Api: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /api, Method: get}}
  Pages:
    Type: AWS::Serverless::Api
    Condition: HasSites
    Properties: {StageName: dev}
  PagesDomain:
    Type: AWS::ApiGateway::DomainName
    Condition: HasSites
    Properties: {DomainName: !Sub '*.${SitesDomain}'}
  PagesMapping:
    Type: AWS::ApiGateway::BasePathMapping
    Condition: HasSites
    Properties: {DomainName: !Ref PagesDomain, RestApiId: !Ref Pages, Stage: !Ref Pages.Stage}
  Server:
    Type: AWS::Serverless::Function
    Condition: HasSites
    Properties:
      Events:
        Root: {Type: Api, Properties: {RestApiId: !Ref Pages, Path: /, Method: any}}
        Proxy: {Type: Api, Properties: {RestApiId: !Ref Pages, Path: '/{proxy+}', Method: any}}
`

// sitesDomain are the parameters with which the template has both APIs.
var sitesDomain = map[string]string{"SitesDomain": "sites.localhost"}

// proxyEvent is the part of an event that the tests look at.
type proxyEvent struct {
	Path, HTTPMethod string
	RequestContext   struct{ APIID, DomainName string }
}

// publishedPlatform is a platform of the template above, and the events that its functions got.
type publishedPlatform struct {
	*Platform
	events chan proxyEvent
	sites  string // the URL of the port of sites
}

func newPublished(t *testing.T) *publishedPlatform {
	t.Helper()
	p := &publishedPlatform{events: make(chan proxyEvent, 100)}
	config := projectOf(t, published, func(_ http.ResponseWriter, r *http.Request) {
		var event proxyEvent
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		p.events <- event
	})
	config.PublicURL = "https://app.example"
	config.Values = func(a Addresses) Values {
		return Values{Parameters: sitesDomain, Variables: map[string]string{"SITES_ORIGIN": a.Sites}}
	}
	var err error
	if p.Platform, err = open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	p.sites = fmt.Sprintf("http://127.0.0.1:%d", p.Platform.sites.port)
	return p
}

// ask sends a request with a Host header and returns the status and the body. The functions' responses are not valid
// for API Gateway, so the status of a request that reached a function is 502.
func ask(t *testing.T, method, url, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// Each API has its own port and its own routes. A site's function gets the host name without the port.
func TestTwoAPIs(t *testing.T) {
	t.Parallel()
	p := newPublished(t)
	port := p.Platform.sites.port
	api := fmt.Sprintf("http://127.0.0.1:%d", p.http.port)
	for _, f := range p.Stack.Functions {
		if want := fmt.Sprintf("http://localhost:%d", port); f.Env["SITES_ORIGIN"] != want {
			t.Errorf("%s: got SITES_ORIGIN=%s, want %s", f.Name, f.Env["SITES_ORIGIN"], want)
		}
	}
	for _, request := range []struct {
		method, url, host string
		domain            string // "" if no function gets the request
	}{
		{http.MethodGet, api + "/api", "localhost", "localhost"},
		{http.MethodGet, api + "/api", "localhost:3000", "localhost:3000"}, // with the port: see TestHTTPS of the gateway
		{http.MethodGet, api + "/none", "localhost", ""},
		{http.MethodGet, p.sites + "/", "shop.localhost", "shop.localhost"},
		{http.MethodGet, p.sites + "/a/b.html", fmt.Sprint("shop.localhost:", port), "shop.localhost"},
		{http.MethodPost, p.sites + "/api", "Shop--ABC.LocalHost:1", "shop--abc.localhost"},
		{http.MethodDelete, p.sites + "/api", "a.b.localhost", "a.b.localhost"},
	} {
		status, text := ask(t, request.method, request.url, request.host)
		if request.domain == "" {
			if status != http.StatusForbidden || !strings.Contains(text, "Missing Authentication Token") {
				t.Errorf("%s as %s: got %d %s, want no route", request.url, request.host, status, text)
			}
			continue
		}
		event := <-p.events
		target, err := url.Parse(request.url)
		if err != nil {
			t.Fatal(err)
		}
		id := p.Stack.APIs[0].ID
		if strings.HasPrefix(request.url, p.sites) {
			id = p.Stack.APIs[1].ID
		}
		if event.RequestContext.DomainName != request.domain || event.RequestContext.APIID != id ||
			event.HTTPMethod != request.method || event.Path != target.Path {
			t.Errorf("%+v: got the event %+v", request, event)
		}
	}
}

// The port of sites accepts only names below localhost. The other ports accept none of them.
func TestHostsOfSites(t *testing.T) {
	t.Parallel()
	p := newPublished(t)
	for _, host := range []string{
		"localhost", fmt.Sprint("localhost:", p.Platform.sites.port), "127.0.0.1", "[::1]:1", "evil.example", "app.example",
		"shop.localhost.evil.example", "shoplocalhost", ".localhost", "shop..localhost", "shop.localhost.", "0.0.0.0",
	} {
		status, text := ask(t, http.MethodGet, p.sites+"/", host)
		if status != http.StatusForbidden || !strings.Contains(text, p.SiteAddress()) {
			t.Errorf("as %s: got %d %s, want 403 and the form of an address", host, status, text)
		}
	}
	for _, url := range []string{fmt.Sprintf("http://127.0.0.1:%d/api", p.http.port), p.AWS + "/2015-03-31/functions"} {
		if status, text := ask(t, http.MethodGet, url, "shop.localhost"); status != http.StatusForbidden {
			t.Errorf("%s as a site: got %d %s, want 403", url, status, text)
		}
	}
	if len(p.events) > 0 {
		t.Errorf("a function got the event %+v", <-p.events)
	}
}

// An origin omits the default port 80. The functions reject an origin with this port.
func TestSitesOrigin(t *testing.T) {
	t.Parallel()
	for port, want := range map[int]string{80: "", 3001: ":3001"} {
		if got := portSuffix(port); got != want {
			t.Errorf("port %d: got %s, want %s", port, got, want)
		}
	}
}

// Without an API with a wildcard domain, the port of sites is released.
func TestWithoutSites(t *testing.T) {
	t.Parallel()
	p, err := open(t.Context(), projectOf(t, triggered, func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	again, err := listen(p.sites.port, "SITES_PORT")
	if err != nil {
		t.Fatal(err)
	}
	again.close()
	if p.Sites != "" {
		t.Errorf("got the origin of sites %s, want none", p.Sites)
	}
}

// A port in use, and APIs that the platform can't distinguish, are errors.
func TestSitesCannotStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	config := projectOf(t, published, func(http.ResponseWriter, *http.Request) {})
	config.SitesPort = port
	want := fmt.Sprintf("port %d is in use: end what listens there, or choose another with SITES_PORT", port)
	if _, err := open(t.Context(), config); message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	noWildcard := strings.Replace(published, "!Sub '*.${SitesDomain}'", "!Ref SitesDomain", 1)
	config = projectOf(t, noWildcard, func(http.ResponseWriter, *http.Request) {})
	config.Values = func(Addresses) Values { return Values{Parameters: sitesDomain} }
	_, err = open(t.Context(), config)
	want = config.Template + ": the local platform runs one API, and one API with a wildcard domain: " +
		"Api and Pages are of the same kind"
	if message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
