package openai_test

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
)

// responseErrors has a case in each paragraph of four lines: its name, the status and the media type of a response, its
// body, and the error.
//
//go:embed testdata/errors.txt
var responseErrors string

// The error responses of known servers are parsed and classified. Only known fields of an error are in its text,
// because servers may send the prompt back in other fields. Package provider tests the faults of more errors.
func TestErrors(t *testing.T) {
	t.Parallel()
	for paragraph := range strings.SplitSeq(strings.TrimSpace(responseErrors), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		t.Run(lines[0], func(t *testing.T) {
			t.Parallel()
			code, mediaType, _ := strings.Cut(lines[1], " ")
			status, err := strconv.Atoi(code)
			if err != nil {
				t.Fatal(err)
			}
			s := serve(t, respondError(status, strings.TrimSpace(lines[2]), "Content-Type", mediaType))
			_, outcome, err := generate(t, s, simpleRequest)
			if err == nil || err.Error() != lines[3] {
				t.Fatalf("got error %v, want %s", err, lines[3])
			}
			isUnavailable := strings.HasPrefix(lines[3], "model: unavailable: ")
			if attempts := len(s.Requests()); (attempts == 1) == isUnavailable {
				t.Errorf("got %d requests, want retries only if the provider is unavailable", attempts)
			}
			if !outcome.Usage.IsZero() || outcome.Model != "m" {
				t.Errorf("got the outcome %+v, want only the requested model", outcome)
			}
		})
	}
}

// No error contains the API key, even if a server sends it back.
func TestErrorsDoNotContainKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 995) + secret + strings.Repeat("x", 9000) // the text is cut inside the key
	for name, handler := range map[string]http.HandlerFunc{
		"message":  respondError(401, `{"error":{"message":"Incorrect API key provided: `+secret+`"}}`),
		"escaped":  respondError(401, `{"error":{"message":"`+strings.ReplaceAll(secret, "/", `\/`)+`"}}`),
		"code":     respondError(400, `{"error":{"message":"no","code":"`+secret+`","type":"`+secret+`"}}`),
		"text":     respondError(500, "header Authorization: Bearer "+secret),
		"long":     respondError(500, long),
		"location": respondError(307, "", "Location", "https://other/?key="+secret),
		"stream":   respondEvents(helloChunk, `{"error":{"message":"bad key `+secret+`"}}`),
		"not JSON": respondEvents(helloChunk, secret),
		"finish":   respondEvents(helloChunk, finishChunk(`{}`, "error")+secret),
		"refusal":  respondEvents(deltaChunk(`{"refusal":"`+secret+`"}`), stopChunk),
		"status line": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", secret)
			_ = conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := generate(t, serve(t, handler), simpleRequest)
			if err == nil {
				t.Fatal("got no error")
			}
			var logged bytes.Buffer
			slog.New(slog.NewTextHandler(&logged, nil)).Error("failed", "err", err)
			var failed *model.Error
			errors.As(err, &failed)
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, failed.Cause), logged.String()} {
				if strings.Contains(text, secret[:12]) {
					t.Errorf("the text contains the key: %s", text)
				}
				if len(text) > 4000 {
					t.Errorf("got %d bytes for the log, want at most 4000", len(text))
				}
			}
		})
	}
}
