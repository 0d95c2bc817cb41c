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
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/runtime"
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
	client, _ := serve(t, nil)
	for _, name := range []string{
		"echo", "echo:$LATEST", "function:echo", "000000000000:function:echo", "000000000000:echo",
		"arn:aws:lambda:us-east-1:000000000000:function:echo", "arn:aws:lambda:us-east-1:000000000000:function:echo:$LATEST",
		"arn:aws:lambda:us-east-1:000000000000:function:echo:1",
	} {
		out, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: &name, Payload: []byte(`{"log":["hello"]}`), LogType: types.LogTypeTail})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		log, err := base64.StdEncoding.DecodeString(aws.ToString(out.LogResult))
		if err != nil || !strings.Contains(string(log), "Version: $LATEST\nhello\nEND RequestId: ") {
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
	out, err = client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("echo"), InvocationType: types.InvocationTypeDryRun})
	if err != nil || out.StatusCode != 204 {
		t.Errorf("dry run: %+v, %v", out, err)
	}
	out, err = client.Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String("echo"), Payload: []byte(`{"do":"context"}`),
		ClientContext: aws.String(base64.StdEncoding.EncodeToString([]byte(`{"custom": {"k": "v"}}`))),
	})
	if err != nil || !strings.Contains(string(out.Payload), `"custom":{"k":"v"}`) {
		t.Errorf("client context: %s, %v", out.Payload, err)
	}
	if out, err = client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("echo")}); err != nil || string(out.Payload) != "{}" {
		t.Errorf("no payload: %s, %v", out.Payload, err)
	}
}

func TestSDKErrors(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, nil)
	big := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	cases := []struct {
		name string
		in   lambda.InvokeInput
		kind error
		want string
	}{
		{"unknown", lambda.InvokeInput{FunctionName: aws.String("other")}, new(types.ResourceNotFoundException), "Function not found: arn:aws:lambda:us-east-1:000000000000:function:other"},
		{"unknown alias", lambda.InvokeInput{FunctionName: aws.String("echo"), Qualifier: aws.String("live")}, new(types.ResourceNotFoundException), "Function not found: arn:aws:lambda:us-east-1:000000000000:function:echo:live"},
		{"other account", lambda.InvokeInput{FunctionName: aws.String("111111111111:function:echo")}, new(types.ResourceNotFoundException), "Function not found: arn:aws:lambda:us-east-1:111111111111:function:echo"},
		{"two qualifiers", lambda.InvokeInput{FunctionName: aws.String("echo:live"), Qualifier: aws.String("beta")}, new(types.InvalidParameterValueException), "The derived qualifier from the function name does not match the specified qualifier."},
		{"no JSON", lambda.InvokeInput{FunctionName: aws.String("echo"), Payload: []byte("{a}")}, new(types.InvalidRequestContentException), "Could not parse request body into json: Could not parse payload into json: invalid character 'a' looking for beginning of object key string"},
		{"too large", lambda.InvokeInput{FunctionName: aws.String("echo"), Payload: big(runtime.MaxPayload + 5)}, new(types.RequestTooLargeException), "6291461 byte payload is too large for the RequestResponse invocation type (limit 6291456 bytes)"},
		{"event too large", lambda.InvokeInput{FunctionName: aws.String("echo"), InvocationType: types.InvocationTypeEvent, Payload: big(runtime.MaxEventPayload + 1)}, new(types.RequestTooLargeException), "1048577 byte payload is too large for the Event invocation type (limit 1048576 bytes)"},
		{"client context", lambda.InvokeInput{FunctionName: aws.String("echo"), ClientContext: aws.String("e30x")}, new(types.InvalidRequestContentException), "Client context must be a valid Base64-encoded JSON object."},
	}
	for _, c := range cases {
		_, err := client.Invoke(t.Context(), &c.in)
		var api smithy.APIError
		if !errors.As(err, &api) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, api.ErrorMessage()); diff != "" || fmt.Sprintf("%T", api) != fmt.Sprintf("%T", c.kind) {
			t.Errorf("%s: %T (-want +got):\n%s", c.name, api, diff)
		}
	}
	if _, err := client.DeleteFunction(t.Context(), &lambda.DeleteFunctionInput{FunctionName: aws.String("echo")}); err == nil || !strings.Contains(err.Error(), "UnsupportedOperationException: DELETE /2015-03-31/functions/echo is not") {
		t.Errorf("an operation that isn't there: %v", err)
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
	observed := make(chan runtime.Stats, 10)
	client, _ := serve(t, func(o *runtime.Options) {
		o.RetryDelay = time.Millisecond
		o.Observe = func(s runtime.Stats) { observed <- s }
	})
	send := func(payload string) {
		out, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("echo"), InvocationType: types.InvocationTypeEvent, Payload: []byte(payload)})
		if err != nil || out.StatusCode != http.StatusAccepted || len(out.Payload) > 0 {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	send(`{"do":"error"}`)
	first := <-observed
	for range 2 {
		if again := <-observed; !again.Failed || again.RequestID != first.RequestID {
			t.Errorf("retry %+v of %+v", again, first)
		}
	}
	send(`{"n":1}`) // a fourth try of the first would come before
	if s := <-observed; s.Failed || s.RequestID == first.RequestID {
		t.Errorf("the next event: %+v", s)
	}
}

func TestSDKStream(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, nil)
	g := newGate(t)
	cases := []struct{ do, code, details string }{
		{"stream", "", ""},
		{"stream-error", "errorString", `{"errorMessage":"lost the thread","errorType":"errorString"}`},
		{"stream-exit", "Runtime.ExitError", `exit status 4`},
	}
	for _, c := range cases {
		out, err := client.InvokeWithResponseStream(t.Context(), &lambda.InvokeWithResponseStreamInput{
			FunctionName: aws.String("echo"), LogType: types.LogTypeTail,
			Payload: event(t, order{Do: c.do, Log: []string{"logged"}, Chunks: []string{"one", "two"}, Gates: []string{"", g.url}}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := aws.ToString(out.ResponseStreamContentType); got != "application/vnd.amazon.eventstream" || aws.ToString(out.ExecutedVersion) != "$LATEST" {
			t.Errorf("content type %q, version %v", got, out.ExecutedVersion)
		}
		var chunks []string
		var end types.InvokeWithResponseStreamCompleteEvent
		for got := range out.GetStream().Events() {
			switch e := got.(type) {
			case *types.InvokeWithResponseStreamResponseEventMemberPayloadChunk:
				chunks = append(chunks, string(e.Value.Payload))
				if len(chunks) == 1 {
					g.pass() // the second chunk is not made before the first has come
				}
			case *types.InvokeWithResponseStreamResponseEventMemberInvokeComplete:
				end = e.Value
			}
		}
		if err := out.GetStream().Close(); err != nil {
			t.Errorf("%s: %v", c.do, err)
		}
		if diff := cmp.Diff([]string{"one", "two"}, chunks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.do, diff)
		}
		log, _ := base64.StdEncoding.DecodeString(aws.ToString(end.LogResult))
		if aws.ToString(end.ErrorCode) != c.code || !strings.Contains(aws.ToString(end.ErrorDetails), c.details) || !strings.Contains(string(log), "logged") {
			t.Errorf("%s: end %s, %s, log %q", c.do, aws.ToString(end.ErrorCode), aws.ToString(end.ErrorDetails), log)
		}
		<-g.arrived
	}
}

func TestSDKDescribesFunctions(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(o *runtime.Options) {
		o.Functions = nil
		for _, name := range []string{"c", "a", "b"} {
			f := function(t, name, "function")
			f.Description, f.Architecture, f.MaxConcurrency = "the "+name, "arm64", 3
			o.Functions = append(o.Functions, f)
		}
	})
	var names []string
	pages := lambda.NewListFunctionsPaginator(client, &lambda.ListFunctionsInput{MaxItems: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(len(page.Functions)))
		for _, f := range page.Functions {
			names = append(names, aws.ToString(f.FunctionName))
		}
	}
	if diff := cmp.Diff([]string{"2", "a", "b", "1", "c"}, names); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	c, err := client.GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{FunctionName: aws.String("b")})
	if err != nil {
		t.Fatal(err)
	}
	if aws.ToString(c.Description) != "the b" || c.Runtime != types.RuntimeProvidedal2023 || aws.ToInt32(c.Timeout) != 30 || aws.ToInt32(c.MemorySize) != 512 ||
		c.Architectures[0] != types.ArchitectureArm64 || c.CodeSize == 0 || c.State != types.StateActive || c.Environment.Variables[modeVariable] != "function" ||
		aws.ToString(c.FunctionArn) != "arn:aws:lambda:us-east-1:000000000000:function:b" || len(aws.ToString(c.CodeSha256)) != 44 {
		t.Errorf("configuration %+v", c)
	}
	f, err := client.GetFunction(t.Context(), &lambda.GetFunctionInput{FunctionName: aws.String("b")})
	if err != nil || aws.ToInt32(f.Concurrency.ReservedConcurrentExecutions) != 3 || !strings.HasPrefix(aws.ToString(f.Code.Location), "file:///") {
		t.Errorf("function %+v, %v", f, err)
	}
	n, err := client.GetFunctionConcurrency(t.Context(), &lambda.GetFunctionConcurrencyInput{FunctionName: aws.String("b")})
	if err != nil || aws.ToInt32(n.ReservedConcurrentExecutions) != 3 {
		t.Errorf("concurrency %+v, %v", n, err)
	}
}

func TestErrorsOnTheWire(t *testing.T) {
	t.Parallel()
	_, url := serve(t, nil)
	cases := []struct {
		method, path, body string
		status             int
		kind, want         string
	}{
		{"POST", "/2015-03-31/functions/nope/invocations", "", 404, "ResourceNotFoundException", `{"Type":"User","Message":"Function not found: arn:aws:lambda:us-east-1:000000000000:function:nope"}`},
		{"POST", "/2015-03-31/functions/echo/invocations", "}", 400, "InvalidRequestContentException", `{"Type":"User","message":"Could not parse request body into json: Could not parse payload into json: invalid character '}' looking for beginning of value"}`},
		{"GET", "/2015-03-31/functions?MaxItems=0", "", 400, "ValidationException", `{"Type":"User","message":"1 validation error detected: Value '0' at 'maxItems' failed to satisfy constraint: Member must satisfy a value between 1 and 10000"}`},
		{"PUT", "/2015-03-31/functions/echo/code", "", 400, "UnsupportedOperationException", `{"Type":"User","message":"PUT /2015-03-31/functions/echo/code is not an operation that the local platform supports"}`},
		{"GET", "/2015-03-31/event-source-mappings", "", 400, "UnsupportedOperationException", `{"Type":"User","message":"GET /2015-03-31/event-source-mappings is not an operation that the local platform supports"}`},
	}
	for _, c := range cases {
		response, body := call(t, c.method, url+c.path, c.body)
		if response.StatusCode != c.status || response.Header.Get("X-Amzn-ErrorType") != c.kind || body != c.want {
			t.Errorf("%s %s: %d %s %s", c.method, c.path, response.StatusCode, response.Header.Get("X-Amzn-ErrorType"), body)
		}
	}
}

func TestAWSCLI(t *testing.T) {
	t.Parallel()
	cli, err := exec.LookPath("aws")
	if err != nil || testing.Short() {
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
				t.Errorf("answer %q, %v, want %q", got, err, c.file)
			}
		})
	}
	t.Run("unknown function", func(t *testing.T) {
		t.Parallel()
		_, complaint, err := aws("lambda", "invoke", "--function-name", "nope", filepath.Join(dir, "nope.out"))
		if err == nil || !strings.Contains(complaint, "(ResourceNotFoundException) when calling the Invoke operation: Function not found: arn:aws:lambda:us-east-1:000000000000:function:nope") {
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

// processorTime is what this process alone has used: on a busy machine it says more than the clock.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
