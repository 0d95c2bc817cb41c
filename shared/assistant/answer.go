package assistant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/clock"
)

const (
	// maxOutput is the longest answer that a model is asked for, in tokens; minOutput the least room with which it is asked at all.
	maxOutput = 8192
	minOutput = 256
	// maxAnswer is the longest answer that is taken, in bytes, should a provider not keep to maxOutput: it fits into one message.
	maxAnswer = 384 << 10
	// maxCalls is how many calls of one round are looked at, those that fail included.
	maxCalls = 2 * action.Most
)

// errEnough ends an answer that has reached maxAnswer or maxCalls.
var errEnough = errors.New("assistant: the answer is too large")

// listener hears of an answer as it is made, in the order of the stream. Nobody listens to a chat that is answered at once: nil.
type listener func(say func(*uistream.Writer) error)

// failure is a call that can't be done.
type failure struct {
	// what is tried, in a few words: the tool, and the path if the call could be read.
	what, tool, path string
	problem          *action.Problem
}

// answer is one that is being made.
type answer struct {
	service  *Service
	listener listener
	draft    *action.Draft
	reserved reservation
	// room is what of the reservation the answer and its repair may take.
	room    int
	request model.Request

	text strings.Builder
	// size is how much came, in bytes: text and the input of calls.
	size    int
	outcome model.Outcome // of the first round; its usage is that of all
	round   round
}

// round is what one request to the model brings.
type round struct {
	// quiet rounds are repairs: their text is nobody's business, and their calls need other ids than those before.
	quiet   bool
	parted  int // the calls that there were when text last went on
	call    *incoming
	calls   []model.Call
	results []model.Result
	done    []action.Action
	failed  []failure
}

// told is what listeners know a call by.
func (r *round) told(callID string) string {
	if r.quiet {
		return callID + "-again"
	}
	return callID
}

// incoming is a call whose input is still coming.
type incoming struct {
	model.Call
	input strings.Builder
	// shape follows the input; what no JSON begins with is not passed on.
	shape jsonPrefix
}

// tell says something to whoever listens.
func (a *answer) tell(say func(*uistream.Writer) error) {
	if a.listener != nil {
		a.listener(say)
	}
}

// say adds to the text.
func (a *answer) say(text string) {
	if text == "" {
		return
	}
	a.text.WriteString(text)
	a.tell(func(w *uistream.Writer) error { return w.Text(text) })
}

// generate has the model answer. Errors: ask's; storage's.
func (a *answer) generate(ctx context.Context, tighter func() model.Request) error {
	a.tell(func(w *uistream.Writer) error { return w.Start(a.reserved.messageID) })
	err := a.listen(ctx, a.request)
	var fault *model.Error
	if errors.As(err, &fault) && fault.Fault == model.TooLong && a.size == 0 {
		room := a.request.MaxOutput
		a.request = tighter()
		a.request.MaxOutput = room
		err = a.listen(ctx, a.request)
	}
	if err != nil {
		return err
	}
	left, err := a.repair(ctx)
	a.finishText(left)
	return err
}

// listen makes one request and takes in what comes.
func (a *answer) listen(ctx context.Context, request model.Request) error {
	outcome, err := a.service.ask(ctx, a.reserved, request, func(p model.Part) error { return a.take(ctx, p) })
	if errors.Is(err, errEnough) {
		outcome.Stop, err = model.StopLength, nil
	}
	if err != nil {
		outcome.Stop = ""
	}
	a.spend(outcome.Usage)
	if !a.round.quiet {
		a.outcome.Stop, a.outcome.Model = outcome.Stop, outcome.Model
	}
	return err
}

// spend counts what one more request took.
func (a *answer) spend(u model.Usage) {
	a.outcome.Usage.Input += u.Input
	a.outcome.Usage.Output += u.Output
}

// spent is what all requests took.
func (a *answer) spent() usage {
	return usage{InputTokens: a.outcome.Usage.Input, OutputTokens: a.outcome.Usage.Output}
}

// take takes in a part.
func (a *answer) take(ctx context.Context, p model.Part) error {
	if a.draft == nil && p.Kind != model.Text {
		return nil // a call though no tool was offered
	}
	a.size += len(p.Text)
	if a.size > maxAnswer {
		return errEnough
	}
	switch p.Kind {
	case model.Text:
		if !a.round.quiet {
			a.say(a.paragraph() + clean(p.Text))
		}
	case model.CallStart:
		a.round.call = &incoming{Call: model.Call{ID: p.CallID, Name: p.Name}}
		id := a.round.told(p.CallID)
		a.tell(func(w *uistream.Writer) error { return w.ToolStart(id, p.Name) })
	case model.CallDelta:
		a.round.call.input.WriteString(p.Text)
		if a.round.call.shape.accept(p.Text) {
			id := a.round.told(p.CallID)
			a.tell(func(w *uistream.Writer) error { return w.ToolDelta(id, p.Text) })
		}
	case model.CallEnd:
		call := a.round.call.Call
		call.Input = a.round.call.input.String()
		a.round.call = nil
		return a.act(ctx, call)
	}
	return nil
}

// paragraph is what parts text behind calls from that before them: models begin anew there.
func (a *answer) paragraph() string {
	said := a.text.String()
	if a.round.parted == len(a.round.calls) || said == "" || strings.HasSuffix(said, "\n\n") {
		return ""
	}
	a.round.parted = len(a.round.calls)
	return "\n\n"
}

// act takes in a call that is complete. What is wrong with it is noted; the error is storage's.
func (a *answer) act(ctx context.Context, call model.Call) error {
	if a.round.calls = append(a.round.calls, call); len(a.round.calls) > maxCalls {
		return errEnough
	}
	id, failed := a.round.told(call.ID), failure{what: call.Name, tool: call.Name}
	var problem *action.Problem
	done, err := action.Parse(call)
	if err == nil {
		failed.what, failed.path = done.Brief(), done.Path
		a.tell(func(w *uistream.Writer) error { return w.ToolAvailable(id, call.Name, jsontext.Value(call.Input)) })
		if a.round.quiet && a.has(done) {
			a.round.results = append(a.round.results, model.Result{CallID: call.ID, Text: "Checked."})
			return nil
		}
		err = a.draft.Apply(ctx, done)
	} else if errors.As(err, &problem) {
		text := problem.Text
		a.tell(func(w *uistream.Writer) error { return w.ToolError(id, call.Name, text) })
	}
	switch {
	case errors.As(err, &problem):
		failed.problem = problem
		a.round.failed = append(a.round.failed, failed)
		a.round.results = append(a.round.results, model.Result{CallID: call.ID, Text: problem.Text, Failed: true})
		return nil
	case err != nil:
		return err
	}
	actions := a.draft.Actions()
	done = actions[len(actions)-1] // as it was taken in
	a.round.done = append(a.round.done, done)
	a.round.results = append(a.round.results, model.Result{CallID: call.ID, Text: "Checked."})
	a.tell(func(w *uistream.Writer) error { return w.Data("action", done) })
	return nil
}

// has reports whether an action is among those of the answer: a model that repairs some may say all again.
func (a *answer) has(done action.Action) bool {
	return slices.ContainsFunc(a.draft.Actions(), func(other action.Action) bool { return reflect.DeepEqual(other, done) })
}

// repair lets the model see once what could not be done, and answers with what still can't. That the model fails meanwhile does not
// undo the answer; the error is that of who cancelled it.
func (a *answer) repair(ctx context.Context) ([]failure, error) {
	first := a.round
	if len(first.failed) == 0 || a.size > maxAnswer {
		return first.failed, nil
	}
	request := prompt.Repair(a.request, a.text.String(), first.calls, first.results)
	room := a.room - a.outcome.Usage.Input - a.outcome.Usage.Output - prompt.Tokens(request)
	if room < minOutput {
		return first.failed, nil
	}
	request.MaxOutput = min(maxOutput, room)
	a.round = round{quiet: true}
	err := a.listen(ctx, request)
	left := stillFailed(first, a.round)
	if errors.Is(err, errCancelled) {
		return left, err
	}
	if err != nil {
		a.service.logger.WarnContext(ctx, "the model did not repair its actions", "messageId", a.reserved.messageID, "cause", err.Error())
	}
	return left, nil
}

// stillFailed are the failures that a second round has not made good, in its own words where it tried. Each of its actions makes one good:
// at the same path, or, of a call that could not be read, by the same tool at a path that nothing else failed at. What fails there
// because it is only said again, and was fine before, is none.
func stillFailed(first, second round) []failure {
	good, failing, fine := map[string]int{}, map[string]bool{}, briefs(first.done)
	for _, f := range first.failed {
		failing[f.path] = true
	}
	for _, done := range second.done {
		if failing[done.Path] {
			good[done.Path]++
		} else {
			good[" "+string(done.Type)]++ // no path begins so
		}
	}
	var left []failure
	for _, f := range first.failed {
		at := f.path
		if at == "" {
			at = " " + f.tool
		}
		if good[at] > 0 {
			good[at]--
			continue
		}
		again := slices.IndexFunc(second.failed, func(s failure) bool { return s.path == f.path && (f.path != "" || s.tool == f.tool) })
		if again >= 0 {
			f = second.failed[again]
			second.failed = slices.Delete(slices.Clone(second.failed), again, again+1)
		}
		left = append(left, f)
	}
	for _, f := range second.failed {
		if !failing[f.path] && !fine[f.what] {
			left = append(left, f)
		}
	}
	return left
}

func briefs(actions []action.Action) map[string]bool {
	all := map[string]bool{}
	for _, a := range actions {
		all[a.Brief()] = true
	}
	return all
}

// isBlank reports whether nothing was said.
func (a *answer) isBlank() bool { return strings.TrimSpace(a.text.String()) == "" }

// finishText ends the text with what the user must know beside what the model said.
func (a *answer) finishText(left []failure) {
	if a.isBlank() && len(a.draft.Actions()) > 0 {
		var briefs []string
		for _, done := range a.draft.Actions() {
			briefs = append(briefs, "- `"+done.Brief()+"`")
		}
		a.say("These are the changes:\n\n" + strings.Join(briefs, "\n"))
	}
	for _, f := range left {
		a.note(fmt.Sprintf("Left out: `%s`: %s", short(f.what), short(f.problem.Text)))
	}
	if a.outcome.Stop == model.StopLength {
		a.note(cutOff + " Nothing of it is applied.")
	}
}

// cutOff is said behind an answer that reached its greatest length.
const cutOff = "The answer was cut off here: it has reached its greatest length."

// short is a text on one line, cut down to what a note can hold: models name things as they like.
func short(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// note adds a paragraph that is not the model's.
func (a *answer) note(text string) { a.say("\n\n> " + strings.ReplaceAll(text, "\n", "\n> ")) }

// clean is text as answers may have it: UTF-8 without NUL.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// log says what an answer came to, without a word of it.
func (a *answer) log(ctx context.Context, asked clock.Timestamp, cause error) {
	level, spent := slog.LevelInfo, a.spent()
	attrs := []slog.Attr{
		slog.String("messageId", a.reserved.messageID), slog.String("model", a.outcome.Model), slog.String("stop", string(a.outcome.Stop)),
		slog.Int("inputTokens", spent.InputTokens), slog.Int("outputTokens", spent.OutputTokens),
		slog.Float64("ms", float64(a.service.now().Sub(asked.Time()).Microseconds())/1000),
	}
	if cause != nil {
		level = levelOf(cause)
		attrs = append(attrs, slog.String("cause", cause.Error()))
	}
	a.service.logger.LogAttrs(ctx, level, "answer", attrs...)
}

// levelOf is how much an operator should mind.
func levelOf(cause error) slog.Level {
	var fault *model.Error
	switch {
	case errors.Is(cause, errCancelled), errors.As(cause, &fault) && fault.Fault == model.Refused:
		return slog.LevelInfo
	case errors.As(cause, &fault) && fault.Fault == model.Misconfigured:
		return slog.LevelError
	default:
		return slog.LevelWarn
	}
}
