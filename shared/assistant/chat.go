package assistant

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

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
	"devplatform/shared/httpapi"
	"devplatform/shared/retry"
	"devplatform/shared/workspace"
)

const (
	// maxOutput is the maximum length of an answer in tokens. If fewer than minOutput tokens remain for it, the model
	// is not called.
	maxOutput = 8192
	minOutput = 256
	// smallOutput is the maximum length of an answer in tokens if the model rejects a request with maxOutput. Some models
	// count the maximum length towards their context window, and some allow only answers of 4,096 tokens.
	smallOutput = maxOutput / 4
	// storeAttempts is the maximum number of attempts to store an answer while storage is unavailable. They take several
	// seconds in total: the user may have read the answer already, so it should not be missing from the conversation.
	storeAttempts = 6
)

// turn is a question while it is processed.
type turn struct {
	*Service
	caller httpapi.Caller
	in     *chatInput
	answer *answer
	// context is the part of the input that can be absent.
	context chatContext

	projectFiles *projectFiles
	memory       conversation.Memory
	prompt       prompt.Chat
	budget       prompt.Budget // of request
	request      model.Request
	reservation  quota.Reservation
	// answerTokens is the number of reserved tokens for the answer and its repair. If it is less than the number of all
	// reserved tokens, a summary is generated with the others.
	answerTokens int
	// cause is the reason why the answer is not complete, nil if it is complete.
	cause  error
	stored conversation.Turn
}

// answerQuestion answers a question, writes the answer to stream while it is generated, and stores the question and the
// answer. stream may be nil. If the client disconnects, answerQuestion continues. If the answer is cut off, it stores
// the part that was generated. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, RATE_LIMITED, QUOTA_EXCEEDED, AI_UNAVAILABLE,
// AI_REFUSED, VALIDATION_FAILED if the prompt exceeds the model's context window; the error classes of db.
func (s *Service) answerQuestion(
	ctx context.Context, caller httpapi.Caller, in *chatInput, stream *uistream.Writer,
) (*chatOutput, error) {
	ctx, generation, cancel := s.detach(ctx)
	defer cancel()
	t := &turn{Service: s, caller: caller, in: in, answer: &answer{stream: stream}}
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	if err := t.reserve(ctx); err != nil {
		return nil, err
	}
	defer s.quota.ReportGlobalUsage(ctx)
	awaitSummary := func() (none summary) { return none }
	if t.answerTokens < t.reservation.Tokens {
		awaitSummary = t.startSummary(generation)
	}
	_ = stream.Start(t.reservation.MessageID)
	t.cause = s.callModel(generation, t.reservation, t.request, t.answer)
	if isTooLong(t.cause, t.answer) {
		t.retryShorter(generation)
	}
	if t.cause == nil {
		if len(t.answer.round.failures) > 0 {
			t.repair(generation)
		}
		t.answer.finishText()
	}
	newSummary := awaitSummary()
	t.answer.addUsage(newSummary.usage)
	isEmpty := t.answer.isBlank() && len(t.answer.draft.Actions()) == 0
	if isEmpty {
		t.cause = cmp.Or[error](t.cause, errEmptyAnswer)
	}
	s.logAnswer(ctx, t.reservation, t.answer, t.cause)
	if isEmpty && !isInterruption(t.cause) { // the model failed, and there is nothing to store
		return nil, errors.Join(clientError(t.cause, errMessageTooLong), s.quota.Settle(ctx, t.settlement()))
	}
	if err := t.store(ctx); err != nil {
		return nil, err
	}
	if newSummary.text != "" {
		t.saveSummary(ctx, newSummary)
	}
	if t.cause != nil && !errors.Is(t.cause, quota.ErrCancelled) {
		return nil, clientError(t.cause, errMessageTooLong)
	}
	m := &t.stored.Answer
	isApplied := in.Body.Apply && m.Status == conversation.Complete && len(m.Actions) > 0 && t.apply(ctx)
	return &chatOutput{newReply(in.Body.ProjectID, *m, isApplied, t.answer.stop)}, nil
}

// open checks the caller's limits, and reads the project and the data for the prompt. The data is read at the same time
// as the caller's access to the project. Errors: RATE_LIMITED, QUOTA_EXCEEDED, PROJECT_NOT_FOUND, ACCESS_DENIED.
func (t *turn) open(ctx context.Context) error {
	if t.in.Body.Context != nil {
		t.context = *t.in.Body.Context
	}
	smallest := prompt.Chat{Message: t.in.Body.Message}
	minTokens := prompt.Tokens(smallest.Request(prompt.DefaultBudget(), maxOutput)) + minOutput
	located, err := t.access.Locate(ctx, t.in.Body.ProjectID, t.quota.LimitsOf(t.caller.UserID)...)
	if err == nil || errors.Is(err, workspace.ErrProjectNotFound) { // the limits were read in both cases
		if refusal := t.quota.Refuse(ctx, t.caller.UserID, minTokens, located.Items); refusal != nil {
			return refusal
		}
	}
	if err != nil {
		return err
	}
	readCtx, stop := context.WithCancel(ctx)
	defer stop()
	var reading async.Group
	reading.Go(func() error { return t.gather(readCtx) })
	access, err := t.access.Load(ctx, t.caller.UserID, located, workspace.Write)
	if err != nil {
		stop() // without access, the response time must not depend on the data
	}
	if err = cmp.Or(err, reading.Wait()); err != nil {
		return err //nolint:wrapcheck // the error of Load, or of gather
	}
	project, err := db.Decode[struct {
		Framework string `dynamodbav:"framework"`
	}](access.Items[db.ProjectKey(access.WorkspaceID, access.ProjectID)])
	t.prompt.Project, t.prompt.Framework = access.Name, cmp.Or(t.context.Framework, project.Framework)
	return err
}

// gather reads the data for the prompt: first the list of files and the conversation, in one call each, and then the
// files that the prompt contains, in one call: the current file, the files that the message names or that the previous
// answer changed, and the manifests that belong to the current file.
func (t *turn) gather(ctx context.Context) error {
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() error {
		view := t.files.View(t.in.Body.ProjectID)
		listed, err := view.List(readCtx)
		t.projectFiles = newProjectFiles(view, listed)
		return err
	})
	reads.Go(func() (err error) {
		t.memory, err = t.conversations.Recall(readCtx, t.in.Body.ProjectID)
		return err
	})
	if err := reads.Wait(); err != nil {
		return err
	}
	t.answer.draft = action.NewDraft(t.projectFiles)
	t.prompt = prompt.Chat{
		Paths: slices.Sorted(maps.Keys(t.projectFiles.known)), Summary: t.memory.Summary, Turns: promptTurns(t.memory.Turns),
		Message: t.in.Body.Message,
	}
	paths := t.filesToShow()
	if err := t.projectFiles.load(ctx, paths...); err != nil {
		return err
	}
	for _, name := range paths {
		data, ok := t.projectFiles.contents[name]
		switch {
		case t.projectFiles.known[name].IsLarge() || !utf8.Valid(data):
			t.prompt.Unreadable = append(t.prompt.Unreadable, name)
		case ok: // otherwise the file was deleted after it was listed
			t.prompt.Files = append(t.prompt.Files, prompt.Document{Path: name, Content: string(data)})
			if name == t.context.CurrentFile {
				t.prompt.CurrentFile = name
			}
		}
	}
	return nil
}

// filesToShow returns the paths of the files that the prompt contains or lists as unreadable. The current file is the
// first.
func (t *turn) filesToShow() []string {
	current := t.context.CurrentFile
	wanted := prompt.Mentioned(t.in.Body.Message, t.prompt.Paths)
	if len(wanted) == 0 {
		wanted = lastChangedPaths(t.memory.Turns)
	}
	if current != "" {
		wanted = append([]string{current}, wanted...)
	}
	wanted = append(wanted[:min(len(wanted), maxNamedFiles)], manifests(t.projectFiles.known, current)...)
	var shown []string
	total := 0
	for _, name := range wanted {
		info, ok := t.projectFiles.known[name]
		if !ok || slices.Contains(shown, name) {
			continue
		}
		if name != current && !info.IsLarge() { // the content of a large file is not read
			if total+info.Size > maxNamedBytes {
				continue
			}
			total += info.Size
		}
		shown = append(shown, name)
	}
	return shown
}

// reserve builds the request, and reserves tokens for the answer, a repair, and a summary if one is due. If too few
// tokens remain for all of them, but enough for a short answer, it reserves all remaining tokens, and no summary is
// generated. Errors: the errors of quota.Ledger.Reserve.
func (t *turn) reserve(ctx context.Context) (err error) {
	questionID, answerID := conversation.NewTurnIDs(t.ids, t.memory.Last)
	began := t.now()
	t.stored.Question = conversation.Message{
		ID: questionID, Role: model.User, Content: t.in.Body.Message, Status: conversation.Complete,
		CreatedAt: clock.Stamp(began), AuthorID: t.caller.UserID,
	}
	t.budget = prompt.DefaultBudget()
	t.request = t.prompt.Request(t.budget, maxOutput)
	input := prompt.Tokens(t.request)
	forAnswer, forSummary := 2*(input+maxOutput), 0
	if isSummaryDue(t.memory) {
		request, _ := summaryRequest(t.memory)
		forSummary = prompt.Tokens(request) + request.MaxOutput
	}
	t.reservation, err = t.quota.Reserve(ctx, quota.Reservation{
		UserID: t.caller.UserID, MessageID: answerID, Tokens: forAnswer + forSummary, Began: began,
	}, input+minOutput)
	if err != nil {
		return err
	}
	t.answerTokens = t.reservation.Tokens
	if t.reservation.Tokens == forAnswer+forSummary {
		t.answerTokens = forAnswer
	}
	if limit := t.answerTokens - input; limit < maxOutput {
		t.request = t.prompt.Request(t.budget, limit) // the prompt contains the limit
	}
	return nil
}

func (t *turn) settlement() quota.Settlement {
	return quota.Settlement{Reservation: t.reservation, Used: t.answer.usage}
}

// store stores the turn and settles the reservation. While storage is unavailable, it retries for several seconds.
// Errors: the errors of saveTurn, except quota.ErrCancelled.
func (t *turn) store(ctx context.Context) (err error) {
	m := &t.stored.Answer
	*m = conversation.Message{
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
	ctx = retry.WithBudget(ctx, storeAttempts*awsclient.MaxAttempts-1, timeToStore)
	wait := func(failures int) time.Duration { return time.Duration(failures+1) * 500 * time.Millisecond }
	for range retry.Attempts(ctx, storeAttempts, wait) {
		err = t.saveTurn(ctx, t.in.Body.ProjectID, t.stored, t.settlement())
		if errors.Is(err, quota.ErrCancelled) { // after the last poll
			t.cause, t.answer.stop, m.Status = err, "", conversation.Interrupted
			err = t.saveTurn(ctx, t.in.Body.ProjectID, t.stored, t.settlement())
		}
		if !errors.Is(err, db.ErrUnavailable) {
			break
		}
	}
	return err
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
	writes = append([]db.Write{s.access.ProjectExists(projectID)}, writes...)
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

// apply applies the actions to the project's files. If this fails, it adds the reason to the stored answer and returns
// false.
func (t *turn) apply(ctx context.Context) bool {
	err := t.files.ApplyBatch(ctx, t.caller, t.in.Body.ProjectID, t.answer.draft.Operations())
	if err == nil {
		return true
	}
	m := &t.stored.Answer
	t.answer.addNote(notAppliedNote(err))
	m.Content = t.answer.text.String()
	exists := t.access.ProjectExists(t.in.Body.ProjectID)
	err = errors.Join(err, t.conversations.Replace(ctx, t.in.Body.ProjectID, *m, exists))
	t.logger.WarnContext(ctx, "an answer was not applied", "messageId", m.ID, "cause", err.Error())
	return false
}
