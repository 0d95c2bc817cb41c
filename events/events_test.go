// Package events_test holds the sample events true: each is what the gateway makes of that request to the template's API, and is
// answered by the function that the template routes it to.
package events_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
	"devplatform/shared/account"
	"devplatform/shared/account/oauth"
	"devplatform/shared/api"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// answers are what a fresh system answers to the samples, in this order. The samples' session is nobody's.
var answers = []struct {
	file   string
	status int
	holds  string
}{
	{"auth-signup", 201, `"success":true`},
	{"auth-login", 200, `"success":true`},
	{"auth-me", 401, `"AUTH_INVALID_TOKEN"`},
	{"auth-logout", 200, `"success":true`},
	{"auth-codehost", 302, ``},
	{"auth-codehost-callback", 400, `"AUTH_OAUTH_STATE_INVALID"`},
	{"auth-codehost-link", 401, `"AUTH_INVALID_TOKEN"`},
	{"auth-sessions-list", 401, `"AUTH_INVALID_TOKEN"`},
	{"auth-session-delete", 401, `"AUTH_INVALID_TOKEN"`},
	{"auth-password-change", 401, `"AUTH_INVALID_TOKEN"`},
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEverySampleIsTried(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) != len(answers) {
		t.Errorf("%d samples, %d tried, %v", len(files), len(answers), err)
	}
}

// The gateway, given the request that a sample describes, must make that sample; only the made-up ids may differ.
func TestSamplesAreTheGatewaysEvents(t *testing.T) {
	t.Parallel()
	template, err := stack.Load(filepath.Join("..", "template.yaml"), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range answers {
		t.Run(sample.file, func(t *testing.T) {
			t.Parallel()
			data := read(t, sample.file+".json")
			var event events.APIGatewayProxyRequest
			var want map[string]any
			if err := json.Unmarshal(data, &event); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			description := template.APIs[0]
			description.ID, description.Stage = event.RequestContext.APIID, event.RequestContext.Stage
			var got map[string]any
			g, err := gateway.New(gateway.Options{
				API: description, Account: event.RequestContext.AccountID, StageInPath: true, Logger: slog.New(slog.DiscardHandler),
				Now: func() time.Time { return time.UnixMilli(event.RequestContext.RequestTimeEpoch) },
				Invoke: func(_ context.Context, in runtime.Invocation) (*runtime.Response, error) {
					if in.Function != "AuthFunction" {
						t.Errorf("goes to %s", in.Function)
					}
					return &runtime.Response{Payload: []byte(`{"statusCode":200}`), Body: http.NoBody}, json.Unmarshal(in.Payload, &got)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			g.ServeHTTP(httptest.NewRecorder(), request(t, event))
			for _, made := range []string{"requestId", "extendedRequestId", "resourceId", "deploymentId"} {
				for _, e := range []map[string]any{got, want} {
					if inner, ok := e["requestContext"].(map[string]any); !ok || inner[made] == "" || inner[made] == nil {
						t.Errorf("no %s in %v", made, e["requestContext"])
					} else {
						inner[made] = "-"
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-sample +gateway):\n%s", diff)
			}
		})
	}
}

// request is what the client sent: the event without the gateway's additions.
func request(t *testing.T, event events.APIGatewayProxyRequest) *http.Request {
	t.Helper()
	target := event.RequestContext.Path
	if query := url.Values(event.MultiValueQueryStringParameters).Encode(); query != "" {
		target += "?" + query
	}
	r := httptest.NewRequestWithContext(t.Context(), event.HTTPMethod, target, strings.NewReader(event.Body))
	for name, values := range event.MultiValueHeaders {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	for _, added := range []string{"X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Proto", "Host"} {
		r.Header.Del(added)
	}
	r.Host, r.TLS = event.RequestContext.DomainName, &tls.ConnectionState{}
	r.RemoteAddr = event.RequestContext.Identity.SourceIP + ":50000"
	return r
}

func TestSamplesAreAnswered(t *testing.T) {
	t.Parallel()
	handler := newAuth(t)
	for _, sample := range answers { // one after the other: the login needs the sign-up
		payload, err := handler.Invoke(t.Context(), read(t, sample.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var got events.APIGatewayProxyResponse
		if err := json.Unmarshal(payload, &got); err != nil {
			t.Fatal(err)
		}
		if got.StatusCode != sample.status || !strings.Contains(strings.ReplaceAll(got.Body, " ", ""), sample.holds) {
			t.Errorf("%s: %d %s, want %d %s", sample.file, got.StatusCode, got.Body, sample.status, sample.holds)
		}
	}
}

// newAuth is the auth function on a DynamoDB of its own.
func newAuth(t *testing.T) *api.LambdaHandler {
	t.Helper()
	sdk := dynamotest.Start(t)
	suffix := strings.ToLower(rand.Text())
	tables := config.Tables{Accounts: "accounts-" + suffix, Projects: "projects-" + suffix}
	for _, name := range []string{tables.Accounts, tables.Projects} {
		dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	}
	provider, err := oauth.New(oauth.Config{Provider: "github", ClientID: "id", ClientSecret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	const ring = `{"current":"k1","k1":"a key for the tests, and for nothing else 0123456789"}`
	return api.Lambda(account.Router(config.Edge{}, account.New(account.Deps{
		DB: db.Wrap(sdk, time.Now), Tables: tables, Provider: provider, Clock: time.Now,
		Keys:   config.NewKeys(func(context.Context) (string, error) { return ring, nil }, time.Now),
		IDs:    id.NewGenerator(time.Now, rand.Reader),
		Logger: slog.New(slog.DiscardHandler),
		Limits: account.Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 100, OAuthIP: 60},
	})))
}
