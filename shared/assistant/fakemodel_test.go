package assistant

import (
	"context"
	"slices"
	"sync"

	"devplatform/shared/assistant/model"
)

// fakeModel is a model.Provider that returns the responses that a test enqueues. Each task has its own queue, because a
// summary is generated at the same time as an answer. If the queue of a task is empty, the response is "Hello.".
type fakeModel struct {
	mu       sync.Mutex
	queues   map[model.Task][]fakeResponse
	received []model.Request
}

// fakeResponse is the response to one request. Its methods return an extended copy.
type fakeResponse struct {
	steps   []step
	outcome model.Outcome
	err     error
}

// step sends a part, waits, or calls a function, depending on which field is set.
type step struct {
	part model.Part
	wait <-chan struct{}
	call func()
}

// enqueue adds responses to the queue of a task.
func (m *fakeModel) enqueue(task model.Task, responses ...fakeResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queues == nil {
		m.queues = map[model.Task][]fakeResponse{}
	}
	m.queues[task] = append(m.queues[task], responses...)
}

// requests returns the received requests, in order.
func (m *fakeModel) requests() []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.received)
}

// fakeUsage is the usage that responses report by default.
var fakeUsage = model.Usage{Input: 100, Output: 10}

// newResponse returns a response that consists of the given parts of text.
func newResponse(parts ...string) fakeResponse {
	r := fakeResponse{outcome: model.Outcome{Stop: model.StopEnd, Model: "fake-model", Usage: fakeUsage}}
	for _, text := range parts {
		r = r.withText(text)
	}
	return r
}

// withText adds a part of text.
func (r fakeResponse) withText(text string) fakeResponse {
	return r.withStep(step{part: model.Part{Kind: model.Text, Text: text}})
}

// withCall adds a tool call. Its input is sent in two parts.
func (r fakeResponse) withCall(callID, name, input string) fakeResponse {
	half := len(input) / 2
	r.outcome.Stop = model.StopTools
	for _, part := range []model.Part{
		{Kind: model.CallStart, CallID: callID, Name: name},
		{Kind: model.CallDelta, CallID: callID, Text: input[:half]},
		{Kind: model.CallDelta, CallID: callID, Text: input[half:]},
		{Kind: model.CallEnd, CallID: callID},
	} {
		r = r.withStep(step{part: part})
	}
	return r
}

// withWait pauses the response until a value can be received from the channel, or the request is cancelled.
func (r fakeResponse) withWait(until <-chan struct{}) fakeResponse {
	return r.withStep(step{wait: until})
}

// withFunc calls a function between two parts.
func (r fakeResponse) withFunc(f func()) fakeResponse { return r.withStep(step{call: f}) }

// withError ends the response with an error.
func (r fakeResponse) withError(err error) fakeResponse {
	r.err = err
	return r
}

// withOutcome replaces the outcome.
func (r fakeResponse) withOutcome(o model.Outcome) fakeResponse {
	r.outcome = o
	return r
}

func (r fakeResponse) withStep(s step) fakeResponse {
	r.steps = append(slices.Clip(r.steps), s)
	return r
}

// Generate sends the next response in the queue of the request's task.
func (m *fakeModel) Generate(
	ctx context.Context, request model.Request, emit func(model.Part) error,
) (model.Outcome, error) {
	response := m.dequeue(request)
	for _, step := range response.steps {
		if step.wait != nil {
			select {
			case <-step.wait:
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			return response.outcome, err
		}
		if step.call != nil {
			step.call()
		}
		if step.part.Kind == 0 {
			continue
		}
		if err := emit(step.part); err != nil {
			return response.outcome, err
		}
	}
	return response.outcome, response.err
}

func (m *fakeModel) dequeue(request model.Request) fakeResponse {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.received = append(m.received, request)
	queue := m.queues[request.Task]
	if len(queue) == 0 {
		return newResponse("Hello.")
	}
	m.queues[request.Task] = queue[1:]
	return queue[0]
}
