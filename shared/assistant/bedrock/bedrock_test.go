package bedrock

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
	"devplatform/shared/config"
)

func TestRetryBeforeTheAnswerBegins(t *testing.T) {
	t.Parallel()
	for name, failAttempt := range map[string]func(http.ResponseWriter){
		"throttled": func(w http.ResponseWriter) {
			writeError(w, 429, "ThrottlingException", "Slow down")
		},
		"connection lost":       func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"stream without events": func(w http.ResponseWriter) { writeFrames(w) },
		"exception as the first event": func(w http.ResponseWriter) {
			writeFrames(w, exception("serviceUnavailableException", "Wait"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n+1 < provider.MaxAttempts {
					failAttempt(w)
					return
				}
				writeFrames(w, textDelta(0, "a"), messageStop("end_turn"), metadata(1, 1, 0, 0))
			})
			p := s.provider(claude)
			var backoffs []int
			p.waits.Backoff = func(failures int) time.Duration {
				backoffs = append(backoffs, failures)
				return 0
			}
			got, _, err := generate(t, p)
			if err != nil || got.Text != "a" {
				t.Errorf("got answer %v and error %v, want the text a", got, err)
			}
			s.CheckRequests(t, provider.MaxAttempts)
			if len(backoffs) != provider.MaxAttempts-1 || backoffs[1] != 1 {
				t.Errorf("got backoffs after %v failures, want after 0 to %d", backoffs, provider.MaxAttempts-2)
			}
		})
	}
}

func TestNoRetryAfterTheAnswerBegan(t *testing.T) {
	t.Parallel()
	s := serveFrames(t, messageStart(), exception("throttlingException", "Slow down"))
	_, _, err := generate(t, s.provider(claude))
	providertest.CheckFault(t, err, model.Unavailable)
	s.CheckRequests(t, 1)
}

func TestNoRetryAfterTheWindow(t *testing.T) {
	t.Parallel()
	s := serveError(t, 429, "ThrottlingException", "Slow down")
	p := s.provider(claude)
	p.waits.Window = 0
	_, _, err := generate(t, p)
	providertest.CheckFault(t, err, model.Unavailable)
	s.CheckRequests(t, 1)
}

func TestCancelDuringBackoff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := serveError(t, 429, "ThrottlingException", "Slow down")
	p := s.provider(claude)
	p.waits.Backoff = func(int) time.Duration { cancel(); return time.Hour }
	if _, _, err := generateFor(ctx, t, p, chatRequest()); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	s.CheckRequests(t, 1)
}

// The ARN of an application inference profile does not show whether its model has a cache. If the model rejects cache
// points, they are not sent again.
func TestRetryWithoutCachePoints(t *testing.T) {
	t.Parallel()
	const profile = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x"
	for code, message := range map[string]string{
		"ValidationException": "The model returned the following errors: Malformed input request: " +
			"#/toolConfig/tools/0: extraneous key [cachePoint] is not permitted",
		"AccessDeniedException": "You invoked an unsupported model or your request did not allow prompt caching. " +
			"See the documentation for more information.",
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 0 {
				writeError(w, 400, code, message)
				return
			}
			writeFrames(w, textDelta(0, "a"), messageStop("end_turn"), metadata(1, 1, 0, 0))
		})
		p := s.provider(profile)
		for range 2 {
			if got, _, err := generateFor(t.Context(), t, p, fullRequest()); err != nil || got.Text != "a" {
				t.Errorf("%s: got answer %v and error %v, want the text a", code, got, err)
			}
		}
		s.CheckRequests(t, 3)
		for i, r := range s.Requests() {
			got, want := strings.Contains(r.Body, "cachePoint"), i == 0
			if got != want {
				t.Errorf("%s: request %d: got cache points %v, want %v: %s", code, i, got, want, r.Body)
			}
		}
	}
}

func TestNoEndlessRetryWithoutCachePoints(t *testing.T) {
	t.Parallel()
	for name, maxRequests := range map[string]int{"meta.llama3": 1, claude: 2} {
		s := serveError(t, 400, "ValidationException", "extraneous key [cachePoint] is not permitted")
		_, _, err := generate(t, s.provider(name))
		providertest.CheckFault(t, err, model.Misconfigured)
		if n := len(s.Requests()); n > maxRequests {
			t.Errorf("%s: got %d requests, want at most %d", name, n, maxRequests)
		}
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		options Options
		want    string // empty: the endpoint of AWS
	}{
		{Options{AWS: config.AWS{BedrockEndpoint: "http://b"}}, "http://b"},
		{Options{AWS: config.AWS{Endpoint: "http://all"}}, ""},
	} {
		got := ""
		if endpoint := newClient(tc.options).Options().BaseEndpoint; endpoint != nil {
			got = *endpoint
		}
		if got != tc.want {
			t.Errorf("%+v: got the endpoint %q, want %q", tc.options, got, tc.want)
		}
	}
}

// A model may think for minutes. Therefore, only the context limits the time of an answer.
func TestClientHasNoTimeout(t *testing.T) {
	t.Parallel()
	client, ok := newClient(Options{}).Options().HTTPClient.(*http.Client)
	if !ok || client.Timeout != 0 {
		t.Fatalf("got %+v, want an *http.Client without a timeout", client)
	}
}
