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

// setEnv sets the environment variables of the function, as template.yaml does. AWS_ENDPOINT_URL is the endpoint of a
// new DynamoDB and a new Secrets Manager.
func setEnv(t *testing.T) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk := dynamotest.Start(t)
	dynamotest.CreateTable(t, sdk, "accounts", "pk", "sk")
	dynamotest.CreateTable(t, sdk, "projects", "pk", "sk")
	endpoint := functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), "")
	functiontest.SetEnv(t, endpoint, map[string]string{
		"ACCOUNTS_TABLE":    "accounts",
		"PROJECTS_TABLE":    "projects",
		"CODEHOST_SECRET":   "codehost",
		"APP_URL":           "",
		"ALLOWED_ORIGINS":   "",
		"COOKIE_PLAIN_HTTP": "",
		"OAUTH_PROVIDER":    "none",
		"OAUTH_CLIENT_ID":   "",
		"OAUTH_BASE_URL":    "",
		"LIMIT_LOGIN_PAIR":  "",
		"LIMIT_LOGIN_EMAIL": "",
		"LIMIT_LOGIN_IP":    "",
		"LIMIT_SIGNUP_IP":   "7",
		"LIMIT_OAUTH_IP":    "",
	})
}

func TestHandlerFromEnvironment(t *testing.T) {
	setEnv(t)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	want := account.Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 7, OAuthIP: 60}
	if cfg.Limits != want {
		t.Errorf("got the limits %+v, want %+v", cfg.Limits, want)
	}
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler)))
	client := functiontest.NewClient(t)
	signup := client.Do(handler, http.MethodPost, "/api/auth/signup",
		`{"email":"ada@example.com","username":"ada","password":"`+goodPassword+`"}`)
	login := client.Do(handler, http.MethodPost, "/api/auth/login",
		`{"email":"ada@example.com","password":"`+goodPassword+`"}`)
	if signup.StatusCode != http.StatusCreated {
		t.Fatalf("signup: got %d %s, want 201", signup.StatusCode, signup.Body)
	}
	if login.StatusCode != http.StatusOK {
		t.Fatalf("login: got %d %s, want 200", login.StatusCode, login.Body)
	}
	me := client.Do(handler, http.MethodGet, "/api/auth/me", "")
	if me.StatusCode != http.StatusOK || !strings.Contains(me.Body, `"username":"ada"`) {
		t.Errorf("me: got %d %s, want 200 with the username ada", me.StatusCode, me.Body)
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "ACCOUNTS_TABLE", "PROJECTS_TABLE", "KEYS_SECRET", "CODEHOST_SECRET")
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	t.Parallel()
	valid := settings{Limits: account.Limits{LoginPair: 1, LoginEmail: 1, LoginIP: 1, SignupIP: 1, OAuthIP: 1}}
	for text, change := range map[string]func(*settings){ // by the text that the error contains
		"LIMIT_LOGIN_IP":      func(c *settings) { c.Limits.LoginIP = 0 },
		"LIMIT_SIGNUP_IP":     func(c *settings) { c.Limits.SignupIP = -1 },
		"OAUTH_CLIENT_ID":     func(c *settings) { c.OAuth.Provider = "github" },
		"OAUTH_BASE_URL":      func(c *settings) { c.OAuth.Provider, c.OAuth.ClientID = "gitea", "x" },
		`OAUTH_PROVIDER: "x"`: func(c *settings) { c.OAuth.Provider = "x" },
	} {
		cfg := valid
		change(&cfg)
		_, err := newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got the error %v, want one that contains %q", err, text)
		}
	}
}

func TestClientSecretComesFromItsSecret(t *testing.T) {
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
	var secret string // set after newProvider returns, because newProvider must not read it
	clientSecret := config.NewCredential("oauthClientSecret", func(context.Context) (string, error) {
		return `{"oauthClientSecret":"` + secret + `"}`, nil
	}, clock.System)
	provider, err := newProvider(oauth.Config{Provider: "gitea", BaseURL: host.URL, ClientID: "client"}, clientSecret)
	if err != nil {
		t.Fatal(err)
	}
	secret = "secret"
	identity, err := provider.Identify(t.Context(), "code", oauth.NewVerifier(), "http://127.0.0.1/callback")
	if err != nil || identity.Subject != "1" {
		t.Errorf("got the identity %+v and the error %v, want the subject 1", identity, err)
	}
}
