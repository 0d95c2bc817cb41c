package gateway_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/resources"
)

// TestEventGolden compares with the example of API Gateway's developer guide ("Input format of a Lambda function for
// proxy integration"), without the stage in the path, and with the members that the service has added since then.
func TestEventGolden(t *testing.T) {
	t.Parallel()
	f := &function{respond: buffered(ok)}
	g := newGateway(t, f, gateway.Options{
		API: resources.API{
			ID: "gy415nuibc", Stage: "testStage", Routes: []resources.Route{anyRoute("/{proxy+}")},
		},
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost,
		"/hello/world?name=me&multivalueName=you&multivalueName=me", strings.NewReader("{\r\n\t\"a\": 1\r\n}"))
	r.Host = "gy415nuibc.execute-api.us-east-1.amazonaws.com"
	r.RemoteAddr = "192.168.196.186:5000"
	r.Header = http.Header{
		"Accept": {"*/*"}, "Content-Type": {"application/json"}, "Content-Length": {"13"}, "Headername": {"headerValue"},
		"User-Agent": {"PostmanRuntime/2.4.5"}, "X-Forwarded-For": {"54.240.196.186"}, "X-Forwarded-Proto": {"gopher"},
		"Connection": {"keep-alive"}, "Te": {"trailers"}, "Cookie": {"a=1", "b=2"},
		"X-Amzn-Trace-Id": {"Root=1-5759e988-bd862e3fe1be46a994272793"},
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)

	event := f.event(t)
	context, isObject := event["requestContext"].(map[string]any)
	if !isObject {
		t.Fatalf("no request context in %v", event)
	}
	for _, name := range []string{"requestId", "extendedRequestId", "resourceId", "deploymentId"} {
		if text, isText := context[name].(string); !isText || text == "" {
			t.Errorf("requestContext.%s = %v", name, context[name])
		}
	}
	if got := w.Header().Get("x-amzn-RequestId"); got != context["requestId"] {
		t.Errorf("x-amzn-RequestId %q is not the event's %q", got, context["requestId"])
	}
	if got := w.Header().Get("x-amz-apigw-id"); got != context["extendedRequestId"] {
		t.Errorf("x-amz-apigw-id %q is not the event's %q", got, context["extendedRequestId"])
	}
	for _, name := range []string{"requestId", "extendedRequestId", "resourceId", "deploymentId"} {
		context[name] = "-"
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(goldenEvent), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, event); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

const goldenEvent = `{
  "resource": "/{proxy+}", "path": "/hello/world", "httpMethod": "POST",
  "headers": {
    "Accept": "*/*", "Content-Type": "application/json", "Headername": "headerValue", "Cookie": "b=2",
    "Host": "gy415nuibc.execute-api.us-east-1.amazonaws.com", "User-Agent": "PostmanRuntime/2.4.5",
    "X-Amzn-Trace-Id": "Root=1-5759e988-bd862e3fe1be46a994272793",
    "X-Forwarded-For": "54.240.196.186, 192.168.196.186", "X-Forwarded-Port": "80", "X-Forwarded-Proto": "http"
  },
  "multiValueHeaders": {
    "Accept": ["*/*"], "Content-Type": ["application/json"], "Headername": ["headerValue"], "Cookie": ["a=1", "b=2"],
    "Host": ["gy415nuibc.execute-api.us-east-1.amazonaws.com"], "User-Agent": ["PostmanRuntime/2.4.5"],
    "X-Amzn-Trace-Id": ["Root=1-5759e988-bd862e3fe1be46a994272793"],
    "X-Forwarded-For": ["54.240.196.186, 192.168.196.186"], "X-Forwarded-Port": ["80"], "X-Forwarded-Proto": ["http"]
  },
  "queryStringParameters": {"name": "me", "multivalueName": "me"},
  "multiValueQueryStringParameters": {"name": ["me"], "multivalueName": ["you", "me"]},
  "pathParameters": {"proxy": "hello/world"},
  "stageVariables": null,
  "requestContext": {
    "accountId": "123456789012", "apiId": "gy415nuibc", "deploymentId": "-", "resourceId": "-", "resourcePath": "/{proxy+}",
    "httpMethod": "POST", "path": "/hello/world", "protocol": "HTTP/1.1", "stage": "testStage",
    "requestId": "-", "extendedRequestId": "-",
    "requestTime": "31/Jan/2026:08:15:30 +0000", "requestTimeEpoch": 1769847330123,
    "domainName": "gy415nuibc.execute-api.us-east-1.amazonaws.com", "domainPrefix": "gy415nuibc",
    "identity": {
      "cognitoIdentityPoolId": null, "accountId": null, "cognitoIdentityId": null, "caller": null, "accessKey": null,
      "sourceIp": "192.168.196.186", "principalOrgId": null, "cognitoAuthenticationType": null,
      "cognitoAuthenticationProvider": null, "userArn": null, "userAgent": "PostmanRuntime/2.4.5", "user": null
    }
  },
  "body": "{\r\n\t\"a\": 1\r\n}", "isBase64Encoded": false
}`

// TestEventBare checks the event of a minimal request: values are null, and no member is absent.
func TestEventBare(t *testing.T) {
	t.Parallel()
	f := &function{respond: buffered(ok)}
	g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/api/me"))})
	call(t, g, http.MethodGet, "http://localhost:3000/api/me", "", nil)
	event := f.event(t)
	for _, name := range []string{
		"queryStringParameters", "multiValueQueryStringParameters", "pathParameters", "stageVariables", "body",
	} {
		if value, there := event[name]; !there || value != nil {
			t.Errorf("%s = %v (present: %v), want null", name, value, there)
		}
	}
	if event["isBase64Encoded"] != false {
		t.Errorf("isBase64Encoded = %v", event["isBase64Encoded"])
	}
	context := at(t, event, "requestContext")
	if got := at(t, context, "identity")["userAgent"]; got != nil {
		t.Errorf("userAgent = %v, want null", got)
	}
	if got := []any{context["path"], context["stage"], context["domainName"], context["domainPrefix"]}; !cmp.Equal(got,
		[]any{"/api/me", "prod", "localhost:3000", "localhost"}) {
		t.Errorf("path, stage, domainName, domainPrefix = %v", got)
	}
	trace, isText := at(t, event, "headers")["X-Amzn-Trace-Id"].(string)
	if !isText || !strings.HasPrefix(trace, "Root=1-697dba22-") {
		t.Errorf("X-Amzn-Trace-Id = %q", trace)
	}
}

func at(t *testing.T, event map[string]any, name string) map[string]any {
	t.Helper()
	inner, isObject := event[name].(map[string]any)
	if !isObject {
		t.Fatalf("%s is not an object: %v", name, event[name])
	}
	return inner
}

func TestQuery(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		query string
		want  map[string]any // nil: null
	}{
		"none":           {"", nil},
		"question mark":  {"?", nil},
		"only ampersand": {"?&&", nil},
		"plus":           {"?plus=test+alias", map[string]any{"plus": []any{"test alias"}}},
		"encoded plus":   {"?email=test%2Balias@gmail.com", map[string]any{"email": []any{"test+alias@gmail.com"}}},
		"no value":       {"?flag&empty=", map[string]any{"flag": []any{""}, "empty": []any{""}}},
		"no name":        {"?=x", map[string]any{"": []any{"x"}}},
		"equals signs":   {"?a=b=c==", map[string]any{"a": []any{"b=c=="}}},
		"repeated":       {"?a=1&b=2&a=3&a=1", map[string]any{"a": []any{"1", "3", "1"}, "b": []any{"2"}}},
		"semicolon":      {"?a=1;b=2", map[string]any{"a": []any{"1"}, "b": []any{"2"}}},
		"non-ASCII":      {"?na%C3%AFve=%E6%97%A5%E6%9C%AC", map[string]any{"naïve": []any{"日本"}}},
		"raw non-ASCII":  {"?q=日本", map[string]any{"q": []any{"日本"}}},
		"not UTF-8":      {"?q=a%ffb", map[string]any{"q": []any{"a\uFFFDb"}}},
		"encoded name":   {"?a%5B%5D=1&a[]=2", map[string]any{"a[]": []any{"1", "2"}}},
		"question marks": {"?a=?&b=/", map[string]any{"a": []any{"?"}, "b": []any{"/"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: buffered(ok)}
			g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
			r := requestOf(t, "/x"+test.query)
			g.ServeHTTP(httptest.NewRecorder(), r)
			event := f.event(t)
			if test.want == nil {
				if event["multiValueQueryStringParameters"] != nil || event["queryStringParameters"] != nil {
					t.Fatalf("query = %v, want null", event["multiValueQueryStringParameters"])
				}
				return
			}
			if diff := cmp.Diff(test.want, at(t, event, "multiValueQueryStringParameters")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			last := make(map[string]any)
			for name, values := range test.want {
				list, _ := values.([]any)
				last[name] = list[len(list)-1]
			}
			if diff := cmp.Diff(last, at(t, event, "queryStringParameters")); diff != "" {
				t.Errorf("last values (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManyQueryParameters sends many names with several values.
func TestManyQueryParameters(t *testing.T) {
	t.Parallel()
	f := &function{respond: buffered(ok)}
	g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
	query := ""
	for range 2 {
		for i := range 40 {
			query += "&k" + string(rune('0'+i)) + "=v"
		}
	}
	call(t, g, http.MethodGet, "/x?"+strings.ReplaceAll(strings.ReplaceAll(query, ";", "%3B"), "=v", "="), "", nil)
	got := at(t, f.event(t), "multiValueQueryStringParameters")
	for name, values := range got {
		if list, isList := values.([]any); !isList || len(list)%2 != 0 {
			t.Errorf("%s = %v", name, values)
		}
	}
}

// requestOf returns a request as net/http reads it.
func requestOf(t *testing.T, target string) *http.Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPathAsSent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ target, path, proxy string }{
		"plain":           {"/api/a/b", "/api/a/b", "a/b"},
		"slash at end":    {"/api/a/", "/api/a/", "a"},
		"encoded slash":   {"/api/a%2Fb", "/api/a%2Fb", "a%2Fb"},
		"encoded hash":    {"/api/a%23b", "/api/a%23b", "a%23b"},
		"encoded plus":    {"/api/t%2Balias@x.org/t+alias@x.org", "/api/t%2Balias@x.org/t+alias@x.org", "t%2Balias@x.org/t+alias@x.org"},
		"non-ASCII":       {"/api/na\xc3\xafve", "/api/na%C3%AFve", "na%C3%AFve"},
		"quote":           {`/api/"<>`, "/api/%22%3C%3E", "%22%3C%3E"},
		"absolute form":   {"http://localhost/api/a%2Fb?x=1", "/api/a%2Fb", "a%2Fb"},
		"dots in a name":  {"/api/..a/b..", "/api/..a/b..", "..a/b.."},
		"encoded literal": {"/%61pi/x", "/%61pi/x", "x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: buffered(ok)}
			g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/api/{proxy+}"))})
			r := requestOf(t, test.target)
			g.ServeHTTP(httptest.NewRecorder(), r)
			event := f.event(t)
			if event["path"] != test.path || at(t, event, "pathParameters")["proxy"] != test.proxy {
				t.Errorf("path %v, proxy %v", event["path"], at(t, event, "pathParameters")["proxy"])
			}
		})
	}
}

func TestBadTargets(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/api/x?a=%zz", "/api/x?%=1", "/api/x?a={b}", "/api/x?a|b=1"} {
		f := &function{respond: buffered(ok)}
		r := requestOf(t, target)
		w := httptest.NewRecorder()
		newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/api/{proxy+}"))}).ServeHTTP(w, r)
		status, body := w.Code, w.Body.String()
		if status != http.StatusBadRequest || body != `{"message":"Bad Request"}` || f.invocations() != 0 {
			t.Errorf("%s: %d %s, invocations %d", target, status, body, f.invocations())
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body             string
		isBinary, base64 bool
	}{
		"text":            {"héllo \"x\"\n\u2028", false, false},
		"not UTF-8":       {"\xff\xfe\x00", false, true},
		"of a binary API": {"abc", true, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: buffered(ok)}
			api := apiOf(anyRoute("/x"))
			api.IsBinary = test.isBinary
			call(t, newGateway(t, f, gateway.Options{API: api}), http.MethodPost, "/x", test.body, nil)
			event := f.event(t)
			want := test.body
			if test.base64 {
				want = base64.StdEncoding.EncodeToString([]byte(test.body))
			}
			if event["body"] != want || event["isBase64Encoded"] != test.base64 {
				t.Errorf("body %q, base64 %v", event["body"], event["isBase64Encoded"])
			}
		})
	}
}

// TestSourceIP checks that the source IP is always the address of the TCP peer.
func TestSourceIP(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		peer, claimed, source, forwarded string
	}{
		"plain":        {"203.0.113.9:1234", "", "203.0.113.9", "203.0.113.9"},
		"spoofed":      {"203.0.113.9:1234", "10.0.0.1", "203.0.113.9", "10.0.0.1, 203.0.113.9"},
		"IPv6":         {"[2001:db8::1]:1234", "", "2001:db8::1", "2001:db8::1"},
		"zone":         {"[fe80::1%eth0]:1234", "", "fe80::1", "fe80::1"},
		"IPv4 on IPv6": {"[::ffff:203.0.113.9]:1234", "x, y", "203.0.113.9", "x, y, 203.0.113.9"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{respond: buffered(ok)}
			g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil)
			r.RemoteAddr = test.peer
			if test.claimed != "" {
				r.Header.Set("X-Forwarded-For", test.claimed)
				r.Header.Set("Forwarded", "for="+test.claimed)
				r.Header.Set("X-Real-Ip", test.claimed)
			}
			g.ServeHTTP(httptest.NewRecorder(), r)
			event := f.event(t)
			source := at(t, at(t, event, "requestContext"), "identity")["sourceIp"]
			if source != test.source || at(t, event, "headers")["X-Forwarded-For"] != test.forwarded {
				t.Errorf("sourceIp %v, X-Forwarded-For %v", source, at(t, event, "headers")["X-Forwarded-For"])
			}
		})
	}
}

// TestHeaderBytes sends header bytes that are not UTF-8: they are replaced.
func TestHeaderBytes(t *testing.T) {
	t.Parallel()
	f := &function{respond: buffered(ok)}
	g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/x"))})
	call(t, g, http.MethodGet, "/x", "", http.Header{"X-Name": {"é", "caf\xe9"}})
	want := []any{"é", "caf\uFFFD"}
	if diff := cmp.Diff(want, at(t, f.event(t), "multiValueHeaders")["X-Name"]); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkEvent(b *testing.B) {
	f := &function{respond: buffered(ok)}
	g := newGateway(b, f, gateway.Options{API: apiOf(anyRoute("/api/auth/{proxy+}"))})
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/auth/me?x=1", nil)
	r.Header = http.Header{
		"Accept": {"*/*"}, "User-Agent": {"curl/8"}, "Cookie": {"__Host-session=" + strings.Repeat("x", 300)},
		"Accept-Encoding": {"gzip, deflate, br"}, "Accept-Language": {"en"}, "Referer": {"http://localhost:3000/"},
	}
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		g.ServeHTTP(w, r)
		f.seen = f.seen[:0]
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
