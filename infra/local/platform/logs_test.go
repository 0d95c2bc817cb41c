package platform

import (
	"bytes"
	"log/slog"
	"testing"
)

// Output of functions is logged as text, or as a log line if it is in Lambda's JSON log format.
func TestLogFunctionLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		id, line, want string
	}{
		"text":          {"r-1", "hello world", `level=INFO msg="Auth r-1: hello world"`},
		"without an ID": {"", "hello", `level=INFO msg="Auth: hello"`},
		"JSON log":      {"r-1", `{"time":"2026-11-20T00:00:00Z","level":"WARN","msg":"slow","ms":1.5,"code":"X"}`, `level=WARN msg="Auth r-1: slow" code=X ms=1.5`},
		"a name twice":  {"r-1", `{"level":"INFO","msg":"m","a":1,"a":2}`, `level=INFO msg="Auth r-1: m" a=2`},
		"not UTF-8":     {"r-1", "{\"level\":\"INFO\",\"msg\":\"m\",\"a\":\"\xff\"}", `level=INFO msg="Auth r-1: m" a="�"`},
		"metrics":       {"r-1", `{"level":"INFO","msg":"metrics","_aws":{"Timestamp":1},"Sent":[2]}`, `level=INFO msg="Auth r-1: metrics" Sent=[2]`},
		"other JSON":    {"r-1", `{"a":1}`, `level=INFO msg="Auth r-1: {\"a\":1}"`},
		"a JSON array":  {"r-1", `[1]`, `level=INFO msg="Auth r-1: [1]"`},
		"request":       {"r-1", `{"level":"INFO","msg":"request","method":"GET","status":200}`, `level=DEBUG msg="Auth r-1: request" method=GET status=200`},
		"failure":       {"r-1", `{"level":"ERROR","msg":"request","method":"GET","status":500}`, `level=ERROR msg="Auth r-1: request" method=GET status=500`},
		"quiet":         {"quiet", `{"level":"INFO","msg":"run"}`, `level=DEBUG msg="Auth quiet: run"`},
		"unknown level": {"r-1", `{"level":"LOUD","msg":"m"}`, `level=INFO msg="Auth r-1: m"`},
	} {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		logFunctionLine(logger, "Auth", tc.id, tc.line, tc.id == "quiet")
		if got := out.String(); got != tc.want+"\n" {
			t.Errorf("%s: %swant %s", name, got, tc.want)
		}
	}
}
