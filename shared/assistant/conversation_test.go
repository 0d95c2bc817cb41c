package assistant

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project"
)

// noise returns n characters of text that compresses by at most a quarter.
func noise(n int) string {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return base64.StdEncoding.EncodeToString(data)[:n]
}

// reservation returns a user's reservation for a new answer. It is not stored.
func (w *world) reservation(userID string, tokens int) quota.Reservation {
	return quota.Reservation{UserID: userID, MessageID: w.ids.New(id.Message), Tokens: tokens, Began: w.clock.Now()}
}

// reserve reserves exactly the tokens of r.
func (w *world) reserve(r quota.Reservation) error {
	_, err := w.service.quota.Reserve(w.t.Context(), r, r.Tokens)
	return err
}

// settle settles r with the tokens that were used.
func (w *world) settle(r quota.Reservation, input, output int) error {
	return w.service.quota.Settle(w.t.Context(), settlement(r, input, output))
}

func settlement(r quota.Reservation, input, output int) quota.Settlement {
	return quota.Settlement{Reservation: r, Used: model.Usage{Input: input, Output: output}}
}

// taken returns the usage of a user, or of all users if userID is "", in a month.
func (w *world) taken(userID, month string) quota.Usage {
	w.t.Helper()
	key := db.GlobalUsageKey(month)
	if userID != "" {
		key = db.UsageKey(userID, month)
	}
	item, err := db.Wrap(w.sdk, w.clock.Now).Table(w.names.conversations).Get(w.t.Context(), key)
	if !errors.Is(err, db.ErrNotFound) {
		w.must(err)
	}
	record, err := db.Decode[quota.Usage](item)
	w.must(err)
	return record
}

const (
	may  = "2031-05"
	june = "2031-06"
)

// newTurn returns a user's turn that is not stored yet, and a stored reservation for it.
func (w *world) newTurn(b *browser, question, answer string) (conversation.Turn, quota.Reservation) {
	w.t.Helper()
	questionID, answerID := conversation.NewTurnIDs(w.ids, "")
	at := clock.Stamp(w.clock.Now())
	r := quota.Reservation{UserID: b.userID, MessageID: answerID, Tokens: 1000, Began: w.clock.Now()}
	w.must(w.reserve(r))
	return conversation.Turn{
		Question: conversation.Message{
			ID: questionID, Role: model.User, Content: question, Status: conversation.Complete, CreatedAt: at, AuthorID: b.userID,
		},
		Answer: conversation.Message{
			ID: answerID, Role: model.Assistant, Content: answer, Model: "script-1", Usage: Usage{InputTokens: 12, OutputTokens: 3},
			Status: conversation.Complete, CreatedAt: at, AuthorID: b.userID,
		},
	}, r
}

// say stores a turn.
func (w *world) say(b *browser, projectID, question, answer string) conversation.Turn {
	w.t.Helper()
	t, r := w.newTurn(b, question, answer)
	w.must(w.service.saveTurn(w.t.Context(), projectID, t, settlement(r, 12, 3)))
	return t
}

// saveSummary stores a summary of the messages up to and including upTo.
func (w *world) saveSummary(ctx context.Context, projectID string, before conversation.Memory, summary, upTo string) error {
	return w.service.conversations.SaveSummary(ctx, projectID, before, summary, upTo, w.service.files.ProjectExists(projectID))
}

// replace replaces a stored message.
func (w *world) replace(ctx context.Context, projectID string, m conversation.Message) error {
	return w.service.conversations.Replace(ctx, projectID, m, w.service.files.ProjectExists(projectID))
}

func (b *browser) caller() httpapi.Caller { return httpapi.Caller{UserID: b.userID, Username: b.name} }

// clear clears a conversation.
func (b *browser) clear(ctx context.Context, s *Service, projectID string) error {
	return s.Clear(ctx, b.caller(), projectID)
}

// page reads a page of a conversation.
func (b *browser) page(projectID string, in httpapi.PageInput) (items []MessageItem, next string, err error) {
	return b.w.service.Messages(b.w.t.Context(), b.caller(), projectID, in)
}

// listed returns all messages of a project, read in pages of the given size.
func (b *browser) listed(projectID string, limit int) []MessageItem {
	b.w.t.Helper()
	all, cursor := []MessageItem{}, ""
	for {
		page, next, err := b.page(projectID, httpapi.PageInput{Limit: limit, Cursor: cursor})
		b.w.must(err)
		all = append(all, page...)
		if next == "" {
			return all
		}
		if len(page) == 0 {
			b.w.t.Fatal("an empty page with a next cursor")
		}
		cursor = next
	}
}

// said returns the contents of messages.
func said(items []MessageItem) []string {
	texts := []string{}
	for _, m := range items {
		texts = append(texts, m.Content)
	}
	return texts
}

// saidIn returns the contents of turns.
func saidIn(turns []conversation.Turn) []string {
	texts := []string{}
	for _, t := range turns {
		texts = append(texts, t.Question.Content, t.Answer.Content)
	}
	return texts
}

// storedParts returns the keys of all message parts of a project.
func (w *world) storedParts(projectID string) []string {
	w.t.Helper()
	parts := []string{}
	for key := range w.dump(w.names.conversations) {
		if key.PK == db.ProjectPartition(projectID).PK && strings.HasPrefix(key.SK, "MSG#") {
			parts = append(parts, key.SK)
		}
	}
	slices.Sort(parts)
	return parts
}

func TestStoredTurnIsUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	text, empty := "export {}\n", ""
	want, r := w.newTurn(ada, "Wie heißt das \x00 hier? 😀", "So: <b>\u2028</b> \"quoted\"\\")
	want.Question.Status, want.Answer.Status = conversation.Complete, conversation.Interrupted
	want.Answer.Code = text
	want.Answer.Actions = []action.Action{
		{Type: action.CreateFile, Path: "/a.ts", Content: &text}, {Type: action.EditFile, Path: "/b.ts", Search: &text, Replace: &empty},
		{Type: action.AddDependency, Path: "/package.json", Packages: []string{"zod@^4"}},
	}
	ctx := db.CountCalls(t.Context())
	w.must(w.service.saveTurn(ctx, app, want, settlement(r, 12, 3)))
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("stored in %d calls", n)
	}
	ctx = db.CountCalls(t.Context())
	got, err := w.service.conversations.Recall(ctx, app)
	w.must(err)
	if diff := cmp.Diff(conversation.Memory{Turns: []conversation.Turn{want}, Last: want.Answer.ID}, got); diff != "" || db.Calls(ctx) != 1 {
		t.Errorf("%d calls: %s", db.Calls(ctx), diff)
	}
	if u := w.taken(ada.userID, may); u.Taken != 15 {
		t.Errorf("taken %+v", u)
	}
}

// A model may stop in the middle of a character.
func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "Hi", "caf\xc3")
	if diff := cmp.Diff([]string{"Hi", "caf\ufffd"}, said(ada.listed(app, 50))); diff != "" {
		t.Error(diff)
	}
}

func TestLongMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "first", noise(500_000))
	last := w.say(ada, app, "second", noise(1_000_000))
	if n := len(w.storedParts(app)); n != 1+2+1+3 {
		t.Errorf("%d parts", n)
	}
	for _, limit := range []int{1, 50} {
		if items := ada.listed(app, limit); len(items) != 4 || items[3].Content != last.Answer.Content {
			t.Errorf("limit %d: %d messages", limit, len(items))
		}
	}
	ctx := db.CountCalls(t.Context())
	m, err := w.service.conversations.Recall(ctx, app)
	w.must(err)
	if len(m.Turns) != 1 || m.Turns[0].Answer.Content != last.Answer.Content || db.Calls(ctx) != 1 {
		t.Errorf("%d turns in %d calls", len(m.Turns), db.Calls(ctx))
	}
}

// A message that is too large is stored in part.
func TestTooLargeMessagesAreTruncated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	long := strings.Repeat("é", 300_000)
	many := []action.Action{{Type: action.CreateFile, Path: "/a", Content: &long}, {Type: action.CreateFile, Path: "/b", Content: &long}}
	for name, tc := range map[string]struct {
		content, code string
		actions       []action.Action
		stored        conversation.Message
	}{
		"code that is also in an action": {"x", long, many[:1], conversation.Message{Content: "x", Actions: many[:1]}},
		"too many actions":               {"x", long, many, conversation.Message{Content: "x", Actions: many[:1]}},
		"too much text":                  {long + long, "", many, conversation.Message{Content: long}},
	} {
		turn, r := w.newTurn(ada, name, tc.content)
		turn.Answer.Code, turn.Answer.Actions = tc.code, tc.actions
		w.must(w.service.saveTurn(t.Context(), app, turn, settlement(r, 0, 0)))
		m, err := w.service.conversations.Recall(t.Context(), app)
		w.must(err)
		got := m.Turns[len(m.Turns)-1]
		if diff := cmp.Diff(tc.stored, conversation.Message{Content: got.Answer.Content, Code: got.Answer.Code, Actions: got.Answer.Actions}); diff != "" || got.Question.Content != name {
			t.Errorf("%s: stored %d bytes of content, %d bytes of code, %d actions", name, len(got.Answer.Content), len(got.Answer.Code), len(got.Answer.Actions))
		}
	}
}

func TestConcurrentTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	codes := slicetest.CountCodes(16, func(i int) error {
		turn, r := w.newTurn(ada, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
		return w.service.saveTurn(t.Context(), app, turn, settlement(r, 12, 3))
	})
	if diff := cmp.Diff(map[fault.Code]int{"": 16}, codes); diff != "" {
		t.Fatal(diff)
	}
	texts := said(ada.listed(app, 5))
	if len(texts) != 32 {
		t.Fatalf("%d messages", len(texts))
	}
	for i := 0; i < len(texts); i += 2 {
		if _, n, _ := strings.Cut(texts[i], " "); texts[i+1] != "answer "+n {
			t.Errorf("%q is answered by %q", texts[i], texts[i+1])
		}
	}
	m, err := w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	if diff := cmp.Diff(texts, saidIn(m.Turns)); diff != "" {
		t.Error(diff)
	}
}

// Recall reads the latest whole turns after the summary in one call.
func TestRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app, other := ada.project("", project.Private), ada.project("", project.Private)
	w.say(ada, other, "elsewhere", "there")
	var turns []conversation.Turn
	for i := range 20 {
		turns = append(turns, w.say(ada, app, fmt.Sprint("q", i), fmt.Sprint("a", i)))
	}
	m, err := w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	if diff := cmp.Diff(saidIn(turns[4:]), saidIn(m.Turns)); diff != "" {
		t.Errorf("20 turns: %s", diff)
	}
	w.must(w.saveSummary(t.Context(), app, m, "They spoke.", turns[15].Answer.ID))
	turn, r := w.newTurn(ada, "is half", "")
	turn.Answer.ID, _ = id.Message.Next(turn.Answer.ID)
	w.must(w.service.saveTurn(t.Context(), app, turn, settlement(r, 0, 0)))
	turns = append(turns, w.say(ada, app, "last", "at last"))
	ctx := db.CountCalls(t.Context())
	m, err = w.service.conversations.Recall(ctx, app)
	w.must(err)
	if diff := cmp.Diff(saidIn(turns[16:]), saidIn(m.Turns)); diff != "" || db.Calls(ctx) != 1 {
		t.Errorf("after the summary, in %d calls: %s", db.Calls(ctx), diff)
	}
	if m.Summary != "They spoke." || m.SummaryUpTo != turns[15].Answer.ID {
		t.Errorf("%q up to %s", m.Summary, m.SummaryUpTo)
	}
	// Recall needs one call even if the messages are long.
	for range 4 {
		turns = append(turns, w.say(ada, app, noise(200_000), noise(200_000)))
	}
	ctx = db.CountCalls(t.Context())
	m, err = w.service.conversations.Recall(ctx, app)
	w.must(err)
	if n := len(m.Turns); n == 0 || db.Calls(ctx) != 1 || !slices.Equal(saidIn(turns[len(turns)-n:]), saidIn(m.Turns)) {
		t.Errorf("%d long turns in %d calls", n, db.Calls(ctx))
	}
}

// Of concurrent summaries, only the first is stored. No summary of a cleared conversation or of a deleted project is
// stored.
func TestConcurrentSummaries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app, gone := ada.project("", project.Private), ada.project("", project.Private)
	first, second := w.say(ada, app, "1", "one"), w.say(ada, app, "2", "two")
	before, err := w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	save := func(before conversation.Memory, summary, upTo string) conversation.Memory {
		t.Helper()
		ctx := db.CountCalls(t.Context())
		w.must(w.saveSummary(ctx, app, before, summary, upTo))
		m, err := w.service.conversations.Recall(t.Context(), app)
		w.must(err)
		if db.Calls(ctx) != 1 {
			t.Errorf("stored in %d calls", db.Calls(ctx))
		}
		return m
	}
	if m := save(before, "A", first.Answer.ID); m.Summary != "A" || len(m.Turns) != 1 {
		t.Errorf("%+v", m)
	}
	m := save(before, "B", second.Answer.ID)
	if m.Summary != "A" {
		t.Errorf("a second summary of the same turns: %+v", m)
	}
	w.must(ada.clear(t.Context(), w.service, app))
	if m := save(before, "none", second.Answer.ID); m.Summary != "" {
		t.Errorf("a summary of cleared turns, the first one: %+v", m)
	}
	if m := save(m, "C", second.Answer.ID); m.Summary != "" || m.SummaryUpTo != "" || len(m.Turns) != 0 || m.ClearedUpTo == "" {
		t.Errorf("a summary of cleared turns: %+v", m)
	}
	third := w.say(ada, app, "3", "three")
	m, err = w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	if m := save(m, "D", third.Answer.ID); m.Summary != "D" || len(m.Turns) != 0 {
		t.Errorf("a summary after a clear: %+v", m)
	}
	w.remove(w.names.projects, db.TreeKey(gone))
	w.must(w.saveSummary(t.Context(), gone, conversation.Memory{}, "E", third.Answer.ID))
	if item := w.dump(w.names.conversations)[db.SummaryKey(gone)]; item != nil {
		t.Errorf("a summary of a deleted project: %v", item)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "1", "one")
	turn := w.say(ada, app, "2", "two")
	w.say(ada, app, "3", "three")
	for _, text := range []string{noise(1_000_000), "short", noise(500_000), ""} {
		turn.Answer.Content = text
		w.must(w.replace(t.Context(), app, turn.Answer))
		m, err := w.service.conversations.Recall(t.Context(), app)
		w.must(err)
		if diff := cmp.Diff([]string{"1", "one", "2", text, "3", "three"}, saidIn(m.Turns)); diff != "" {
			t.Errorf("%d characters: %s", len(text), diff)
		}
	}
	if n := len(w.storedParts(app)); n != 6 {
		t.Errorf("%d parts remain", n)
	}
	never, _ := w.newTurn(ada, "never", "stored")
	w.must(w.replace(t.Context(), app, never.Answer))
	if n := len(w.storedParts(app)); n != 6 {
		t.Errorf("a message that was not stored before: %d parts", n)
	}
	w.remove(w.names.projects, db.TreeKey(app))
	turn.Answer.Content = "too late"
	w.must(w.replace(t.Context(), app, turn.Answer))
	m, err := w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	if m.Turns[1].Answer.Content != "" {
		t.Errorf("a message of a deleted project was replaced")
	}
}
