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

// FuzzRequests sends every operation what a client may: each is answered in the protocol's way, never by a failure of its own.
func FuzzRequests(f *testing.F) {
	names := slices.Sorted(maps.Keys(operations))
	for i := range names {
		f.Add(uint8(i), `{"SecretId":"k","Name":"n","SecretString":"v","VersionStage":"AWSCURRENT","MaxResults":1}`)
		f.Add(uint8(i), `{"SecretId":"arn:aws:secretsmanager:us-east-1:123456789012:secret:k-abcdef","NextToken":"LTE","RecoveryWindowInDays":-7,"PasswordLength":4097}`)
	}
	f.Add(uint8(0), `{"Name":"\u0000","SecretBinary":"!","ClientRequestToken":""}`)
	store, err := Open(Options{Dir: f.TempDir(), Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		name := names[int(operation)%len(names)]
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", targetPrefix+name)
		w := httptest.NewRecorder()
		store.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %q: %d %s", name, body, w.Code, w.Body)
		}
		if w.Code != http.StatusOK && !strings.Contains(w.Body.String(), `"__type"`) {
			t.Fatalf("%s %q: %d %s", name, body, w.Code, w.Body)
		}
		// What was taken can be read again.
		if len(store.secrets) > 20 {
			store.secrets = nil
		}
	})
}

// FuzzFile reads the file of secrets: only a whole one, with its checksum, is taken.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"format":"local-secretsmanager/1","sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","secrets":[]}`), true)
	f.Add([]byte(`[{"name":"k","versions":[{"id":"v","stages":["AWSCURRENT"],"string":"x"}]}]`), true)
	f.Add([]byte(`{"format":"local-secretsmanager/1"}`), false)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed { // with the right checksum, the content is what is looked at
			file, err := json.Marshal(map[string]any{"format": fileFormat, "sha256": checksum(data), "secrets": json.RawMessage(data)})
			if err != nil {
				return
			}
			data = file
		}
		loaded, err := decode(data)
		if err != nil {
			if loaded != nil {
				t.Fatalf("%q leaves %v", data, loaded)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is taken", data)
		}
	})
}
