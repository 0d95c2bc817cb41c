package main

import (
	"slices"
	"strings"
	"testing"
)

// TestSettings names each variable that is wrong by the name that the user wrote.
func TestSettings(t *testing.T) { // not parallel: the environment
	for _, tc := range []struct {
		env  []string // names and values
		says string   // all of the error; "" for none
	}{
		{[]string{"PORT", "0", "AWS_PORT", "0"}, ""},
		{[]string{"PORT", "abc"}, "PORT=abc: must be a number"},
		{[]string{"PORT", "3e3", "AWS_PORT", "99999999999999999999", "LAMBDA_CONCURRENCY", "many"}, "PORT=3e3: must be a number\nAWS_PORT=99999999999999999999: must be a number\nLAMBDA_CONCURRENCY=many: must be a number"},
		{[]string{"PORT", "70000"}, "PORT=70000: must be 0 to 65092 (https is at PORT+443)"},
		{[]string{"SITES_PORT", "abc"}, "SITES_PORT=abc: must be a number"},
		{[]string{"SITES_PORT", "70000"}, "SITES_PORT=70000: must be 0 to 65535"},
		{[]string{"SITES_PORT", "4566"}, "SITES_PORT and AWS_PORT are both 4566: set AWS_PORT to another port"},
		{[]string{"PORT", "3001"}, "PORT and SITES_PORT are both 3001: set SITES_PORT to another port"},
		{[]string{"SITES_PORT", "3443"}, "PORT+443 and SITES_PORT are both 3443: set SITES_PORT to another port"},
		{[]string{"AWS_PORT", "3000"}, "PORT and AWS_PORT are both 3000: set AWS_PORT to another port"},
		{[]string{"PORT", "0", "AWS_PORT", "443"}, ""},
		{[]string{"SITES_PORT", "70000", "AWS_PORT", "70000"}, "SITES_PORT=70000: must be 0 to 65535\nAWS_PORT=70000: must be 0 to 65535\n" +
			"SITES_PORT and AWS_PORT are both 70000: set AWS_PORT to another port"},
		{[]string{"PORT", "3001", "SITES_PORT", "0"}, ""},
		{[]string{"AWS_ENDPOINT_URL", "localhost:8000"}, "AWS_ENDPOINT_URL=localhost:8000: must start with http:// or https://"},
		{[]string{"AWS_ENDPOINT_URL", "http://local host"}, "AWS_ENDPOINT_URL=http://local host: is no URL"},
		{[]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:8000"}, ""},
		{[]string{"AWS_ENDPOINT_URL", "http://example.com:4566"}, ""},
		{[]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:4566", "AWS_PORT", "4567"}, ""},
		{[]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://127.9.9.9:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://localhost:4566/"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://LocalHost.:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://dynamodb.localhost:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://[::1]:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://0.0.0.0:4566"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "http://localhost", "AWS_PORT", "80"}, itself},
		{[]string{"AWS_ENDPOINT_URL", "https://localhost", "AWS_PORT", "443"}, itself},
	} {
		t.Run(strings.Join(tc.env, " "), func(t *testing.T) {
			t.Setenv("PORT", "3000")
			t.Setenv("AWS_PORT", "4566")
			t.Setenv("SITES_PORT", "")
			t.Setenv("LAMBDA_CONCURRENCY", "10")
			t.Setenv("AWS_ENDPOINT_URL", "")
			for i := 0; i < len(tc.env); i += 2 {
				t.Setenv(tc.env[i], tc.env[i+1])
			}
			_, err := loadSettings()
			if said := message(err); said != tc.says {
				t.Errorf("%q, want %q", said, tc.says)
			}
		})
	}
}

// Sites have a port of their own. It is a free one if the gateway's is.
func TestSitesPort(t *testing.T) {
	for _, tc := range []struct {
		port, sites string
		want        int
	}{{"3000", "", 3001}, {"0", "", 0}, {"3000", "0", 0}, {"0", "3005", 3005}} {
		t.Setenv("PORT", tc.port)
		t.Setenv("SITES_PORT", tc.sites)
		if settings, err := loadSettings(); err != nil || settings.SitesPort != tc.want {
			t.Errorf("PORT=%s SITES_PORT=%s: got %d, error %v, want %d", tc.port, tc.sites, settings.SitesPort, err, tc.want)
		}
	}
}

const itself = "AWS_ENDPOINT_URL is this platform itself: unset it"

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Pages of the gateway, of APP_URL and of ALLOWED_ORIGINS can use the bucket. The functions get ALLOWED_ORIGINS as it is.
// Pages of the first origin can read the gateway's own responses.
func TestOriginsOfPages(t *testing.T) {
	t.Setenv("OAUTH_PROVIDER", "none")
	for allowed, also := range map[string][]string{"": nil, "http://localhost:5173,https://a.example": {"http://localhost:5173", "https://a.example"}} {
		t.Setenv("ALLOWED_ORIGINS", allowed)
		p := &platform{
			settings: Settings{Template: "../../template.yaml", Region: "us-east-1", OAuthProvider: "none", AppURL: "https://app.example"},
			http:     &listeners{port: 3000}, https: &listeners{port: 3443}, sites: &listeners{port: 3001}, aws: &listeners{port: 4566},
		}
		if err := p.loadTemplate(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := append(slices.Clone(also),
			"http://localhost:3000", "http://127.0.0.1:3000", "https://localhost:3443", "https://127.0.0.1:3443", "https://app.example",
		)
		if got := p.stack.Buckets[0].CORS[0].AllowedOrigins; !slices.Equal(got, want) {
			t.Errorf("got the origins %v, want %v", got, want)
		}
		for kind, response := range p.stack.APIs[0].GatewayResponses {
			if got := response.Headers["Access-Control-Allow-Origin"]; got != "'"+want[0]+"'" {
				t.Errorf("gateway response %s: got Access-Control-Allow-Origin: %s, want %s", kind, got, want[0])
			}
		}
		for _, f := range p.stack.Functions {
			if got, found := f.Env["ALLOWED_ORIGINS"]; found && got != allowed {
				t.Errorf("%s: got ALLOWED_ORIGINS=%s, want %s", f.Name, got, allowed)
			}
		}
	}
}
