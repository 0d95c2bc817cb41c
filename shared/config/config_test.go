package config_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/config"
)

type settings struct {
	config.AWS
	config.Tables
	config.ProjectTables
	config.ConversationsTable
	config.Edge
}

// setenv sets the variables of the settings. Variables that vars does not contain are set to "".
func setenv(t *testing.T, vars map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL",
		"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SECRETS_MANAGER", "ACCOUNTS_TABLE", "PROJECTS_TABLE",
		"CONTENTS_TABLE", "EVENTS_TABLE", "CONVERSATIONS_TABLE", "MAIL_TABLE",
		"APP_URL", "ALLOWED_ORIGINS", "COOKIE_PLAIN_HTTP",
	} {
		t.Setenv(name, vars[name])
	}
}

// withRequired returns the variables in vars together with the required ones.
func withRequired(vars map[string]string) map[string]string {
	all := map[string]string{
		"ACCOUNTS_TABLE":      "a",
		"PROJECTS_TABLE":      "p",
		"CONTENTS_TABLE":      "c",
		"EVENTS_TABLE":        "e",
		"CONVERSATIONS_TABLE": "v",
	}
	maps.Copy(all, vars)
	return all
}

func TestLoad(t *testing.T) {
	setenv(t, withRequired(map[string]string{
		"AWS_REGION":        "eu-central-1",
		"MAIL_TABLE":        "m",
		"APP_URL":           "https://app.example.com",
		"ALLOWED_ORIGINS":   "https://a.example.com,http://localhost:5173",
		"COOKIE_PLAIN_HTTP": "true",
	}))
	got, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		AWS:                config.AWS{Region: "eu-central-1"},
		Tables:             config.Tables{Accounts: "a", Projects: "p", Mail: "m"},
		ProjectTables:      config.ProjectTables{Contents: "c", EventsTable: config.EventsTable{Events: "e"}},
		ConversationsTable: config.ConversationsTable{Conversations: "v"},
		Edge: config.Edge{
			AppURL:          "https://app.example.com",
			AllowedOrigins:  []config.Origin{"https://a.example.com", "http://localhost:5173"},
			CookiePlainHTTP: true,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestEmptyVariablesAreUnset(t *testing.T) {
	setenv(t, withRequired(nil))
	got, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Edge{}, got.Edge); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestLoadNamesEveryInvalidVariable(t *testing.T) {
	setenv(t, map[string]string{"APP_URL": "app.example.com", "COOKIE_PLAIN_HTTP": "perhaps", "PROJECTS_TABLE": "p"})
	_, err := config.Load[settings]()
	if err == nil {
		t.Fatal("got no error for invalid settings")
	}
	for _, name := range []string{
		"ACCOUNTS_TABLE", "CONTENTS_TABLE", "EVENTS_TABLE", "CONVERSATIONS_TABLE",
		`APP_URL=app.example.com: "app.example.com" is not an origin`, "COOKIE_PLAIN_HTTP=perhaps: must be true or false",
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want it to contain %s", err, name)
		}
	}
}

type limits struct {
	Users int `env:"LIMIT_USERS" envDefault:"3" min:"1" max:"10"`
	Rooms struct {
		Beds int64 `env:"LIMIT_BEDS" envDefault:"0" min:"0"`
	}
}

func TestLoadChecksRanges(t *testing.T) {
	for _, c := range []struct{ users, beds, want string }{
		{"", "", ""}, {"1", "0", ""}, {"10", "5", ""},
		{"0", "", "LIMIT_USERS=0: must be at least 1"},
		{"11", "-1", "LIMIT_USERS=11: must be at most 10; LIMIT_BEDS=-1: must be at least 0"},
	} {
		t.Setenv("LIMIT_USERS", c.users)
		t.Setenv("LIMIT_BEDS", c.beds)
		if _, err := config.Load[limits](); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("LIMIT_USERS=%s LIMIT_BEDS=%s: got error %v, want %q", c.users, c.beds, err, c.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Setenv("LIMIT_USERS", "7")
	if got := config.Defaults[limits](); got.Users != 3 {
		t.Errorf("got %d users, want the default, 3", got.Users)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"https://app.example.com":      true,
		"http://localhost:3000":        true,
		"https://[::1]:8443":           true,
		"https://app.example.com/":     false,
		"https://app.example.com/x":    false,
		"https://app.example.com?x":    false,
		"https://user@app.example.com": false,
		"https://App.example.com":      false,
		"https://app.example.com:443":  false,
		"http://app.example.com:80":    false,
		"https://*.example.com":        false,
		"*":                            false,
		"null":                         false,
		"app.example.com":              false,
		"ftp://app.example.com":        false,
		"https://":                     false,
		"https://app.example.com#x":    false,
	} {
		var o config.Origin
		if err := o.UnmarshalText([]byte(text)); (err == nil) != valid {
			t.Errorf("%q: got error %v, want valid to be %v", text, err, valid)
		}
	}
}
