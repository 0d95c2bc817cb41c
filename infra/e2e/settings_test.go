package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
)

// environment maps the names of environment variables to their values.
type environment = map[string]string

// validSettings are valid values for all functions. The functions do not connect to these services at their start.
var validSettings = environment{
	"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
	"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects",
	"CONTENTS_TABLE": "contents", "EVENTS_TABLE": "events", "CONVERSATIONS_TABLE": "conversations",
	"SITES_TABLE": "sites", "WEBHOOKS_TABLE": "webhooks", "FILES_BUCKET": "files", "KEYS_SECRET": "keys",
	"CODEHOST_SECRET": "codehost", "MODEL_SECRET": "model", "JOBS_QUEUE": "http://127.0.0.1:1/jobs",
	"DELIVERIES_QUEUE": "http://127.0.0.1:1/deliveries", "SLOW_DELIVERIES_QUEUE": "http://127.0.0.1:1/slow",
	"CREATIONS_QUEUE": "http://127.0.0.1:1/creations", "FAILURES_QUEUE": "http://127.0.0.1:1/failures",
	"AI_PROVIDER": "bedrock", "AI_MODEL": "a-model", "OAUTH_PROVIDER": "none",
	"MAIL_TABLE": "mail", "MAIL_FROM": "no-reply@example.com", "MAIL_CONFIGURATION_SET": "set",
	"MAIL_ORIGIN": "https://app.example.com",
}

// requiredSettings are the variables without which a function does not start.
var requiredSettings = map[string]string{
	"ai": "ACCOUNTS_TABLE PROJECTS_TABLE CONTENTS_TABLE EVENTS_TABLE CONVERSATIONS_TABLE FILES_BUCKET KEYS_SECRET " +
		"AI_PROVIDER MODEL_SECRET",
	"auth": "ACCOUNTS_TABLE PROJECTS_TABLE FILES_BUCKET JOBS_QUEUE KEYS_SECRET CODEHOST_SECRET",
	"docs": "",
	"jobs": "ACCOUNTS_TABLE PROJECTS_TABLE CONTENTS_TABLE CONVERSATIONS_TABLE EVENTS_TABLE SITES_TABLE WEBHOOKS_TABLE " +
		"FILES_BUCKET JOBS_QUEUE",
	"mailer": "MAIL_TABLE ACCOUNTS_TABLE KEYS_SECRET FAILURES_QUEUE MAIL_FROM MAIL_CONFIGURATION_SET MAIL_ORIGIN",
	"project-cleanup": "ACCOUNTS_TABLE PROJECTS_TABLE CONTENTS_TABLE CONVERSATIONS_TABLE EVENTS_TABLE SITES_TABLE " +
		"WEBHOOKS_TABLE FILES_BUCKET FAILURES_QUEUE",
	"projects": "ACCOUNTS_TABLE PROJECTS_TABLE CONTENTS_TABLE EVENTS_TABLE SITES_TABLE WEBHOOKS_TABLE FILES_BUCKET " +
		"JOBS_QUEUE KEYS_SECRET",
	"sites": "PROJECTS_TABLE SITES_TABLE FILES_BUCKET",
	"webhook-delivery": "ACCOUNTS_TABLE PROJECTS_TABLE WEBHOOKS_TABLE EVENTS_TABLE DELIVERIES_QUEUE SLOW_DELIVERIES_QUEUE " +
		"FAILURES_QUEUE KEYS_SECRET",
	"webhook-fanout": "PROJECTS_TABLE WEBHOOKS_TABLE DELIVERIES_QUEUE CREATIONS_QUEUE FAILURES_QUEUE",
	"webhook-retry":  "WEBHOOKS_TABLE DELIVERIES_QUEUE SLOW_DELIVERIES_QUEUE",
	"webhook-slow-delivery": "ACCOUNTS_TABLE PROJECTS_TABLE WEBHOOKS_TABLE EVENTS_TABLE DELIVERIES_QUEUE " +
		"SLOW_DELIVERIES_QUEUE CREATIONS_QUEUE FAILURES_QUEUE KEYS_SECRET",
	"webhook-test": "ACCOUNTS_TABLE PROJECTS_TABLE WEBHOOKS_TABLE KEYS_SECRET",
	"webhooks":     "ACCOUNTS_TABLE PROJECTS_TABLE WEBHOOKS_TABLE EVENTS_TABLE DELIVERIES_QUEUE KEYS_SECRET",
}

// hasStarted is a part of the output of a function that accepts its settings: Lambda's library misses its own variable.
const hasStarted = "AWS_LAMBDA_RUNTIME_API"

// startFunction starts the binary of a function outside of Lambda, and returns what it writes until it ends.
func startFunction(t *testing.T, binaries, name string, settings environment) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(binaries, name))
	command.Env = []string{} // not nil, which would inherit the environment of the test
	for variable, value := range settings {
		command.Env = append(command.Env, variable+"="+value)
	}
	output, err := command.CombinedOutput()
	if err == nil {
		t.Errorf("%s: the function ended without an error: %s", name, output)
	}
	return string(output)
}

// TestRequiredSettings checks that each function reports all required variables that are missing, and starts if it has
// only these variables and the variables of Lambda.
func TestRequiredSettings(t *testing.T) {
	t.Parallel()
	binaries := platformtest.Binaries(t)
	folders, err := os.ReadDir(filepath.Join(platformtest.Root, "functions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if _, ok := requiredSettings[folder.Name()]; !ok && folder.Name() != "deploy-check" { // its tests are beside it
			t.Errorf("requiredSettings has no entry for the function %s", folder.Name())
		}
	}
	for name, required := range requiredSettings {
		only := environment{}
		for _, variable := range append(strings.Fields(required), "AWS_REGION", "AWS_ACCESS_KEY_ID",
			"AWS_SECRET_ACCESS_KEY") {
			only[variable] = validSettings[variable]
		}
		if name == "ai" { // required by the provider
			only["AI_MODEL"] = validSettings["AI_MODEL"]
		}
		if output := startFunction(t, binaries, name, only); !strings.Contains(output, hasStarted) {
			t.Errorf("%s: got %s, want the start of the function", name, output)
		}
		output := startFunction(t, binaries, name, nil)
		for _, variable := range strings.Fields(required) {
			if !regexp.MustCompile(`\b` + variable + `\b`).MatchString(output) {
				t.Errorf("%s without settings: got %s, want an error that names %s", name, output, variable)
			}
		}
	}
}

// TestInvalidSettings checks that a function reports a setting that would make every request fail when it starts.
func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	binaries := platformtest.Binaries(t)
	openai := func(url string) environment { return environment{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": url} }
	one := func(name, value string) environment { return environment{name: value} }
	for _, tc := range []struct {
		function string
		changes  environment
		want     string // a part of the output
	}{
		{"ai", environment{"AI_PROVIDER": "scaffold", "AI_MODEL": ""}, hasStarted},
		{"ai", openai(""), hasStarted},
		{"ai", openai("http://localhost:11434/v1"), hasStarted},
		{"ai", openai("http://10.1.2.3:8000/v1"), hasStarted},
		{"ai", openai("http://api.example.com/v1"), "OPENAI_BASE_URL must be an https URL"},
		{"ai", openai("localhost:11434"), "OPENAI_BASE_URL"},
		{"ai", openai("ftp://localhost/v1"), "OPENAI_BASE_URL"},
		{"ai", one("AI_PROVIDER", "unknown"), "AI_PROVIDER=unknown"},
		{"ai", one("AI_MODEL", ""), "AI_MODEL"},
		{"ai", one("LIMIT_AI_MINUTE", "many"), "LIMIT_AI_MINUTE"},
		{"ai", one("LIMIT_AI_MINUTE", "0"), "LIMIT_AI_MINUTE=0"},
		{"ai", one("LIMIT_AI_IN_PROGRESS", "0"), "LIMIT_AI_IN_PROGRESS=0"},
		{"ai", one("AI_MONTHLY_TOKENS", "-1"), "AI_MONTHLY_TOKENS=-1"},
		{"ai", one("AI_GLOBAL_MONTHLY_TOKENS", "-1"), "AI_GLOBAL_MONTHLY_TOKENS=-1"},
		{"ai", one("LIMIT_OLD_VERSIONS_MIB", "0"), "LIMIT_OLD_VERSIONS_MIB=0"},
		{"auth", one("LIMIT_LOGIN_IP", "0"), "LIMIT_LOGIN_IP"},
		{"auth", one("OAUTH_PROVIDER", "github"), "OAUTH_CLIENT_ID"},
		{"auth", environment{"OAUTH_PROVIDER": "gitea", "OAUTH_CLIENT_ID": "x"}, "OAUTH_BASE_URL"},
		{"auth", one("OAUTH_PROVIDER", "x"), `OAUTH_PROVIDER: \"x\"`},
		{"jobs", one("SITES_ORIGIN", "http://localhost:3001"), hasStarted},
		{"jobs", one("SITES_ORIGIN", "https://example.app/"), `\"https://example.app/\" is not an origin`},
		{"jobs", one("LIMIT_BUILDS_ACCOUNT", "0"), "LIMIT_BUILDS_ACCOUNT=0"},
		{"jobs", one("LIMIT_SITE_STORAGE_GIB", "0"), "LIMIT_SITE_STORAGE_GIB=0"},
		{"mailer", one("LIMIT_MAILS_HOUR", "0"), "LIMIT_MAILS_HOUR=0"},
		{"mailer", one("RESET_PATH", "reset"), `the path \"reset\" of a link must begin with /`},
		{"projects", one("LIMIT_EXPORTS_HOUR", "0"), "LIMIT_EXPORTS_HOUR=0"},
		{"projects", one("LIMIT_INVITATIONS_DAY", "0"), "LIMIT_INVITATIONS_DAY=0"},
		{"projects", one("LIMIT_WRITTEN_MIB_DAY", "-1"), "LIMIT_WRITTEN_MIB_DAY=-1"},
		{"projects", one("LIMIT_DEPLOYMENTS_MINUTE", "0"), "LIMIT_DEPLOYMENTS_MINUTE=0"},
		{"projects", one("LIMIT_DEPLOYMENTS_DAY", "0"), "LIMIT_DEPLOYMENTS_DAY=0"},
		{"projects", one("LIMIT_SITE_STORAGE_GIB", "0"), "LIMIT_SITE_STORAGE_GIB=0"},
		{"projects", one("SITES_ORIGIN", "example.app"), `\"example.app\" is not an origin`},
		{"sites", one("SITES_ORIGIN", "example.app"), "SITES_ORIGIN"},
		{"sites", one("LIMIT_SITE_TRAFFIC_GIB", "0"), "LIMIT_SITE_TRAFFIC_GIB=0"},
		{"sites", one("LIMIT_SITE_TRAFFIC_GIB", "9999999"), "LIMIT_SITE_TRAFFIC_GIB=9999999"},
		{"webhook-test", one("LIMIT_WEBHOOK_TESTS_USER", "0"), "LIMIT_WEBHOOK_TESTS_USER=0"},
		{"webhook-test", one("LIMIT_WEBHOOK_TESTS_WORKSPACE", "-1"), "LIMIT_WEBHOOK_TESTS_WORKSPACE=-1"},
		{"webhooks", one("LIMIT_WEBHOOKS_ACCOUNT", "0"), "LIMIT_WEBHOOKS_ACCOUNT=0"},
		{"webhooks", one("LIMIT_WEBHOOK_CALLS_USER", "0"), "LIMIT_WEBHOOK_CALLS_USER=0"},
	} {
		settings := maps.Clone(validSettings)
		maps.Copy(settings, tc.changes)
		if output := startFunction(t, binaries, tc.function, settings); !strings.Contains(output, tc.want) {
			t.Errorf("%s with %s: got %s, want %q", tc.function, fmt.Sprint(tc.changes), output, tc.want)
		}
	}
}
