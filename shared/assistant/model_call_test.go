package assistant

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
)

func TestModelErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	const cause, partialText = "the provider's message", "Half of"
	storedTurns := 0
	for _, tc := range []struct {
		fault      model.Fault
		wait       time.Duration // the wait that the provider asks for
		status     int
		code       fault.Code
		retryAfter string // the Retry-After header of the response
	}{
		{model.Unavailable, 0, 503, fault.CodeAIUnavailable, "5"},
		{model.Unavailable, 1500 * time.Millisecond, 503, fault.CodeAIUnavailable, "2"},
		{model.Refused, 0, 422, fault.CodeAIRefused, ""},
		{model.Misconfigured, 0, 500, fault.CodeInternal, ""},
		{model.TooLong, 0, 400, fault.CodeValidationFailed, ""},
	} {
		err := &model.Error{Fault: tc.fault, RetryAfter: tc.wait, Cause: errors.New(cause)}

		// The model fails before it sends anything: the turn is not stored.
		f.model.enqueue(model.TaskChat, newResponse().withError(err))
		if tc.fault == model.TooLong { // the request is repeated with a smaller prompt and a smaller MaxOutput
			f.model.enqueue(model.TaskChat, newResponse().withError(err), newResponse().withError(err))
		}
		got := ada.chat(projectID, "Hello?").Want(t, tc.status, tc.code)
		if got.Header.Get("Retry-After") != tc.retryAfter {
			t.Errorf("%s: got Retry-After %q, want %q", tc.fault, got.Header.Get("Retry-After"), tc.retryAfter)
		}
		if strings.Contains(got.Raw, cause) {
			t.Errorf("%s: the response contains the provider's message: %s", tc.fault, got.Raw)
		}
		if n := len(ada.messages(projectID)); n != 2*storedTurns {
			t.Fatalf("%s without output: got %d messages, want %d", tc.fault, n, 2*storedTurns)
		}

		// The model fails after some output: the partial answer is stored.
		f.model.enqueue(model.TaskChat, newResponse(partialText).withError(err))
		got = ada.chat(projectID, "Hello?").Want(t, tc.status, tc.code)
		if got.Header.Get("Retry-After") != tc.retryAfter || strings.Contains(got.Raw, cause) {
			t.Errorf("%s after output: got %v %s, want the same response as without output", tc.fault, got.Header, got.Raw)
		}
		storedTurns++
		messages := ada.messages(projectID)
		if len(messages) != 2*storedTurns {
			t.Fatalf("%s after output: got %d messages, want %d", tc.fault, len(messages), 2*storedTurns)
		}
		answer := messages[len(messages)-1]
		if answer["status"] != "interrupted" || answer["content"] != partialText {
			t.Errorf("%s after output: got answer %v, want the content %q and the status interrupted",
				tc.fault, answer, partialText)
		}

		f.model.enqueue(model.TaskGenerate, newResponse(partialText).withError(err))
		ada.generate("Hello?").Want(t, tc.status, tc.code)
	}

	// The log filters of template.yaml recognize the failures of the provider by these fields.
	for _, want := range []string{
		"level=ERROR msg=answer", "code=AI_UNAVAILABLE", `cause="model: misconfigured: the provider's message"`,
	} {
		if !strings.Contains(f.log.String(), want) {
			t.Errorf("the log does not contain %s", want)
		}
	}

	f.model.enqueue(model.TaskChat, newResponse())
	ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	if reserved := ada.Get(usageURL).Want(t, http.StatusOK).Body["reservedTokens"]; reserved != 0.0 {
		t.Errorf("got %v reserved tokens after all errors, want 0", reserved)
	}
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	for name, setLimit := range map[string]func(*Limits){
		"time":    func(l *Limits) { l.Generation = 50 * time.Millisecond },
		"silence": func(l *Limits) { l.Silence = 50 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, withLimits(setLimit))
			ada := f.newUser("ada")
			projectID := ada.newProject()
			f.model.enqueue(model.TaskChat, newResponse("Well").withWait(make(chan struct{})))
			ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
			ada.checkInterrupted(projectID)
		})
	}
}

// An answer ends early enough before the deadline of the function to be stored.
func TestDeadlineOfFunction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse("Well").withWait(make(chan struct{})))
	ctx, cancel := context.WithTimeout(t.Context(), timeToStore+500*time.Millisecond)
	defer cancel()
	in := &chatInput{}
	in.Body.ProjectID, in.Body.Message = projectID, "Hello?"
	_, err := f.service.answerQuestion(ctx, ada.caller(), in, nil)
	if !errors.Is(err, errTooLate) || ctx.Err() != nil {
		t.Errorf("got error %v, want %v before the deadline", err, errTooLate)
	}
	ada.checkInterrupted(projectID)
}

// The tokens that the model has read are counted even if it never answers.
func TestUsageOfSilentModel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.Silence = 300 * time.Millisecond }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse().withWait(make(chan struct{})).withOutcome(model.Outcome{}))
	message := strings.Repeat("word ", 4000) // 20,000 bytes, about 5000 tokens
	ada.chat(projectID, message).Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	if used, _ := ada.Get(usageURL).Want(t, http.StatusOK).Body["inputTokens"].(float64); used < 5000 {
		t.Errorf("got %v input tokens, want at least 5000", used)
	}
}

// A provider that counts far fewer tokens than were sent has cut the request.
func TestCutRequestIsLogged(t *testing.T) {
	t.Parallel()
	// The request has about 2,400 tokens. Fewer than minWindow tokens do not show the size of a window.
	for input, want := range map[int]bool{minWindow: true, 4_000: false, minWindow - 1: false, 0: false} {
		f := newFixture(t)
		ada := f.newUser("ada")
		outcome := model.Outcome{Stop: model.StopEnd, Usage: model.Usage{Input: input, Output: 10}}
		f.model.enqueue(model.TaskChat, newResponse("Hello.").withOutcome(outcome))
		ada.chat(ada.newProject(), "Hello?").Want(t, http.StatusOK)
		if got := strings.Contains(f.log.String(), "read only a part of the request"); got != want {
			t.Errorf("%d input tokens: got a warning: %v, want %v", input, got, want)
		}
	}
}

// A model that is thinking is not silent, even if it thinks for longer than the limit.
func TestThinkingIsNotSilence(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.Silence = 300 * time.Millisecond }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	response := newResponse()
	for i := range 10 {
		response = response.
			withWait(closedAfter(time.Duration(i+1) * 50 * time.Millisecond)).
			withStep(step{part: model.Part{Kind: model.Thinking}})
	}
	f.model.enqueue(model.TaskChat, response.withText("Thought."))
	if got := ada.chat(projectID, "Hello?").Want(t, http.StatusOK).Text("response"); got != "Thought." {
		t.Errorf("got response %q, want %q", got, "Thought.")
	}
}

// closedAfter returns a channel that is closed after d.
func closedAfter(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}

func TestTooLongAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	var parts []string
	for range 500 {
		parts = append(parts, strings.Repeat("\"\x00", 512)) // the NUL characters are removed
	}
	f.model.enqueue(model.TaskChat, newResponse(parts...))
	text := ada.chat(projectID, "Write a long text.").Want(t, http.StatusOK).Text("response")
	if n := len(text); n > maxAnswer || n < maxAnswer/2-2048 { // the part that exceeds the limit is left out
		t.Errorf("got a response of %d bytes, want about %d", n, maxAnswer/2)
	}
	if strings.Contains(text, "\x00") {
		t.Error("the response contains NUL characters")
	}
	if !strings.Contains(text, "cut off here") {
		t.Error("the response does not contain a note that it was cut off")
	}
	if n := len(ada.messages(projectID)); n != 2 {
		t.Errorf("got %d messages, want 2", n)
	}
}

// An answer with too many calls is cut off, like an answer with too much text.
func TestTooManyCallsAreCutOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	response := newResponse("All.")
	for i := range 10 * maxCalls {
		response = response.withCall(fmt.Sprint(i), "delete_file", `{"path":"/missing"}`)
	}
	f.model.enqueue(model.TaskChat, response, response)
	text := ada.chat(projectID, "Delete all.").Want(t, http.StatusOK).Text("response")
	if n := strings.Count(text, "Left out"); n > 2*maxCalls || n < maxCalls {
		t.Errorf("got %d notes about failed calls, want %d to %d", n, maxCalls, 2*maxCalls)
	}
}

// Calls of tools that the request does not offer are ignored.
func TestGenerateIgnoresCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	f.model.enqueue(model.TaskGenerate,
		newResponse("```js\n1\n```").withCall("1", "create_file", `{"path":"/a","content":""}`),
		newResponse().withCall("1", "create_file", `{}`))
	if got := ada.generate("One.").Want(t, http.StatusOK).Text("code"); got != "1\n" {
		t.Errorf("got code %q, want %q", got, "1\n")
	}
	ada.generate("One.").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
}
