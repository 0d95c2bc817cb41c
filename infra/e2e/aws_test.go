package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
