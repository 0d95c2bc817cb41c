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
	// isRepair is set in the second round. The text of that round is discarded, and the stream IDs of its calls differ
	// from the IDs in the first round.
	isRepair bool
	// callsBeforeText is the number of calls that were received before the latest text.
	callsBeforeText int
	call            *openCall // the call that is being received; nil if there is none
	calls           []model.Call
	results         []model.Result
	actions         []action.Action // the accepted actions
	failures        []failure       // after a repair, the remaining failures of both rounds
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

// streamID returns the ID that a call has in the stream.
func (r *round) streamID(callID string) string {
	if r.isRepair {
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
		if a.round.isRepair {
			return nil
		}
		separator := ""
		if a.round.callsBeforeText < len(a.round.calls) { // text after calls is a paragraph of its own
			a.round.callsBeforeText = len(a.round.calls)
			if text := a.text.String(); text != "" && !strings.HasSuffix(text, "\n\n") {
				separator = "\n\n"
			}
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

// addCall adds a complete call, and applies its action to the draft. A call that fails its check becomes a failure,
// which is not an error. Errors: errTooLarge; the error classes of db.
func (a *answer) addCall(ctx context.Context, call model.Call) error {
	if len(a.round.calls) == maxCalls {
		return errTooLarge
	}
	a.round.calls = append(a.round.calls, call)
	streamID, failed := a.round.streamID(call.ID), failure{brief: call.Name, tool: call.Name}
	parsed, err := action.Parse(call)
	if err == nil {
		failed.brief, failed.path = parsed.Brief(), parsed.Path
		_ = a.stream.ToolAvailable(streamID, call.Name, jsontext.Value(call.Input))
		if parsed.Type == action.UpdateFile && !a.seen[parsed.Path] {
			err = a.checkUnseen(ctx, parsed.Path)
		}
	} else {
		_ = a.stream.ToolError(streamID, call.Name, err.Error())
	}
	// A model that repairs some calls may repeat the other calls.
	isRepeated := err == nil && a.round.isRepair && slices.ContainsFunc(a.draft.Actions(), func(other action.Action) bool {
		return reflect.DeepEqual(other, parsed)
	})
	if err == nil && !isRepeated {
		err = a.draft.Apply(ctx, parsed)
	}
	result := model.Result{CallID: call.ID, Text: "Accepted."}
	switch problem, isProblem := errors.AsType[*action.Problem](err); {
	case isProblem: // the repair can fix it
		failed.problem = problem
		a.round.failures = append(a.round.failures, failed)
		result.Text, result.Failed = problem.Text, true
	case err != nil:
		return err
	case !isRepeated:
		actions := a.draft.Actions()
		accepted := actions[len(actions)-1] // differs from parsed if the draft changed line endings or packages
		a.noteWritten(accepted)
		a.round.actions = append(a.round.actions, accepted)
		_ = a.stream.Data("action", accepted)
	}
	a.round.results = append(a.round.results, result)
	return nil
}

// addText adds text to the answer and the stream.
func (a *answer) addText(text string) {
	a.text.WriteString(text)
	_ = a.stream.Text(text)
}

// addUsage adds the usage of a request.
func (a *answer) addUsage(u model.Usage) {
	a.usage.Input += u.Input
	a.usage.Output += u.Output
}

// finishText completes the text. If the model wrote no text, it adds a list of the actions. It also adds a note about
// each failed call, and a note if the answer was cut off.
func (a *answer) finishText() {
	if a.isBlank() && len(a.draft.Actions()) > 0 {
		var briefs []string
		for _, accepted := range a.draft.Actions() {
			briefs = append(briefs, "- `"+accepted.Brief()+"`")
		}
		a.addText("These are the changes:\n\n" + strings.Join(briefs, "\n"))
	}
	for _, f := range a.round.failures {
		a.addNote(fmt.Sprintf("Left out: `%s`: %s", quoteLine(f.brief), quoteLine(f.problem.Text)))
	}
	if a.stop == model.StopLength {
		a.addNote(cutOff + " Its changes are not applied. Ask for fewer changes at once.")
	}
}

// cutOff is the note of an answer that reached the maximum length.
const cutOff = "The answer was cut off here: it reached the maximum length."

// addNote adds a note, which the model did not write, as a quotation in Markdown, in a paragraph of its own.
func (a *answer) addNote(text string) {
	note := "> " + strings.ReplaceAll(text, "\n", "\n> ")
	if !a.isBlank() {
		note = "\n\n" + note
	}
	a.addText(note)
}

// quoteLine returns a text as a note contains it: on one line, and with at most 300 bytes. A note contains names that
// the model wrote, which can have any length.
func quoteLine(text string) string {
	return excerpt.WithEllipsis(strings.Join(strings.Fields(text), " "), 300)
}

// isBlank reports whether the answer has no text.
func (a *answer) isBlank() bool { return strings.TrimSpace(a.text.String()) == "" }

// clean replaces invalid UTF-8 and removes NUL characters, which an answer must not contain.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// A model that replaces a file without knowing its content removes parts of it, for example changes that were made by
// hand. Therefore, an answer may replace only files that the model has seen completely. If it tries to replace another
// file, or an edit of another file fails, the repair shows the file.

// noteShown notes the files that a request shows, and whether it shows them completely.
func (a *answer) noteShown(r model.Request) {
	if !a.round.isRepair {
		a.seen = map[string]bool{}
	}
	for _, f := range r.Subject.Files {
		a.seen[f.Path] = !f.Cut
	}
}

// noteWritten notes that the model knows the content of a file that it has written.
func (a *answer) noteWritten(accepted action.Action) {
	switch accepted.Type {
	case action.CreateFile, action.UpdateFile:
		a.seen[accepted.Path] = true
	case action.RenameFile:
		a.seen[*accepted.To] = a.seen[accepted.Path]
	}
}

// checkUnseen returns a problem if a file that the model has not seen completely may not be replaced, because it has
// text. Errors: *action.Problem; the error classes of db.
func (a *answer) checkUnseen(ctx context.Context, path string) error {
	text, err := a.draft.Text(ctx, path)
	if _, ok := errors.AsType[*action.Problem](err); ok || err == nil && text == "" {
		return nil // the draft reports a missing file; a file that is not text can be replaced
	}
	if err != nil {
		return err
	}
	return &action.Problem{Text: path + " was not shown completely, so replacing it could remove parts of it. " +
		"Use edit_file."}
}
