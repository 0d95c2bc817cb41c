package sqs

import (
	"os"
	"os/exec"
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
