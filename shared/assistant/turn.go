package assistant

import (
	"context"
	"errors"
	"strings"
	"time"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project/file"
)

// reply is an answer as the chat calls give it (API.md, call 15).
type reply struct {
	ConversationID string          `json:"conversationId" doc:"The project's conversation" example:"cnv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Response       string          `json:"response" doc:"What the assistant says, as Markdown" example:"Here is a button."`
	Code           string          `json:"code" doc:"The main block of code: the content of the first file that is written, else the first fenced block of the response, else empty" example:"export default function Button() {}\n"`
	Actions        []action.Action `json:"actions" nullable:"false" doc:"The changes to the project's files, each checked, in the order in which they apply; at most 20"`
	MessageID      string          `json:"messageId" doc:"The answer's id in the conversation" example:"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Model          string          `json:"model" doc:"What answered, by the provider's name for it" example:"scaffold-1"`
	Usage          usage           `json:"usage" doc:"What the call took of the month's tokens"`
	Applied        bool            `json:"applied" doc:"Whether the actions were done to the project's files. Where that was asked for and failed, the response says why" example:"false"`

	// stop is why the answer ended; empty of one that was cancelled.
	stop model.Stop
}

// conversing is a question on its way to a reply.
type conversing struct {
	question
	material
	*answer
	// questionID is the message's; the answer's is that of its reservation.
	questionID string
	asked      clock.Timestamp
	userID     string
}

// conversationID is that of a project's conversation: there is one a project, of the same ULID.
func conversationID(projectID string) string {
	return string(id.Conversation) + strings.TrimPrefix(projectID, string(id.Project))
}

// converse answers a question, tells l of the answer as it comes, and stores both. It goes on when the caller has gone.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, RATE_LIMITED, QUOTA_EXCEEDED, AI_UNAVAILABLE, AI_REFUSED, VALIDATION_FAILED where no
// prompt fits the model; storage's classes. An answer that was cut off is stored as far as it came.
func (s *Service) converse(ctx context.Context, q question, l listener) (reply, error) {
	ctx, cancel := outlive(ctx)
	defer cancel()
	m, err := s.gather(ctx, q)
	if err != nil {
		return reply{}, err
	}
	c := s.newConversing(ctx, q, m, l)
	mayNote, err := c.reserve(ctx)
	if err != nil {
		return reply{}, err
	}
	bounded, end := s.generationTime(ctx)
	defer end()
	finishNote := func(bool) note { return note{} }
	if mayNote {
		finishNote = s.beginNote(bounded, c.reserved, m.memory)
	}
	cause := c.generate(bounded, func() model.Request { return m.chat.Request(prompt.DefaultBudget().Tight(), maxOutput) })
	return c.conclude(ctx, cause, finishNote(cause == nil))
}

// outlive is a context that does not end with its request, but in time to say so before the function does.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline)
}

func (s *Service) newConversing(ctx context.Context, q question, m material, l listener) *conversing {
	questionID, answerID := s.newTurn(m.memory.last)
	userID := httpapi.CallerFrom(ctx).UserID
	return &conversing{
		question: q, material: m, questionID: questionID, asked: clock.Stamp(s.now()), userID: userID,
		answer: &answer{
			service: s, listener: l, draft: action.NewDraft(m.files),
			reserved: reservation{userID: userID, messageID: answerID, began: s.now()},
			request:  m.chat.Request(prompt.DefaultBudget(), maxOutput),
		},
	}
}

// reserveAttempts is how often less and less is asked for.
const reserveAttempts = 4

// reserve sets tokens aside: for the answer, its repair, and a note if one is due; if there are fewer left, as many as there are, down to
// a short answer, and no note.
func (c *conversing) reserve(ctx context.Context) (mayNote bool, err error) {
	input := prompt.Tokens(c.request)
	wanted, forNote := 2*(input+maxOutput), 0
	if c.memory.isLong() {
		forNote = noteTokens(c.memory)
	}
	c.reserved, err = c.service.reserveUpTo(ctx, c.reserved, wanted+forNote, input+minOutput)
	c.room = c.reserved.tokens
	if mayNote = forNote > 0 && c.room == wanted+forNote; mayNote {
		c.room = wanted
	}
	c.request.MaxOutput = min(maxOutput, c.room-input)
	return mayNote, err
}

// reserveUpTo reserves wanted tokens, or what is left if that is enough; what others take meanwhile is left to them, a few times.
func (s *Service) reserveUpTo(ctx context.Context, r reservation, wanted, enough int) (reservation, error) {
	r.tokens = wanted
	for attempt := 1; ; attempt++ {
		err := s.reserve(ctx, r)
		var short *quotaError
		if !errors.As(err, &short) || short.left < enough || short.left >= r.tokens || attempt == reserveAttempts {
			return r, err
		}
		r.tokens = short.left
	}
}

// conclude stores what came, applies it if that was asked for, and answers. cause is why the answer was cut off, nil if it was not.
func (c *conversing) conclude(ctx context.Context, cause error, n note) (reply, error) {
	c.spend(n.used)
	spent := c.spent()
	cancelled, blank := errors.Is(cause, errCancelled), c.isBlank()
	if cause == nil && blank {
		cause = errEmpty
	}
	c.log(ctx, c.asked, cause)
	if cause != nil && !wasEnded(cause) && blank && len(c.draft.Actions()) == 0 {
		return reply{}, errors.Join(answerTo(cause), c.service.settle(ctx, c.reserved, spent))
	}
	t := c.turn(spent, cause)
	err := c.store(ctx, t, spent)
	if errors.Is(err, errCancelled) { // between the last look and now
		cause, cancelled = err, true
		t, c.outcome.Stop = c.turn(spent, cause), ""
		err = c.store(ctx, t, spent)
	}
	if err != nil {
		return reply{}, err
	}
	c.service.keepNote(ctx, c.projectID, c.memory, n)
	if cause != nil && !cancelled {
		return reply{}, answerTo(cause)
	}
	r := reply{
		ConversationID: conversationID(c.projectID), Response: t.answer.Content, Code: t.answer.Code, Actions: t.answer.Actions,
		MessageID: t.answer.ID, Model: t.answer.Model, Usage: spent, stop: c.outcome.Stop,
	}
	if c.apply && t.answer.Status == complete && len(r.Actions) > 0 {
		c.applyTo(ctx, t.answer, &r)
	}
	return r, nil
}

// storeAttempts is how often storing is begun, over some seconds: who has read an answer should find it again.
const storeAttempts = 6

// store stores the turn, for as long as storage may come back. Errors: finish's.
func (c *conversing) store(ctx context.Context, t turn, spent usage) error {
	for attempt := 1; ; attempt++ {
		err := c.service.finish(ctx, c.reserved, c.projectID, t, spent)
		if !errors.Is(err, db.ErrUnavailable) || attempt == storeAttempts || !awsclient.Sleep(ctx, time.Duration(attempt)*500*time.Millisecond) {
			return err
		}
	}
}

// turn is what is stored.
func (c *conversing) turn(spent usage, cause error) turn {
	t := turn{
		question: message{ID: c.questionID, Role: model.User, Content: c.message, Status: complete, CreatedAt: c.asked, AuthorID: c.userID},
		answer: message{
			ID: c.reserved.messageID, Role: model.Assistant, Content: c.text.String(), Actions: c.draft.Actions(), Model: c.outcome.Model, Usage: spent,
			Status: complete, CreatedAt: clock.Stamp(c.service.now()), AuthorID: c.userID,
		},
	}
	if cause != nil || c.outcome.Stop == model.StopLength {
		t.answer.Status = interrupted
	}
	if t.answer.Actions == nil {
		t.answer.Actions = []action.Action{}
	}
	t.answer.Code = mainCode(t.answer)
	return t
}

// mainCode is the main block of an answer.
func mainCode(m message) string {
	for _, a := range m.Actions {
		if a.Content != nil {
			return *a.Content
		}
	}
	code, _ := prompt.MainBlock(m.Content)
	return code
}

// whyNotApplied is what people are told.
func whyNotApplied(err error) string {
	told := httpapi.AsError(err)
	switch told.Code {
	case fault.CodeServiceUnavailable: // its answer may be all that was lost
		return "It is not known whether the changes were applied: storage did not answer. Look at the files before you try again."
	case fault.CodePreconditionFailed, fault.CodeConflict, fault.CodeFileNotFound:
		return "The changes were not applied: some of these files have changed meanwhile. Please ask again."
	default:
		return "The changes were not applied: " + told.Message
	}
}

// applyTo does the actions of an answer that is stored already, so that it is never lost. If that fails, the answer says so.
func (c *conversing) applyTo(ctx context.Context, m message, r *reply) {
	var changes []file.BatchOperation
	for _, op := range c.draft.Operations() {
		changes = append(changes, file.BatchOperation{
			Action: file.Action(op.Op), Path: op.Path, To: op.To, Content: &op.Content, ETag: op.ETag,
		})
	}
	err := c.service.files.Change(ctx, httpapi.CallerFrom(ctx), c.projectID, changes)
	if r.Applied = err == nil; r.Applied {
		return
	}
	c.note(whyNotApplied(err))
	m.Content = c.text.String()
	r.Response = m.Content
	if failed := c.service.amend(ctx, c.projectID, m); failed != nil {
		err = errors.Join(err, failed)
	}
	c.service.logger.WarnContext(ctx, "an answer was not applied", "messageId", m.ID, "cause", err.Error())
}
