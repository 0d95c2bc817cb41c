package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
)

// cli runs the real AWS CLI against a platform and answers what it printed.
func cli(t testing.TB, p *platformtest.Platform, args ...string) (string, error) {
	t.Helper()
	command := exec.Command(platformtest.Required(t, "aws"), append([]string{"--endpoint-url", p.AWS, "--region", "us-east-1", "--output", "json"}, args...)...)
	command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true")
	output, err := command.CombinedOutput()
	return string(output), err
}

// TestAWSCLI is what an AWS user tries first: list tables and functions, invoke one with a sample event, see its error.
func TestAWSCLI(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "aws")
	p := platformtest.Start(t)
	out := filepath.Join(t.TempDir(), "out.json")
	event := "fileb://" + platformtest.Root + "/events/auth-me.json" // fileb is the same in both major versions of the CLI
	notAnEvent := filepath.Join(t.TempDir(), "string.json")
	write(t, notAnEvent, `"no event"`)

	for _, step := range []struct {
		name string
		args []string
		want []string
	}{
		{"list tables", []string{"dynamodb", "list-tables"}, []string{"local-AccountsTable", "local-ProjectsTable"}},
		{"describe table", []string{"dynamodb", "describe-table", "--table-name", "local-AccountsTable"}, []string{`"TableStatus": "ACTIVE"`}},
		{"list streams", []string{"dynamodbstreams", "list-streams"}, []string{`"TableName": "local-EventsTable"`, "/stream/"}},
		{"list functions", []string{"lambda", "list-functions"}, []string{`"FunctionName": "AuthFunction"`}},
		{"invoke", []string{"lambda", "invoke", "--function-name", "AuthFunction", "--payload", event, out}, []string{`"StatusCode": 200`}},
		{"invoke and forget", []string{"lambda", "invoke", "--function-name", "AuthFunction", "--invocation-type", "Event",
			"--payload", event, filepath.Join(t.TempDir(), "none.json")}, []string{`"StatusCode": 202`}},
		{"no event", []string{"lambda", "invoke", "--function-name", "AuthFunction",
			"--payload", "fileb://" + notAnEvent, filepath.Join(t.TempDir(), "error.json")}, []string{`"StatusCode": 200`}},
	} {
		printed, err := cli(t, p, step.args...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", step.name, err, printed)
		}
		for _, want := range step.want {
			if !strings.Contains(printed, want) {
				t.Errorf("%s: no %s in %s", step.name, want, printed)
			}
		}
	}
	answer, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var response struct {
		StatusCode int `json:"statusCode"`
	}
	if err := json.Unmarshal(answer, &response); err != nil || response.StatusCode != 401 {
		t.Errorf("auth-me answered %s", answer)
	}
	printed, err := cli(t, p, "lambda", "invoke", "--function-name", "NoFunction", filepath.Join(t.TempDir(), "x.json"))
	if err == nil || !strings.Contains(printed, "ResourceNotFoundException") {
		t.Errorf("an unknown function: %v %s", err, printed)
	}
	printed, err = cli(t, p, "s3", "ls")
	if err == nil {
		t.Errorf("a service that is not there answered %s", printed)
	}
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

// TestEvents sends every sample event to its function through the Invoke API: auth-me.json to AuthFunction. Nobody's session is in
// them, so that most answers are refusals; what matters is that the function takes them for what they are.
func TestEvents(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	files, err := filepath.Glob(filepath.Join(platformtest.Root, "events", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample events: %v", err)
	}
	want := map[string]int{
		"auth-signup": 201, "auth-login": 200, "auth-logout": 200, "auth-codehost": 302, "auth-codehost-callback": 400,
	}
	// In the order of the story: the sign-up event makes the account that the login event uses.
	story := []string{"auth-signup", "auth-login"}
	for _, name := range names(files) {
		if !slices.Contains(story, name) {
			story = append(story, name)
		}
	}
	for _, name := range story {
		event, err := os.ReadFile(filepath.Join(platformtest.Root, "events", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		a := platformtest.NewClient(t, p.AWS).Do("POST", "/2015-03-31/functions/"+functionOf(t, name)+"/invocations", string(event))
		if kind := a.Header.Get("X-Amz-Function-Error"); a.Status != 200 || kind != "" {
			t.Errorf("%s: %d %s %s", name, a.Status, kind, a.Body)
			continue
		}
		if !strings.Contains(string(event), `"requestContext"`) { // no request: a batch, or the clock
			if got := strings.Join(strings.Fields(string(a.Body)), ""); got != `{"batchItemFailures":[]}` && (got != "null" || name != "webhook-retry-schedule") {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		var response struct {
			StatusCode int `json:"statusCode"`
		}
		head, _, _ := bytes.Cut(a.Body, make([]byte, 8)) // a streamed answer has its body behind eight zeros
		if err := json.Unmarshal(head, &response); err != nil {
			t.Errorf("%s: %s", name, a.Body)
		}
		expected := want[name]
		if expected == 0 {
			expected = 401
		}
		if response.StatusCode != expected {
			t.Errorf("%s: answered %s, want status %d", name, a.Body, expected)
		}
	}
}

func names(files []string) []string {
	var all []string
	for _, file := range files {
		all = append(all, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	return all
}
