package platformtest

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Everything that a test sends, is sent and finds stored is looked for.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	noteBody([]byte(`{"email":"leak@example.com","password":"a-leaked-password","operations":[{"content":"some leaked content"}]}`))
	noteHeader(http.Header{"Set-Cookie": {"__Host-session=a-leaked-session; Path=/"}, "Location": {"https://x.example/callback?code=a-leaked-code&state=a-leaked-state"}})
	noteEnv([]string{"OPENAI_API_KEY=a-leaked-key", "PORT=123456789012345"})
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	ring := `{"secrets":{"x":{"arn":"arn:aws:secretsmanager:us-east-1:000000000000:secret:x","versions":[{"value":"{\"current\":\"k1\",\"k1\":\"a-leaked-ring-of-64-bytes-aaaaaaaaaaaaaaaaa\"}"}]}}}`
	if err := os.WriteFile(filepath.Join(dir, "secrets", "secrets.json"), []byte(ring), 0o600); err != nil {
		t.Fatal(err)
	}
	noteKeys(dir)
	for text, what := range map[string]string{
		"a-leaked-password": "password", "some leaked content": "content", "a-leaked-session": "cookie session", "a-leaked-code": "sign-in code",
		"a-leaked-state": "sign-in state", "a-leaked-key": "OPENAI_API_KEY", "a-leaked-ring-of-64-bytes-aaaaaaaaaaaaaaaaa": "stored secret",
	} {
		found := leaks("a line\nbefore " + text + " after\nanother line\n")
		if !slices.Contains(found, what+": before "+text+" after") {
			t.Errorf("%s: found %q", text, found)
		}
		if !slices.Contains(Secrets(), what) {
			t.Errorf("%s is not among %v", what, Secrets())
		}
	}
	harmless := "leak@example.com 123456789012345 arn:aws:secretsmanager:us-east-1:000000000000:secret:x"
	if found := leaks(harmless); len(found) > 0 {
		t.Errorf("found %q", strings.Join(found, "; "))
	}
}
