package platformtest

import (
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"devplatform/infra/local/datafolder"
)

// Secrets from requests, responses, the environment and Secrets Manager are found in a log. Other values are not.
func TestLeaks(t *testing.T) {
	t.Parallel()
	addBodySecrets([]byte(`{
		"email": "leak@example.com",
		"password": "a-leaked-password",
		"operations": [{"content": "some leaked content"}]
	}`))
	addHeaderSecrets(http.Header{
		"Set-Cookie": {"__Host-session=a-leaked-session; Path=/"},
		"Location":   {"https://x.example/callback?code=a-leaked-code&state=a-leaked-state"},
	})
	addEnvSecrets([]string{"OPENAI_API_KEY=a-leaked-key", "PORT=123456789012345"})
	dir := t.TempDir()
	folder, err := datafolder.Open(datafolder.Options{Dir: filepath.Join(dir, "data")})
	if err != nil {
		t.Fatal(err)
	}
	err = folder.Update(func(batch *pebble.Batch) error {
		return batch.Set([]byte{datafolder.SpaceSecret}, []byte(`[{
			"arn": "arn:aws:secretsmanager:us-east-1:000000000000:secret:x",
			"versions": [{"value": "{\"current\":\"k1\",\"k1\":\"a-leaked-key-in-the-key-ring-0123456789\"}"}]
		}]`), nil)
	})
	if err := errors.Join(err, folder.Close()); err != nil {
		t.Fatal(err)
	}
	addStoredSecrets(dir)
	for value, kind := range map[string]string{
		"a-leaked-password":                       "password",
		"some leaked content":                     "content",
		"a-leaked-session":                        "cookie session",
		"a-leaked-code":                           "sign-in code",
		"a-leaked-state":                          "sign-in state",
		"a-leaked-key":                            "OPENAI_API_KEY",
		"a-leaked-key-in-the-key-ring-0123456789": "stored secret",
	} {
		found := leaks("a line\nbefore " + value + " after\nanother line\n")
		if want := kind + ": before " + value + " after"; !slices.Contains(found, want) {
			t.Errorf("got leaks %q, want them to contain %q", found, want)
		}
		if !slices.Contains(Secrets(), kind) {
			t.Errorf("got kinds %v, want them to contain %s", Secrets(), kind)
		}
	}
	harmless := "leak@example.com 123456789012345 arn:aws:secretsmanager:us-east-1:000000000000:secret:x"
	if found := leaks(harmless); len(found) > 0 {
		t.Errorf("got leaks %q in a log without secrets", strings.Join(found, "; "))
	}
}
