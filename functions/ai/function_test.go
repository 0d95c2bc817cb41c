package main

import (
	"maps"
	"testing"

	"devplatform/infra/functiontest"
	"devplatform/shared/assistant"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/config"
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
