package assistant

import (
	"cmp"
	"context"
	"errors"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/assistant/quota"
)

// retryShorter sends a request that was too long for the model again, with a smaller prompt, and then also with a
// smaller limit for the answer.
func (t *turn) retryShorter(ctx context.Context) {
	t.budget = prompt.DefaultBudget().Tight()
	for _, limit := range []int{maxOutput, smallOutput} {
		t.request = t.prompt.Request(t.budget, min(limit, t.request.MaxOutput))
		if t.cause = t.callModel(ctx, t.reservation, t.request, t.answer); !isTooLong(t.cause, t.answer) {
			return
		}
	}
}

// repair sends the problems of the failed calls to the model once, so that the model can correct the calls. Then the
// failures of the answer's round are the remaining failures. If the request fails, the answer stays valid. If the user
// cancels it, repair sets cause.
func (t *turn) repair(ctx context.Context) {
	first := t.answer.round
	request, ok := t.repairRequest(ctx)
	if !ok {
		return
	}
	t.answer.round = round{isRepair: true}
	err := t.callModel(ctx, t.reservation, request, t.answer)
	switch {
	case errors.Is(err, quota.ErrCancelled):
		t.cause = err
	case err != nil:
		t.logger.WarnContext(ctx, "the failed tool calls were not repaired",
			"messageId", t.reservation.MessageID, "cause", err.Error())
	}
	t.answer.round.failures = remainingFailures(first, t.answer.round)
}

// repairRequest returns the request that repairs the failed calls. It shows the files of these calls that the model has
// not seen completely. ok is false if the only failed call was cut off together with the answer, if the answer has
// reached its maximum size, or if too few reserved tokens remain.
func (t *turn) repairRequest(ctx context.Context) (request model.Request, ok bool) {
	a := t.answer
	if a.hasOnlyCutOffCall() || a.size > maxAnswer {
		return request, false
	}
	left := 0
	build := func(files []prompt.Document, fileTokens int) {
		request = prompt.Repair(t.request, a.text.String(), a.round.calls, a.round.results, files, fileTokens)
		left = t.answerTokens - a.usage.Input - a.usage.Output - prompt.Tokens(request)
	}
	build(nil, 0)
	if files := a.unseenFiles(ctx); len(files) > 0 {
		build(files, min(t.budget.Named, left/2)) // the other half is for the answer
	}
	request.MaxOutput = min(t.request.MaxOutput, left)
	return request, left >= minOutput
}

// hasOnlyCutOffCall reports whether the last call is the only one that failed, and failed because the answer reached
// its maximum length. A repair would not help: the call would be as long again, and the answer would still not be
// applied.
func (a *answer) hasOnlyCutOffCall() bool {
	failures, results := a.round.failures, a.round.results
	return a.stop == model.StopLength && len(failures) == 1 && failures[0].path == "" && results[len(results)-1].Failed
}

// unseenFiles returns the files of the failed calls that the model has not seen completely, as the answer has changed
// them. It ignores errors, because the repair does not depend on these files.
func (a *answer) unseenFiles(ctx context.Context) []prompt.Document {
	var files []prompt.Document
	added := map[string]bool{}
	for _, f := range a.round.failures {
		if f.path == "" || a.seen[f.path] || added[f.path] {
			continue
		}
		added[f.path] = true
		if text, err := a.draft.Text(ctx, f.path); err == nil {
			files = append(files, prompt.Document{Path: f.path, Content: text})
		}
	}
	return files
}

// remainingFailures returns the failures of the first round that no call of the repair answers, followed by the
// failures of the repair. A call of the repair answers one failure: a failure with the same path or, if the input of
// the failed call was not valid, a failure of the same tool. A failed call of the repair is ignored if the same action
// succeeded in the first round.
func remainingFailures(first, repair round) (remaining []failure) {
	failedPaths, accepted := map[string]bool{}, map[string]bool{}
	answers := map[string]int{} // the number of calls of the repair, by path or tool
	for _, f := range first.failures {
		failedPaths[f.path] = true
	}
	for _, a := range first.actions {
		accepted[a.Brief()] = true
	}
	countAnswer := func(path, tool string) {
		if !failedPaths[path] {
			path = ""
		}
		answers[cmp.Or(path, tool)]++
	}
	for _, a := range repair.actions {
		countAnswer(a.Path, string(a.Type))
	}
	var again []failure
	for _, f := range repair.failures {
		if !accepted[f.brief] {
			countAnswer(f.path, f.tool)
			again = append(again, f)
		}
	}
	for _, f := range first.failures {
		if key := cmp.Or(f.path, f.tool); answers[key] > 0 {
			answers[key]--
		} else {
			remaining = append(remaining, f)
		}
	}
	return append(remaining, again...)
}
