package sqs

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"devplatform/infra/testmode"
)

// tool skips a test if its tool is not installed, or with -short. In CI, it fails the test instead.
func tool(t *testing.T, what string, probe ...string) {
	t.Helper()
	testmode.SkipIfShort(t)
	if err := exec.CommandContext(t.Context(), probe[0], probe[1:]...).Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing: %v", what, err)
		}
		t.Skipf("%s is not installed: %v", what, err)
	}
}

func TestBoto3(t *testing.T) {
	t.Parallel()
	tool(t, "boto3", "python3", "-c", "import boto3")
	s := openTest(t, func(o *Options) { o.Now = time.Now })
	output, err := exec.CommandContext(t.Context(), "python3", "testdata/boto3_client.py", serve(t, s)).CombinedOutput()
	if err != nil || len(output) > 0 {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestAWSCLI(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	tool(t, "the AWS CLI", "aws", "--version")
	s := openTest(t, func(o *Options) { o.Now = time.Now })
	endpoint := serve(t, s)
	aws := func(arguments ...string) (result map[string]any, text string, err error) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "aws", append([]string{"--endpoint-url", endpoint, "--output", "json", "sqs"}, arguments...)...)
		command.Env = append(os.Environ(), "AWS_DEFAULT_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_PAGER=", "AWS_MAX_ATTEMPTS=1")
		output, err := command.CombinedOutput()
		if err == nil && len(output) > 0 {
			if err := json.Unmarshal(output, &result); err != nil {
				t.Fatalf("%v: %s", arguments, output)
			}
		}
		return result, string(output), err
	}
	created, text, err := aws("create-queue", "--queue-name", "jobs", "--attributes", "VisibilityTimeout=5,DelaySeconds=0")
	if err != nil {
		t.Fatal(text)
	}
	url, _ := created["QueueUrl"].(string)
	if _, text, err := aws("send-message", "--queue-url", url, "--message-body", "hello"); err != nil {
		t.Fatal(text)
	}
	got, text, err := aws("receive-message", "--queue-url", url, "--attribute-names", "All", "--wait-time-seconds", "5")
	if err != nil || !strings.Contains(text, `"Body": "hello"`) || len(got["Messages"].([]any)) != 1 {
		t.Errorf("%v %s", err, text)
	}
	if _, text, err := aws("send-message", "--queue-url", url+"-none", "--message-body", "hello"); err == nil || !strings.Contains(text,
		"(AWS.SimpleQueueService.NonExistentQueue) when calling the SendMessage operation: The specified queue does not exist.") {
		t.Errorf("%v %s", err, text)
	}
}
