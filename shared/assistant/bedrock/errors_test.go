package bedrock

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
	"devplatform/shared/config"
)

// errorCases are errors of Bedrock: code, message and status of the response, and the expected fault. Package provider
// tests the faults of more errors.
var errorCases = []struct {
	code, message string
	status        int
	fault         model.Fault
}{
	{"ThrottlingException", "Too many tokens, please wait before trying again.", 429, model.Unavailable},
	{"ServiceUnavailableException", "Bedrock is unable to process your request.", 503, model.Unavailable},
	{"ValidationException", "The provided model identifier is invalid.", 400, model.Misconfigured},
	{"ValidationException", "Input is too long for requested model.", 400, model.TooLong},
	{"ValidationException", "This request has been blocked by our content filters.", 400, model.Refused},
}

func TestErrorsOfCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range errorCases {
		t.Run(fmt.Sprintf("%s %d %.20s", tc.code, tc.status, tc.message), func(t *testing.T) {
			t.Parallel()
			s := serveError(t, tc.status, tc.code, tc.message)
			got, outcome, err := generate(t, s.provider(claude))
			failed := providertest.CheckFault(t, err, tc.fault)
			if failed.RetryAfter != 0 || len(got.Text) != 0 || outcome.Stop != "" {
				t.Errorf("got %+v, answer %v and outcome %+v, want only a fault", failed, got, outcome)
			}
			for _, want := range []string{tc.code, tc.message, "req-1", fmt.Sprint(tc.status)} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error %q does not contain %q", err, want)
				}
			}
			if tc.fault == model.Unavailable {
				s.CheckRequests(t, provider.MaxAttempts)
			} else {
				s.CheckRequests(t, 1)
			}
		})
	}
}

func TestExceptionsInStreams(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, message string
		fault         model.Fault
	}{
		{"throttlingException", "Too many requests", model.Unavailable},
		{"modelStreamErrorException", "The model failed", model.Unavailable},
		{"validationException", "The model returned the following errors: prompt is too long: 3 tokens > 2 maximum", model.TooLong},
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
				providertest.CheckFault(t, err, tc.fault)
				if !strings.Contains(err.Error(), tc.message) || outcome.Stop != "" {
					t.Errorf("got error %v and outcome %+v, want the message %q", err, outcome, tc.message)
				}
				if hasBegun && (got.Text != "Hel" || outcome.Usage != (model.Usage{Input: 7, Output: 8})) {
					t.Errorf("got answer %v and outcome %+v, want the parts before the exception", got, outcome)
				}
				if !hasBegun && tc.fault == model.Unavailable {
					s.CheckRequests(t, provider.MaxAttempts)
				} else {
					s.CheckRequests(t, 1)
				}
			}
		})
	}
}

func TestErrorMessagesInStreams(t *testing.T) {
	t.Parallel()
	failure := frame("", ":message-type", "error", ":error-code", "InternalFailure", ":error-message", "Failed.")
	_, _, err := generate(t, serveFrames(t, messageStart(), failure).provider(claude))
	providertest.CheckFault(t, err, model.Unavailable)
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
	if err != nil || got.Text != "a" || outcome.Stop != model.StopEnd {
		t.Errorf("got answer %v, outcome %+v and error %v, want the text a", got, outcome, err)
	}
}

// A wait that Bedrock requests is returned, so that the client does not retry earlier.
func TestRetryAfterIsReturned(t *testing.T) {
	t.Parallel()
	s := serveError(t, 503, "ServiceUnavailableException", "Try again", "Retry-After", "7")
	p := s.provider(claude)
	p.waits.Window = time.Second
	_, _, err := generate(t, p)
	if failed := providertest.CheckFault(t, err, model.Unavailable); failed.RetryAfter != 7*time.Second {
		t.Errorf("got the wait %v, want 7s", failed.RetryAfter)
	}
	s.CheckRequests(t, 1)
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
		_, _, err := generate(t, s.provider(claude))
		if providertest.CheckFault(t, err, want); strings.Contains(err.Error(), "secret") {
			t.Errorf("status %d: the error %q quotes the response", status, err)
		}
	}
}

func TestConnectionErrors(t *testing.T) {
	t.Parallel()
	refusing := &fakeBedrock{&providertest.Server{Server: &httptest.Server{URL: "http://127.0.0.1:1"}}}
	disconnecting := serve(t, func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) })
	for _, s := range []*fakeBedrock{refusing, disconnecting} {
		_, _, err := generate(t, s.provider(claude))
		providertest.CheckFault(t, err, model.Unavailable)
	}
	disconnecting.CheckRequests(t, provider.MaxAttempts)
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
			providertest.CheckFault(t, err, model.Misconfigured)
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
