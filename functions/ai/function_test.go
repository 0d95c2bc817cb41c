package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/lambdafn/apigateway"
)

// setEnv sets the environment of template.yaml. changes alternates between names and values that replace it.
func setEnv(t *testing.T, changes ...string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "",
		"ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "CONTENTS_TABLE": "contents", "EVENTS_TABLE": "events", "CONVERSATIONS_TABLE": "conversations",
		"KEYS_SECRET": "keys", "PROVIDERS_SECRET": "providers", "APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
		"AI_PROVIDER": "bedrock", "AI_MODEL": "a-model", "OPENAI_BASE_URL": "", "OPENAI_API_KEY": "",
		"LIMIT_AI_MINUTE": "20", "AI_MONTHLY_TOKENS": "2000000", "AI_GLOBAL_MONTHLY_TOKENS": "9000000000",
	} {
		t.Setenv(name, value)
	}
	for i := 0; i < len(changes); i += 2 {
		t.Setenv(changes[i], changes[i+1])
	}
}

// Settings that cannot work are reported at the start, with the name of the variable.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		changes []string
		want    string // in the error; "" for none
	}{
		{nil, ""},
		{[]string{"AI_PROVIDER", "openai", "OPENAI_BASE_URL", "http://localhost:11434/v1"}, ""},
		{[]string{"AI_PROVIDER", "openai"}, ""},
		{[]string{"AI_PROVIDER", "scaffold", "AI_MODEL", ""}, ""},
		{[]string{"AI_PROVIDER", ""}, "AI_PROVIDER"},
		{[]string{"AI_PROVIDER", "oracle"}, "AI_PROVIDER=oracle"},
		{[]string{"AI_MODEL", ""}, "AI_MODEL"},
		{[]string{"AI_PROVIDER", "openai", "OPENAI_BASE_URL", "localhost:11434"}, "OPENAI_BASE_URL"},
		{[]string{"AI_PROVIDER", "openai", "OPENAI_BASE_URL", "ftp://localhost/v1"}, "OPENAI_BASE_URL"},
		{[]string{"LIMIT_AI_MINUTE", "many"}, "CallsPerMinute"},
		{[]string{"LIMIT_AI_MINUTE", "0"}, "LIMIT_AI_MINUTE"},
		{[]string{"AI_MONTHLY_TOKENS", "-1"}, "AI_MONTHLY_TOKENS"},
		{[]string{"AI_GLOBAL_MONTHLY_TOKENS", "-1"}, "AI_GLOBAL_MONTHLY_TOKENS"},
	} {
		t.Run(strings.Join(c.changes, " "), func(t *testing.T) {
			setEnv(t, c.changes...)
			cfg, err := config.Load[settings]()
			if err == nil {
				_, err = newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
			}
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Responses, errors included, are streamed in the format that Lambda expects.
func TestResponsesAreStreamed(t *testing.T) {
	setEnv(t)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	handler, err := newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	event, err := os.ReadFile("../../events/ai-usage.json")
	if err != nil {
		t.Fatal(err)
	}
	event = []byte(strings.ReplaceAll(string(event), "__Host-session", "nothing"))
	answer, err := apigateway.NewStream(handler)(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	wire, err := io.ReadAll(answer)
	if err != nil {
		t.Fatal(err)
	}
	head, body, found := strings.Cut(string(wire), strings.Repeat("\x00", 8))
	var prelude struct {
		StatusCode        int
		MultiValueHeaders map[string][]string
	}
	if err := json.Unmarshal([]byte(head), &prelude); err != nil || !found {
		t.Fatalf("%q, %v", wire, err)
	}
	if prelude.StatusCode != 401 || !strings.Contains(body, "AUTH_INVALID_TOKEN") || prelude.MultiValueHeaders["X-Request-Id"] == nil {
		t.Errorf("%+v %s", prelude, body)
	}
}
