package stack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
)

// TestSAMInit loads a template with the layout of "sam init" for Go.
func TestSAMInit(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("testdata/sam-init")
	if err != nil {
		t.Fatal(err)
	}
	got, err := stack.Load(filepath.Join(dir, "template.yaml"), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &resources.Stack{
		Region: "us-east-1", Dir: dir,
		Functions: []resources.Function{{
			LogicalID: "HelloWorldFunction", Name: "HelloWorldFunction", CodeURI: "hello-world",
			ModuleDir: filepath.Join(dir, "hello-world"), PackageDir: ".", Handler: "bootstrap", Runtime: "provided.al2023",
			Architecture: "x86_64", MemoryMB: 128, Timeout: 5 * time.Second, Env: map[string]string{"PARAM1": "VALUE"},
			Async: resources.AsyncInvoke{MaximumRetryAttempts: 2, MaximumEventAge: 6 * time.Hour},
		}},
		APIs: []resources.API{{
			LogicalID: "ServerlessRestApi", ID: got.APIs[0].ID, Name: "local", Stage: "Prod",
			Routes: []resources.Route{{Method: "GET", Path: "/hello", Function: "HelloWorldFunction", Timeout: 29 * time.Second}},
		}},
		Notices: []string{filepath.Join(dir, "template.yaml") + ": no effect on the local platform: LoggingConfig"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	const functions = header + "  G: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2, Handler: h, CodeUri: functions/g/cmd}}\n"
	for name, test := range map[string]struct {
		files map[string]string // the go.mod files
		dirs  []string          // the folder and the package of each function
		want  []string          // parts of the notices
	}{
		"none": {nil, []string{"", "", "", ""}, nil},
		"above": {
			map[string]string{"go.mod": "module m\nrequire github.com/aws/aws-sdk-go-v2/config v1.21.0\n"},
			[]string{".", "./functions/f", ".", "./functions/g/cmd"}, nil,
		},
		"nearest": {
			map[string]string{"functions/f/go.mod": "module f\n", "functions/g/go.mod": "module g\n", "go.mod": "module m\n"},
			[]string{"functions/f", ".", "functions/g", "./cmd"}, nil,
		},
		"not valid": {map[string]string{"go.mod": "modul m"}, []string{".", "./functions/f", ".", "./functions/g/cmd"}, nil},
		"a binary":  {map[string]string{"functions/f": ""}, []string{"", "", "", ""}, nil},
		"one only":  {map[string]string{"functions/g/go.mod": "module g\n"}, []string{"", "", "functions/g", "./cmd"}, nil},
		"old SDK": {
			map[string]string{"go.mod": "module m\nrequire (\n\tgithub.com/aws/aws-sdk-go-v2/config v1.20.9 // indirect\n\tgithub.com/aws/aws-sdk-go v1.55.0 // indirect\n)\n"},
			[]string{".", "./functions/f", ".", "./functions/g/cmd"},
			[]string{"aws-sdk-go-v2/config v1.20.9 ignores AWS_ENDPOINT_URL"},
		},
		"version 1": {
			map[string]string{"functions/f/go.mod": "module f\nrequire github.com/aws/aws-sdk-go v1.55.0\n"},
			[]string{"functions/f", ".", "", ""},
			[]string{"aws-sdk-go v1.55.0 ignores AWS_ENDPOINT_URL"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(path, content string) {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("template.yaml", functions)
			for path, content := range test.files {
				write(path, content)
			}
			got, err := stack.Load(filepath.Join(dir, "template.yaml"), stack.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var dirs []string
			for _, f := range got.Functions {
				relative := f.ModuleDir
				if relative != "" {
					if relative, err = filepath.Rel(dir, f.ModuleDir); err != nil {
						t.Fatal(err)
					}
				}
				dirs = append(dirs, relative, f.PackageDir)
			}
			if diff := cmp.Diff(test.dirs, dirs); diff != "" {
				t.Error(diff)
			}
			if len(got.Notices) != len(test.want) {
				t.Fatalf("got the notices %q, want %q", got.Notices, test.want)
			}
			for i, want := range test.want {
				if !strings.Contains(got.Notices[i], want) {
					t.Errorf("got the notice %q, want %q", got.Notices[i], want)
				}
			}
		})
	}
}

// TestOverrides checks that a variable of the environment reaches only the functions for which the template sets it.
func TestOverrides(t *testing.T) {
	t.Parallel()
	const template = header + "      Environment: {Variables: {OAUTH_PROVIDER: none, LEVEL: info}}\n" +
		"  G: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2, Handler: h, CodeUri: g, Environment: {Variables: {APP_URL: ''}}}}\n" +
		"  H: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2, Handler: h, CodeUri: h}}\n"
	got, err := stack.Parse("t.yaml", []byte(template), stack.Options{
		Overrides: map[string]string{"OAUTH_PROVIDER": "custom", "OAUTH_CLIENT_ID": "x", "APP_URL": "http://app"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{{"OAUTH_PROVIDER": "custom", "LEVEL": "info"}, {"APP_URL": "http://app"}, nil}
	for i, f := range got.Functions {
		if diff := cmp.Diff(want[i], f.Env); diff != "" {
			t.Errorf("%s: %s", f.Name, diff)
		}
	}
}

// TestNotices checks that properties without effect are accepted with a notice, once each.
func TestNotices(t *testing.T) {
	t.Parallel()
	const template = header + "      VpcConfig: {SubnetIds: [!ImportValue x]}\n      EphemeralStorage: {Size: 512}\n      Policies: [AmazonDynamoDBFullAccess]\n" +
		"  G: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2, Handler: h, CodeUri: g, VpcConfig: {}}}\n" +
		"Globals: {Function: {Tags: {a: b}, SnapStart: {ApplyOn: None}, KmsKeyArn: x}}\n"
	got, err := stack.Parse("t.yaml", []byte(template), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"t.yaml: no effect on the local platform: EphemeralStorage, KmsKeyArn, SnapStart, Tags, VpcConfig"}
	if diff := cmp.Diff(want, got.Notices); diff != "" {
		t.Error(diff)
	}
}
