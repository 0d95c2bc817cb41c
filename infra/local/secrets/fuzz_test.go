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
	store, err := Open(Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(store.api.Targets[targetPrefix]))
	for i := range names {
		f.Add(uint8(i), `{"SecretId":"k"}`)
		f.Add(uint8(i), `{"SecretId":"k","SecretString":"v"}`)
		f.Add(uint8(i), `{"Name":"n","SecretString":"v"}`)
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
