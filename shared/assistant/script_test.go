package assistant

import (
	"context"
	"slices"
	"sync"

	"devplatform/shared/assistant/model"
)

// script is a model.Provider that answers as it is told, one scene a call. Each task has scenes of its own, so that a note that is
// written beside an answer takes none of its. Without a scene it greets.
type script struct {
	mu     sync.Mutex
	scenes map[model.Task][]scene
	heard  []model.Request
}

// scene is one answer.
type scene struct {
	steps   []step
	outcome model.Outcome
	err     error
}

// step is a part of an answer, or, without one, something that happens in between.
type step struct {
	part model.Part
	wait <-chan struct{}
	do   func()
}

// play puts scenes behind those that a task has.
func (s *script) play(task model.Task, scenes ...scene) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scenes == nil {
		s.scenes = map[model.Task][]scene{}
	}
	s.scenes[task] = append(s.scenes[task], scenes...)
}

// asked are the requests so far, in their order.
func (s *script) asked() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// scriptUsage is what an answer takes that does not say otherwise.
var scriptUsage = model.Usage{Input: 100, Output: 10}

// says is an answer of text, in as many parts as it is given.
func says(parts ...string) scene {
	c := scene{outcome: model.Outcome{Stop: model.StopEnd, Model: "script-1", Usage: scriptUsage}}
	for _, text := range parts {
		c.steps = append(c.steps, step{part: model.Part{Kind: model.Text, Text: text}})
	}
	return c
}

// calling is the scene, then a call of a tool, whose input comes in two pieces.
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

// saying is the scene, then more text.
func (c scene) saying(text string) scene {
	return c.with(step{part: model.Part{Kind: model.Text, Text: text}})
}

// waiting is the scene, then silence until a channel is closed or has something.
func (c scene) waiting(until <-chan struct{}) scene { return c.with(step{wait: until}) }

// doing is the scene, then something that happens before it goes on.
func (c scene) doing(f func()) scene { return c.with(step{do: f}) }

// failing is the scene, which then breaks off.
func (c scene) failing(err error) scene {
	c.err = err
	return c
}

// ending is the scene with another outcome.
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
	s.heard = append(s.heard, r)
	scenes := s.scenes[r.Task]
	if len(scenes) == 0 {
		return says("Hello.")
	}
	s.scenes[r.Task] = scenes[1:]
	return scenes[0]
}
