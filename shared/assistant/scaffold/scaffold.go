// Package scaffold is the built-in provider: a deterministic generator that makes real code for the well-known frameworks out of the
// words of a prompt. It is no language model, has no network and no key, and says so. It goes by the request's task and facts and
// never reads the prompt text that was made for models. What the code looks like is blueprint's business; sessions, projects and
// storage are not known here.
package scaffold

import (
	"context"

	"devplatform/shared/assistant/model"
)

// Model is what the generator calls itself where a model's name is asked for.
const Model = "scaffold-1 (built-in templates, no language model)"

// Provider is the generator.
type Provider struct{}

// New is the generator. The same request gets the same answer from each.
func New() model.Provider { return Provider{} }

// Generate answers at once. Usage is an estimate by the rule that prompts are measured with, four characters to a token: of the
// user's words and the contents that were looked into, and of what was written. It never fails of itself: its errors are the
// context's and emit's.
func (Provider) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	given := factsOf(r.Facts)
	a := answerTo(r, given)
	out, stop := a.fit(r.MaxOutput)
	w := &writer{ctx: ctx, emit: emit, prefix: idPrefix(given)}
	err := w.write(out)
	outcome := model.Outcome{Stop: stop, Model: Model, Usage: model.Usage{Input: a.read(given), Output: tokens(w.written)}}
	if err != nil {
		outcome.Stop = ""
	}
	return outcome, err
}

// answerTo decides what is answered.
func answerTo(r model.Request, f facts) answer {
	if isRepair(r.Messages) {
		return answer{text: "The built-in generator can't do better what failed (it is no language model), so I leave those changes out."}
	}
	switch r.Task {
	case model.TaskGenerate:
		return generate(f)
	case model.TaskSummarize:
		return answer{text: summarize(f, r.MaxOutput), used: turnsText(f.Turns)}
	default:
		return chat(f)
	}
}

// isRepair reports that the request asks to make failed calls again.
func isRepair(messages []model.Message) bool {
	return len(messages) > 0 && len(messages[len(messages)-1].Results) > 0
}
