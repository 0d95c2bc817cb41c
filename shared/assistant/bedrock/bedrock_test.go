package bedrock

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/config"
)

func TestRetryBeforeTheAnswerBegins(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(http.ResponseWriter){
		"throttled":               func(w http.ResponseWriter) { fail(w, 429, "ThrottlingException", "Slow down") },
		"hung up":                 func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"a stream without events": func(w http.ResponseWriter) { send(w) },
		"an exception at once":    func(w http.ResponseWriter) { send(w, exception("serviceUnavailableException", "Wait")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n+1 < maxAttempts {
					trouble(w)
					return
				}
				send(w, text(0, "a"), stopped("end_turn"), usage(1, 1, 0, 0))
			})
			p := s.provider(claude)
			var waits []int
			p.backoff = func(attempt int) time.Duration {
				waits = append(waits, attempt)
				return 0
			}
			got, _, err := ask(t, p)
			if err != nil || got.text != "a" || len(s.seen()) != maxAttempts || len(waits) != maxAttempts-1 || waits[1] != 1 {
				t.Errorf("%v, %v, %d requests, waits %v", got, err, len(s.seen()), waits)
			}
		})
	}
}

func TestNoRetryAfterTheAnswerBegan(t *testing.T) {
	t.Parallel()
	s := streaming(t, started(), exception("throttlingException", "Slow down"))
	if _, _, err := ask(t, s.provider(claude)); err == nil || len(s.seen()) != 1 {
		t.Errorf("%v, %d requests", err, len(s.seen()))
	}
}

func TestNoRetryAfterTheWindow(t *testing.T) {
	t.Parallel()
	s := failing(t, 429, "ThrottlingException", "Slow down")
	p := s.provider(claude)
	p.window = 0
	if _, _, err := ask(t, p); err == nil || len(s.seen()) != 1 {
		t.Errorf("%v, %d requests", err, len(s.seen()))
	}
}

func TestCancelDuringBackoff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := failing(t, 429, "ThrottlingException", "Slow down")
	p := s.provider(claude)
	p.backoff = func(int) time.Duration { cancel(); return time.Hour }
	if _, _, err := askFor(ctx, t, p, hello()); !errors.Is(err, context.Canceled) || len(s.seen()) != 1 {
		t.Errorf("%v, %d requests", err, len(s.seen()))
	}
}

func TestAttemptsEndWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	p := New(Options{})
	for range 100 {
		for attempt := range maxAttempts - 1 {
			if wait := p.backoff(attempt); wait <= 0 || p.window+wait > 2*time.Second {
				t.Errorf("%d: %v after %v", attempt, wait, p.window)
			}
		}
	}
	if p.usageWait <= 0 || p.usageWait > 10*time.Second || p.closeWait <= 0 || p.closeWait > time.Second {
		t.Errorf("%v, %v", p.usageWait, p.closeWait)
	}
}

func TestRetryWithoutCachePoints(t *testing.T) {
	t.Parallel()
	const profile = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x"
	for code, message := range map[string]string{
		"ValidationException":   "The model returned the following errors: Malformed input request: #/toolConfig/tools/0: extraneous key [cachePoint] is not permitted",
		"AccessDeniedException": "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 0 {
				fail(w, 400, code, message)
				return
			}
			send(w, text(0, "a"), stopped("end_turn"), usage(1, 1, 0, 0))
		})
		p := s.provider(profile)
		for range 2 {
			if got, _, err := askFor(t.Context(), t, p, conversation()); err != nil || got.text != "a" {
				t.Errorf("%v, %v", got, err)
			}
		}
		seen := s.seen()
		if len(seen) != 3 {
			t.Fatalf("%d requests", len(seen))
		}
		for i, r := range seen {
			if strings.Contains(string(r.body), "cachePoint") != (i == 0) {
				t.Errorf("request %d: %s", i, r.body)
			}
		}
	}
}

func TestNoEndlessRetryWithoutCachePoints(t *testing.T) {
	t.Parallel()
	s := failing(t, 400, "ValidationException", "extraneous key [cachePoint] is not permitted")
	for _, name := range []string{"meta.llama3", claude} {
		before := len(s.seen())
		_, _, err := ask(t, s.provider(name))
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Fault != model.Misconfigured {
			t.Errorf("%v", err)
		}
		if n := len(s.seen()) - before; n > 2 || name != claude && n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		options Options
		want    string
	}{
		{Options{AWS: config.AWS{BedrockEndpoint: "http://b"}}, "http://b"},
		{Options{AWS: config.AWS{Endpoint: "http://all"}}, ""},
	} {
		got := newClient(tc.options).Options()
		if (got.BaseEndpoint == nil) != (tc.want == "") || got.BaseEndpoint != nil && *got.BaseEndpoint != tc.want {
			t.Errorf("%+v: %v", tc.options, got.BaseEndpoint)
		}
	}
}

// A model may think for minutes: only the context limits an answer.
func TestClientHasNoTimeout(t *testing.T) {
	t.Parallel()
	client, ok := newClient(Options{}).Options().HTTPClient.(*http.Client)
	if !ok || client.Timeout != 0 {
		t.Fatalf("%+v", client)
	}
}
