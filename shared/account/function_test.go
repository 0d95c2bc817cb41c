package account

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/lambdafn/apigateway"
)

// setEnv is the environment that template.yaml gives the function, on a fresh DynamoDB and Secrets Manager.
func setEnv(t *testing.T) {
	t.Helper()
	sdk := dynamotest.Start(t)
	dynamotest.CreateTable(t, sdk, "accounts-function", "pk", "sk")
	dynamotest.CreateTable(t, sdk, "projects-function", "pk", "sk")
	target, err := url.Parse(aws.ToString(sdk.Options().BaseEndpoint))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("X-Amz-Target"), "secretsmanager.") {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(map[string]string{"SecretString": testRing})
	}))
	t.Cleanup(endpoint.Close)
	for name, value := range map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": endpoint.URL,
		"ACCOUNTS_TABLE": "accounts-function", "PROJECTS_TABLE": "projects-function", "KEYS_SECRET": "keys", "PROVIDERS_SECRET": "providers",
		"APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "", "OAUTH_PROVIDER": "none", "OAUTH_CLIENT_ID": "", "OAUTH_BASE_URL": "",
		"LIMIT_LOGIN_PAIR": "", "LIMIT_LOGIN_EMAIL": "", "LIMIT_LOGIN_IP": "", "LIMIT_SIGNUP_IP": "7", "LIMIT_OAUTH_IP": "",
	} {
		t.Setenv(name, value)
	}
}

func TestFunctionFromItsEnvironment(t *testing.T) {
	if os.Getenv(dynamotest.EndpointVariable) != "" {
		t.Skip("AWS_ENDPOINT_URL is this test's own to set")
	}
	setEnv(t)
	cfg, err := config.Load[Config]()
	if err != nil {
		t.Fatal(err)
	}
	if want := (Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 7, OAuthIP: 60}); cfg.Limits != want {
		t.Errorf("limits %+v, want %+v", cfg.Limits, want)
	}
	handler, err := Function(cfg, clock.System, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	invoke := func(method, path, body string, header map[string][]string) events.APIGatewayProxyResponse {
		t.Helper()
		event := events.APIGatewayProxyRequest{HTTPMethod: method, Path: path, Body: body, MultiValueHeaders: header}
		event.RequestContext.RequestID, event.RequestContext.Identity.SourceIP = "r-1", "203.0.113.5"
		event.RequestContext.DomainName = "api.example.com"
		payload, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		out, err := apigateway.New(handler).Invoke(t.Context(), payload)
		if err != nil {
			t.Fatal(err)
		}
		var res events.APIGatewayProxyResponse
		if err := json.Unmarshal(out, &res); err != nil {
			t.Fatal(err)
		}
		return res
	}
	content := map[string][]string{"Content-Type": {"application/json"}}
	signup := invoke(http.MethodPost, "/api/auth/signup", `{"email":"ada@example.com","username":"ada","password":"`+goodPassword+`"}`, content)
	login := invoke(http.MethodPost, "/api/auth/login", `{"email":"ada@example.com","password":"`+goodPassword+`"}`, content)
	if signup.StatusCode != http.StatusCreated || login.StatusCode != http.StatusOK {
		t.Fatalf("signup %d %s, login %d %s", signup.StatusCode, signup.Body, login.StatusCode, login.Body)
	}
	cookie, _, _ := strings.Cut(login.MultiValueHeaders["Set-Cookie"][0], ";")
	me := invoke(http.MethodGet, "/api/auth/me", "", map[string][]string{"Cookie": {cookie}})
	if me.StatusCode != http.StatusOK || !strings.Contains(me.Body, `"username":"ada"`) {
		t.Errorf("me %d %s", me.StatusCode, me.Body)
	}
}

func TestFunctionRefusesABadConfiguration(t *testing.T) {
	t.Parallel()
	good := Config{Limits: Limits{1, 1, 1, 1, 1}}
	for name, change := range map[string]func(*Config){
		"LIMIT_LOGIN_IP":      func(c *Config) { c.Limits.LoginIP = 0 },
		"LIMIT_SIGNUP_IP":     func(c *Config) { c.Limits.SignupIP = -1 },
		"OAUTH_CLIENT_ID":     func(c *Config) { c.OAuth.Provider = "github" },
		"OAUTH_BASE_URL":      func(c *Config) { c.OAuth.Provider, c.OAuth.ClientID = "gitea", "x" },
		`OAUTH_PROVIDER: "x"`: func(c *Config) { c.OAuth.Provider = "x" },
	} {
		cfg := good
		change(&cfg)
		if _, err := Function(cfg, clock.System, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClientSecretComesFromTheProvidersSecret(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	var secret string
	providers := config.NewProviders(func(context.Context) (string, error) { return `{"oauthClientSecret":"` + secret + `"}`, nil }, slicetest.NewClock(epoch, 0).Now)
	cfg := h.config()
	cfg.ClientSecret = ""
	provider, err := newProvider(cfg, providers)
	if err != nil {
		t.Fatal(err)
	}
	secret = "secret"
	w := newWorld(t, func(d *Deps) { d.Provider = provider })
	b := w.browser()
	b.enter(h, octocat(1, verified("octo@example.com"))).Want(t, http.StatusFound)
	b.me().Want(t, http.StatusOK)
}

// Every operation of the OpenAPI document has what a reader of it needs.
func TestDocument(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string   `json:"operationId"`
			Summary     string   `json:"summary"`
			Tags        []string `json:"tags"`
			Responses   map[string]struct {
				Ref string `json:"$ref"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(infra.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"POST /api/auth/signup": "201", "POST /api/auth/login": "200", "GET /api/auth/me": "200", "POST /api/auth/logout": "200",
		"GET /api/auth/codehost": "302", "GET /api/auth/codehost/callback": "302", "POST /api/auth/codehost/link": "200",
		"GET /api/auth/sessions": "200", "DELETE /api/auth/sessions/{id}": "200", "PUT /api/auth/password": "200",
	}
	for path, methods := range document.Paths {
		for method, op := range methods {
			name := strings.ToUpper(method) + " " + path
			if !strings.HasPrefix(path, "/api/auth/") {
				continue
			}
			status, known := want[name]
			delete(want, name)
			if _, ok := op.Responses[status]; !known || !ok || op.OperationID == "" || op.Summary == "" || len(op.Tags) != 1 || op.Responses["500"].Ref == "" {
				t.Errorf("%s: %+v", name, op)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	for _, text := range []string{"AUTH_RATE_LIMITED", "AUTH_USER_EXISTS", "AUTH_OAUTH_STATE_INVALID", "RateLimit-Remaining", "ada@example.com"} {
		if !strings.Contains(string(infra.OpenAPI), text) {
			t.Errorf("the document doesn't mention %s", text)
		}
	}
	if strings.Contains(string(infra.OpenAPI), bindingCookie) {
		t.Error("the document shows the binding cookie")
	}
}
