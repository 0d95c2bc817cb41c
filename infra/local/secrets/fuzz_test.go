package secrets

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzRequests sends any body to every operation. The response must be JSON, and never an internal error.
func FuzzRequests(f *testing.F) {
	f.Add(uint8(0), `{"Name":"\u0000","SecretBinary":"!","ClientRequestToken":""}`)
	store, err := Open(Options{Dir: f.TempDir(), Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(store.api.Targets[targetPrefix]))
	for i := range names {
		f.Add(uint8(i), `{"SecretId":"k"}`)
		f.Add(uint8(i), `{"SecretId":"k","SecretString":"v"}`)
		f.Add(uint8(i), `{"Name":"n","SecretString":"v"}`)
		f.Add(uint8(i), `{"SecretId":"arn:aws:secretsmanager:us-east-1:123456789012:secret:k-abcdef","VersionStage":"AWSCURRENT"}`)
		f.Add(uint8(i), `{"PasswordLength":4097}`)
	}
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		name := names[int(operation)%len(names)]
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", targetPrefix+name)
		r.Header.Set("X-Amz-Date", "20260101T000000Z")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=0")
		w := httptest.NewRecorder()
		store.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %q: %d %s", name, body, w.Code, w.Body)
		}
		if w.Code != http.StatusOK && !strings.Contains(w.Body.String(), `"__type"`) {
			t.Fatalf("%s %q: %d %s", name, body, w.Code, w.Body)
		}
		if len(store.secrets) > 20 {
			store.secrets = nil
		}
	})
}

// FuzzFile reads any file: only valid JSON with the right checksum is accepted.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"format":"local-secretsmanager/1","sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","secrets":[]}`), true)
	f.Add([]byte(`[{"name":"k","versions":[{"id":"v","stages":["AWSCURRENT"],"string":"x"}]}]`), true)
	f.Add([]byte(`{"format":"local-secretsmanager/1"}`), false)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed { // with the right checksum, to test the decoding of the content
			file, err := json.Marshal(map[string]any{"format": fileFormat, "sha256": checksum(data), "secrets": json.RawMessage(data)})
			if err != nil {
				return
			}
			data = file
		}
		loaded, err := decode(data)
		if err != nil {
			if loaded != nil {
				t.Fatalf("%q returns %v", data, loaded)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is accepted", data)
		}
	})
}
