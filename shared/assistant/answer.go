package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/excerpt"
)

const (
	// maxAnswer is the maximum size of an answer in bytes, for providers that ignore MaxOutput. A message of this size
	// can be stored.
	maxAnswer = 384 << 10
	// maxCalls is the maximum number of tool calls in one round, including failed calls.
	maxCalls = 2 * action.MaxPerAnswer
)

// answer collects the text and the tool calls that the model sends. Each call is checked and becomes an action.
type answer struct {
	// stream receives the answer while it is generated; nil if the answer is not streamed. Its errors are ignored: the
	// answer is completed and stored even if the client has disconnected.
	stream *uistream.Writer
	// draft checks the actions; nil if the model may not call tools.
	draft *action.Draft
	// seen contains the paths of the files whose complete content the model knows. It may replace only these files.
	seen map[string]bool

	text strings.Builder
	// size is the number of bytes received, in text and in the inputs of calls.
	size int
	// stop and model are the results of the first round. usage is the total usage of all requests.
	stop  model.Stop
	model string
	usage model.Usage
	round round
}

// round has the tool calls of the response to one request.
type round struct {
	// repair is set in the second round. The text of that round is discarded, and the stream IDs of its calls differ from
	// the IDs in the first round.
	repair bool
	// callsBeforeText is the number of calls that were received before the latest text.
	callsBeforeText int
	call            *openCall // the call that is being received; nil if there is none
	calls           []model.Call
	results         []model.Result
	actions         []action.Action // the accepted actions
	failures        []failure
}

// openCall is a call whose input is not complete yet.
type openCall struct {
	model.Call
	input strings.Builder
}

// failure describes a call that failed its check.
type failure struct {
	// brief describes the call for the user: the tool, and the path if the input is valid.
	brief, tool, path string
	problem           *action.Problem
}

// key returns the path of the failed call, or its tool if the input was not valid. Paths begin with a slash.
func (f failure) key() string { return cmp.Or(f.path, f.tool) }

// streamID returns the ID that a call has in the stream.
func (r *round) streamID(callID string) string {
	if r.repair {
		return callID + "-again"
	}
	return callID
}

// add adds a part of the response. Errors: errTooLarge; the error classes of db.
func (a *answer) add(ctx context.Context, p model.Part) error {
	if a.draft == nil && p.Kind != model.Text {
		return nil // the model called a tool, although the request offers none
	}
	a.size += len(p.Text)
	if a.size > maxAnswer {
		return errTooLarge
	}
	call, continues := a.round.call, p.Kind == model.CallDelta || p.Kind == model.CallEnd
	if continues && (call == nil || call.ID != p.CallID) {
		return &model.Error{Fault: model.Unavailable, Cause: errors.New("the model continued a call that it did not start")}
	}
	switch p.Kind {
	case model.Text:
		if a.round.repair {
			return nil
		}
		text, separator := a.text.String(), ""
		if a.round.callsBeforeText < len(a.round.calls) && text != "" && !strings.HasSuffix(text, "\n\n") {
			a.round.callsBeforeText, separator = len(a.round.calls), "\n\n" // text after calls is a paragraph of its own
		}
		a.addText(separator + clean(p.Text))
	case model.CallStart:
		a.round.call = &openCall{Call: model.Call{ID: p.CallID, Name: p.Name}}
		_ = a.stream.ToolStart(a.round.streamID(p.CallID), p.Name)
	case model.CallDelta:
		call.input.WriteString(p.Text)
		_ = a.stream.ToolDelta(a.round.streamID(p.CallID), p.Text)
	case model.CallEnd:
		call.Input = call.input.String()
		a.round.call = nil
		return a.addCall(ctx, call.Call)
	}
	return nil
}

// addText adds text to the answer and the stream.
func (a *answer) addText(text string) {
	a.text.WriteString(text)
	_ = a.stream.Text(text)
}

// addCall adds a complete call and applies its action to the draft. If the call fails its check, addCall adds it to the
// failures and does not return an error for it. Errors: errTooLarge; the error classes of db.
func (a *answer) addCall(ctx context.Context, call model.Call) error {
	if len(a.round.calls) == maxCalls {
		return errTooLarge
	}
	a.round.calls = append(a.round.calls, call)
	failed := failure{brief: call.Name, tool: call.Name} // if the check fails
	parsed, err := action.Parse(call)
	if err == nil {
		failed.brief, failed.path = parsed.Brief(), parsed.Path
		_ = a.stream.ToolAvailable(a.round.streamID(call.ID), call.Name, jsontext.Value(call.Input))
		if !a.round.repair || !a.hasAction(parsed) {
			err = a.apply(ctx, parsed)
		}
	} else if problem, ok := errors.AsType[*action.Problem](err); ok {
		_ = a.stream.ToolError(a.round.streamID(call.ID), call.Name, problem.Text)
	}
	result := model.Result{CallID: call.ID, Text: "Accepted."}
	if problem, ok := errors.AsType[*action.Problem](err); ok {
		failed.problem = problem
		a.round.failures = append(a.round.failures, failed)
		result.Text, result.Failed = problem.Text, true
		err = nil // the repair can fix it
	}
	a.round.results = append(a.round.results, result)
	return err
}

// apply applies an action to the draft. Errors: *action.Problem; the error classes of db.
func (a *answer) apply(ctx context.Context, parsed action.Action) error {
	if err := a.checkSeen(ctx, parsed); err != nil {
		return err
	}
	if err := a.draft.Apply(ctx, parsed); err != nil {
		return err
	}
	actions := a.draft.Actions()
	accepted := actions[len(actions)-1] // differs from parsed if the draft changed the line endings
	switch accepted.Type {
	case action.CreateFile, action.UpdateFile:
		a.seen[accepted.Path] = true
	case action.RenameFile:
		a.seen[*accepted.To] = a.seen[accepted.Path]
	}
	a.round.actions = append(a.round.actions, accepted)
	_ = a.stream.Data("action", accepted)
	return nil
}

// hasAction reports whether the answer already has the same action. A model that repairs some calls may repeat the
// other calls.
func (a *answer) hasAction(parsed action.Action) bool {
	return slices.ContainsFunc(a.draft.Actions(), func(other action.Action) bool {
		return reflect.DeepEqual(other, parsed)
	})
}

// hasOnlyCutOffCall reports whether the last call is the only one that failed, and failed because the answer reached
// its maximum length. A repair would not help: the call would be as long again, and the answer would still not be
// applied.
func (a *answer) hasOnlyCutOffCall() bool {
	failures, results := a.round.failures, a.round.results
	return a.stop == model.StopLength && len(failures) == 1 && failures[0].path == "" && results[len(results)-1].Failed
}

// addUsage adds the usage of a request.
func (a *answer) addUsage(u model.Usage) {
	a.usage.Input += u.Input
	a.usage.Output += u.Output
}

// isBlank reports whether the answer has no text.
func (a *answer) isBlank() bool { return strings.TrimSpace(a.text.String()) == "" }

// remainingFailures returns the failures of the first round that the repair did not fix, followed by new failures of
// the repair. If a call failed in both rounds, only its second failure is returned. Each action of the repair fixes
// one failure: a failure with the same path or, if the input of the failed call was not valid, a failure of the same
// tool. A failed call of the repair is ignored if the same action succeeded in the first round.
func remainingFailures(first, repair round) (remaining []failure) {
	failedPaths, accepted, fixes := map[string]bool{}, map[string]bool{}, map[string]int{} // fixes by failure.key
	for _, f := range first.failures {
		failedPaths[f.path] = true
	}
	for _, a := range first.actions {
		accepted[a.Brief()] = true
	}
	for _, fix := range repair.actions {
		f := failure{tool: string(fix.Type)}
		if failedPaths[fix.Path] {
			f.path = fix.Path
		}
		fixes[f.key()]++
	}
	failedAgain := slices.Clone(repair.failures)
	for _, f := range first.failures {
		if fixes[f.key()] > 0 {
			fixes[f.key()]--
			continue
		}
		second := slices.IndexFunc(failedAgain, func(other failure) bool { return other.key() == f.key() })
		if second >= 0 {
			f = failedAgain[second]
			failedAgain = slices.Delete(failedAgain, second, second+1)
		}
		remaining = append(remaining, f)
	}
	for _, f := range failedAgain {
		if !failedPaths[f.path] && !accepted[f.brief] {
			remaining = append(remaining, f)
		}
	}
	return remaining
}

// finishText completes the text. If the model wrote no text, it adds a list of the actions. It also adds a note about
// each failed call, and a note if the answer was cut off.
func (a *answer) finishText(failures []failure) {
	if a.isBlank() && len(a.draft.Actions()) > 0 {
		var briefs []string
		for _, accepted := range a.draft.Actions() {
			briefs = append(briefs, "- `"+accepted.Brief()+"`")
		}
		a.addText("These are the changes:\n\n" + strings.Join(briefs, "\n"))
	}
	for _, f := range failures {
		a.addNote(fmt.Sprintf("Left out: `%s`: %s", quoteLine(f.brief), quoteLine(f.problem.Text)))
	}
	if a.stop == model.StopLength {
		a.addNote(cutOff + " Its changes are not applied. Ask for fewer changes at once.")
	}
}

// cutOff is the note of an answer that reached the maximum length.
const cutOff = "The answer was cut off here: it reached the maximum length."

// addNote adds a paragraph that the model did not write.
func (a *answer) addNote(text string) { a.addText("\n\n> " + strings.ReplaceAll(text, "\n", "\n> ")) }

// quoteLine returns a text as a note contains it: on one line, and with at most 300 bytes. A note contains names that
// the model wrote, which can have any length.
func quoteLine(text string) string {
	return excerpt.WithEllipsis(strings.Join(strings.Fields(text), " "), 300)
}

// clean replaces invalid UTF-8 and removes NUL characters, which an answer must not contain.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}
