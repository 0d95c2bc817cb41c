package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// cli runs the AWS CLI against a platform and returns its output.
func cli(t testing.TB, p *platformtest.Platform, args ...string) (string, error) {
	t.Helper()
	options := []string{"--endpoint-url", p.AWS, "--region", "us-east-1", "--output", "json"}
	command := exec.Command(platformtest.Required(t, "aws"), append(options, args...)...)
	command.Env = append(os.Environ(),
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true")
	output, err := command.CombinedOutput()
	return string(output), err
}

// TestAWSCLI lists tables and streams with the AWS CLI, and invokes a function with a sample event.
func TestAWSCLI(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	platformtest.Required(t, "aws")
	p := platformtest.Start(t)
	out := filepath.Join(t.TempDir(), "out.json")
	event := "fileb://" + platformtest.Root + "/events/auth-me.json" // both major versions of the CLI support fileb
	notAnEvent := filepath.Join(t.TempDir(), "string.json")
	write(t, notAnEvent, `"not an event"`)

	for _, step := range []struct {
		name string
		args []string
		want []string
	}{
		{"list tables", []string{"dynamodb", "list-tables"}, []string{"local-AccountsTable", "local-ProjectsTable"}},
		{"describe table", []string{"dynamodb", "describe-table", "--table-name", "local-AccountsTable"}, []string{`"TableStatus": "ACTIVE"`}},
		{"list streams", []string{"dynamodbstreams", "list-streams"}, []string{`"TableName": "local-EventsTable"`, "/stream/"}},
		{"invoke", []string{"lambda", "invoke", "--function-name", "AuthFunction", "--payload", event, out}, []string{`"StatusCode": 200`}},
		{"invoke without an event", []string{"lambda", "invoke", "--function-name", "AuthFunction",
			"--payload", "fileb://" + notAnEvent, filepath.Join(t.TempDir(), "error.json")}, []string{`"StatusCode": 200`}},
	} {
		output, err := cli(t, p, step.args...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", step.name, err, output)
		}
		for _, want := range step.want {
			if !strings.Contains(output, want) {
				t.Errorf("%s: got output %s, want it to contain %s", step.name, output, want)
			}
		}
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var response struct {
		StatusCode int `json:"statusCode"`
	}
	if err := json.Unmarshal(data, &response); err != nil || response.StatusCode != 401 {
		t.Errorf("auth-me: got response %s, want status 401", data)
	}
	output, err := cli(t, p, "lambda", "invoke", "--function-name", "NoFunction", filepath.Join(t.TempDir(), "x.json"))
	if err == nil || !strings.Contains(output, "ResourceNotFoundException") {
		t.Errorf("unknown function: got error %v with output %s, want ResourceNotFoundException", err, output)
	}
	if output, err = cli(t, p, "sns", "list-topics"); err == nil {
		t.Errorf("unsupported service: got output %s, want an error", output)
	}
}
