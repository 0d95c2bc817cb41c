// Package events_test checks the sample events. A sample of a request must be equal to the event that the gateway
// creates from the request. A sample of stream records must pass the filters of the template's event source mapping.
// Each function must accept its samples, and every route must have a sample.
package events_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/stack"
	"devplatform/shared/account"
	"devplatform/shared/account/oauth"
	"devplatform/shared/assistant"
	"devplatform/shared/assistant/scaffold"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/docs"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn/apigateway"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/webhook"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

// requests lists the samples of requests with the expected responses. TestSampleResponses sends the samples in this
// order to functions with empty tables. The session cookies of the samples are not valid.
var requests = []struct {
	file   string // the name without .json
	status int    // the status of the response
	body   string // a part of the response body, without spaces
}{
	{"auth-signup", 201, `"success":true`},
	{"auth-login", 200, `"success":true`},
	{"auth-me", 401, noSession},
	{"auth-logout", 200, `"success":true`},
	{"auth-codehost", 302, ``},
	{"auth-codehost-callback", 400, `"AUTH_OAUTH_STATE_INVALID"`},
	{"auth-codehost-link", 401, noSession},
	{"auth-identities-list", 401, noSession},
	{"auth-identity-delete", 401, noSession},
	{"auth-sessions-list", 401, noSession},
	{"auth-session-delete", 401, noSession},
	{"auth-password-change", 401, noSession},
	{"projects-workspaces-list", 401, noSession},
	{"projects-workspace-create", 401, noSession},
	{"projects-members-list", 401, noSession},
	{"projects-member-add", 401, noSession},
	{"projects-member-update", 401, noSession},
	{"projects-member-remove", 401, noSession},
	{"projects-list", 401, noSession},
	{"projects-create", 401, noSession},
	{"projects-read", 401, noSession},
	{"projects-update", 401, noSession},
	{"projects-delete", 401, noSession},
	{"projects-variables-read", 401, noSession},
	{"projects-variables-update", 401, noSession},
	{"projects-events-list", 401, noSession},
	{"projects-comment-create", 401, noSession},
	{"projects-comments-list", 401, noSession},
	{"projects-comment-delete", 401, noSession},
	{"projects-files-list", 401, noSession},
	{"projects-file-read", 401, noSession},
	{"projects-file-save", 401, noSession},
	{"projects-file-delete", 401, noSession},
	{"projects-files-batch", 401, noSession},
	{"projects-file-history", 401, noSession},
	{"projects-file-version-delete", 401, noSession},
	{"projects-upload-announce", 401, noSession},
	{"projects-upload-complete", 401, noSession},
	{"projects-export-start", 401, noSession},
	{"projects-export-read", 401, noSession},
	{"projects-deployment-create", 401, noSession},
	{"projects-deployments-list", 401, noSession},
	{"projects-deployment-read", 401, noSession},
	{"projects-deployment-log", 401, noSession},
	{"projects-deployment-files", 401, noSession},
	{"projects-deployment-cancel", 401, noSession},
	{"projects-deployment-promote", 401, noSession},
	{"projects-deployment-delete", 401, noSession},
	{"projects-site-read", 401, noSession},
	{"projects-site-update", 401, noSession},
	{"projects-site-delete", 401, noSession},
	{"sites-page", 404, `Pagenotfound`},
	{"ai-chat", 401, noSession},
	{"ai-chat-stream", 401, noSession},
	{"ai-conversation-read", 401, noSession},
	{"ai-conversation-delete", 401, noSession},
	{"ai-generate", 401, noSession},
	{"ai-message-cancel", 401, noSession},
	{"ai-usage", 401, noSession},
	{"webhooks-create", 401, noSession},
	{"webhooks-list", 401, noSession},
	{"webhooks-read", 401, noSession},
	{"webhooks-update", 401, noSession},
	{"webhooks-delete", 401, noSession},
	{"webhook-test", 401, noSession},
	{"webhooks-deliveries-list", 401, noSession},
	{"webhooks-delivery-read", 401, noSession},
	{"webhooks-redeliver", 401, noSession},
	{"webhooks-recover", 401, noSession},
	{"docs-openapi", 200, `"servers":[{"url":"https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/dev"}]`},
	{"docs-page", 200, `<mainid="docs">`},
	{"docs-file", 200, ``},
}

const noSession = `"AUTH_INVALID_TOKEN"`

// streams lists the samples with stream records. triggers lists the other samples that are not requests. The other
// files of this package test them.
var (
	streams  = []string{"project-cleanup-project-deleted", "project-cleanup-replaced", "webhook-fanout-events"}
	triggers = []string{
		"webhook-delivery-messages", "webhook-slow-delivery-creation", "webhook-slow-delivery-turn",
		"webhook-retry-schedule", "project-cleanup-schedule", "jobs-message", "jobs-schedule",
	}
)

// functionOf returns the logical ID of the function that a sample is for, such as AuthFunction for auth-me, and
// WebhookFanoutFunction for webhook-fanout-events.
func functionOf(sample string) string {
	words := strings.Split(sample, "-")
	switch {
	case strings.HasPrefix(sample, "jobs-"):
		words = words[:1]
	case strings.HasPrefix(sample, "webhook-slow-delivery-"):
		words = words[:3]
	case slices.Contains(streams, sample) || slices.Contains(triggers, sample) || sample == "webhook-test":
		words = words[:2]
	default:
		words = words[:1]
	}
	name := ""
	for _, word := range words {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name + "Function"
}

// read returns the content of a sample file.
func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSamplesAreListed checks that every sample file is in one of the lists above.
func TestSamplesAreListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.json")
	listed := len(requests) + len(streams) + len(triggers)
	if err != nil || len(files) != listed {
		t.Errorf("%d sample files, but %d are listed in the tests (error %v)", len(files), listed, err)
	}
}

// TestEveryRouteHasASample checks that every operation of the OpenAPI document has a sample, and that every sample
// matches an operation. Pages of sites are not in the document.
func TestEveryRouteHasASample(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	routes := http.NewServeMux() // matches requests to operations as the functions do
	for path, operations := range document.Paths {
		for method := range operations {
			pattern := strings.ToUpper(method) + " " + path
			missing[pattern] = true
			routes.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		}
	}
	for _, sample := range requests {
		var event events.APIGatewayProxyRequest
		if err := json.Unmarshal(read(t, sample.file+".json"), &event); err != nil {
			t.Fatal(err)
		}
		if functionOf(sample.file) == "SitesFunction" {
			continue
		}
		r := httptest.NewRequestWithContext(t.Context(), event.HTTPMethod, event.Path, http.NoBody)
		_, pattern := routes.Handler(r)
		if pattern == "" {
			t.Errorf("%s: %s %s is not in the OpenAPI document", sample.file, event.HTTPMethod, event.Path)
		}
		delete(missing, pattern)
	}
	if len(missing) > 0 {
		t.Errorf("routes without a sample: %v", slices.Sorted(maps.Keys(missing)))
	}
}

// TestSamplesMatchGatewayEvents sends the request of each sample to the gateway. The event that the gateway creates
// must be the sample, except for generated IDs.
func TestSamplesMatchGatewayEvents(t *testing.T) {
	t.Parallel()
	template, err := stack.Load(filepath.Join("..", "template.yaml"), stack.Options{Parameters: map[string]string{
		"AiProvider": "scaffold", "SitesDomain": "example.app",
		"SitesCertificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/c",
	}})
	if err != nil {
		t.Fatal(err)
	}
	apis := map[string]stack.API{}
	for _, api := range template.APIs {
		apis[api.LogicalID] = api
	}
	for _, sample := range requests {
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
			isSite := functionOf(sample.file) == "SitesFunction" // at a domain name of its own, without a stage in the path
			description := apis["Api"]
			if isSite {
				description = apis["SitesApi"]
			}
			description.ID, description.Stage = event.RequestContext.APIID, event.RequestContext.Stage
			var got map[string]any
			g, err := gateway.New(gateway.Options{
				API: description, Account: event.RequestContext.AccountID, StageInPath: !isSite,
				Logger: slog.New(slog.DiscardHandler),
				Now:    func() time.Time { return time.UnixMilli(event.RequestContext.RequestTimeEpoch) },
				Invoke: func(_ context.Context, in runtime.Invocation) (*runtime.Response, error) {
					if in.Function != functionOf(sample.file) {
						t.Errorf("the gateway invoked %s, want %s", in.Function, functionOf(sample.file))
					}
					response := &runtime.Response{Payload: []byte(`{"statusCode":200}`), Body: http.NoBody}
					return response, json.Unmarshal(in.Payload, &got)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			g.ServeHTTP(httptest.NewRecorder(), clientRequest(t, event))
			for _, generated := range []string{"requestId", "extendedRequestId", "resourceId", "deploymentId"} {
				for _, e := range []map[string]any{got, want} {
					requestContext, ok := e["requestContext"].(map[string]any)
					if !ok || requestContext[generated] == "" || requestContext[generated] == nil {
						t.Errorf("the requestContext %v has no %s", e["requestContext"], generated)
						continue
					}
					requestContext[generated] = "-"
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the gateway creates a different event (-sample +gateway):\n%s", diff)
			}
		})
	}
}

// clientRequest returns the request from which the gateway creates an event. It has no headers that the gateway adds.
func clientRequest(t *testing.T, event events.APIGatewayProxyRequest) *http.Request {
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

// TestSampleResponses checks the response of the functions to each sample.
func TestSampleResponses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, sample := range requests { // in order: the login needs the sign-up
		payload, err := f.functions[functionOf(sample.file)].Invoke(t.Context(), read(t, sample.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var got events.APIGatewayProxyResponse
		if err := json.Unmarshal(payload, &got); err != nil {
			t.Fatal(err)
		}
		if got.StatusCode != sample.status || !strings.Contains(strings.ReplaceAll(got.Body, " ", ""), sample.body) {
			t.Errorf("%s: got %d %s, want %d with %s in the body",
				sample.file, got.StatusCode, got.Body, sample.status, sample.body)
		}
	}
}

// TestSamplesAreValid checks that the functions accept the body and the query of each sample, except for the samples of
// AuthFunction. It uses a valid session, because without a session, the functions respond before they validate the body
// and the query.
func TestSamplesAreValid(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	cookie := f.signUp(t)
	for _, sample := range requests {
		if functionOf(sample.file) == "AuthFunction" {
			continue
		}
		var event events.APIGatewayProxyRequest
		if err := json.Unmarshal(read(t, sample.file+".json"), &event); err != nil {
			t.Fatal(err)
		}
		event.MultiValueHeaders["Cookie"] = []string{cookie}
		payload, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		response, err := f.functions[functionOf(sample.file)].Invoke(t.Context(), payload)
		if err != nil {
			t.Fatal(err)
		}
		var got events.APIGatewayProxyResponse
		if err := json.Unmarshal(response, &got); err != nil {
			t.Fatal(err)
		}
		// The project and workspace of the sample do not exist.
		if got.StatusCode >= 300 && got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %d %s, want success or 404", sample.file, got.StatusCode, got.Body)
		}
	}
}

// fixture contains the functions and the embedded DynamoDB that they use.
type fixture struct {
	functions map[string]*apigateway.Handler
	client    *db.Client
	tables    map[string]db.Table
	bucket    objectstore.Bucket
}

// signUp creates the account of the samples and returns its session cookie.
func (f *fixture) signUp(t *testing.T) (cookie string) {
	t.Helper()
	for _, sample := range []string{"auth-signup", "auth-login"} {
		payload, err := f.functions["AuthFunction"].Invoke(t.Context(), read(t, sample+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var got events.APIGatewayProxyResponse
		if err := json.Unmarshal(payload, &got); err != nil || got.StatusCode >= 300 {
			t.Fatalf("%s: got %s, error %v, want success", sample, payload, err)
		}
		if cookies := got.MultiValueHeaders["Set-Cookie"]; len(cookies) > 0 {
			cookie, _, _ = strings.Cut(cookies[0], ";")
		}
	}
	return cookie
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	sdk, objects := dynamotest.Start(t), s3test.Client(s3test.StartServer(t))
	suffix := strings.ToLower(rand.Text())
	f := &fixture{
		client: db.Wrap(sdk, time.Now), tables: map[string]db.Table{},
		bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(s3test.CreateBucket(t, objects, "files")),
	}
	for _, name := range []string{"accounts", "projects", "contents", "conversations", "events", "webhooks", "sites"} {
		if name == "projects" {
			functiontest.CreateProjectsTable(t, sdk, name+"-"+suffix)
		} else {
			dynamotest.CreateTable(t, sdk, name+"-"+suffix, "pk", "sk")
		}
		f.tables[name] = f.client.Table(name + "-" + suffix)
	}
	tables := config.Tables{Accounts: "accounts-" + suffix, Projects: "projects-" + suffix}
	provider, err := oauth.New(oauth.Config{Provider: "github", ClientID: "id", ClientSecret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	const ring = `{"current":"k1","k1":"a key that only the tests use 0123456789 0123456789 0123"}`
	keys := config.NewKeys(func(context.Context) (string, error) { return ring, nil }, time.Now)
	ids, logger := id.NewGenerator(time.Now, rand.Reader), slog.New(slog.DiscardHandler)
	sessions := account.NewSessions(f.client, tables, keys, time.Now, logger)
	accounts := account.New(account.Deps{
		DB: f.client, Tables: tables, Provider: provider, Clock: time.Now, Keys: keys, IDs: ids, Logger: logger,
		Limits: account.Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 100, OAuthIP: 60},
	})
	outbox, cursors := event.Outbox{Events: f.tables["events"], IDs: ids}, db.NewCursors(keys)
	workspaces := workspace.New(workspace.Deps{
		DB: f.client, Projects: f.tables["projects"], Outbox: outbox, Cursors: cursors, People: sessions,
		IDs: ids, Clock: time.Now, DisableWebhooks: revocation.Store{Webhooks: f.tables["webhooks"]}.Disable,
	})
	files := file.New(file.Deps{
		DB: f.client, Projects: f.tables["projects"], Contents: f.tables["contents"], Bucket: f.bucket,
		Outbox: outbox, Cursors: cursors,
		IDs: ids, Clock: time.Now, Quotas: file.DefaultQuotas(),
	})
	projects := project.New(project.Deps{
		DB: f.client, Projects: f.tables["projects"], Outbox: outbox, Cursors: cursors, Files: files,
		IDs: ids, Clock: time.Now, Logger: logger,
	})
	exports := export.New(export.Deps{ // without a queue: no sample starts an export of a project that exists
		DB: f.client, Projects: f.tables["projects"], Bucket: f.bucket, Clock: time.Now,
		HourlyLimit: export.DefaultHourlyLimit,
	})
	webhooks := webhook.New(webhook.Deps{ // without a queue: no sample sends a message to it
		DB: f.client, Webhooks: f.tables["webhooks"], Projects: f.tables["projects"], Keys: keys, Cursors: cursors,
		Sender: sender.New(sender.Options{Now: time.Now}), IDs: ids, Clock: time.Now, Logger: logger,
		Limits: webhook.DefaultLimits(),
	})
	ai := assistant.New(assistant.Deps{
		DB: f.client, Conversations: f.tables["conversations"], Files: files, Cursors: cursors, IDs: ids,
		Clock: time.Now, Logger: logger, Model: scaffold.New(), Limits: assistant.DefaultLimits(),
	})
	documentation, err := docs.New(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	f.functions = map[string]*apigateway.Handler{
		"AiFunction": apigateway.New(httpapi.NewRouter( // the deployed function streams the same responses
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now}, ai.Register)),
		"AuthFunction": apigateway.New(accounts.Router()),
		"DocsFunction": apigateway.New(httpapi.NewRouter( // the deployed function streams, like AiFunction
			httpapi.Config{Logger: logger, Clock: time.Now}, documentation.Register)),
		"ProjectsFunction": apigateway.New(httpapi.NewRouter(
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now},
			workspaces.Register, projects.Register, files.Register, exports.Register,
			deployment.New(f.deployments()).Register)),
		"SitesFunction": apigateway.New(f.site()), // the deployed function streams, like AiFunction
		"WebhookTestFunction": apigateway.New(httpapi.NewRouter(
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now}, webhooks.RegisterTest)),
		"WebhooksFunction": apigateway.New(httpapi.NewRouter(
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now}, webhooks.Register)),
	}
	return f
}
