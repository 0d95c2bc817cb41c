package edgetest

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

// Event returns a proxy event of API Gateway.
func Event(method, path string) events.APIGatewayProxyRequest {
	return events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Resource: "/api/{proxy+}",
		MultiValueHeaders: map[string][]string{
			"Host": {"abc.execute-api.example.com"}, "User-Agent": {"test/1"}, "X-Forwarded-Proto": {"https"},
			"X-Forwarded-For": {"203.0.113.66, 198.51.100.1"},
		},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: "req-1", Stage: "dev", Path: "/dev" + path, DomainName: "abc.execute-api.example.com",
			Identity: events.APIGatewayRequestIdentity{SourceIP: "198.51.100.1"},
		},
	}
}

// Invoke sends an event to a router through the adapter for buffered responses. payload is the event, or its JSON as
// []byte. Invoke checks the headers of the response, and also returns it as the adapter encoded it.
func Invoke(t *testing.T, h http.Handler, payload any) (Response, events.APIGatewayProxyResponse) {
	t.Helper()
	data, ok := payload.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(payload); err != nil {
			t.Fatal(err)
		}
	}
	out, err := apigateway.New(h).Invoke(t.Context(), data)
	if err != nil {
		t.Fatalf("the function failed: %v", err)
	}
	var raw events.APIGatewayProxyResponse
	if err := json.Unmarshal(out, &raw); err != nil {
		t.Fatal(err)
	}
	response := Response{Status: raw.StatusCode, Header: raw.MultiValueHeaders, Body: raw.Body}
	CheckHeaders(t, response)
	return response, raw
}

// EdgeConfig is the configuration of an edge with two trusted origins.
var EdgeConfig = config.Edge{
	AppURL: "https://app.example.com", AllowedOrigins: []config.Origin{"https://tools.example.com"},
}

// StreamFunc writes a stream.
type StreamFunc func(context.Context, *httpapi.EventStream) error

// StreamRouter returns a router with one endpoint, POST /api/stream. The endpoint calls the function write, which
// writes the stream. If the body is {"fail": true}, the endpoint returns an error and does not call the function.
func StreamRouter(write StreamFunc) (http.Handler, *Log) {
	l := &Log{}
	return httpapi.NewRouter(httpapi.Config{
		Edge: EdgeConfig, Logger: slog.New(slog.NewJSONHandler(l, nil)),
		Auth: Sessions{}, Clock: Clock,
	}, func(r *httpapi.Routes) { RegisterStream(r, write) }), l
}

// RegisterStream registers the endpoint of StreamRouter.
func RegisterStream(r *httpapi.Routes, write StreamFunc) {
	op := httpapi.Operation{
		ID: "stream", Method: http.MethodPost, Path: "/api/stream",
		Errors: []*fault.Error{
			fault.New(fault.CodeAIUnavailable, "The model is unavailable."),
			fault.New(fault.CodeConflict, "Conflict."),
		},
	}
	type input struct {
		Body struct {
			Fail bool `json:"fail,omitempty"`
		}
	}
	httpapi.PrivateStream(r, op, func(ctx context.Context, _ httpapi.Caller, in *input, out *httpapi.EventStream) error {
		if in.Body.Fail {
			return fault.New(fault.CodeConflict, "Conflict.")
		}
		return write(ctx, out)
	})
}

// WriteChunk writes a part of a stream and flushes it.
func WriteChunk(t *testing.T, s *httpapi.EventStream, text string) {
	t.Helper()
	if s.Header().Get("Content-Type") == "" {
		s.Header().Set("Content-Type", "text/event-stream")
	}
	if _, err := io.WriteString(s, text); err != nil {
		t.Errorf("write: %v", err)
	}
	if err := http.NewResponseController(s).Flush(); err != nil {
		t.Errorf("flush: %v", err)
	}
}

// The session cookies that the endpoint login of the router sets.
const (
	SetSecure = "__Host-session=good; Path=/; Expires=Fri, 20 Nov 2026 13:00:00 GMT; Max-Age=3600; " +
		"HttpOnly; Secure; SameSite=Lax"
	SetPlain = "session=good; Path=/; Expires=Fri, 20 Nov 2026 13:00:00 GMT; Max-Age=3600; HttpOnly; SameSite=Lax"
)

// WantLine checks that the log has exactly one line, and that the line has this level, status and code, and the
// operation of StreamRouter. It returns the line.
func WantLine(t *testing.T, log *Log, level string, status int, code fault.Code) map[string]any {
	t.Helper()
	lines := log.Lines(t)
	if len(lines) != 1 {
		t.Fatalf("got %d log lines, want 1: %v", len(lines), lines)
	}
	line := lines[0]
	loggedCode, _ := line["code"].(string)
	if line["level"] != level || line["status"] != float64(status) || loggedCode != string(code) ||
		line["operation"] != "POST /api/stream" {
		t.Errorf("logged %v, want level %s, status %d and code %q of POST /api/stream", line, level, status, code)
	}
	return line
}
