package platform

import (
	"io"
	"net/http"
	"testing"

	"devplatform/infra/local/codehost"
)

// No port accepts requests with the name of another machine. An attacker could make such a name refer to this machine
// (DNS rebinding).
func TestRebinding(t *testing.T) {
	t.Parallel()
	config := projectOf(t, triggered, func(http.ResponseWriter, *http.Request) {})
	config.CodeHost = &CodeHost{"id", "secret"}
	config.PublicURL = "https://app.example"
	p, err := open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	send := func(method, url, host, target string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("X-Amz-Target", target)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	aws, gateway, console := p.AWS, p.URL, p.Console
	for _, request := range []struct{ method, url, target string }{
		{http.MethodGet, gateway + "/", ""},
		{http.MethodGet, console + "/mail", ""},
		{http.MethodPost, aws + "/", "DynamoDB_20120810.ListTables"},
		{http.MethodPost, aws + "/", "secretsmanager.ListSecrets"},
		{http.MethodPost, aws + "/2015-03-31/functions/Reader/invocations", ""},
		{http.MethodGet, aws + "/2015-03-31/functions", ""},
		{http.MethodGet, aws + codehost.Path + "/", ""},
		{http.MethodGet, aws + "/bucket/key", ""},
	} {
		for _, host := range []string{"evil.example", "evil.example:4566", "127.0.0.1.evil.example", "bucket.localhost"} {
			if status, text := send(request.method, request.url, host, request.target); status != http.StatusForbidden {
				t.Errorf("%s %s %s as %s: got %d %s", request.method, request.url, request.target, host, status, text)
			}
		}
	}
	for _, host := range []string{"localhost", "127.0.0.1:1", "[::1]:1", "app.example"} {
		for _, url := range []string{gateway + "/", console + "/mail", aws + codehost.Path + "/", aws + "/2015-03-31/functions"} {
			if status, text := send(http.MethodGet, url, host, ""); status == http.StatusForbidden {
				t.Errorf("%s as %s: got %d %s", url, host, status, text)
			}
		}
	}
}
