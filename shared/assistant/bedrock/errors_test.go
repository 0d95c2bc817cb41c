package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"devplatform/shared/assistant/model"
	"devplatform/shared/config"
)

// errorCases are errors of Bedrock: code, message and status of the response, and the expected fault.
var errorCases = []struct {
	code, message string
	status        int
	fault         model.Fault
}{
	{"ThrottlingException", "Too many tokens, please wait before trying again.", 429, model.Unavailable},
	{"ServiceUnavailableException", "Bedrock is unable to process your request.", 503, model.Unavailable},
	{"InternalServerException", "The system encountered an unexpected error.", 500, model.Unavailable},
	{"ModelNotReadyException", "The model is not ready.", 429, model.Unavailable},
	{"ModelTimeoutException", "The model took too long", 408, model.Unavailable},
	{"ModelErrorException", "The model failed.", 424, model.Unavailable},
	{"ModelStreamErrorException", "The model failed.", 424, model.Unavailable},
	{"ServiceQuotaExceededException", "Your request exceeds the quota.", 400, model.Unavailable},
	{"ValidationException", "The provided model identifier is invalid.", 400, model.Misconfigured},
	{
		"ValidationException",
		"The maximum tokens you requested exceeds the model limit of 4096.",
		400, model.TooLong,
	},
	{"ValidationException", "Input is too long for requested model.", 400, model.TooLong},
	{
		"ValidationException",
		"The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum",
		400, model.TooLong,
	},
	{
		"ValidationException",
		"The model returned the following errors: input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
		400, model.TooLong,
	},
	{
		"ValidationException",
		"Too many input tokens. Max input tokens: 8192, request input token count: 9279",
		400, model.TooLong,
	},
	{
		"ValidationException",
		"This model's maximum context length is 8192 tokens. Please reduce the length of the prompt",
		400, model.TooLong,
	},
	{
		"ValidationException",
		"Malformed input request: expected maxLength: 50000, actual: 52611, please reformat your input and try again.",
		400, model.TooLong,
	},
	{"ModelErrorException", "Input Tokens Exceeded: Number of input tokens exceeds maximum length", 424, model.TooLong},
	{"ValidationException", "This request has been blocked by our content filters.", 400, model.Refused},
	{
		"AccessDeniedException",
		"You don't have access to the model with the specified model ID.",
		403, model.Misconfigured,
	},
	{"ResourceNotFoundException", "The model is legacy.", 404, model.Misconfigured},
	{"UnrecognizedClientException", "The security token included in the request is invalid.", 403, model.Misconfigured},
	{"ExpiredTokenException", "The security token included in the request is expired", 403, model.Misconfigured},
	{"RequestEntityTooLargeException", "Too large.", 413, model.TooLong},
	{"UnknownException", "Unknown", 400, model.Misconfigured},
	{"UnknownException", "Unknown", 502, model.Unavailable},
}

func TestErrorsOfCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range errorCases {
		for _, task := range []model.Task{model.TaskChat, model.TaskSummarize} {
			t.Run(fmt.Sprintf("%s %d %.20s %s", tc.code, tc.status, tc.message, task), func(t *testing.T) {
				t.Parallel()
				s := serveError(t, tc.status, tc.code, tc.message)
				r := chatRequest()
				r.Task = task
				got, outcome, err := generateFor(t.Context(), t, s.provider(claude), r)
				failed := checkFault(t, err, tc.fault)
				if failed.RetryAfter != 0 || len(got.text) != 0 || outcome.Stop != "" {
					t.Errorf("got %+v, answer %v and outcome %+v, want only a fault", failed, got, outcome)
				}
				for _, want := range []string{tc.code, tc.message, "req-1", fmt.Sprint(tc.status)} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error %q does not contain %q", err, want)
					}
				}
				var named smithy.APIError
				if !errors.As(err, &named) || named.ErrorCode() != tc.code {
					t.Errorf("the error does not wrap the SDK's error: %v", err)
				}
				if tc.fault == model.Unavailable {
					s.checkRequests(t, maxAttempts)
				} else {
					s.checkRequests(t, 1)
				}
			})
		}
	}
}

func TestExceptionsInStreams(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, message string
		fault         model.Fault
	}{
		{"throttlingException", "Too many requests", model.Unavailable},
		{"serviceUnavailableException", "Try again", model.Unavailable},
		{"internalServerException", "Try again", model.Unavailable},
		{"modelStreamErrorException", "The model failed", model.Unavailable},
		{"modelTimeoutException", "No answer", model.Unavailable},
		{"validationException", "The model returned the following errors: prompt is too long: 3 tokens > 2 maximum", model.TooLong},
		{"validationException", "Malformed", model.Misconfigured},
		{"accessDeniedException", "No", model.Misconfigured},
		{"unknownException", "Unknown", model.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, hasBegun := range []bool{false, true} {
				failure := exception(tc.name, tc.message)
				frames := [][]byte{failure}
				if hasBegun {
					frames = [][]byte{
						messageStart(), textDelta(0, "Hel"), metadata(7, 8, 0, 0), failure,
						textDelta(0, "lo"), messageStop("end_turn"),
					}
				}
				s := serveFrames(t, frames...)
				got, outcome, err := generate(t, s.provider(claude))
				checkFault(t, err, tc.fault)
				if !strings.Contains(err.Error(), tc.message) || outcome.Stop != "" {
					t.Errorf("got error %v and outcome %+v, want the message %q", err, outcome, tc.message)
				}
				if hasBegun && (got.text != "Hel" || outcome.Usage != (model.Usage{Input: 7, Output: 8})) {
					t.Errorf("got answer %v and outcome %+v, want the parts before the exception", got, outcome)
				}
				if !hasBegun && tc.fault == model.Unavailable {
					s.checkRequests(t, maxAttempts)
				} else {
					s.checkRequests(t, 1)
				}
			}
		})
	}
}

func TestErrorMessagesInStreams(t *testing.T) {
	t.Parallel()
	failure := frame("", ":message-type", "error", ":error-code", "InternalFailure", ":error-message", "Failed.")
	_, _, err := generate(t, serveFrames(t, messageStart(), failure).provider(claude))
	checkFault(t, err, model.Unavailable)
	if !strings.Contains(err.Error(), "InternalFailure: Failed.") {
		t.Errorf("the error %v does not contain Bedrock's message", err)
	}
}

// The answer is complete at the end of the message. A later error has no effect.
func TestErrorAfterTheEndOfTheMessage(t *testing.T) {
	t.Parallel()
	s := serveFrames(t,
		textDelta(0, "a"), messageStop("end_turn"), exception("internalServerException", "Failed."))
	got, outcome, err := generate(t, s.provider(claude))
	if err != nil || got.text != "a" || outcome.Stop != model.StopEnd {
		t.Errorf("got answer %v, outcome %+v and error %v, want the text a", got, outcome, err)
	}
}

func TestRetryAfterIsReturned(t *testing.T) {
	t.Parallel()
	const date = "Sun, 22 Nov 2026 03:00:00 GMT"
	for value, want := range map[string]time.Duration{
		"7":                             7 * time.Second,
		"Sun, 22 Nov 2026 03:00:30 GMT": 30 * time.Second,
		"99999999":                      time.Hour,
		"0":                             0,
		"-5":                            0,
		"soon":                          0,
		"":                              0,
		"Sun, 22 Nov 2026 02:00:30 GMT": 0,
	} {
		s := serveError(t, 503, "ServiceUnavailableException", "Try again", "Retry-After", value, "Date", date)
		_, _, err := generate(t, s.provider(claude))
		if failed := checkFault(t, err, model.Unavailable); failed.RetryAfter != want {
			t.Errorf("Retry-After %q: got %v, want %v", value, failed.RetryAfter, want)
		}
		if n := len(s.requests()); (n == 1) != (want > 0) {
			t.Errorf("Retry-After %q: got %d requests, want retries only if the response requests no wait", value, n)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {date}}); got != 0 {
		t.Errorf("a date in Retry-After without a Date header: got %v, want 0", got)
	}
}

// Responses from a proxy have none of Bedrock's error codes. They are classified by their status.
func TestResponsesOfOtherServers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]model.Fault{
		200: model.Unavailable,
		301: model.Misconfigured,
		404: model.Misconfigured,
		407: model.Misconfigured,
		408: model.Unavailable,
		413: model.TooLong,
		429: model.Unavailable,
		502: model.Unavailable,
		503: model.Unavailable,
		504: model.Unavailable,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>secret answer, long enough to be a frame</html>"))
		})
		for _, task := range []model.Task{model.TaskChat, model.TaskSummarize} {
			r := chatRequest()
			r.Task = task
			_, _, err := generateFor(t.Context(), t, s.provider(claude), r)
			if checkFault(t, err, want); strings.Contains(err.Error(), "secret") {
				t.Errorf("status %d: the error %q quotes the response", status, err)
			}
		}
	}
}

func TestIncompleteSummaries(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"incomplete JSON":     `{"output":{"message":{"role":"assistant","content":[{"text":"secret`,
		"output is a string":  `{"output":"secret"}`,
		"empty object":        `{}`,
		"empty body":          ``,
		"without stop reason": `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}}}`,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write([]byte(body)) })
		r := chatRequest()
		r.Task = model.TaskSummarize
		_, outcome, err := generateFor(t.Context(), t, s.provider(claude), r)
		checkFault(t, err, model.Unavailable)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error %q quotes the response", name, err)
		}
		if outcome.Stop != "" {
			t.Errorf("%s: got the stop reason %q, want none", name, outcome.Stop)
		}
	}
}

func TestSummariesWithCallsAndReasoning(t *testing.T) {
	t.Parallel()
	const body = `{
		"output": {"message": {"role": "assistant", "content": [
			{"reasoningContent": {"reasoningText": {"text": "Hm."}}},
			{"text": "a"},
			{"toolUse": {"toolUseId": "t", "name": "n", "input": {"b":1}}},
			{"toolUse": {"toolUseId": "u", "name": "m", "input": {}}},
			{"text": "c"}
		]}},
		"stopReason": "tool_use",
		"usage": {
			"inputTokens": 1, "outputTokens": 2, "totalTokens": 3, "cacheReadInputTokens": 4, "cacheWriteInputTokens": 5
		}
	}`
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write([]byte(body)) })
	r := chatRequest()
	r.Task = model.TaskSummarize
	got, outcome, err := generateFor(t.Context(), t, s.provider(claude), r)
	if err != nil {
		t.Fatal(err)
	}
	want := received{
		text:  "ac",
		calls: []model.Call{{ID: "t", Name: "n", Input: `{"b":1}`}, {ID: "u", Name: "m", Input: "{}"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got answer %v, want %v", got, want)
	}
	wantUsage := model.Usage{Input: 10, Output: 2, CacheRead: 4, CacheWrite: 5}
	if outcome.Stop != model.StopTools || outcome.Usage != wantUsage {
		t.Errorf("got outcome %+v, want %q and the usage %+v", outcome, model.StopTools, wantUsage)
	}
}

func TestConnectionErrors(t *testing.T) {
	t.Parallel()
	refusing := &fakeBedrock{URL: "http://127.0.0.1:1"}
	disconnecting := serve(t, func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) })
	for _, s := range []*fakeBedrock{refusing, disconnecting} {
		_, _, err := generate(t, s.provider(claude))
		checkFault(t, err, model.Unavailable)
	}
	disconnecting.checkRequests(t, maxAttempts)
}

func TestErrorsBeforeSending(t *testing.T) {
	t.Parallel()
	const unreachable = "http://127.0.0.1:1"
	for name, options := range map[string]config.AWS{
		"no credentials":   {Region: "eu-central-1", BedrockEndpoint: unreachable},
		"no region":        {AccessKeyID: "a", SecretAccessKey: "b"},
		"invalid endpoint": {Region: "eu-central-1", AccessKeyID: "a", SecretAccessKey: "b", BedrockEndpoint: "://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := generate(t, New(Options{AWS: options, Model: claude}))
			checkFault(t, err, model.Misconfigured)
		})
	}
}

func TestErrorsAreShortAndHaveNoCredentials(t *testing.T) {
	t.Parallel()
	message := "The signature is wrong: x-amz-security-token:FwoGZXIvYXdz and wJalrXUtnFEMI of AKIDEXAMPLE " +
		strings.Repeat("ü", 1000)
	for _, s := range []*fakeBedrock{
		serveError(t, 403, "InvalidSignatureException", message),
		serveFrames(t, exception("validationException", message)),
	} {
		_, _, err := generate(t, s.provider(claude))
		text := err.Error()
		for _, credential := range []string{"FwoGZXIvYXdz", "wJalrXUtnFEMI"} {
			if strings.Contains(text, credential) {
				t.Errorf("the error contains the credential %s: %s", credential, text)
			}
		}
		if !strings.Contains(text, "The signature is wrong") {
			t.Errorf("the error does not contain Bedrock's message: %s", text)
		}
		if len(text) > 450 || !utf8.ValidString(text) {
			t.Errorf("got an error of %d bytes, want at most 450 of valid UTF-8: %q", len(text), text)
		}
	}
}

func TestContextErrorsTakePrecedence(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := New(Options{})
	for _, err := range []error{
		p.callError(ctx, &types.ThrottlingException{}),
		p.streamError(ctx, nil),
		p.streamError(ctx, &types.ValidationException{}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want %v", err, context.Canceled)
		}
	}
}
