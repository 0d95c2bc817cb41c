// Package events_test checks the sample events. A sample of a request must be equal to the event that the gateway
// creates from the request. A sample of stream records must pass the filters of the template's event source mapping.
// Each function must accept its samples, and every route must have a sample.
package events_test

import (
	"context"
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

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
	"devplatform/shared/docs"
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
	{"auth-activity-list", 401, noSession},
	{"auth-account-delete", 401, noSession},
	{"auth-export-start", 401, noSession},
	{"auth-export-read", 401, noSession},
	{"auth-email-confirm", 400, `"AUTH_CODE_INVALID"`},
	{"auth-email-resend", 401, noSession},
	{"auth-email-request", 401, noSession},
	{"auth-email-change", 400, `"AUTH_CODE_INVALID"`},
	{"auth-email-undo", 400, `"AUTH_CODE_INVALID"`},
	{"auth-password-forgot", 501, `"MAIL_NOT_CONFIGURED"`},
	{"auth-password-reset", 400, `"AUTH_CODE_INVALID"`},
	{"projects-workspaces-list", 401, noSession},
	{"projects-workspace-create", 401, noSession},
	{"projects-members-list", 401, noSession},
	{"projects-workspace-read", 401, noSession},
	{"projects-workspace-update", 401, noSession},
	{"projects-workspace-delete", 401, noSession},
	{"projects-invitation-create", 401, noSession},
	{"projects-invitations-list", 401, noSession},
	{"projects-invitation-revoke", 401, noSession},
	{"projects-user-invitations-list", 401, noSession},
	{"projects-invitation-accept", 401, noSession},
	{"projects-invitation-accept-token", 401, noSession},
	{"projects-invitation-preview", 400, `"AUTH_CODE_INVALID"`},
	{"projects-invitation-decline", 401, noSession},
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
	{"auth-page", 200, `<title>Confirmyoure-mailaddress</title>`},
	{"docs-openapi", 200, `"servers":[{"url":"https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/dev"}]`},
	{"docs-page", 200, `<mainid="docs">`},
	{"docs-file", 200, ``},
}

const noSession = `"AUTH_INVALID_TOKEN"`

// streams lists the samples with stream records. triggers lists the other samples that are not requests. The other
// files of this package test them.
var (
	streams = []string{
		"mailer-mails", "project-cleanup-project-deleted", "project-cleanup-replaced", "webhook-fanout-events",
	}
	triggers = []string{
		"webhook-delivery-messages", "webhook-slow-delivery-creation", "webhook-slow-delivery-turn",
		"webhook-retry-schedule", "project-cleanup-schedule", "project-cleanup-removals-schedule", "jobs-message",
		"jobs-schedule", "mailer-reports",
	}
)

// functionOf returns the logical ID of the function that a sample is for, such as AuthFunction for auth-me, and
// WebhookFanoutFunction for webhook-fanout-events.
func functionOf(sample string) string {
	words := strings.Split(sample, "-")
	switch {
	case strings.HasPrefix(sample, "jobs-"), strings.HasPrefix(sample, "mailer-"):
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
// must be the sample, except for generated IDs, and for the stage in requestContext.path, which domain names of AWS
// add.
func TestSamplesMatchGatewayEvents(t *testing.T) {
	t.Parallel()
	template, err := stack.Load(filepath.Join("..", "template.yaml"), stack.Options{Parameters: map[string]string{
		"AiProvider": "scaffold", "SitesDomain": "example.app",
		"SitesCertificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/c",
	}})
	if err != nil {
		t.Fatal(err)
	}
	apis := map[string]resources.API{}
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
			description := apis["Api"]
			if functionOf(sample.file) == "SitesFunction" {
				description = apis["SitesApi"]
			}
			description.ID, description.Stage = event.RequestContext.APIID, event.RequestContext.Stage
			var got map[string]any
			g := gateway.New(gateway.Options{
				API: description, Account: event.RequestContext.AccountID,
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
			stage := strings.TrimSuffix(event.RequestContext.Path, event.Path)
			got["requestContext"].(map[string]any)["path"] = stage + event.Path
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the gateway creates a different event (-sample +gateway):\n%s", diff)
			}
		})
	}
}

// clientRequest returns the request from which the gateway creates an event. It has no headers that the gateway adds.
func clientRequest(t *testing.T, event events.APIGatewayProxyRequest) *http.Request {
	t.Helper()
	target := event.Path
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
		// The project, the workspace and the invitation of the sample do not exist.
		isNotFound := got.StatusCode == http.StatusNotFound || strings.Contains(got.Body, "AUTH_CODE_INVALID")
		if got.StatusCode >= 300 && !isNotFound {
			t.Errorf("%s: got %d %s, want success, 404 or AUTH_CODE_INVALID", sample.file, got.StatusCode, got.Body)
		}
	}
}
