package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/local/platform"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
)

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// An error names each variable that cannot be parsed.
func TestSettings(t *testing.T) { // not parallel: the environment
	for env, want := range map[string]string{
		"PORT=0 AWS_PORT=0":    "",
		"PORT=abc":             "PORT=abc: must be a number",
		"DYNAMODB_LATENCY=4":   "DYNAMODB_LATENCY=4: must be a duration such as 4ms",
		"LAMBDA_CONCURRENCY=0": "LAMBDA_CONCURRENCY=0: must be 1 to 1000",
		"PORT=3e3 AWS_PORT=99999999999999999999 LAMBDA_CONCURRENCY=many": "PORT=3e3: must be a number\n" +
			"AWS_PORT=99999999999999999999: must be a number\nLAMBDA_CONCURRENCY=many: must be a number",
	} {
		t.Run(env, func(t *testing.T) {
			for assignment := range strings.FieldsSeq(env) {
				name, value, _ := strings.Cut(assignment, "=")
				t.Setenv(name, value)
			}
			if _, err := loadSettings(); message(err) != want {
				t.Errorf("got the error %q, want %q", message(err), want)
			}
		})
	}
	for name, value := range map[string]string{"LOG_LEVEL": "loud", "LOG_FORMAT": "xml"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			s, err := loadSettings()
			if err == nil {
				_, err = s.newLogger(&bytes.Buffer{})
			}
			if !strings.HasPrefix(message(err), name+"="+value+": must be ") {
				t.Errorf("got the error %v", err)
			}
		})
	}
}

// The sites and the console get free ports if the gateway does.
func TestFreePorts(t *testing.T) {
	for _, tc := range []struct {
		port, other    string
		sites, console int
	}{{"3000", "", 3001, 3002}, {"0", "", 0, 0}, {"3000", "0", 0, 0}, {"0", "3005", 3005, 3005}} {
		t.Setenv("PORT", tc.port)
		t.Setenv("SITES_PORT", tc.other)
		t.Setenv("CONSOLE_PORT", tc.other)
		s, err := loadSettings()
		if err != nil || s.SitesPort != tc.sites || s.ConsolePort != tc.console {
			t.Errorf("%+v: got %d and %d, error %v", tc, s.SitesPort, s.ConsolePort, err)
		}
	}
}

// loadTemplate returns the project's stack with the settings of the environment.
func loadTemplate(t *testing.T) *resources.Stack {
	t.Helper()
	s, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	values := s.Values(platform.Addresses{
		URL: "http://localhost:3000", HTTPS: "https://localhost:3443", Sites: "http://localhost:3001",
		AWS: "http://127.0.0.1:4566", CodeHost: "http://localhost:4566/codehost",
	})
	options := stack.Options{Overrides: values.Variables, Defaults: values.Parameters}
	loaded, err := stack.Load("../../template.yaml", options)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// Pages of the gateway, of APP_URL and of ALLOWED_ORIGINS can use the bucket. The functions get ALLOWED_ORIGINS as it
// is. Pages of the first origin can read the gateway's own responses. By default, pages of Vite's server are allowed.
func TestOrigins(t *testing.T) {
	t.Setenv("APP_URL", "https://app.example")
	for _, tc := range []struct {
		isSet   bool
		allowed string
		want    []string
	}{
		{false, "", []string{"http://localhost:5173"}},
		{true, "", nil},
		{true, "https://a.example,https://b.example", []string{"https://a.example", "https://b.example"}},
	} {
		t.Setenv("ALLOWED_ORIGINS", tc.allowed)
		if !tc.isSet {
			if err := os.Unsetenv("ALLOWED_ORIGINS"); err != nil {
				t.Fatal(err)
			}
		}
		loaded := loadTemplate(t)
		want := append(slices.Clone(tc.want), "http://localhost:3000", "http://127.0.0.1:3000", "https://localhost:3443",
			"https://127.0.0.1:3443", "https://app.example")
		if got := loaded.Buckets[0].CORS[0].AllowedOrigins; !slices.Equal(got, want) {
			t.Errorf("got the origins %v, want %v", got, want)
		}
		for kind, response := range loaded.APIs[0].GatewayResponses {
			if got := response.Headers["Access-Control-Allow-Origin"]; got != "'"+want[0]+"'" {
				t.Errorf("gateway response %s: got Access-Control-Allow-Origin: %s, want %s", kind, got, want[0])
			}
		}
		for _, f := range loaded.Functions {
			if got, found := f.Env["ALLOWED_ORIGINS"]; found && got != strings.Join(tc.want, ",") {
				t.Errorf("%s: got ALLOWED_ORIGINS=%s, want %v", f.Name, got, tc.want)
			}
		}
	}
}

// The functions get the variables of a developer's machine, unless the environment has others. Only functions for which
// the template sets a variable get it.
func TestVariablesOfFunctions(t *testing.T) {
	t.Setenv("LIMIT_LOGIN_IP", "7")
	for _, tc := range []struct{ provider, want string }{{"", "custom"}, {"github", "github"}} {
		t.Setenv("OAUTH_PROVIDER", tc.provider)
		loaded := loadTemplate(t)
		users := 0
		for _, f := range loaded.Functions {
			for name, want := range map[string]string{
				"OAUTH_PROVIDER": tc.want, "COOKIE_PLAIN_HTTP": "true", "LIMIT_LOGIN_IP": "7", "AI_PROVIDER": "scaffold",
				"SITES_ORIGIN": "http://localhost:3001",
			} {
				if got, found := f.Env[name]; found && got != want {
					t.Errorf("%s: got %s=%s, want %s", f.Name, name, got, want)
				}
			}
			if _, found := f.Env["OAUTH_PROVIDER"]; found {
				users++
			}
		}
		if users != 1 {
			t.Errorf("%d functions have OAUTH_PROVIDER, want 1", users)
		}
	}
}

// Links in mails lead to APP_URL, or else to the gateway. With an empty MAIL_FROM, no function sends mails.
func TestMailVariables(t *testing.T) {
	for _, tc := range []struct{ appURL, origin string }{{"", "http://localhost:3000"}, {"https://a.example", "https://a.example"}} {
		t.Setenv("APP_URL", tc.appURL)
		senders := 0
		for _, f := range loadTemplate(t).Functions {
			if origin, isSet := f.Env["MAIL_ORIGIN"]; isSet {
				if senders++; origin != tc.origin || f.Env["MAIL_FROM"] == "" {
					t.Errorf("%s has MAIL_ORIGIN=%s and MAIL_FROM=%s", f.Name, origin, f.Env["MAIL_FROM"])
				}
			}
			if appURL, isSet := f.Env["APP_URL"]; isSet && appURL != tc.appURL {
				t.Errorf("%s has APP_URL=%s", f.Name, appURL)
			}
		}
		if senders != 2 {
			t.Errorf("%d functions have the links in mails, want 2", senders)
		}
	}
	t.Setenv("MAIL_FROM", "")
	for _, f := range loadTemplate(t).Functions {
		if f.Name == "MailerFunction" || f.Env["MAIL_FROM"] != "" {
			t.Errorf("%s sends mails without MAIL_FROM", f.Name)
		}
	}
}

// The help lists subcommands, flags and variables.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-h"}, {"help"}, {"--help"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
			t.Errorf("%v: exit status %d", args, code)
		}
		for _, want := range []string{
			"local check TEMPLATE", "local invoke", "-template", "-watch", "PORT ", "3000 ", "DATA_DIR", "LOG_LEVEL",
		} {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%v: %s\nwant %s", args, &stdout, want)
			}
		}
	}
	for args, want := range map[string]string{
		"chek":       "got the arguments [\"chek\"], want 0\nRun `local -h` for the usage.\n",
		"-templat x": "flag provided but not defined: -templat\nRun `local -h` for the usage.\n",
		"check":      "got the arguments [], want 1\nRun `local check -h` for the usage.\n",
		"invoke F":   "got the arguments [\"F\"], want 2\nRun `local invoke -h` for the usage.\n",
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if code != 2 || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%s: got exit status %d, %s and %s, want %s", args, code, &stdout, &stderr, want)
		}
	}
}

// The npm registry is the registry in npm's own variable, in the user's .npmrc, or the public registry of npm.
func TestRegistry(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	own := map[string]string{"HOME": home, "npm_config_registry": "https://own.example.com"}
	for text, want := range map[string]string{
		"": "https://registry.npmjs.org", "registry=http://127.0.0.1:4873\n": "http://127.0.0.1:4873",
		"fund = false\n@a:registry=https://a.example.com\nregistry = https://npm.example.com/": "https://npm.example.com/",
	} {
		if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := registry(map[string]string{"HOME": home}); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := registry(own); got != "https://own.example.com" {
			t.Errorf("with npm's variable: got %q", got)
		}
	}
}
