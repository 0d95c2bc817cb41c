package assistant

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/uistream"
)

const (
	// maxAnswer is the maximum size of an answer in bytes, for providers that ignore MaxOutput. A stored message can
	// have this size.
	maxAnswer = 384 << 10
	// maxCalls is the number of calls of one round that are processed, including those that fail.
	maxCalls = 2 * action.MaxPerAnswer
)

// errTooLarge ends an answer that has reached maxAnswer or maxCalls.
var errTooLarge = errors.New("assistant: the answer is too large")

// answer collects what the model sends: text, and calls, which become checked actions.
type answer struct {
	// stream receives the answer while it is generated; nil if the answer is not streamed. Its errors are ignored: the
	// answer is completed and stored even if the client has disconnected.
	stream *uistream.Writer
	// draft checks the actions; nil if the model may not call tools.
	draft *action.Draft

	text strings.Builder
	// size is the number of bytes received: text and the input of calls.
	size int
	// stop and model are those of the first round. used is the usage of all requests.
	stop  model.Stop
	model string
	used  model.Usage
	round round
}

// round is the response to one request.
type round struct {
	// repair is set in the second round. Its text is discarded, and its calls need IDs that the first round does not
	// have.
	repair bool
	// separated is the number of calls before the text that was received last.
	separated int
	call      *openCall
	calls     []model.Call
	results   []model.Result
	done      []action.Action
	failed    []failure
}

// openCall is a call whose input is not complete yet.
type openCall struct {
	model.Call
	input strings.Builder
	// prefix stops the streaming of an input that is not valid JSON.
	prefix jsonPrefix
}

// failure is a call that could not be executed.
type failure struct {
	// brief describes the call for the user: the tool, and the path if the input is valid.
	brief, tool, path string
	problem           *action.Problem
}

// streamID returns the ID of a call in the stream.
func (r *round) streamID(callID string) string {
	if r.repair {
		return callID + "-again"
	}
	return callID
}

// add adds a part. Errors: errTooLarge; those of storage.
func (a *answer) add(ctx context.Context, p model.Part) error {
	if a.draft == nil && p.Kind != model.Text {
		return nil // the model called a tool, but was offered none
	}
	a.size += len(p.Text)
	if a.size > maxAnswer {
		return errTooLarge
	}
	switch p.Kind {
	case model.Text:
		if !a.round.repair {
			a.addText(a.separator() + clean(p.Text))
		}
	case model.CallStart:
		a.round.call = &openCall{Call: model.Call{ID: p.CallID, Name: p.Name}}
		_ = a.stream.ToolStart(a.round.streamID(p.CallID), p.Name)
	case model.CallDelta:
		a.round.call.input.WriteString(p.Text)
		if a.round.call.prefix.accept(p.Text) {
			_ = a.stream.ToolDelta(a.round.streamID(p.CallID), p.Text)
		}
	case model.CallEnd:
		call := a.round.call.Call
		call.Input = a.round.call.input.String()
		a.round.call = nil
		return a.addCall(ctx, call)
	}
	return nil
}

// addText adds text to the answer and the stream.
func (a *answer) addText(text string) {
	a.text.WriteString(text)
	_ = a.stream.Text(text)
}

// separator returns the line break between text before and after calls: models start a new paragraph there.
func (a *answer) separator() string {
	text := a.text.String()
	if a.round.separated == len(a.round.calls) || text == "" || strings.HasSuffix(text, "\n\n") {
		return ""
	}
	a.round.separated = len(a.round.calls)
	return "\n\n"
}

// addCall adds a complete call. A call that is not possible becomes a failure. Errors: errTooLarge; those of storage.
func (a *answer) addCall(ctx context.Context, call model.Call) error {
	if a.round.calls = append(a.round.calls, call); len(a.round.calls) > maxCalls {
		return errTooLarge
	}
	failed := failure{brief: call.Name, tool: call.Name}
	parsed, err := action.Parse(call)
	if err == nil {
		failed.brief, failed.path = parsed.Brief(), parsed.Path
		_ = a.stream.ToolAvailable(a.round.streamID(call.ID), call.Name, jsontext.Value(call.Input))
		if !a.round.repair || !a.has(parsed) {
			err = a.apply(ctx, parsed)
		}
	} else if problem, ok := errors.AsType[*action.Problem](err); ok {
		_ = a.stream.ToolError(a.round.streamID(call.ID), call.Name, problem.Text)
	}
	result := model.Result{CallID: call.ID, Text: "Checked."}
	if problem, ok := errors.AsType[*action.Problem](err); ok {
		failed.problem = problem
		a.round.failed = append(a.round.failed, failed)
		result.Text, result.Failed, err = problem.Text, true, nil
	}
	a.round.results = append(a.round.results, result)
	return err
}

// apply applies an action to the draft. Errors: *action.Problem; those of storage.
func (a *answer) apply(ctx context.Context, parsed action.Action) error {
	if err := a.draft.Apply(ctx, parsed); err != nil {
		return err
	}
	actions := a.draft.Actions()
	done := actions[len(actions)-1] // the draft may have changed its line endings
	a.round.done = append(a.round.done, done)
	_ = a.stream.Data("action", done)
	return nil
}

// has reports whether the answer already has the same action. A model that repairs some calls may repeat the others.
func (a *answer) has(parsed action.Action) bool {
	return slices.ContainsFunc(a.draft.Actions(), func(other action.Action) bool {
		return reflect.DeepEqual(other, parsed)
	})
}

// endRound records how a request ended. It returns err, unless the answer was cut off because of its size.
func (a *answer) endRound(outcome model.Outcome, err error) error {
	if errors.Is(err, errTooLarge) {
		outcome.Stop, err = model.StopLength, nil
	}
	if err != nil {
		outcome.Stop = ""
	}
	a.spend(outcome.Usage)
	if !a.round.repair {
		a.stop, a.model = outcome.Stop, outcome.Model
	}
	return err
}

// spend adds the usage of a request.
func (a *answer) spend(u model.Usage) {
	a.used.Input += u.Input
	a.used.Output += u.Output
}

// Usage is the number of tokens that an answer used.
type Usage = conversation.Usage

// usageOf returns usage as clients see it.
func usageOf(u model.Usage) Usage { return Usage{InputTokens: u.Input, OutputTokens: u.Output} }

// isBlank reports whether the answer has no text.
func (a *answer) isBlank() bool { return strings.TrimSpace(a.text.String()) == "" }

// remainingFailures returns the failures of the first round that the repair did not fix, followed by new failures of
// the repair. If the repair tried a failed call again, the failure has the problem of the second attempt. Each action
// of the repair fixes one failure: one with the same path or, if the input of the failed call was not valid, one of the
// same tool. If the repair repeats an action that succeeded in the first round, and fails, that is not a failure.
func remainingFailures(first, repair round) []failure {
	const anyPath = " " // no path begins with a space
	fixed, failedPaths, succeeded := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, f := range first.failed {
		failedPaths[f.path] = true
	}
	for _, done := range first.done {
		succeeded[done.Brief()] = true
	}
	for _, done := range repair.done {
		if failedPaths[done.Path] {
			fixed[done.Path]++
		} else {
			fixed[anyPath+string(done.Type)]++
		}
	}
	var remaining []failure
	failedAgain := slices.Clone(repair.failed)
	for _, f := range first.failed {
		key := f.path
		if key == "" {
			key = anyPath + f.tool
		}
		if fixed[key] > 0 {
			fixed[key]--
			continue
		}
		again := slices.IndexFunc(failedAgain, func(s failure) bool {
			return s.path == f.path && (f.path != "" || s.tool == f.tool)
		})
		if again >= 0 {
			f = failedAgain[again]
			failedAgain = slices.Delete(failedAgain, again, again+1)
		}
		remaining = append(remaining, f)
	}
	for _, f := range failedAgain {
		if !failedPaths[f.path] && !succeeded[f.brief] {
			remaining = append(remaining, f)
		}
	}
	return remaining
}

// finishText adds to the text: a list of the actions if the model wrote no text, a note about each failed call, and a
// note if the answer was cut off.
func (a *answer) finishText(failed []failure) {
	if a.isBlank() && len(a.draft.Actions()) > 0 {
		var briefs []string
		for _, done := range a.draft.Actions() {
			briefs = append(briefs, "- `"+done.Brief()+"`")
		}
		a.addText("These are the changes:\n\n" + strings.Join(briefs, "\n"))
	}
	for _, f := range failed {
		a.addNote(fmt.Sprintf("Left out: `%s`: %s", short(f.brief), short(f.problem.Text)))
	}
	if a.stop == model.StopLength {
		a.addNote(cutOff + " Its changes are not applied.")
	}
}

// cutOff is the note of an answer that reached the maximum length.
const cutOff = "The answer was cut off here: it reached the maximum length."

// addNote adds a paragraph that the model did not write.
func (a *answer) addNote(text string) { a.addText("\n\n> " + strings.ReplaceAll(text, "\n", "\n> ")) }

// short returns text on one line, cut to the length of a note. It is necessary because models can choose any name.
func short(text string) string {
	const maxLength = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxLength {
		text = strings.ToValidUTF8(text[:maxLength], "") + "…"
	}
	return text
}

// clean returns text that an answer may contain: valid UTF-8 without NUL.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}
