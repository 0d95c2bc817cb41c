package assistant

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/async"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/retry"
	"devplatform/shared/workspace"
)

const (
	// maxOutput is the maximum length of an answer in tokens. If fewer than minOutput tokens remain for it, the model
	// is not called.
	maxOutput = 8192
	minOutput = 256
	// smallOutput is the maximum length of an answer if the model rejects a request with maxOutput. Some models count it
	// as part of their context window, and some allow only answers of 4,096 tokens.
	smallOutput = maxOutput / 4
	// storeAttempts is the maximum number of attempts to store an answer while storage is unavailable. They take several
	// seconds in total: the user may have read the answer already, so it should not be missing from the conversation.
	storeAttempts = 6
)

// Question is a user's message about a project.
type Question struct {
	ProjectID, Message string
	// CurrentFile is the path of the file that is open in the user's editor, "" if no file is open.
	CurrentFile string
	// Framework is the framework to use instead of the project's framework. If it is "", the project's framework is used.
	Framework string
	// Apply requests that the actions of the answer are applied to the project's files.
	Apply bool
}

// turn processes a question. Chat calls the methods open, reserve, startSummary, generate, repair, finish,
// store, apply and reply in this order.
type turn struct {
	*Service
	caller   httpapi.Caller
	question Question

	projectFiles *projectFiles
	memory       conversation.Memory
	prompt       prompt.Chat
	budget       prompt.Budget // of request
	request      model.Request
	reservation  quota.Reservation
	// answerTokens is the part of the reservation that is for the answer and its repair. The rest is for the summary.
	answerTokens   int
	pendingSummary *pendingSummary // nil if no summary is due
	summary        summary
	answer         *answer
	// cause is the reason why the answer is not complete, nil if it is complete.
	cause     error
	stored    conversation.Turn
	isApplied bool
}

// open checks the caller's limits, reads the project and the data for the prompt, and builds the request. The data is
// read at the same time as the caller's access to the project. Errors: RATE_LIMITED, QUOTA_EXCEEDED, PROJECT_NOT_FOUND,
// ACCESS_DENIED.
func (t *turn) open(ctx context.Context) error {
	empty := prompt.Chat{Message: t.question.Message}
	minTokens := prompt.Tokens(empty.Request(prompt.DefaultBudget(), maxOutput)) + minOutput
	limits := t.quota.NewEarlyCheck(t.caller.UserID, t.now(), minTokens)
	access, err := t.files.Locate(ctx, t.question.ProjectID, limits.Refs()...)
	if err == nil || errors.Is(err, workspace.ErrProjectNotFound) {
		err = cmp.Or(limits.Refuse(ctx, access.Items), err)
	}
	if err != nil {
		return err
	}
	readCtx, stop := context.WithCancel(ctx)
	defer stop()
	var reading async.Group
	reading.Go(func() error { return t.gather(readCtx) })
	project, err := t.files.OpenLocated(ctx, t.caller, access, workspace.Write)
	if err != nil {
		stop() // without access, the response time must not depend on the data
	}
	readErr := reading.Wait()
	if err := cmp.Or(err, readErr); err != nil {
		return err //nolint:wrapcheck // the error of OpenLocated, or of gather
	}
	t.prompt.Project, t.prompt.Framework, t.prompt.Total = project.Name, project.Framework, project.Files
	if t.question.Framework != "" {
		t.prompt.Framework = t.question.Framework
	}
	t.budget = prompt.DefaultBudget()
	t.request = t.prompt.Request(t.budget, maxOutput)
	return nil
}

// reserve reserves tokens for the answer, a repair, and a summary if one is due. If too few tokens remain for all of
// them, but enough for a short answer, it reserves all remaining tokens, and no summary is generated.
// Errors: the errors of quota.Ledger.Reserve.
func (t *turn) reserve(ctx context.Context) (err error) {
	questionID, answerID := conversation.NewTurnIDs(t.ids, t.memory.Last)
	began := t.now()
	t.stored.Question = conversation.Message{
		ID: questionID, Role: model.User, Content: t.question.Message, Status: conversation.Complete,
		CreatedAt: clock.Stamp(began), AuthorID: t.caller.UserID,
	}
	input := prompt.Tokens(t.request)
	forAnswer, forSummary := 2*(input+maxOutput), 0
	if isSummaryDue(t.memory) {
		request, _ := summaryRequest(t.memory)
		forSummary = prompt.Tokens(request) + request.MaxOutput
	}
	t.reservation, err = t.quota.Reserve(ctx, quota.Reservation{
		UserID: t.caller.UserID, MessageID: answerID, Tokens: forAnswer + forSummary, Began: began,
	}, input+minOutput)
	t.answerTokens = t.reservation.Tokens
	if forSummary > 0 && t.reservation.Tokens == forAnswer+forSummary {
		t.answerTokens, t.pendingSummary = forAnswer, &pendingSummary{}
	}
	t.request = t.prompt.Request(t.budget, min(maxOutput, t.answerTokens-input)) // the prompt contains the limit
	return err
}

// generate requests the answer from the model. If the request is too long for the model, it sends the request again
// with a smaller prompt, and then also with a smaller limit for the answer.
func (t *turn) generate(ctx context.Context, stream *uistream.Writer) {
	t.answer = &answer{stream: stream, draft: action.NewDraft(t.projectFiles)}
	_ = stream.Start(t.reservation.MessageID)
	t.answer.seen = seenFiles(t.request)
	t.cause = t.callModel(ctx, t.reservation, t.request, t.answer)
	for _, limit := range []int{maxOutput, smallOutput} {
		if !isTooLong(t.cause) || t.answer.size > 0 {
			return
		}
		t.budget = prompt.DefaultBudget().Tight()
		t.request = t.prompt.Request(t.budget, min(limit, t.request.MaxOutput))
		t.answer.seen = seenFiles(t.request)
		t.cause = t.callModel(ctx, t.reservation, t.request, t.answer)
	}
}

// repair sends the problems of the failed calls to the model once, so that the model can correct the calls. It adds the
// remaining failures to the text. If the repair request fails, the answer stays valid.
func (t *turn) repair(ctx context.Context) {
	if t.cause != nil {
		return
	}
	first := t.answer.round
	remaining := first.failures
	if request, ok := t.repairRequest(ctx); ok {
		maps.Copy(t.answer.seen, seenFiles(request))
		t.answer.round = round{repair: true}
		err := t.callModel(ctx, t.reservation, request, t.answer)
		remaining = remainingFailures(first, t.answer.round)
		switch {
		case errors.Is(err, quota.ErrCancelled):
			t.cause = err
		case err != nil:
			t.logger.WarnContext(ctx, "the failed tool calls were not repaired",
				"messageId", t.reservation.MessageID, "cause", err.Error())
		}
	}
	t.answer.finishText(remaining)
}

// repairRequest returns the request that repairs the failed calls. It shows the files of these calls that the model has
// not seen completely. ok is false if no call failed, if the only failed call was cut off together with the answer, if
// the answer has reached its maximum size, or if too few reserved tokens remain.
func (t *turn) repairRequest(ctx context.Context) (request model.Request, ok bool) {
	a := t.answer
	if len(a.round.failures) == 0 || a.hasOnlyCutOffCall() || a.size > maxAnswer {
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

// finish ends the generation. It waits for the summary and adds its usage to the answer. If the summary is not ready
// after SummaryWait, finish cancels it. If the answer is not complete, finish cancels the summary immediately.
func (t *turn) finish(ctx context.Context) {
	if t.pendingSummary != nil {
		defer t.pendingSummary.cancel()
		wait := time.Duration(0)
		if t.cause == nil {
			wait = t.limits.SummaryWait
		}
		timer := async.AfterFunc(wait, t.pendingSummary.cancel)
		defer timer.Stop()
		t.summary = <-t.pendingSummary.done
		t.answer.addUsage(t.summary.usage)
	}
	if t.cause == nil && t.answer.isBlank() {
		t.cause = errEmptyAnswer
	}
	t.logAnswer(ctx, t.reservation, t.answer, t.cause)
}

func (t *turn) settlement() quota.Settlement {
	return quota.Settlement{Reservation: t.reservation, Used: t.answer.usage}
}

// store stores the turn and the summary, and settles the reservation. While storage is unavailable, it retries for
// several seconds. Errors: the errors of saveTurn, except quota.ErrCancelled.
func (t *turn) store(ctx context.Context) (err error) {
	budget := retry.WithBudget(ctx, storeAttempts*awsclient.MaxAttempts-1, timeToStore)
	save := func() error { return t.saveTurn(budget, t.question.ProjectID, t.stored, t.settlement()) }
	wait := func(failures int) time.Duration { return time.Duration(failures+1) * 500 * time.Millisecond }
	t.stored.Answer = t.message()
	for range retry.Attempts(budget, storeAttempts, wait) {
		err = save()
		if errors.Is(err, quota.ErrCancelled) { // after the last poll
			t.cause, t.answer.stop = err, ""
			t.stored.Answer = t.message()
			err = save()
		}
		if !errors.Is(err, db.ErrUnavailable) {
			break
		}
	}
	if err != nil || t.summary.text == "" {
		return err
	}
	exists := t.files.ProjectExists(t.question.ProjectID)
	summaryErr := t.conversations.SaveSummary(ctx, t.question.ProjectID, t.memory, t.summary.text, t.summary.upTo, exists)
	if summaryErr != nil { // the answer is already stored
		t.logger.WarnContext(ctx, "the summary was not stored",
			"messageId", t.reservation.MessageID, "cause", summaryErr.Error())
	}
	return nil
}

// saveTurn stores a turn and settles its reservation in one transaction, even if ctx has ended. It is idempotent. If
// the conversation was cleared after the turn began, saveTurn only settles the reservation and returns nil.
// Errors: quota.ErrCancelled if the status of the answer is Complete but the user has cancelled the answer;
// PROJECT_NOT_FOUND if the project was deleted (the reservation is settled); the error classes of db, after which
// saveTurn may be called again.
func (s *Service) saveTurn(
	ctx context.Context, projectID string, t conversation.Turn, settlement quota.Settlement,
) error {
	writes, err := s.conversations.TurnWrites(projectID, t)
	if err != nil {
		return err
	}
	writes = append([]db.Write{s.files.ProjectExists(projectID)}, writes...)
	settlement.UnlessCancelled = t.Answer.Status == conversation.Complete
	err = s.quota.Settle(ctx, settlement, writes...)
	isCleared := errors.Is(err, conversation.ErrCleared)
	if !isCleared && !errors.Is(err, workspace.ErrProjectNotFound) {
		return err
	}
	settlement.UnlessCancelled = false
	if settleErr := s.quota.Settle(ctx, settlement); settleErr != nil || isCleared {
		return settleErr
	}
	return err
}

// message returns the message to store for the answer.
func (t *turn) message() conversation.Message {
	m := conversation.Message{
		ID: t.reservation.MessageID, Role: model.Assistant, Status: conversation.Complete,
		Content: t.answer.text.String(), Actions: t.answer.draft.Actions(),
		Model: t.answer.model, Usage: t.answer.usage,
		CreatedAt: clock.Stamp(t.now()), AuthorID: t.caller.UserID,
	}
	if t.cause != nil || t.answer.stop == model.StopLength {
		m.Status = conversation.Interrupted
	}
	if m.Actions == nil {
		m.Actions = []action.Action{}
	}
	m.Code, _, _ = prompt.MainBlock(m.Content)
	if i := slices.IndexFunc(m.Actions, func(a action.Action) bool { return a.Content != nil }); i >= 0 {
		m.Code = *m.Actions[i].Content
	}
	return m
}

// apply applies the actions to the project's files if the question requests it. If this fails, apply adds the reason to
// the stored answer.
func (t *turn) apply(ctx context.Context) {
	m := &t.stored.Answer
	if !t.question.Apply || m.Status != conversation.Complete || len(m.Actions) == 0 {
		return
	}
	err := t.files.ApplyBatch(ctx, t.caller, t.question.ProjectID, t.answer.draft.Operations())
	if err == nil {
		t.isApplied = true
		return
	}
	t.answer.addNote(notAppliedNote(err))
	m.Content = t.answer.text.String()
	exists := t.files.ProjectExists(t.question.ProjectID)
	err = errors.Join(err, t.conversations.Replace(ctx, t.question.ProjectID, *m, exists))
	t.logger.WarnContext(ctx, "an answer was not applied", "messageId", m.ID, "cause", err.Error())
}

// notAppliedNote returns the note that explains why the actions were not applied.
func notAppliedNote(err error) string {
	reason := httpapi.AsError(err)
	switch reason.Code {
	case fault.CodeServiceUnavailable: // the changes may have been applied, and only the response was lost
		return "It is not known whether the changes were applied: storage did not respond. " +
			"Check the files before you try again."
	case fault.CodePreconditionFailed, fault.CodeConflict, fault.CodeFileNotFound:
		return "The changes were not applied: some of these files were changed while the answer was generated. " +
			"Please ask again."
	default:
		return "The changes were not applied: " + reason.Message
	}
}

// reply returns the response of the chat endpoints.
func (t *turn) reply() Reply {
	m := t.stored.Answer
	return Reply{
		ConversationID: conversation.ID(t.question.ProjectID), Response: m.Content, Code: m.Code, Actions: m.Actions,
		MessageID: m.ID, Model: m.Model, Usage: m.Usage, Applied: t.isApplied, stop: t.answer.stop,
	}
}
