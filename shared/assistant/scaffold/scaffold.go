// Package scaffold is the built-in provider. It is a stand-in for a language model, without a network or a key. It
// fills an empty project with one of a few complete small projects, the starters. It chooses a starter by keywords, and
// refuses every message that has no keyword or asks for something else. The same message always gets the same answer.
// ../README.md documents the starters and the rules for users.
//
// starters.go has the starters, choose.go the rules, answers.go the answers, and stream.go emits an answer. Each folder
// in starters is a project that is deployed as it is, so nothing else belongs there.
//
// The provider reads the task and the subject of a model.Request, and not the prompt text that was written for models.
// Storage, HTTP and conversations do not belong here.
package scaffold

import (
	"context"
	"unicode/utf8"

	"devplatform/shared/assistant/model"
)

// Model is the name of the model in answers.
const Model = "scaffold-1 (built-in starters, no language model)"

// Provider is the built-in generator.
type Provider struct{}

// New returns the generator.
func New() model.Provider { return Provider{} }

// answer is a complete answer.
type answer struct {
	text  string
	calls []call
}

// call is a call of a tool. input is JSON.
type call struct{ name, input string }

// Generate emits the whole answer at once. The usage is an estimate: four characters count as a token. The only errors
// are the errors of ctx and emit.
func (Provider) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	a := answerTo(r)
	outcome := model.Outcome{Stop: model.StopEnd, Model: Model}
	switch {
	case r.MaxOutput > 0 && a.tokens() > r.MaxOutput:
		a = answer{text: "The answer is longer than the tokens that remain."}
		outcome.Stop = model.StopLength
	case len(a.calls) > 0:
		outcome.Stop = model.StopTools
	}
	written := 0 // characters
	var err error
	for _, p := range a.parts(callPrefix(r.Messages)) {
		if err = ctx.Err(); err == nil {
			err = emit(p)
		}
		if err != nil {
			outcome.Stop = ""
			break
		}
		written += utf8.RuneCountInString(p.Text) + utf8.RuneCountInString(p.Name)
	}
	outcome.Usage = model.Usage{Input: tokens(utf8.RuneCountInString(r.Subject.Prompt)), Output: tokens(written)}
	return outcome, err
}

func answerTo(r model.Request) answer {
	if n := len(r.Messages); n > 0 && len(r.Messages[n-1].Results) > 0 {
		return answer{text: "The built-in generator cannot correct these changes, so they are left out."}
	}
	switch r.Task {
	case model.TaskGenerate:
		return refusal(refusef("I cannot write a single piece of code. A starter has several files: ask for it in the chat " +
			"of an empty project."))
	case model.TaskSummarize:
		return answer{} // it does not read earlier turns
	}
	a, err := chat(r.Subject)
	if err != nil {
		return refusal(err)
	}
	return a
}

// tokens estimates the number of tokens of a text.
func tokens(characters int) int { return (characters + 3) / 4 }

func (a answer) tokens() int {
	n := utf8.RuneCountInString(a.text)
	for _, c := range a.calls {
		n += utf8.RuneCountInString(c.name) + utf8.RuneCountInString(c.input)
	}
	return tokens(n)
}
