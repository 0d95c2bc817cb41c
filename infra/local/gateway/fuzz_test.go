package gateway_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"devplatform/infra/local/gateway"
)

// FuzzRequest sends arbitrary requests: each gets a response, and the function gets a valid event.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /api/x?a=1&a=2&b HTTP/1.1\r\nHost: a\r\nCookie: x=1\r\nCookie: y=2\r\n\r\n",
		"POST /api/%2e%2e/x%2Fy HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Type: image/png\r\n\r\n\x00\xff\xfe\x7f",
		"PUT http://other/api/\xff?%zz&\xff=\xff HTTP/1.0\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\nOrigin: \xe9\r\n\r\n",
		"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /api/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(wire))))
		if err != nil {
			return
		}
		r.RemoteAddr = "198.51.100.1:1234"
		fn := &function{respond: buffered(ok)}
		g := newGateway(t, fn, gateway.Options{API: apiOf(anyRoute("/api/{proxy+}"))})
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if w.Code < 200 || w.Code > 599 {
			t.Fatalf("got the status %d", w.Code)
		}
		for _, in := range fn.seen {
			var event struct {
				HTTPMethod, Path, Body string
				IsBase64Encoded        bool
				PathParameters         map[string]string
				RequestContext         struct{ Identity struct{ SourceIP string } }
			}
			if err := json.Unmarshal(in.Payload, &event); err != nil || !utf8.Valid(in.Payload) {
				t.Fatalf("%q: %v", in.Payload, err)
			}
			if event.HTTPMethod != r.Method || !strings.HasPrefix(event.Path, "/api/") || event.PathParameters["proxy"] == "" || event.RequestContext.Identity.SourceIP != "198.51.100.1" {
				t.Fatalf("%s", in.Payload)
			}
			if _, err := base64.StdEncoding.DecodeString(event.Body); event.IsBase64Encoded && err != nil {
				t.Fatalf("%q: %v", event.Body, err)
			}
		}
	})
}

// FuzzResponse has functions return arbitrary responses: the client gets a valid one, or 502.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		ok, `{"statusCode":"201","headers":{"A":true},"multiValueHeaders":{"Set-Cookie":["a=1","b=2"],"X":null}}`, `{"statusCode":99}`, `{"statusCode":1e2}`,
		`{"statusCode":200,"headers":{"a b":"c"}}`, `{"headers":{"A":"b\r\nc"}}`, `{"isBase64Encoded":true,"body":"!"}`, `{"statusCode":204,"body":"x"}`,
		`{"statusCode":304,"headers":{"Content-Length":"9","Transfer-Encoding":"chunked"}}`, `[]`, `"x"`, ``, `{"body":{}}`, `{"unknown":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		g := newGateway(t, &function{respond: buffered(string(payload))}, gateway.Options{API: apiOf(anyRoute("/x"))})
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil))
		if w.Code < 200 || w.Code > 599 || w.Code != http.StatusBadGateway && !json.Valid(payload) && utf8.Valid(payload) {
			t.Fatalf("%q: got the status %d", payload, w.Code)
		}
		if (w.Code == http.StatusNoContent || w.Code == http.StatusNotModified) && w.Body.Len() > 0 {
			t.Fatalf("%q: got %d %q", payload, w.Code, w.Body)
		}
		for name, values := range w.Result().Header {
			if name == "" || strings.ContainsAny(name+strings.Join(values, ""), "\r\n\x00") || name == "Transfer-Encoding" {
				t.Fatalf("%q: got the header %q: %q", payload, name, values)
			}
		}
	})
}
