package platform

import (
	"strings"
	"testing"
)

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Each problem with a configuration is a line that begins with the variable.
func TestConfig(t *testing.T) {
	t.Parallel()
	const itself = "AWS_ENDPOINT_URL is this platform itself: unset it"
	for _, tc := range []struct {
		config Config
		want   string
	}{
		{Config{}, ""},
		{Config{Port: 70000}, "PORT=70000: must be 0 to 65092 (https is at PORT+443)"},
		{Config{SitesPort: 70000, AWSPort: 70000}, "SITES_PORT=70000: must be 0 to 65535\n" +
			"AWS_PORT=70000: must be 0 to 65535\nSITES_PORT and AWS_PORT are both 70000: set AWS_PORT to another port"},
		{Config{Concurrency: 1001}, "LAMBDA_CONCURRENCY=1001: must be 1 to 1000"},
		{Config{SitesPort: 4566, AWSPort: 4566}, "SITES_PORT and AWS_PORT are both 4566: set AWS_PORT to another port"},
		{Config{Port: 3001, SitesPort: 3001}, "PORT and SITES_PORT are both 3001: set SITES_PORT to another port"},
		{Config{Port: 3000, SitesPort: 3443}, "PORT+443 and SITES_PORT are both 3443: set SITES_PORT to another port"},
		{Config{Port: 3000, AWSPort: 3000}, "PORT and AWS_PORT are both 3000: set AWS_PORT to another port"},
		{Config{AWSPort: 443}, ""},
		{Config{ConsolePort: 70000}, "CONSOLE_PORT=70000: must be 0 to 65535"},
		{Config{AWSPort: 3002, ConsolePort: 3002}, "AWS_PORT and CONSOLE_PORT are both 3002: set CONSOLE_PORT to another port"},
		{Config{PublicURL: "app.example"}, "APP_URL=app.example: must be an origin such as https://app.example.com"},
		{Config{PublicURL: "https://a.example/"}, "APP_URL=https://a.example/: must be an origin such as https://app.example.com"},
		{Config{EndpointURL: "localhost:8000"}, "AWS_ENDPOINT_URL=localhost:8000: must start with http:// or https://"},
		{Config{EndpointURL: "http://local host"}, "AWS_ENDPOINT_URL=http://local host: is not a URL"},
		{Config{EndpointURL: "http://127.0.0.1:8000", AWSPort: 4566}, ""},
		{Config{EndpointURL: "http://example.com:4566", AWSPort: 4566}, ""},
		{Config{EndpointURL: "http://127.0.0.1:4566", AWSPort: 4567}, ""},
		{Config{EndpointURL: "http://localhost:4566/", AWSPort: 4566}, itself},
		{Config{EndpointURL: "http://[::1]:4566", AWSPort: 4566}, itself},
	} {
		tc.config.DataDir = t.TempDir()
		if got := message(tc.config.complete()); got != tc.want {
			t.Errorf("%+v: got the error %q, want %q", tc.config, got, tc.want)
		}
	}
	if got := message(new(Config).complete()); !strings.HasPrefix(got, "DATA_DIR is empty") {
		t.Errorf("without a folder: got the error %q", got)
	}
}

// Credentials are used only for another endpoint.
func TestCredentials(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{"": "local", "http://127.0.0.1:8000": "own"} {
		c := Config{DataDir: t.TempDir(), EndpointURL: endpoint, AccessKeyID: "own", SecretKey: "own"}
		if err := c.complete(); err != nil || c.AccessKeyID != want || c.SecretKey != want {
			t.Errorf("endpoint %q: got %s, %s, error %v, want %s", endpoint, c.AccessKeyID, c.SecretKey, err, want)
		}
	}
}
