package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/account"
	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

const goodPassword = "correct horse battery"

// setEnv sets the environment that template.yaml gives the function, with a new DynamoDB and Secrets Manager behind one
// endpoint.
func setEnv(t *testing.T) {
	t.Helper()
	functiontest.SkipWithEndpoint(t)
	sdk := dynamotest.Start(t)
	dynamotest.CreateTable(t, sdk, "accounts", "pk", "sk")
	dynamotest.CreateTable(t, sdk, "projects", "pk", "sk")
	endpoint := functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), "")
	functiontest.SetEnv(t, endpoint, map[string]string{
		"ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "PROVIDERS_SECRET": "providers",
		"APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
		"OAUTH_PROVIDER": "none", "OAUTH_CLIENT_ID": "", "OAUTH_BASE_URL": "",
		"LIMIT_LOGIN_PAIR": "", "LIMIT_LOGIN_EMAIL": "", "LIMIT_LOGIN_IP": "", "LIMIT_SIGNUP_IP": "7", "LIMIT_OAUTH_IP": "",
	})
}

func TestFunctionFromItsEnvironment(t *testing.T) {
	setEnv(t)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	if want := (account.Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 7, OAuthIP: 60}); cfg.Limits != want {
		t.Errorf("limits %+v, want %+v", cfg.Limits, want)
	}
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler)))
	ada := functiontest.NewClient(t)
	signup := ada.Do(handler, http.MethodPost, "/api/auth/signup",
		`{"email":"ada@example.com","username":"ada","password":"`+goodPassword+`"}`)
	login := ada.Do(handler, http.MethodPost, "/api/auth/login",
		`{"email":"ada@example.com","password":"`+goodPassword+`"}`)
	if signup.StatusCode != http.StatusCreated || login.StatusCode != http.StatusOK {
		t.Fatalf("signup %d %s, login %d %s", signup.StatusCode, signup.Body, login.StatusCode, login.Body)
	}
	me := ada.Do(handler, http.MethodGet, "/api/auth/me", "")
	if me.StatusCode != http.StatusOK || !strings.Contains(me.Body, `"username":"ada"`) {
		t.Errorf("me %d %s", me.StatusCode, me.Body)
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "ACCOUNTS_TABLE", "PROJECTS_TABLE", "KEYS_SECRET", "PROVIDERS_SECRET")
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	t.Parallel()
	good := settings{Limits: account.Limits{LoginPair: 1, LoginEmail: 1, LoginIP: 1, SignupIP: 1, OAuthIP: 1}}
	for name, change := range map[string]func(*settings){
		"LIMIT_LOGIN_IP":      func(c *settings) { c.Limits.LoginIP = 0 },
		"LIMIT_SIGNUP_IP":     func(c *settings) { c.Limits.SignupIP = -1 },
		"OAUTH_CLIENT_ID":     func(c *settings) { c.OAuth.Provider = "github" },
		"OAUTH_BASE_URL":      func(c *settings) { c.OAuth.Provider, c.OAuth.ClientID = "gitea", "x" },
		`OAUTH_PROVIDER: "x"`: func(c *settings) { c.OAuth.Provider = "x" },
	} {
		cfg := good
		change(&cfg)
		_, err := newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClientSecretComesFromTheProvidersSecret(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/api/v1/user":
			fmt.Fprint(w, `{"id":1}`)
		case r.URL.Path == "/api/v1/user/emails":
			fmt.Fprint(w, `[]`)
		case r.FormValue("client_secret") == "secret":
			fmt.Fprint(w, `{"access_token":"token","token_type":"bearer"}`)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(host.Close)
	var secret string
	providers := config.NewProviders(func(context.Context) (string, error) {
		return `{"oauthClientSecret":"` + secret + `"}`, nil
	}, clock.System)
	provider, err := newProvider(oauth.Config{Provider: "gitea", BaseURL: host.URL, ClientID: "client"}, providers)
	if err != nil {
		t.Fatal(err)
	}
	secret = "secret"
	identity, err := provider.Identify(t.Context(), "code", oauth.NewVerifier(), "http://127.0.0.1/callback")
	if err != nil || identity.Subject != "1" {
		t.Errorf("%+v, %v", identity, err)
	}
}
