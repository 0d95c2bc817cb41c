package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"devplatform/infra/functiontest"
	"devplatform/shared/assistant"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/lambdafn/apigateway"
)

// environment maps the names of environment variables to their values.
type environment map[string]string

// setEnvironment sets the environment variables that template.yaml sets. The values in changes replace them.
func setEnvironment(t *testing.T, changes environment) {
	t.Helper()
	own := environment{
		"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "",

		"ACCOUNTS_TABLE":      "accounts",
		"PROJECTS_TABLE":      "projects",
		"CONTENTS_TABLE":      "contents",
		"EVENTS_TABLE":        "events",
		"CONVERSATIONS_TABLE": "conversations",
		"FILES_BUCKET":        "files",
		"MODEL_SECRET":        "model",

		"APP_URL":           "",
		"ALLOWED_ORIGINS":   "",
		"COOKIE_PLAIN_HTTP": "",

		"AI_PROVIDER":              "bedrock",
		"AI_MODEL":                 "a-model",
		"OPENAI_BASE_URL":          "",
		"OPENAI_API_KEY":           "",
		"LIMIT_AI_MINUTE":          "20",
		"LIMIT_AI_IN_PROGRESS":     "3",
		"AI_MONTHLY_TOKENS":        "2000000",
		"AI_GLOBAL_MONTHLY_TOKENS": "9000000000",
		"LIMIT_OLD_VERSIONS_MIB":   "400",
		"LIMIT_WRITTEN_MIB_DAY":    "2048",
	}
	maps.Copy(own, changes)
	functiontest.SetEnv(t, "http://127.0.0.1:1", own)
}

// Invalid settings are reported when the function starts. The error names the variable or its field.
func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		changes   environment
		wantError string // part of the error; "" for no error
	}{
		"bedrock":  {},
		"openai":   {changes: environment{"AI_PROVIDER": "openai"}},
		"scaffold": {changes: environment{"AI_PROVIDER": "scaffold", "AI_MODEL": ""}},
		"local OpenAI-compatible server": {
			changes: environment{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": "http://localhost:11434/v1"},
		},
		"OpenAI-compatible server in a private network": {
			changes: environment{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": "http://10.1.2.3:8000/v1"},
		},
		"plain http to a public host": {
			changes:   environment{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": "http://api.example.com/v1"},
			wantError: "OPENAI_BASE_URL must be an https URL",
		},
		"plain http to a public address": {
			changes:   environment{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": "http://8.8.8.8/v1"},
			wantError: "OPENAI_BASE_URL must be an https URL",
		},
		"no provider": {
			changes:   environment{"AI_PROVIDER": ""},
			wantError: "AI_PROVIDER",
		},
		"unknown provider": {
			changes:   environment{"AI_PROVIDER": "unknown"},
			wantError: "AI_PROVIDER=unknown",
		},
		"no model": {
			changes:   environment{"AI_MODEL": ""},
			wantError: "AI_MODEL",
		},
		"base URL without a scheme": {
			changes:   environment{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": "localhost:11434"},
			wantError: "OPENAI_BASE_URL",
		},
		"base URL with another scheme": {
			changes:   environment{"AI_PROVIDER": "openai", "OPENAI_BASE_URL": "ftp://localhost/v1"},
			wantError: "OPENAI_BASE_URL",
		},
		"calls per minute are not a number": {
			changes:   environment{"LIMIT_AI_MINUTE": "many"},
			wantError: "LIMIT_AI_MINUTE",
		},
		"no calls per minute": {
			changes:   environment{"LIMIT_AI_MINUTE": "0"},
			wantError: "LIMIT_AI_MINUTE",
		},
		"no answers in progress": {
			changes:   environment{"LIMIT_AI_IN_PROGRESS": "0"},
			wantError: "LIMIT_AI_IN_PROGRESS",
		},
		"negative monthly tokens": {
			changes:   environment{"AI_MONTHLY_TOKENS": "-1"},
			wantError: "AI_MONTHLY_TOKENS",
		},
		"negative monthly tokens of all users": {
			changes:   environment{"AI_GLOBAL_MONTHLY_TOKENS": "-1"},
			wantError: "AI_GLOBAL_MONTHLY_TOKENS",
		},
		"no old versions": {
			changes:   environment{"LIMIT_OLD_VERSIONS_MIB": "0"},
			wantError: "LIMIT_OLD_VERSIONS_MIB=0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			setEnvironment(t, tc.changes)
			cfg, err := config.Load[settings]()
			if err == nil {
				_, err = newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
			}
			if (err == nil) != (tc.wantError == "") || (err != nil && !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("got error %v, want one that contains %q", err, tc.wantError)
			}
		})
	}
}

// The variables set the limits. A variable that is not set has the default limit.
func TestLimits(t *testing.T) {
	set := environment{
		"LIMIT_AI_MINUTE": "7", "LIMIT_AI_IN_PROGRESS": "8",
		"AI_MONTHLY_TOKENS": "9", "AI_GLOBAL_MONTHLY_TOKENS": "9000000000",
	}
	unset := environment{}
	for name := range set {
		unset[name] = ""
	}
	want := assistant.DefaultLimits()
	want.Limits = quota.Limits{CallsPerMinute: 7, InProgress: 8, MonthlyTokens: 9, GlobalMonthlyTokens: 9_000_000_000}
	for _, tc := range []struct {
		changes environment
		want    assistant.Limits
	}{
		{set, want}, {unset, assistant.DefaultLimits()},
	} {
		setEnvironment(t, tc.changes)
		cfg, err := config.Load[settings]()
		if got := cfg.limits(); err != nil || got != tc.want {
			t.Errorf("%v: got the limits %+v and error %v, want %+v", tc.changes, got, err, tc.want)
		}
	}
}

// Responses are streamed in the format that Lambda expects. This includes error responses.
func TestResponsesAreStreamed(t *testing.T) {
	setEnvironment(t, nil)
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
	withoutSession := strings.ReplaceAll(string(event), "__Host-session", "other")
	stream, err := apigateway.NewStream(handler)(t.Context(), []byte(withoutSession))
	if err != nil {
		t.Fatal(err)
	}
	response, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	// The response has a JSON prelude with the status and headers, eight NUL bytes, and the body.
	head, body, found := strings.Cut(string(response), strings.Repeat("\x00", 8))
	var prelude struct {
		StatusCode        int
		MultiValueHeaders map[string][]string
	}
	if err := json.Unmarshal([]byte(head), &prelude); err != nil || !found {
		t.Fatalf("got response %q (error %v), want a JSON prelude and eight NUL bytes", response, err)
	}
	if prelude.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "AUTH_INVALID_TOKEN") {
		t.Errorf("got status %d and body %s, want 401 and code AUTH_INVALID_TOKEN", prelude.StatusCode, body)
	}
	if prelude.MultiValueHeaders["X-Request-Id"] == nil {
		t.Errorf("got headers %v, want X-Request-Id", prelude.MultiValueHeaders)
	}
}
