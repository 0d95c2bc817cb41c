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

// told is a sample event in the story of TestEventsOfAUser.
type told struct {
	sample string
	status int
	// with replaces texts of the sample, where it is sent for what a later one needs.
	with []string
	// learn finds in the answer what stands for a text of the samples from there on: in turn that text, and an expression whose group it is.
	learn []string
}

// What the samples call things. Their session is in the cookie.
const (
	sampleSession = `eyJhbGciOiJIUzI1NiIsImtpZCI6InNhbXBsZSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJkZXZwbGF0Zm9ybSIsInN1YiI6InVzcl8wMUtHQTRWNU4wQUJDREVGR0hKS01OUFFSUyIsInNpZCI6InNlc18wMUtHQTRWNU4xQUJDREVGR0hKS01OUFFSUyIsImlhdCI6MTc2OTg0NzMzMCwiZXhwIjoxNzcwNDUyMTMwfQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`
	sampleProject = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS"
	sampleWebhook = "wh_01KGA5B1S0ABCDEFGHJKMNPQRS"
	sampleVersion = "01KGA50XJ0ABCDEFGHJKMNPQRS"
)

// creating makes of the sample that saves a known version one that makes the file.
var creating = []string{`"If-Match"`, `"If-None-Match"`, `"\"01KGA50XJ0ABCDEFGHJKMNPQRS\""`, `"*"`}

// story is every sample of a request, in an order in which a person could have sent them.
var story = []told{
	{sample: "auth-signup", status: 201},
	{sample: "auth-signup", status: 201, with: []string{"ada@", "grace@", `\"ada\"`, `\"grace\"`}, learn: []string{"usr_01KGA4W1P3ABCDEFGHJKMNPQRS", `"userId":"(usr_\w+)"`}},
	{sample: "auth-me", status: 401},
	{sample: "auth-login", status: 200, learn: []string{sampleSession, `__Host-session=([^;]+);`}},
	{sample: "auth-me", status: 200},
	{sample: "auth-sessions-list", status: 200, learn: []string{"ses_01KGA4V5N2ABCDEFGHJKMNPQRS", `"id":"(ses_\w+)"`}},
	{sample: "auth-codehost", status: 302},
	{sample: "auth-codehost-callback", status: 400},
	{sample: "auth-codehost-link", status: 200},

	{sample: "projects-workspaces-list", status: 200, learn: []string{"ws_01KGA4V5N2ABCDEFGHJKMNPQRS", `"id":"(ws_\w+)"`}},
	{sample: "projects-workspace-create", status: 201},
	{sample: "projects-member-add", status: 201},
	{sample: "projects-members-list", status: 200},
	{sample: "projects-member-update", status: 200},
	{sample: "projects-member-remove", status: 200},

	{sample: "projects-create", status: 201, learn: []string{sampleProject, `"id":"(prj_\w+)"`}},
	{sample: "projects-list", status: 200},
	{sample: "projects-read", status: 200},
	{sample: "projects-update", status: 200},
	{sample: "projects-file-save", status: 201, with: creating, learn: []string{sampleVersion, `"version":"(\w+)"`}},
	{sample: "projects-file-save", status: 200, with: []string{"Todo<", "To do<"}},
	{sample: "projects-file-read", status: 200, learn: []string{sampleVersion, `"version":"(\w+)"`}},
	{sample: "projects-file-read", status: 304},
	{sample: "projects-file-history", status: 200},
	{sample: "projects-files-list", status: 200},
	{sample: "projects-comment-create", status: 201, learn: []string{"cmt_01KGA52E40ABCDEFGHJKMNPQRS", `"id":"(cmt_\w+)"`}},
	{sample: "projects-comments-list", status: 200},
	{sample: "projects-comment-delete", status: 200},
	{sample: "projects-file-save", status: 201, with: slices.Concat(creating, []string{"/src/app.tsx", "/src/old.ts"})},
	{sample: "projects-file-delete", status: 200},
	{sample: "projects-file-save", status: 201, with: slices.Concat(creating, []string{"/src/app.tsx", "/src/old.ts"})},
	{sample: "projects-file-save", status: 201, with: slices.Concat(creating, []string{"/src/app.tsx", "/public/dot.png"})},
	{sample: "projects-files-batch", status: 200},
	{sample: "projects-events-list", status: 200},

	{sample: "ai-chat", status: 200, learn: []string{"msg_01KGA5Q2X0ABCDEFGHJKMNPQRT", `"messageId":"(msg_\w+)"`}},
	{sample: "ai-chat-stream", status: 200},
	{sample: "ai-message-cancel", status: 202},
	{sample: "ai-conversation-read", status: 200},
	{sample: "ai-generate", status: 200},
	{sample: "ai-usage", status: 200},
	{sample: "ai-conversation-delete", status: 200},

	{sample: "webhooks-create", status: 201, learn: []string{sampleWebhook, `"id":"(wh_\w+)"`}},
	{sample: "webhooks-list", status: 200},
	{sample: "webhooks-test", status: 200}, // nobody is there, which is what the attempt says
	{sample: "webhooks-deliveries-list", status: 200, learn: []string{"dlv_01KG9JV05KBGYVV2HVPJ8TN3P1", `"id":"(dlv_\w+)"`}},
	{sample: "webhooks-delivery-read", status: 200},
	{sample: "webhooks-redeliver", status: 202},
	{sample: "webhooks-recover", status: 202},
	{sample: "webhooks-update", status: 200},
	{sample: "webhooks-delete", status: 200},

	{sample: "projects-delete", status: 200},
	{sample: "projects-read", status: 404},
	{sample: "docs-page", status: 200},
	{sample: "docs-openapi", status: 200},
	{sample: "docs-file", status: 200},
	{sample: "auth-password-change", status: 200},
	{sample: "auth-session-delete", status: 200},
	{sample: "auth-me", status: 401},
	{sample: "auth-logout", status: 200},
}

// TestEventsOfAUser sends every sample of a request to its function through the Invoke API, as its user would have: with the session
// and the ids that the answers before it gave. Each does what it is a sample of, in the contract's shape.
func TestEventsOfAUser(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	lambda := platformtest.NewClient(t, p.AWS)
	var known []string // in turn what samples say, and what it stands for
	sent := map[string]bool{}
	for _, step := range story {
		sent[step.sample] = true
		event := sample(t, step.sample)
		event = strings.NewReplacer(step.with...).Replace(event)
		event = strings.NewReplacer(known...).Replace(event)
		a := invoked(t, lambda.Do("POST", "/2015-03-31/functions/"+functionOf(t, step.sample)+"/invocations", event))
		if a.Status != step.status {
			t.Fatalf("%s: %d, want %d: %s", step.sample, a.Status, step.status, a.Body)
		}
		var request struct{ HTTPMethod, Path string }
		if err := json.Unmarshal([]byte(event), &request); err != nil {
			t.Fatal(err)
		}
		contract.Check(t, request.HTTPMethod, request.Path, a.Status, a.Header, a.Body)
		for i := 0; i < len(step.learn); i += 2 {
			found := regexp.MustCompile(step.learn[i+1]).FindStringSubmatch(strings.Join(a.Header["Set-Cookie"], "\n") + "\n" + string(a.Body))
			if found == nil {
				t.Fatalf("%s: no %s in %s", step.sample, step.learn[i+1], a.Body)
			}
			known = append([]string{step.learn[i], found[1]}, known...) // the latest comes first, and wins
		}
	}
	for _, name := range samples(t) {
		if strings.Contains(sample(t, name), `"requestContext"`) && !sent[name] {
			t.Errorf("events/%s.json is not in the story", name)
		}
	}
}

// TestEventsOfTriggers sends every sample that is no request: a batch, or the clock.
func TestEventsOfTriggers(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	lambda := platformtest.NewClient(t, p.AWS)
	for _, name := range samples(t) {
		event := sample(t, name)
		if strings.Contains(event, `"requestContext"`) {
			continue
		}
		a := lambda.Do("POST", "/2015-03-31/functions/"+functionOf(t, name)+"/invocations", event)
		want := `{"batchItemFailures":[]}`
		if name == "webhook-retry-schedule" {
			want = "null"
		}
		if got := strings.Join(strings.Fields(string(a.Body)), ""); a.Status != 200 || a.Header.Get("X-Amz-Function-Error") != "" || got != want {
			t.Errorf("%s: %d %s", name, a.Status, got)
		}
	}
}

// invoked is the HTTP response in what a function answered: buffered, or streamed, with the body behind eight zeros.
func invoked(t testing.TB, a platformtest.Response) platformtest.Response {
	t.Helper()
	if kind := a.Header.Get("X-Amz-Function-Error"); a.Status != 200 || kind != "" {
		t.Fatalf("%d %s %s", a.Status, kind, a.Body)
	}
	head, body, streamed := bytes.Cut(a.Body, make([]byte, 8))
	var response struct {
		StatusCode        int
		Headers           map[string]string
		MultiValueHeaders http.Header
		Cookies           []string
		Body              string
	}
	if err := json.Unmarshal(head, &response); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	answer := platformtest.Response{Status: response.StatusCode, Header: http.Header{}, Body: body}
	if !streamed {
		answer.Body = []byte(response.Body)
	}
	for name, value := range response.Headers {
		answer.Header.Set(name, value)
	}
	for name, values := range response.MultiValueHeaders {
		answer.Header[http.CanonicalHeaderKey(name)] = values
	}
	for _, cookie := range response.Cookies {
		answer.Header.Add("Set-Cookie", cookie)
	}
	return answer
}

// samples are the names of the sample events, without what they end with.
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

func sample(t testing.TB, name string) string {
	t.Helper()
	event, err := os.ReadFile(filepath.Join(platformtest.Root, "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(event)
}

// functionOf is the function that a sample event is for: its name begins with the function's folder, the longest that fits.
func functionOf(t testing.TB, event string) string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(platformtest.Root, "functions", "*"))
	if err != nil {
		t.Fatal(err)
	}
	function, longest := "", 0
	for _, folder := range folders {
		name := filepath.Base(folder)
		if strings.HasPrefix(event, name+"-") && len(name) > longest {
			function, longest = "", len(name)
			for part := range strings.SplitSeq(name, "-") {
				function += strings.ToUpper(part[:1]) + part[1:]
			}
		}
	}
	if function == "" {
		t.Fatalf("events/%s.json is for no function", event)
	}
	return function + "Function"
}
