package assistant

import (
	"context"
	"slices"
	"sync"

	"devplatform/shared/assistant/model"
)

// script is a model.Provider that plays scenes, one for each call. Each task has its own scenes, because a summary is
// generated at the same time as an answer. If there is no scene, the answer is "Hello.".
type script struct {
	mu       sync.Mutex
	scenes   map[model.Task][]scene
	received []model.Request
}

// scene is one answer.
type scene struct {
	steps   []step
	outcome model.Outcome
	err     error
}

// step is a part of an answer, or something that happens between two parts.
type step struct {
	part model.Part
	wait <-chan struct{}
	do   func()
}

// play adds scenes to those of a task.
func (s *script) play(task model.Task, scenes ...scene) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scenes == nil {
		s.scenes = map[model.Task][]scene{}
	}
	s.scenes[task] = append(s.scenes[task], scenes...)
}

// requests returns the requests so far, in order.
func (s *script) requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// scriptUsage is the usage of a scene unless the scene sets another one.
var scriptUsage = model.Usage{Input: 100, Output: 10}

// says returns a scene with the given parts of text.
func says(parts ...string) scene {
	c := scene{outcome: model.Outcome{Stop: model.StopEnd, Model: "script-1", Usage: scriptUsage}}
	for _, text := range parts {
		c.steps = append(c.steps, step{part: model.Part{Kind: model.Text, Text: text}})
	}
	return c
}

// calling adds a tool call, whose input arrives in two pieces.
func (c scene) calling(callID, name, input string) scene {
	half := len(input) / 2
	c.outcome.Stop = model.StopTools
	return c.with(
		step{part: model.Part{Kind: model.CallStart, CallID: callID, Name: name}},
		step{part: model.Part{Kind: model.CallDelta, CallID: callID, Text: input[:half]}},
		step{part: model.Part{Kind: model.CallDelta, CallID: callID, Text: input[half:]}},
		step{part: model.Part{Kind: model.CallEnd, CallID: callID}},
	)
}

// saying adds text.
func (c scene) saying(text string) scene {
	return c.with(step{part: model.Part{Kind: model.Text, Text: text}})
}

// waiting adds a silence until a channel is closed or has a value.
func (c scene) waiting(until <-chan struct{}) scene { return c.with(step{wait: until}) }

// doing adds a function that is called between two parts.
func (c scene) doing(f func()) scene { return c.with(step{do: f}) }

// failing makes the scene end with an error.
func (c scene) failing(err error) scene {
	c.err = err
	return c
}

// ending sets the outcome of the scene.
func (c scene) ending(o model.Outcome) scene {
	c.outcome = o
	return c
}

func (c scene) with(steps ...step) scene {
	c.steps = slices.Concat(c.steps, steps)
	return c
}

// Generate plays the next scene of the request's task.
func (s *script) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	next := s.next(r)
	for _, step := range next.steps {
		if step.wait != nil {
			select {
			case <-step.wait:
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			return next.outcome, err
		}
		if step.do != nil {
			step.do()
		}
		if step.part.Kind == 0 {
			continue
		}
		if err := emit(step.part); err != nil {
			return next.outcome, err
		}
	}
	return next.outcome, next.err
}

func (s *script) next(r model.Request) scene {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, r)
	scenes := s.scenes[r.Task]
	if len(scenes) == 0 {
		return says("Hello.")
	}
	s.scenes[r.Task] = scenes[1:]
	return scenes[0]
}
