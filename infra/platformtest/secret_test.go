package platformtest

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if err := os.Mkdir(filepath.Join(dir, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	stored := `{"secrets": {"x": {
		"arn": "arn:aws:secretsmanager:us-east-1:000000000000:secret:x",
		"versions": [{"value": "{\"current\":\"k1\",\"k1\":\"a-leaked-key-in-the-key-ring-0123456789\"}"}]
	}}}`
	if err := os.WriteFile(filepath.Join(dir, "secrets", "secrets.json"), []byte(stored), 0o600); err != nil {
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
