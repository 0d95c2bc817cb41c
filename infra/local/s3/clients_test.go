package s3

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/testmode"
)

// tool skips a test if its tool is not installed. In CI, all tools must be installed.
func tool(t *testing.T, what string, probe ...string) {
	t.Helper()
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
	s := start(t, Options{})
	output, err := exec.CommandContext(t.Context(), "python3", "testdata/boto3_client.py", s.url).CombinedOutput()
	if err != nil || len(output) > 0 {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestAWSCLI(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t) // TestBoto3 is the client of each change
	tool(t, "the AWS CLI", "aws", "--version")
	s := start(t, Options{})
	dir := t.TempDir()
	aws := func(arguments ...string) (string, error) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "aws", arguments...)
		command.Dir = dir
		command.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+s.url, "AWS_DEFAULT_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local",
			"AWS_SECRET_ACCESS_KEY=local", "AWS_PAGER=", "AWS_MAX_ATTEMPTS=1", "AWS_CONFIG_FILE="+filepath.Join(dir, "config"))
		output, err := command.CombinedOutput()
		return string(output), err
	}
	run := func(arguments ...string) string {
		t.Helper()
		output, err := aws(arguments...)
		if err != nil {
			t.Errorf("aws %v: %v\n%s", arguments, err, output)
		}
		return output
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 7<<16) // 7 MiB: the CLI uploads larger files in parts
	files := map[string][]byte{
		"small.txt": []byte("content"), "large.bin": large,
		// By default, version 1 of the CLI presigns with Signature Version 2.
		"config": []byte("[default]\ns3 =\n  signature_version = s3v4\n"),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("s3", "mb", "s3://from-cli")
	run("s3", "cp", "small.txt", "s3://from-cli/folder/small.txt")
	run("s3", "cp", "large.bin", "s3://from-cli/large.bin")
	run("s3", "cp", "s3://from-cli/large.bin", "again.bin")
	if got, err := os.ReadFile(filepath.Join(dir, "again.bin")); err != nil || !bytes.Equal(got, large) {
		t.Errorf("downloaded %d bytes, %v", len(got), err)
	}
	if got := run("s3", "cp", "s3://from-cli/folder/small.txt", "-"); got != "content" {
		t.Errorf("got %q", got)
	}
	if got := run("s3", "ls", "--recursive", "s3://from-cli"); !strings.Contains(got, " 7 folder/small.txt") {
		t.Errorf("the list is %s", got)
	}
	run("s3", "sync", ".", "s3://from-cli/synced/")
	url := strings.TrimSpace(run("s3", "presign", "s3://from-cli/synced/small.txt"))
	s.want(must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)), http.StatusOK, "content")
	run("s3", "rm", "--recursive", "s3://from-cli")
	if got := run("s3", "ls", "s3://from-cli"); got != "" {
		t.Errorf("left: %s", got)
	}
	if output, err := aws("s3api", "get-object", "--bucket", "from-cli", "--key", "none", "out"); err == nil || !strings.Contains(output, "(NoSuchKey)") {
		t.Errorf("%v %s", err, output)
	}
}
