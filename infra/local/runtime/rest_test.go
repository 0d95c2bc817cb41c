package runtime_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/runtime"
	"devplatform/infra/testmode"
)

// serve puts the REST API of a runtime behind HTTP.
func serve(t testing.TB, change func(*runtime.Options)) (*lambda.Client, string) {
	t.Helper()
	server := httptest.NewServer(start(t, change))
	t.Cleanup(server.Close)
	return lambda.New(lambda.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), HTTPClient: awshttp.New(),
	}), server.URL
}

func TestSDKInvoke(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(o *runtime.Options) { o.Functions[0].Alias = "live" })
	for _, name := range []string{
		"echo", "echo:$LATEST", "echo:live", "function:echo", "000000000000:function:echo", "000000000000:echo",
		"arn:aws:lambda:us-east-1:000000000000:function:echo", "arn:aws:lambda:us-east-1:000000000000:function:echo:$LATEST",
		"arn:aws:lambda:us-east-1:000000000000:function:echo:1",
	} {
		out, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: &name, Payload: []byte(`{"log":["hello"]}`), LogType: types.LogTypeTail})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		log, err := base64.StdEncoding.DecodeString(aws.ToString(out.LogResult))
		if err != nil || !strings.Contains(string(log), "hello\n") {
			t.Errorf("%s: log %q, %v", name, log, err)
		}
		if string(out.Payload) != `{"log":["hello"]}` || out.StatusCode != 200 || aws.ToString(out.ExecutedVersion) != "$LATEST" || out.FunctionError != nil {
			t.Errorf("%s: %d %s, version %v, error %v", name, out.StatusCode, out.Payload, out.ExecutedVersion, out.FunctionError)
		}
	}
	out, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("echo"), Payload: []byte(`{"do":"exit"}`)})
	if err != nil || aws.ToString(out.FunctionError) != "Unhandled" || out.StatusCode != 200 || !strings.Contains(string(out.Payload), `"errorType":"Runtime.ExitError"`) {
		t.Errorf("a crash: %+v, %v", out, err)
	}
	if out, err = client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("echo")}); err != nil || string(out.Payload) != "{}" {
		t.Errorf("no payload: %s, %v", out.Payload, err)
	}
}

func TestSDKErrors(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(o *runtime.Options) {
		o.Functions[0].Alias = "live"
		o.Functions = append(o.Functions, function(t, "plain", "function"))
	})
	big := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	cases := []struct {
		name string
		in   lambda.InvokeInput
		want error
	}{
		{"unknown", lambda.InvokeInput{FunctionName: aws.String("other")}, new(types.ResourceNotFoundException)},
		{"unknown alias", lambda.InvokeInput{FunctionName: aws.String("echo"), Qualifier: aws.String("beta")}, new(types.ResourceNotFoundException)},
		{"alias of none", lambda.InvokeInput{FunctionName: aws.String("plain"), Qualifier: aws.String("live")}, new(types.ResourceNotFoundException)},
		{"other account", lambda.InvokeInput{FunctionName: aws.String("111111111111:function:echo")}, new(types.ResourceNotFoundException)},
		{"two qualifiers", lambda.InvokeInput{FunctionName: aws.String("echo:live"), Qualifier: aws.String("beta")}, new(types.InvalidParameterValueException)},
		{"dry run", lambda.InvokeInput{FunctionName: aws.String("echo"), InvocationType: types.InvocationTypeDryRun}, new(types.InvalidParameterValueException)},
		{"not JSON", lambda.InvokeInput{FunctionName: aws.String("echo"), Payload: []byte("{a}")}, new(types.InvalidRequestContentException)},
		{"too large", lambda.InvokeInput{FunctionName: aws.String("echo"), Payload: big(runtime.MaxPayload + 5)}, new(types.RequestTooLargeException)},
		{"event too large", lambda.InvokeInput{
			FunctionName: aws.String("echo"), InvocationType: types.InvocationTypeEvent, Payload: big(runtime.MaxEventPayload + 1),
		}, new(types.RequestTooLargeException)},
	}
	for _, c := range cases {
		_, err := client.Invoke(t.Context(), &c.in)
		var api smithy.APIError
		if !errors.As(err, &api) || fmt.Sprintf("%T", api) != fmt.Sprintf("%T", c.want) || api.ErrorMessage() == "" {
			t.Errorf("%s: %T: %v", c.name, api, err)
		}
	}
	if _, err := client.DeleteFunction(t.Context(), &lambda.DeleteFunctionInput{FunctionName: aws.String("echo")}); err == nil ||
		!strings.Contains(err.Error(), "UnsupportedOperationException: DELETE /2015-03-31/functions/echo is not") {
		t.Errorf("an unsupported operation: %v", err)
	}
}

func TestSDKThrottling(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(o *runtime.Options) { o.MaxConcurrency, o.MaxWait = 1, 10*time.Millisecond })
	g := newGate(t)
	go func() {
		_, _ = client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("echo"), Payload: event(t, order{Wait: g.url})})
	}()
	<-g.arrived
	_, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("echo")})
	var throttled *types.TooManyRequestsException
	if !errors.As(err, &throttled) || throttled.Reason != types.ThrottleReasonReservedFunctionConcurrentInvocationLimitExceeded {
		t.Errorf("error %v", err)
	}
}

func TestSDKEvent(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(o *runtime.Options) { o.RetryDelay = time.Millisecond })
	g := newGate(t)
	g.open()
	send := func(o order) {
		out, err := client.Invoke(t.Context(), &lambda.InvokeInput{
			FunctionName: aws.String("echo"), InvocationType: types.InvocationTypeEvent, Payload: event(t, o),
		})
		if err != nil || out.StatusCode != http.StatusAccepted || len(out.Payload) > 0 {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	send(order{Do: "error", Wait: g.url + "?fails"})
	for attempt := range 3 {
		if got := <-g.arrived; got != "fails" {
			t.Errorf("attempt %d: %s", attempt, got)
		}
	}
	send(order{Wait: g.url + "?succeeds"}) // a fourth attempt would come before
	if got := <-g.arrived; got != "succeeds" {
		t.Errorf("the next event: %s", got)
	}
}

func TestSDKDescribesFunctions(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(o *runtime.Options) {
		o.Functions = nil
		for _, name := range []string{"c", "a", "b"} {
			f := function(t, name, "function")
			f.Description, f.Architecture = "the "+name, "arm64"
			o.Functions = append(o.Functions, f)
		}
	})
	list, err := client.ListFunctions(t.Context(), &lambda.ListFunctionsInput{})
	if err != nil || len(list.Functions) != 3 || aws.ToString(list.Functions[0].FunctionName) != "a" || list.NextMarker != nil {
		t.Errorf("functions %+v, %v", list, err)
	}
	c, err := client.GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{FunctionName: aws.String("b")})
	if err != nil {
		t.Fatal(err)
	}
	if aws.ToString(c.Description) != "the b" || c.Runtime != types.RuntimeProvidedal2023 || aws.ToInt32(c.Timeout) != 30 ||
		aws.ToInt32(c.MemorySize) != 512 || c.Architectures[0] != types.ArchitectureArm64 || c.State != types.StateActive ||
		c.Environment.Variables[modeVariable] != "function" ||
		aws.ToString(c.FunctionArn) != "arn:aws:lambda:us-east-1:000000000000:function:b" {
		t.Errorf("configuration %+v", c)
	}
}

func TestAWSCLI(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	cli, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("needs the AWS CLI on PATH")
	}
	_, url := serve(t, nil)
	dir := t.TempDir()
	aws := func(args ...string) (string, string, error) {
		command := exec.CommandContext(t.Context(), cli, append(args, "--endpoint-url", url, "--region", "us-east-1", "--output", "json")...)
		command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_PAGER=", "NO_PROXY=127.0.0.1")
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		err := command.Run()
		return stdout.String(), stderr.String(), err
	}
	if _, complaint, err := aws("--version"); err != nil {
		t.Skip("the AWS CLI on PATH does not run: " + complaint)
	}
	t.Run("list-functions", func(t *testing.T) {
		t.Parallel()
		out, complaint, err := aws("lambda", "list-functions")
		var list struct {
			Functions []struct{ FunctionName, Runtime string }
		}
		if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list.Functions) != 1 || list.Functions[0].FunctionName != "echo" {
			t.Errorf("%s%s%v", out, complaint, err)
		}
	})
	invocations := []struct{ name, payload, kind, meta, file string }{
		{"invoke", `{"a":1}`, "RequestResponse", `"StatusCode": 200`, `{"a":1}`},
		{"event", `{"a":1}`, "Event", `"StatusCode": 202`, ``},
		{"function error", `{"do":"error"}`, "RequestResponse", `"FunctionError": "Unhandled"`, `{"errorMessage":"no such project","errorType":"errorString"}`},
	}
	for _, c := range invocations {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, file := filepath.Join(dir, c.name+".json"), filepath.Join(dir, c.name+".out")
			if err := os.WriteFile(in, []byte(c.payload), 0o600); err != nil {
				t.Fatal(err)
			}
			out, complaint, err := aws("lambda", "invoke", "--function-name", "echo", "--invocation-type", c.kind, "--payload", "fileb://"+in, file)
			if err != nil || !strings.Contains(out, c.meta) {
				t.Errorf("%s%s%v", out, complaint, err)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != c.file {
				t.Errorf("response %q, %v, want %q", got, err, c.file)
			}
		})
	}
	t.Run("unknown function", func(t *testing.T) {
		t.Parallel()
		_, complaint, err := aws("lambda", "invoke", "--function-name", "nope", filepath.Join(dir, "nope.out"))
		if err == nil || !strings.Contains(complaint, "(ResourceNotFoundException) when calling the Invoke operation: function not found: arn:aws:lambda:us-east-1:000000000000:function:nope") {
			t.Errorf("%s%v", complaint, err)
		}
	})
}

func BenchmarkInvoke(b *testing.B) {
	for _, clients := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			r := start(b, func(o *runtime.Options) { o.MaxWait = time.Minute })
			for range 16 { // warm
				invoke(b, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)})
			}
			payload := []byte(`{"resource":"/api/auth/{proxy+}","path":"/api/auth/me","httpMethod":"GET"}`)
			b.SetParallelism(max(1, clients/2))
			b.ReportAllocs()
			b.ResetTimer()
			before := processorTime(b)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					response, err := r.Invoke(b.Context(), runtime.Invocation{Function: "echo", Payload: payload})
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
			})
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "own-cpu-µs/op")
		})
	}
}

// processorTime returns the CPU time of this process, which depends less on other processes than the elapsed time.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
