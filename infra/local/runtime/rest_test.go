package runtime_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"

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
	client, _ := serve(t, func(o *runtime.Options) { o.Functions[0].Alias = "live" })
	for _, name := range []string{"echo", "echo:$LATEST", "echo:live", "arn:aws:lambda:us-east-1:000000000000:function:echo:1"} {
		out, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: &name, Payload: []byte(`{"log":["hello"]}`)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
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
	echo := aws.String("echo")
	for _, c := range []struct {
		name string
		in   lambda.InvokeInput
		want error
	}{
		{"unknown", lambda.InvokeInput{FunctionName: aws.String("other")}, new(types.ResourceNotFoundException)},
		{"unknown alias", lambda.InvokeInput{FunctionName: echo, Qualifier: aws.String("beta")}, new(types.ResourceNotFoundException)},
		{"alias of none", lambda.InvokeInput{FunctionName: aws.String("plain"), Qualifier: aws.String("live")}, new(types.ResourceNotFoundException)},
		{"dry run", lambda.InvokeInput{FunctionName: echo, InvocationType: types.InvocationTypeDryRun}, new(types.InvalidParameterValueException)},
		{"event", lambda.InvokeInput{FunctionName: echo, InvocationType: types.InvocationTypeEvent}, new(types.InvalidParameterValueException)},
		{"log", lambda.InvokeInput{FunctionName: echo, LogType: types.LogTypeTail}, new(types.InvalidParameterValueException)},
		{"not JSON", lambda.InvokeInput{FunctionName: echo, Payload: []byte("{a}")}, new(types.InvalidRequestContentException)},
		{"too large", lambda.InvokeInput{FunctionName: echo, Payload: []byte(`"` + strings.Repeat("x", runtime.MaxPayload) + `"`)}, new(types.RequestTooLargeException)},
	} {
		_, err := client.Invoke(t.Context(), &c.in)
		var api smithy.APIError
		if !errors.As(err, &api) || fmt.Sprintf("%T", api) != fmt.Sprintf("%T", c.want) || api.ErrorMessage() == "" {
			t.Errorf("%s: %T: %v", c.name, api, err)
		}
	}
	if _, err := client.DeleteFunction(t.Context(), &lambda.DeleteFunctionInput{FunctionName: echo}); err == nil ||
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
