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
		line, want string
	}{
		"text":          {"hello world", `level=INFO msg="Auth: hello world"`},
		"without an ID": {`{"level":"INFO","msg":"hello"}`, `level=INFO msg="Auth: hello"`},
		"JSON log":      {`{"time":"2026-11-20T00:00:00Z","level":"WARN","msg":"slow","requestId":"r-1","ms":1.5,"code":"X"}`, `level=WARN msg="Auth r-1: slow" code=X ms=1.5`},
		"a name twice":  {`{"level":"INFO","msg":"m","a":1,"a":2}`, `level=INFO msg="Auth: m" a=2`},
		"not UTF-8":     {"{\"level\":\"INFO\",\"msg\":\"m\",\"a\":\"\xff\"}", `level=INFO msg="Auth: m" a="�"`},
		"metrics":       {`{"level":"INFO","msg":"metrics","_aws":{"Timestamp":1},"Sent":[2]}`, `level=INFO msg="Auth: metrics" Sent=[2]`},
		"other JSON":    {`{"a":1}`, `level=INFO msg="Auth: {\"a\":1}"`},
		"a JSON array":  {`[1]`, `level=INFO msg="Auth: [1]"`},
		"request":       {`{"level":"INFO","msg":"request","method":"GET","status":200}`, `level=DEBUG msg="Auth: request" method=GET status=200`},
		"failure":       {`{"level":"ERROR","msg":"request","method":"GET","status":500}`, `level=ERROR msg="Auth: request" method=GET status=500`},
		"quiet":         {`{"level":"INFO","msg":"run"}`, `level=DEBUG msg="Auth: run"`},
		"unknown level": {`{"level":"LOUD","msg":"m"}`, `level=INFO msg="Auth: m"`},
	} {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		logFunctionLine(logger, "Auth", tc.line, name == "quiet")
		if got := out.String(); got != tc.want+"\n" {
			t.Errorf("%s: %swant %s", name, got, tc.want)
		}
	}
}
