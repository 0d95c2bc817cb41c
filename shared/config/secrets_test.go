package config_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/config"
)

func newSecrets(cfg config.AWS) *config.Secrets {
	return config.NewSecrets(cfg, config.Metrics{}, time.Now, slog.New(slog.DiscardHandler))
}

func TestFetchSecret(t *testing.T) {
	t.Parallel()
	var target atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target.Store(r.Header.Get("X-Amz-Target"))
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=id/") {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(`{"Name":"keys","SecretString":"text"}`))
	}))
	t.Cleanup(server.Close)
	secrets := newSecrets(config.AWS{
		Region: "us-east-1", AccessKeyID: "id", SecretAccessKey: "key",
		Endpoint: "http://127.0.0.1:1", SecretsEndpoint: server.URL,
	})
	got, err := secrets.Fetch("keys")(t.Context())
	if err != nil || got != "text" || target.Load() != "secretsmanager.GetSecretValue" {
		t.Errorf("got secret %q, %v from the operation %v, want text from GetSecretValue", got, err, target.Load())
	}
	server.Close()
	if _, err = secrets.Fetch("keys")(t.Context()); err == nil {
		t.Error("got no error although the server is down")
	}
}

// The key ring is read before a request needs it.
func TestKeyRingIsReadAtOnce(t *testing.T) {
	t.Parallel()
	reads := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"SecretString":"{}"}`))
		select {
		case reads <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(server.Close)
	newSecrets(config.AWS{Region: "us-east-1", Endpoint: server.URL}).Keys("ring")
	<-reads
}

func TestInvalidSecretResponses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"no such secret": {400, `{"__type":"ResourceNotFoundException","message":"hunter2"}`, "ResourceNotFoundException"},
		"down":           {503, `<html>hunter2</html>`, "503"},
		"binary":         {200, `{"SecretBinary":"hunter2"}`, "no text"},
		"not JSON":       {200, `hunter2`, "not JSON"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			_, _ = w.Write([]byte(tc.body))
		}))
		_, err := newSecrets(config.AWS{Region: "us-east-1", Endpoint: server.URL}).Fetch("keys")(t.Context())
		server.Close()
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got error %v, want one with %q and without the body", name, err, tc.want)
		}
	}
}

// TestFailedReadsAreReported checks that a failed read is logged as a warning, and counted in a metric.
func TestFailedReadsAreReported(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"SecretString":"[]"}`))
	}))
	t.Cleanup(server.Close)
	var out bytes.Buffer
	secrets := config.NewSecrets(config.AWS{Region: "us-east-1", Endpoint: server.URL}, config.Metrics{Namespace: "stack"},
		time.Now, slog.New(slog.NewJSONHandler(&out, nil)))
	read := map[string]func() error{
		"ring":        func() error { _, _, err := secrets.Keys("ring").Current(t.Context(), "x"); return err },
		"credentials": func() error { _, err := secrets.Credentials("credentials").Field("x").Get(t.Context()); return err },
	}
	for name, cause := range map[string]string{
		"ring": "the key ring is not a JSON object", "credentials": "the secret of a provider is not a JSON object",
	} {
		out.Reset()
		if err := read[name](); err == nil {
			t.Errorf("%s: got no error for an invalid secret", name)
		}
		for _, want := range []string{
			`"level":"WARN"`, `"secret":"` + name + `"`, cause, `"SecretsUnreadable":[1]`, `"Namespace":"stack"`,
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: the log does not contain %s: %s", name, want, out.String())
			}
		}
	}
}
