package gateway_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

func TestResponses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		payload string
		status  int
		body    string
		header  http.Header
	}{
		"all": {
			`{"statusCode":201,"headers":{"X-A":"1"},"multiValueHeaders":{"Set-Cookie":["a=1","b=2"]},"body":"héllo","isBase64Encoded":false}`,
			201, "héllo", http.Header{"X-A": {"1"}, "Set-Cookie": {"a=1", "b=2"}, "Content-Length": {"6"}},
		},
		"default type": {ok, 200, "ok", http.Header{"Content-Type": {"application/json"}}},
		"own type":     {`{"headers":{"content-type":"text/html"},"body":"x"}`, 200, "x", http.Header{"Content-Type": {"text/html"}}},
		"merged": {
			`{"headers":{"X-A":"2","X-B":"1"},"multiValueHeaders":{"X-A":["1","2"],"x-b":["0"]},"body":""}`,
			200, "", http.Header{"X-A": {"1", "2"}, "X-B": {"0", "1"}},
		},
		"nothing":      {`{}`, 200, "", nil},
		"nulls":        {`{"statusCode":null,"headers":null,"multiValueHeaders":null,"body":null,"isBase64Encoded":null}`, 200, "", nil},
		"no content":   {`{"statusCode":204,"body":"x"}`, 204, "", http.Header{"Content-Length": nil}},
		"not modified": {`{"statusCode":304,"headers":{"ETag":"\"1\""},"body":"x"}`, 304, "", http.Header{"Etag": {`"1"`}}},
		"gateway's own headers": {
			`{"headers":{"Connection":"close","content-length":"99","Date":"x","Server":"y","Transfer-Encoding":"chunked","x-amzn-requestid":"z"},"body":"ok"}`,
			200, "ok", http.Header{
				"X-Amzn-Remapped-Connection": {"close"}, "X-Amzn-Remapped-Content-Length": {"99"}, "X-Amzn-Remapped-Date": {"x"},
				"X-Amzn-Remapped-Server": {"y"}, "X-Amzn-Remapped-X-Amzn-Requestid": {"z"}, "Content-Length": {"2"},
				"Transfer-Encoding": nil, "Connection": nil,
			},
		},
		"base64 of a text type": {`{"body":"aGk=","isBase64Encoded":true}`, 200, "aGk=", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t, &function{respond: buffered(test.payload)}, gateway.Options{API: apiOf(anyRoute("/x"))})
			response := call(t, g, http.MethodGet, "/x", "", nil)
			if body := text(t, response); response.StatusCode != test.status || body != test.body {
				t.Errorf("%d %q, want %d %q", response.StatusCode, body, test.status, test.body)
			}
			for name, values := range test.header {
				if !slices.Equal(response.Header[name], values) {
					t.Errorf("%s = %q, want %q", name, response.Header[name], values)
				}
			}
			for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id"} {
				if len(response.Header[name]) != 1 {
					t.Errorf("%s = %q", name, response.Header[name])
				}
			}
		})
	}
}

func TestMalformedResponses(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		``, `null`, `"text"`, `[]`, `7`, `{`, `{}x`, `{"statusCode":200,"other":1}`, `{"StatusCode":200}`, `{"statusCode":"200"}`,
		`{"statusCode":101}`, `{"statusCode":600}`, `{"statusCode":200.5}`, `{"statusCode":true}`, `{"statusCode":[]}`,
		`{"body":{"a":1}}`, `{"body":7}`, `{"isBase64Encoded":"true"}`, `{"headers":{"a":1}}`, `{"headers":[]}`,
		`{"headers":{"a":["b"]}}`, `{"headers":{"a":true}}`, `{"multiValueHeaders":{"a":"b"}}`, `{"multiValueHeaders":{"a":[1]}}`, `{"multiValueHeaders":{"a":{}}}`, `{"cookies":["a=1"]}`,
		`{"headers":{"a b":"c"}}`, `{"headers":{"":"c"}}`, `{"headers":{"a":"b\r\nSet-Cookie: c"}}`, `{"errorMessage":"x","errorType":"y"}`,
	} {
		g := newGateway(t, &function{respond: buffered(payload)}, gateway.Options{API: apiOf(anyRoute("/x"))})
		response := call(t, g, http.MethodGet, "/x", "", nil)
		if body := text(t, response); response.StatusCode != http.StatusBadGateway || body != `{"message":"Internal server error"}` {
			t.Errorf("%s: %d %s", payload, response.StatusCode, body)
		}
		if response.Header.Get("Set-Cookie") != "" || response.Header.Get("X-Amzn-Trace-Id") != "" {
			t.Errorf("%s: headers %v", payload, response.Header)
		}
	}
}

func TestBinaryResponses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		isBinary bool
		body     string
		status   int
		want     string
	}{
		"binary":     {true, "/wA=", 200, "\xff\x00"},
		"not base64": {true, "é", 500, `{"message":"Internal server error"}`},
		"text":       {false, "/wA=", 200, "/wA="},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := apiOf(anyRoute("/x"))
			api.IsBinary = test.isBinary
			payload := `{"headers":{"Content-Type":"image/png"},"isBase64Encoded":true,"body":"` + test.body + `"}`
			response := call(t, newGateway(t, &function{respond: buffered(payload)}, gateway.Options{API: api}), http.MethodGet, "/x", "", nil)
			if body := text(t, response); body != test.want || response.StatusCode != test.status {
				t.Errorf("%d %q, want %d %q", response.StatusCode, body, test.status, test.want)
			}
		})
	}
}

// TestHead checks that a HEAD response has no body, and the Content-Length of the GET response.
func TestHead(t *testing.T) {
	t.Parallel()
	server := serve(t, &function{respond: buffered(ok)}, gateway.Options{API: apiOf(anyRoute("/x"))})
	for path, length := range map[string]int64{"/x": 2, "/nowhere": 42} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.ContentLength != length {
			t.Errorf("%s: Content-Length %d, want %d", path, response.ContentLength, length)
		}
	}
}

func TestGatewayResponses(t *testing.T) {
	t.Parallel()
	api := apiOf(anyRoute("/{step}"))
	api.GatewayResponses = map[string]resources.GatewayResponse{
		"MISSING_AUTHENTICATION_TOKEN": {
			StatusCode: 404,
			Headers:    map[string]string{"x-request-id": "context.requestId", "Cache-Control": "'no-store'", "X-Quote": "'default-src 'none''"},
			MediaType:  "application/json", Body: `{"code":"ROUTE_NOT_FOUND"}`,
		},
		"DEFAULT_5XX": {MediaType: "text/plain", Body: "sorry"},
		"DEFAULT_4XX": {StatusCode: 418},
	}
	g := newGateway(t, &function{respond: buffered(`[]`)}, gateway.Options{API: api})
	for _, test := range []struct {
		target, mediaType string
		status            int
		body              string
	}{
		{"/no/where", "application/json", 404, `{"code":"ROUTE_NOT_FOUND"}`},
		{"/x?%zz", "application/json", 418, `{"message":"Bad Request"}`},
		{"/x", "text/plain", 502, "sorry"}, // the function's response is not valid
	} {
		response := call(t, g, http.MethodGet, test.target, "", nil)
		body, mediaType := text(t, response), response.Header.Get("Content-Type")
		if response.StatusCode != test.status || body != test.body || mediaType != test.mediaType {
			t.Errorf("%s: %d %s %s, want %d %s", test.target, response.StatusCode, mediaType, body, test.status, test.body)
		}
	}
	response := call(t, g, http.MethodGet, "/no/where", "", nil)
	for name, value := range map[string]string{
		"X-Request-Id": response.Header.Get("X-Amzn-Requestid"), "Cache-Control": "no-store", "X-Quote": "default-src 'none'",
		"X-Amzn-Errortype": "MissingAuthenticationTokenException",
	} {
		if got := response.Header.Get(name); got != value || got == "" {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f := &function{respond: buffered(ok)}
	g := newGateway(t, f, gateway.Options{API: apiOf(anyRoute("/x")), Logger: slog.New(slog.NewJSONHandler(&out, nil))})
	call(t, g, http.MethodGet, "/x?secret=1", "", nil)
	call(t, g, http.MethodGet, "/y", "", nil)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), &out)
	}
	for i, want := range []map[string]any{
		{"level": "INFO", "method": "GET", "path": "/x", "status": 200.0, "bytes": 2.0, "function": "Function"},
		{"level": "INFO", "method": "GET", "path": "/y", "status": 403.0, "bytes": 42.0, "error": "Missing Authentication Token"},
	} {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if line[name] != value {
				t.Errorf("line %d: %s = %v, want %v", i, name, line[name], value)
			}
		}
	}
	if got := f.seen[0]; got.RequestID == "" || !strings.Contains(lines[0], got.RequestID) || got.Function != "Function" || got.Stream {
		t.Errorf("invocation %+v", runtime.Invocation{Function: got.Function, RequestID: got.RequestID, Stream: got.Stream})
	}
	if strings.Contains(out.String(), "secret") {
		t.Error("the query is in the log")
	}
}

func TestLanding(t *testing.T) {
	t.Parallel()
	landing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "welcome") })
	none := newGateway(t, &function{respond: buffered(ok)}, gateway.Options{API: apiOf(anyRoute("/x")), Landing: landing})
	own := newGateway(t, &function{respond: buffered(ok)}, gateway.Options{API: apiOf(anyRoute("/")), Landing: landing})
	guarded := newGateway(t, &function{}, gateway.Options{
		API: apiOf(anyRoute("/x")), Landing: landing, AcceptHost: func(string) bool { return false },
	})
	for _, test := range []struct {
		g              *gateway.Gateway
		method, target string
		want           int
		body           string
	}{
		{none, http.MethodGet, "/", http.StatusOK, "welcome"},
		{none, http.MethodGet, "/?a=b", http.StatusOK, "welcome"},
		{none, http.MethodPost, "/", http.StatusForbidden, `{"message":"Missing Authentication Token"}`},
		{none, http.MethodGet, "/y", http.StatusForbidden, `{"message":"Missing Authentication Token"}`},
		{own, http.MethodGet, "/", http.StatusOK, "ok"},
		{guarded, http.MethodGet, "/", http.StatusForbidden, ""},
	} {
		response := call(t, test.g, test.method, test.target, "", nil)
		if body := text(t, response); response.StatusCode != test.want || test.body != "" && body != test.body {
			t.Errorf("%s %s: %d %s", test.method, test.target, response.StatusCode, body)
		}
	}
}
