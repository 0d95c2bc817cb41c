package assistant

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// Months of usage. The fixture's clock starts in May.
const (
	monthMay  = "2031-05"
	monthJune = "2031-06"
)

// randomText returns n random characters of base64. Each has 6 random bits, so compression makes the text smaller by at
// most a quarter.
func randomText(n int) string {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return base64.StdEncoding.EncodeToString(data)[:n]
}

// newReservation returns a user's reservation for a new answer. It is not stored.
func (f *fixture) newReservation(userID string, tokens int) quota.Reservation {
	return quota.Reservation{UserID: userID, MessageID: f.ids.New(id.Message), Tokens: tokens, Began: f.clock.Now()}
}

// reserve stores r and returns it as stored.
func (f *fixture) reserve(r quota.Reservation) quota.Reservation {
	f.t.Helper()
	reserved, err := f.service.quota.Reserve(f.t.Context(), r, r.Tokens)
	f.must(err)
	return reserved
}

// settle settles r with the given numbers of used tokens.
func (f *fixture) settle(r quota.Reservation, input, output int) error {
	return f.service.quota.Settle(f.t.Context(), settlement(r, input, output))
}

func settlement(r quota.Reservation, input, output int) quota.Settlement {
	return quota.Settlement{Reservation: r, Used: model.Usage{Input: input, Output: output}}
}

// usage returns the usage of a user in a month. If userID is "", it returns the usage of all users, whose limit must be
// so low that there is only one shard.
func (f *fixture) usage(userID, month string) quota.Usage {
	f.t.Helper()
	key := db.GlobalUsageKey(month, 1)
	if userID != "" {
		key = db.UsageKey(userID, month)
	}
	item, err := db.Wrap(f.sdk, f.clock.Now).Table(f.tables.conversations).Get(f.t.Context(), key)
	if !errors.Is(err, db.ErrNotFound) {
		f.must(err)
	}
	usage, err := db.Decode[quota.Usage](item)
	f.must(err)
	return usage
}

// newTurn returns a new turn of a user, and its reservation of 1000 tokens. It stores the reservation, but not the
// turn.
func (f *fixture) newTurn(u *user, question, answer string) (conversation.Turn, quota.Reservation) {
	f.t.Helper()
	questionID, answerID := conversation.NewTurnIDs(f.ids, "")
	now := clock.Stamp(f.clock.Now())
	r := f.reserve(quota.Reservation{UserID: u.id, MessageID: answerID, Tokens: 1000, Began: f.clock.Now()})
	return conversation.Turn{
		Question: conversation.Message{
			ID: questionID, Role: model.User, Content: question,
			Status: conversation.Complete, CreatedAt: now, AuthorID: u.id,
		},
		Answer: conversation.Message{
			ID: answerID, Role: model.Assistant, Content: answer,
			Model: "fake-model", Usage: model.Usage{Input: 12, Output: 3},
			Status: conversation.Complete, CreatedAt: now, AuthorID: u.id,
		},
	}, r
}

// storeTurn stores a new turn that used 12 input and 3 output tokens.
func (f *fixture) storeTurn(u *user, projectID, question, answer string) conversation.Turn {
	f.t.Helper()
	turn, r := f.newTurn(u, question, answer)
	f.must(f.service.saveTurn(f.t.Context(), projectID, turn, settlement(r, 12, 3)))
	return turn
}

// recall reads the memory of a conversation.
func (f *fixture) recall(projectID string) conversation.Memory {
	f.t.Helper()
	memory, err := f.service.conversations.Recall(f.t.Context(), projectID)
	f.must(err)
	return memory
}

// recallInOneCall is like recall, and checks that Recall makes one call to DynamoDB.
func (f *fixture) recallInOneCall(projectID string) conversation.Memory {
	f.t.Helper()
	ctx := db.CountCalls(f.t.Context())
	memory, err := f.service.conversations.Recall(ctx, projectID)
	f.must(err)
	if n := db.Calls(ctx); n != 1 {
		f.t.Errorf("Recall made %d calls, want 1", n)
	}
	return memory
}

// saveSummary stores a summary of the messages up to and including upTo. The parameter named "before" is the memory
// from which the summary was generated.
func (f *fixture) saveSummary(
	ctx context.Context, projectID string, before conversation.Memory, summary, upTo string,
) error {
	exists := f.service.access.ProjectExists(projectID)
	return f.service.conversations.SaveSummary(ctx, projectID, before, summary, upTo, exists)
}

// replace replaces a stored message.
func (f *fixture) replace(ctx context.Context, projectID string, m conversation.Message) error {
	return f.service.conversations.Replace(ctx, projectID, m, f.service.access.ProjectExists(projectID))
}

func (u *user) caller() httpapi.Caller {
	return slicetest.NewCaller(u.id, u.name)
}

// clear clears a conversation.
func (u *user) clear(ctx context.Context, s *Service, projectID string) error {
	_, err := s.clearConversation(ctx, u.caller(), &conversationInput{projectID})
	return err
}

// readPage reads a page of a conversation.
func (u *user) readPage(projectID string, page httpapi.PageInput) (items []MessageItem, next string, err error) {
	out, err := u.f.service.listMessages(u.f.t.Context(), u.caller(), &messagesInput{projectID, page})
	if err != nil {
		return nil, "", err
	}
	return out.Body.Messages, out.Body.NextCursor, nil
}

// readAll returns the contents of all messages of a conversation. It reads them in pages of the given size.
func (u *user) readAll(projectID string, pageSize int) []string {
	u.f.t.Helper()
	texts, cursor := []string{}, ""
	for {
		page, next, err := u.readPage(projectID, httpapi.PageInput{Limit: pageSize, Cursor: cursor})
		u.f.must(err)
		for _, message := range page {
			texts = append(texts, message.Content)
		}
		if next == "" {
			return texts
		}
		if len(page) == 0 {
			u.f.t.Fatal("got an empty page with a next cursor")
		}
		cursor = next
	}
}

// textsOf returns the contents of the messages in turns.
func textsOf(turns []conversation.Turn) []string {
	texts := []string{}
	for _, turn := range turns {
		texts = append(texts, turn.Question.Content, turn.Answer.Content)
	}
	return texts
}

// storedParts returns the sort keys of all stored message parts of a project.
func (f *fixture) storedParts(projectID string) []string {
	f.t.Helper()
	parts := []string{}
	for key := range f.items(f.tables.conversations) {
		if key.PK == db.ProjectPartition(projectID).PK && strings.HasPrefix(key.SK, "MSG#") {
			parts = append(parts, key.SK)
		}
	}
	slices.Sort(parts)
	return parts
}

// checkPartCount checks the number of stored message parts of a project.
func (f *fixture) checkPartCount(projectID string, want int) {
	f.t.Helper()
	if got := f.storedParts(projectID); len(got) != want {
		f.t.Errorf("got %d stored message parts, want %d: %v", len(got), want, got)
	}
}
