package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/openapi/contract"
	"devplatform/infra/platformtest"
)

// sampleStep sends a sample event of a request.
type sampleStep struct {
	sample string
	status int // the expected status of the response
	// replace contains pairs of a text in the sample and its replacement.
	replace []string
	// capture contains pairs of a text in the samples and a regular expression. In later steps, the text is replaced by
	// the group of the expression that matches this response.
	capture []string
	// until is a text. The step is repeated until the response contains it.
	until string
}

// IDs in the samples. The session is the value of the cookie.
const (
	sampleSession    = `eyJhbGciOiJIUzI1NiIsImtpZCI6InNhbXBsZSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJkZXZwbGF0Zm9ybSIsInN1YiI6InVzcl8wMUtHQTRWNU4wQUJDREVGR0hKS01OUFFSUyIsInNpZCI6InNlc18wMUtHQTRWNU4xQUJDREVGR0hKS01OUFFSUyIsImlhdCI6MTc2OTg0NzMzMCwiZXhwIjoxNzcwNDUyMTMwfQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`
	sampleToken      = "01KGA4V5N2ABCDEFGHJKMNPQRSq2v0dXk1tY5b8nQ3mZ7rC4wE9sH6jL0pFaGdKuVxTiM" // of an invitation
	sampleProject    = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS"
	sampleWebhook    = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
	sampleDeployment = "dpl_01KGA52T10ABCDEFGHJKMNPQRS"
	sampleVersion    = "01KGA50XJ0ABCDEFGHJKMNPQRS"
	// sampleOldVersion is a version that was replaced.
	sampleOldVersion = "01KGA4ZRZRABCDEFGHJKMNPQRS"
)

// createReplacements change the sample that updates a version of a file so that it creates the file.
var createReplacements = []string{`"If-Match"`, `"If-None-Match"`, `"\"01KGA50XJ0ABCDEFGHJKMNPQRS\""`, `"*"`}

// asGrace changes a sample so that the other user sends it. sampleInvitation captures the ID of a new invitation.
var (
	asGrace          = []string{sampleSession, "the session of grace"}
	sampleInvitation = []string{"inv_01KGA4X2Q4ABCDEFGHJKMNPQRS", `"id":"(inv_\w+)"`}
)

// sampleSteps contains all samples of requests, in an order in which a client could send them.
var sampleSteps = []sampleStep{
	{sample: "auth-signup", status: 201},
	{
		sample:  "auth-signup",
		status:  201,
		replace: []string{"ada@", "grace@", `\"ada\"`, `\"grace\"`},
		capture: []string{"usr_01KGA4W1P3ABCDEFGHJKMNPQRS", `"userId":"(usr_\w+)"`},
	},
	{sample: "auth-me", status: 401},
	{
		sample:  "auth-login",
		status:  200,
		replace: []string{"ada@", "grace@"},
		capture: []string{asGrace[1], `__Host-session=([^;]+);`},
	},
	{sample: "auth-login", status: 200, capture: []string{sampleSession, `__Host-session=([^;]+);`}},
	{sample: "auth-me", status: 200},
	{sample: "auth-sessions-list", status: 200, capture: []string{"ses_01KGA4V5N2ABCDEFGHJKMNPQRS", `"id":"(ses_\w+)"`}},
	{sample: "auth-codehost", status: 302},
	{sample: "auth-codehost-callback", status: 400},
	{sample: "auth-codehost-link", status: 200},
	{sample: "auth-identities-list", status: 200},
	{sample: "auth-identity-delete", status: 404}, // no identity is linked

	{sample: "projects-workspaces-list", status: 200, capture: []string{"ws_01KGA4V5N2ABCDEFGHJKMNPQRS", `"id":"(ws_\w+)"`}},
	{sample: "projects-workspace-create", status: 201, capture: []string{"ws_01KGA4V5N4ABCDEFGHJKMNPQRS", `"id":"(ws_\w+)"`}},
	{sample: "projects-workspace-read", status: 200},
	{sample: "projects-workspace-update", status: 200},
	{sample: "projects-workspace-delete", status: 202},
	{sample: "projects-invitation-create", status: 201, capture: sampleInvitation},
	{sample: "projects-invitations-list", status: 200},
	{sample: "projects-invitation-revoke", status: 200},
	{sample: "projects-invitation-create", status: 201, capture: sampleInvitation},
	{sample: "projects-user-invitations-list", status: 200, replace: asGrace},
	{sample: "projects-invitation-decline", status: 200, replace: asGrace},
	{
		sample:  "projects-invitation-create",
		status:  201,
		replace: []string{`\"username\":\"grace\"`, `\"email\":\"grace@example.com\"`},
		capture: []string{sampleToken, `#token=(\w[\w-]+)`},
	},
	{sample: "projects-invitation-preview", status: 200},
	{sample: "projects-invitation-accept-token", status: 200, replace: asGrace},
	{sample: "projects-member-remove", status: 200},
	{sample: "projects-invitation-create", status: 201, capture: sampleInvitation},
	{sample: "projects-invitation-accept", status: 200, replace: asGrace},
	{sample: "projects-members-list", status: 200},
	{sample: "projects-member-update", status: 200},
	{sample: "projects-member-remove", status: 200},

	{sample: "projects-create", status: 201, capture: []string{sampleProject, `"id":"(prj_\w+)"`}},
	{sample: "projects-list", status: 200},
	{sample: "projects-read", status: 200},
	{sample: "projects-update", status: 200},
	{sample: "projects-variables-update", status: 200},
	{sample: "projects-variables-read", status: 200},
	{sample: "projects-file-save", status: 201, replace: createReplacements, capture: []string{sampleVersion, `"version":"(\w+)"`}},
	{sample: "projects-file-save", status: 200, replace: []string{"Todo<", "To do<"}},
	{sample: "projects-file-read", status: 200, capture: []string{sampleVersion, `"version":"(\w+)"`}},
	{sample: "projects-file-read", status: 304},
	{sample: "projects-file-history", status: 200, capture: []string{sampleOldVersion, `"version":"(\w+)"[^}]*"current":false`}},
	{sample: "projects-file-version-delete", status: 200},
	{sample: "projects-file-version-delete", status: 404},
	{sample: "projects-files-list", status: 200},
	{sample: "projects-comment-create", status: 201, capture: []string{"cmt_01KGA52E40ABCDEFGHJKMNPQRS", `"id":"(cmt_\w+)"`}},
	{sample: "projects-comments-list", status: 200},
	{sample: "projects-comment-delete", status: 200},
	{sample: "projects-file-save", status: 201, replace: slices.Concat(createReplacements, []string{"/src/app.tsx", "/src/old.ts"})},
	{sample: "projects-file-delete", status: 200},
	{sample: "projects-file-save", status: 201, replace: slices.Concat(createReplacements, []string{"/src/app.tsx", "/src/old.ts"})},
	{sample: "projects-file-save", status: 201, replace: slices.Concat(createReplacements, []string{"/src/app.tsx", "/public/dot.png"})},
	{sample: "projects-files-batch", status: 200},
	{sample: "projects-events-list", status: 200},
	{sample: "projects-upload-announce", status: 201, capture: []string{"upl_01KGA50XJ0ABCDEFGHJKMNPQRS", `"id":"(upl_\w+)"`}},
	{sample: "projects-upload-complete", status: 409}, // no content was sent to the upload's URL
	{sample: "projects-export-start", status: 202, capture: []string{"exp_01KGA4ZK70CXAR7FR50G4M0SXT", `"id":"(exp_\w+)"`}},
	{sample: "projects-export-read", status: 200},

	{sample: "projects-file-save", status: 201, replace: slices.Concat(createReplacements, []string{"/src/app.tsx", "/index.html"})},
	{sample: "projects-deployment-create", status: 202, capture: []string{sampleDeployment, `"id":"(dpl_\w+)"`}},
	{sample: "projects-deployment-read", status: 200, until: `"status":"ready"`},
	{sample: "projects-deployment-cancel", status: 409}, // it has ended
	{sample: "projects-deployment-log", status: 200},
	{sample: "projects-deployment-files", status: 200},
	{sample: "projects-deployment-promote", status: 200},
	{sample: "projects-deployments-list", status: 200, until: `"live":true`},
	{sample: "projects-site-update", status: 200},
	{sample: "projects-site-read", status: 200, capture: []string{"todo-list.example.app", `"url":"http://([^/:"]+)`}},
	{sample: "sites-page", status: 200},
	{sample: "projects-deployment-delete", status: 409}, // it is live
	{sample: "projects-site-delete", status: 200},
	{sample: "projects-deployment-delete", status: 200},
	{sample: "sites-page", status: 404},

	{sample: "ai-chat", status: 200, capture: []string{"msg_01KGA5Q2X0ABCDEFGHJKMNPQRT", `"messageId":"(msg_\w+)"`}},
	{sample: "ai-chat-stream", status: 200},
	{sample: "ai-message-cancel", status: 202},
	{sample: "ai-conversation-read", status: 200},
	{sample: "ai-generate", status: 200},
	{sample: "ai-usage", status: 200},
	{sample: "ai-conversation-delete", status: 200},

	{sample: "webhooks-create", status: 201, capture: []string{sampleWebhook, `"id":"(wh_\w+)"`}},
	{sample: "webhooks-list", status: 200},
	{sample: "webhooks-read", status: 200},
	{sample: "webhook-test", status: 200}, // the response reports that the endpoint does not exist
	{sample: "webhooks-deliveries-list", status: 200, capture: []string{"dlv_01KG9JV05KBGYVV2HVPJ8TN3P1", `"id":"(dlv_\w+)"`}},
	{sample: "webhooks-delivery-read", status: 200},
	{sample: "webhooks-redeliver", status: 202},
	{sample: "webhooks-recover", status: 202},
	{sample: "webhooks-update", status: 200},
	{sample: "webhooks-delete", status: 200},

	{sample: "projects-delete", status: 200},
	{sample: "projects-read", status: 404},
	{sample: "auth-page", status: 200},
	{sample: "docs-page", status: 200},
	{sample: "docs-openapi", status: 200},
	{sample: "docs-file", status: 200},
	{sample: "auth-activity-list", status: 200},
	{sample: "auth-export-start", status: 202, capture: []string{"exp_01KGA4ZK70ABCDEFGHJKMNPQRS", `"id":"(exp_\w+)"`}},
	{sample: "auth-export-read", status: 200},
	{sample: "auth-email-confirm", status: 400}, // the token is not of a mail
	{sample: "auth-email-resend", status: 202},
	{sample: "auth-email-request", status: 202},
	{sample: "auth-email-change", status: 400},
	{sample: "auth-email-undo", status: 400},
	{sample: "auth-password-forgot", status: 202},
	{sample: "auth-password-reset", status: 400},
	{sample: "auth-password-change", status: 200},
	{sample: "auth-session-delete", status: 200},
	{sample: "auth-me", status: 401},
	{sample: "auth-logout", status: 200},
	{sample: "auth-account-delete", status: 202, replace: append([]string{`\"ada\"`, `\"grace\"`}, asGrace...)},
}

// TestSampleRequests sends every sample of a request to its function through the Invoke API, with the session and the
// IDs of earlier responses. Each response has the expected status and matches the OpenAPI document.
func TestSampleRequests(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t, "LIMIT_MAIL_MINUTE=10") // several samples request a mail to the same address
	lambda := platformtest.NewClient(t, p.AWS)
	var captured []string // pairs of a text in the samples and its replacement
	sent := map[string]bool{}
	for _, step := range sampleSteps {
		sent[step.sample] = true
		event := sample(t, step.sample)
		event = strings.NewReplacer(step.replace...).Replace(event)
		event = strings.NewReplacer(captured...).Replace(event)
		var response platformtest.Response
		platformtest.Eventually(t, "the response with "+step.until, func() bool {
			response = proxyResponse(t, lambda.Do("POST", "/2015-03-31/functions/"+functionOf(t, step.sample)+"/invocations", event))
			return response.Status != step.status || bytes.Contains(response.Body, []byte(step.until))
		})
		if response.Status != step.status {
			t.Fatalf("%s: got status %d with body %s, want %d", step.sample, response.Status, response.Body, step.status)
		}
		var request struct{ HTTPMethod, Path string }
		if err := json.Unmarshal([]byte(event), &request); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(step.sample, "sites-") { // pages of sites are not in the OpenAPI document
			contract.Check(t, request.HTTPMethod, request.Path, response.Status, response.Header, response.Body)
		}
		for i := 0; i < len(step.capture); i += 2 {
			text, expression := step.capture[i], step.capture[i+1]
			cookies := strings.Join(response.Header["Set-Cookie"], "\n")
			match := regexp.MustCompile(expression).FindStringSubmatch(cookies + "\n" + string(response.Body))
			if match == nil {
				t.Fatalf("%s: got response %s, want a match of %s", step.sample, response.Body, expression)
			}
			captured = append([]string{text, match[1]}, captured...) // the replacer uses the first pair of a text
		}
	}
	for _, name := range samples(t) {
		if strings.Contains(sample(t, name), `"requestContext"`) && !sent[name] {
			t.Errorf("events/%s.json is not in sampleSteps", name)
		}
	}
}

// TestSampleTriggerEvents sends every sample of a batch and of a schedule to its function.
func TestSampleTriggerEvents(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	lambda := platformtest.NewClient(t, p.AWS)
	for _, name := range samples(t) {
		event := sample(t, name)
		if strings.Contains(event, `"requestContext"`) {
			continue
		}
		response := lambda.Do("POST", "/2015-03-31/functions/"+functionOf(t, name)+"/invocations", event)
		want := `{"batchItemFailures":[]}`
		if strings.HasSuffix(name, "-schedule") {
			want = "null"
		}
		got := strings.Join(strings.Fields(string(response.Body)), "")
		if response.Status != 200 || response.Header.Get("X-Amz-Function-Error") != "" || got != want {
			t.Errorf("%s: got status %d with result %s, want 200 with %s", name, response.Status, got, want)
		}
	}
}

// proxyResponse returns the HTTP response in the result of an invocation. The result of a streaming function contains
// the body after eight zero bytes.
func proxyResponse(t testing.TB, invocation platformtest.Response) platformtest.Response {
	t.Helper()
	if kind := invocation.Header.Get("X-Amz-Function-Error"); invocation.Status != 200 || kind != "" {
		t.Fatalf("invocation: got status %d, function error %q and body %s, want 200 without an error",
			invocation.Status, kind, invocation.Body)
	}
	metadata, body, streamed := bytes.Cut(invocation.Body, make([]byte, 8))
	var result struct {
		StatusCode        int
		Headers           map[string]string
		MultiValueHeaders http.Header
		Cookies           []string
		Body              string
	}
	if err := json.Unmarshal(metadata, &result); err != nil {
		t.Fatalf("the result %s is not an HTTP response: %v", invocation.Body, err)
	}
	response := platformtest.Response{Status: result.StatusCode, Header: http.Header{}, Body: body}
	if !streamed {
		response.Body = []byte(result.Body)
	}
	for name, value := range result.Headers {
		response.Header.Set(name, value)
	}
	for name, values := range result.MultiValueHeaders {
		response.Header[http.CanonicalHeaderKey(name)] = values
	}
	for _, cookie := range result.Cookies {
		response.Header.Add("Set-Cookie", cookie)
	}
	return response
}

// samples returns the names of the sample events, without the extension.
func samples(t testing.TB) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(platformtest.Root, "events", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample events: %v", err)
	}
	for _, file := range files {
		all = append(all, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	return all
}

// sample returns the JSON of a sample event.
func sample(t testing.TB, name string) string {
	t.Helper()
	event, err := os.ReadFile(filepath.Join(platformtest.Root, "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(event)
}

// functionOf returns the name of the function for a sample event. The name of the event begins with the name of the
// function's folder. If several folders match, the longest name is the right one.
func functionOf(t testing.TB, event string) string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(platformtest.Root, "functions", "*"))
	if err != nil {
		t.Fatal(err)
	}
	function, longest := "", 0
	for _, folder := range folders {
		name := filepath.Base(folder)
		if strings.HasPrefix(event+"-", name+"-") && len(name) > longest {
			function, longest = "", len(name)
			for part := range strings.SplitSeq(name, "-") {
				function += strings.ToUpper(part[:1]) + part[1:]
			}
		}
	}
	if function == "" {
		t.Fatalf("the name of events/%s.json does not begin with the name of a function", event)
	}
	return function + "Function"
}
