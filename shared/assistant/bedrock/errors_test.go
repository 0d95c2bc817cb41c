package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"devplatform/shared/assistant/model"
	"devplatform/shared/config"
)

var errorTable = []struct {
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
	{"ValidationException", "The maximum tokens you requested exceeds the model limit of 4096.", 400, model.Misconfigured},
	{"ValidationException", "Input is too long for requested model.", 400, model.TooLong},
	{"ValidationException", "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum", 400, model.TooLong},
	{"ValidationException", "The model returned the following errors: input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000", 400, model.TooLong},
	{"ValidationException", "Too many input tokens. Max input tokens: 8192, request input token count: 9279", 400, model.TooLong},
	{"ValidationException", "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt", 400, model.TooLong},
	{"ValidationException", "Malformed input request: expected maxLength: 50000, actual: 52611, please reformat your input and try again.", 400, model.TooLong},
	{"ModelErrorException", "Input Tokens Exceeded: Number of input tokens exceeds maximum length", 424, model.TooLong},
	{"ValidationException", "This request has been blocked by our content filters.", 400, model.Refused},
	{"AccessDeniedException", "You don't have access to the model with the specified model ID.", 403, model.Misconfigured},
	{"ResourceNotFoundException", "The model is legacy.", 404, model.Misconfigured},
	{"UnrecognizedClientException", "The security token included in the request is invalid.", 403, model.Misconfigured},
	{"ExpiredTokenException", "The security token included in the request is expired", 403, model.Misconfigured},
	{"RequestEntityTooLargeException", "Too large.", 413, model.TooLong},
	{"NeverHeardOfException", "What?", 400, model.Misconfigured},
	{"NeverHeardOfException", "What?", 502, model.Unavailable},
}

func TestErrorsOfCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range errorTable {
		for _, task := range []model.Task{model.TaskChat, model.TaskSummarize} {
			t.Run(fmt.Sprintf("%s %d %.20s %s", tc.code, tc.status, tc.message, task), func(t *testing.T) {
				t.Parallel()
				s := failing(t, tc.status, tc.code, tc.message)
				r := hello()
				r.Task = task
				got, outcome, err := askFor(t.Context(), t, s.provider(claude), r)
				var failed *model.Error
				if !errors.As(err, &failed) || failed.Fault != tc.fault || failed.RetryAfter != 0 || len(got.text) != 0 || outcome.Stop != "" {
					t.Fatalf("%v, %v, %v", got, outcome, err)
				}
				if said := err.Error(); !strings.Contains(said, tc.code) || !strings.Contains(said, tc.message) || !strings.Contains(said, "req-1") || !strings.Contains(said, fmt.Sprint(tc.status)) {
					t.Errorf("%s", said)
				}
				var named smithy.APIError
				if !errors.As(err, &named) || named.ErrorCode() != tc.code {
					t.Errorf("the error does not wrap the SDK's error: %v", err)
				}
				if n, again := len(s.seen()), tc.fault == model.Unavailable; again && n != maxAttempts || !again && n != 1 {
					t.Errorf("%d requests", n)
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
		{"neverHeardOfException", "What?", model.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, begun := range []bool{false, true} {
				frames := [][]byte{exception(tc.name, tc.message)}
				if begun {
					frames = [][]byte{started(), text(0, "Hel"), usage(7, 8, 0, 0), frames[0], text(0, "lo"), stopped("end_turn")}
				}
				s := streaming(t, frames...)
				got, outcome, err := ask(t, s.provider(claude))
				var failed *model.Error
				if !errors.As(err, &failed) || failed.Fault != tc.fault || !strings.Contains(err.Error(), tc.message) || outcome.Stop != "" {
					t.Errorf("%v, %v, %v", got, outcome, err)
				}
				if begun && (got.text != "Hel" || outcome.Usage != (model.Usage{Input: 7, Output: 8})) {
					t.Errorf("%v, %v", got, outcome)
				}
				if n, again := len(s.seen()), !begun && tc.fault == model.Unavailable; again && n != maxAttempts || !again && n != 1 {
					t.Errorf("begun %v: %d requests", begun, n)
				}
			}
		})
	}
}

func TestErrorMessagesInStreams(t *testing.T) {
	t.Parallel()
	s := streaming(t, started(), frame("", ":message-type", "error", ":error-code", "InternalFailure", ":error-message", "Oh."))
	_, _, err := ask(t, s.provider(claude))
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Fault != model.Unavailable || !strings.Contains(err.Error(), "InternalFailure: Oh.") {
		t.Errorf("%v", err)
	}
}

func TestErrorAfterTheEndOfTheMessage(t *testing.T) {
	t.Parallel()
	got, outcome, err := ask(t, streaming(t, text(0, "a"), stopped("end_turn"), exception("internalServerException", "Oh.")).provider(claude))
	if err != nil || got.text != "a" || outcome.Stop != model.StopEnd {
		t.Errorf("%v, %v, %v", got, outcome, err)
	}
}

func TestRetryAfterIsReturned(t *testing.T) {
	t.Parallel()
	const date = "Sun, 22 Nov 2026 03:00:00 GMT"
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "Sun, 22 Nov 2026 03:00:30 GMT": 30 * time.Second, "99999999": time.Hour,
		"0": 0, "-5": 0, "soon": 0, "": 0, "Sun, 22 Nov 2026 02:00:30 GMT": 0,
	} {
		s := failing(t, 503, "ServiceUnavailableException", "Try again", "Retry-After", value, "Date", date)
		_, _, err := ask(t, s.provider(claude))
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Fault != model.Unavailable || failed.RetryAfter != want {
			t.Errorf("%q: %v", value, err)
		}
		if n := len(s.seen()); (n == 1) != (want > 0) {
			t.Errorf("%q: %d requests", value, n)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {date}}); got != 0 {
		t.Errorf("a date without a Date header: %v", got)
	}
}

func TestResponsesOfOtherServers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]model.Fault{
		200: model.Unavailable, 301: model.Misconfigured, 404: model.Misconfigured, 407: model.Misconfigured,
		408: model.Unavailable, 413: model.TooLong, 429: model.Unavailable, 502: model.Unavailable, 503: model.Unavailable, 504: model.Unavailable,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>secret answer, long enough to be a frame</html>"))
		})
		for _, task := range []model.Task{model.TaskChat, model.TaskSummarize} {
			r := hello()
			r.Task = task
			_, _, err := askFor(t.Context(), t, s.provider(claude), r)
			var failed *model.Error
			if !errors.As(err, &failed) || failed.Fault != want || strings.Contains(err.Error(), "secret") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
}

func TestIncompleteSummaries(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"cut short": `{"output":{"message":{"role":"assistant","content":[{"text":"secret`, "another": `{"output":"secret"}`, "empty": `{}`, "nothing": ``, "no end": `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}}}`,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write([]byte(body)) })
		r := hello()
		r.Task = model.TaskSummarize
		_, outcome, err := askFor(t.Context(), t, s.provider(claude), r)
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Fault != model.Unavailable || strings.Contains(err.Error(), "secret") || outcome.Stop != "" {
			t.Errorf("%s: %v, %v", name, outcome, err)
		}
	}
}

func TestSummariesWithCallsAndReasoning(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		_, _ = w.Write([]byte(`{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm."}}},{"text":"a"},` +
			`{"toolUse":{"toolUseId":"t","name":"n","input":{"b":1}}},{"toolUse":{"toolUseId":"u","name":"m","input":{}}},{"text":"c"}]}},` +
			`"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3,"cacheReadInputTokens":4,"cacheWriteInputTokens":5}}`))
	})
	r := hello()
	r.Task = model.TaskSummarize
	got, outcome, err := askFor(t.Context(), t, s.provider(claude), r)
	want := heard{"ac", []model.Call{{ID: "t", Name: "n", Input: `{"b":1}`}, {ID: "u", Name: "m", Input: "{}"}}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || outcome.Stop != model.StopTools ||
		outcome.Usage != (model.Usage{Input: 10, Output: 2, CacheRead: 4, CacheWrite: 5}) {
		t.Errorf("%v, %v, %v", got, outcome, err)
	}
}

func TestConnectionErrors(t *testing.T) {
	t.Parallel()
	refuses := &bedrockServer{URL: "http://127.0.0.1:1"}
	hangsUp := serve(t, func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) })
	for _, s := range []*bedrockServer{refuses, hangsUp} {
		_, _, err := ask(t, s.provider(claude))
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Fault != model.Unavailable {
			t.Errorf("%v", err)
		}
	}
	if n := len(hangsUp.seen()); n != maxAttempts {
		t.Errorf("%d requests", n)
	}
}

func TestErrorsBeforeSending(t *testing.T) {
	t.Parallel()
	nowhere := config.AWS{Region: "eu-central-1", AccessKeyID: "a", SecretAccessKey: "b", BedrockEndpoint: "://"}
	for name, o := range map[string]Options{
		"no credentials": {AWS: config.AWS{Region: "eu-central-1", BedrockEndpoint: "http://127.0.0.1:1"}, Model: claude},
		"no region":      {AWS: config.AWS{AccessKeyID: "a", SecretAccessKey: "b"}, Model: claude},
		"no endpoint":    {AWS: nowhere, Model: claude},
	} {
		_, err := New(o).Generate(t.Context(), hello(), func(model.Part) error { return nil })
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Fault != model.Misconfigured {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsAreShortAndHaveNoCredentials(t *testing.T) {
	t.Parallel()
	message := "The signature is wrong: x-amz-security-token:FwoGZXIvYXdz and wJalrXUtnFEMI of AKIDEXAMPLE " + strings.Repeat("ü", 1000)
	for _, s := range []*bedrockServer{
		failing(t, 403, "InvalidSignatureException", message), streaming(t, exception("validationException", message)),
	} {
		_, _, err := ask(t, s.provider(claude))
		said := err.Error()
		for _, secret := range []string{"FwoGZXIvYXdz", "wJalrXUtnFEMI"} {
			if strings.Contains(said, secret) {
				t.Errorf("%s", said)
			}
		}
		if !strings.Contains(said, "The signature is wrong") || len(said) > 450 || !utf8.ValidString(said) {
			t.Errorf("%d bytes: %s", len(said), said)
		}
	}
}

func TestContextErrorsTakePrecedence(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := New(Options{})
	for _, err := range []error{
		p.callError(ctx, &types.ThrottlingException{}), p.streamError(ctx, nil), p.streamError(ctx, &types.ValidationException{}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}
