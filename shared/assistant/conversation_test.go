package assistant

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project"
	"devplatform/shared/project/content"
)

// noise is so many characters of text that shrink by a quarter at most.
func noise(n int) string {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return base64.StdEncoding.EncodeToString(data)[:n]
}

// newTurn makes a turn of a user's that is to be stored, and a reservation for it, which is made.
func (w *world) newTurn(b *browser, question, answer string) (turn, reservation) {
	w.t.Helper()
	questionID, answerID := w.service.newTurn("")
	at := clock.Stamp(w.clock.Now())
	r := reservation{userID: b.userID, messageID: answerID, tokens: 1000, began: w.clock.Now()}
	w.must(w.service.reserve(w.t.Context(), r))
	return turn{
		message{ID: questionID, Role: model.User, Content: question, Status: complete, CreatedAt: at, AuthorID: b.userID},
		message{ID: answerID, Role: model.Assistant, Content: answer, Model: "script-1", Usage: usage{12, 3}, Status: complete, CreatedAt: at, AuthorID: b.userID},
	}, r
}

// say stores a turn.
func (w *world) say(b *browser, projectID, question, answer string) turn {
	w.t.Helper()
	t, r := w.newTurn(b, question, answer)
	w.must(w.service.finish(w.t.Context(), r, projectID, t, usage{12, 3}))
	return t
}

// as is a context of a user's request.
func (b *browser) as(ctx context.Context) context.Context {
	return httpapi.WithCaller(ctx, httpapi.Caller{UserID: b.userID, Username: b.name})
}

// listed are all of a project's messages as the list has them, read in pages of limit.
func (b *browser) listed(projectID string, limit int) []MessageItem {
	b.w.t.Helper()
	all, cursor := []MessageItem{}, ""
	for {
		page, next, err := b.w.service.conversation(b.as(b.w.t.Context()), projectID, httpapi.PageInput{Limit: limit, Cursor: cursor})
		b.w.must(err)
		all = append(all, page...)
		if next == "" {
			return all
		}
		if len(page) == 0 {
			b.w.t.Fatal("an empty page that goes on")
		}
		cursor = next
	}
}

// said is what the messages of a list say.
func said(items []MessageItem) []string {
	texts := []string{}
	for _, m := range items {
		texts = append(texts, m.Content)
	}
	return texts
}

// saidIn is what the turns of a memory say.
func saidIn(turns []turn) []string {
	texts := []string{}
	for _, t := range turns {
		texts = append(texts, t.question.Content, t.answer.Content)
	}
	return texts
}

// storedParts are the keys of all parts of messages of a project.
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

func TestTurnsAreNextToEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	last := ""
	for range 1000 {
		question, answer := w.service.newTurn("")
		if next, ok := id.Message.Next(question); !ok || next != answer || question <= last {
			t.Fatalf("%s, %s after %s", question, answer, last)
		}
		last = answer
	}
}

func TestTurnsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	text, empty := "export {}\n", ""
	want, r := w.newTurn(ada, "Wie heißt das \x00 hier? 😀", "So: <b>\u2028</b> \"quoted\"\\")
	want.question.Status, want.answer.Status = complete, interrupted
	want.answer.Code = text
	want.answer.Actions = []action.Action{
		{Type: action.CreateFile, Path: "/a.ts", Content: &text}, {Type: action.EditFile, Path: "/b.ts", Search: &text, Replace: &empty},
		{Type: action.AddDependency, Path: "/package.json", Packages: []string{"zod@^4"}},
	}
	ctx := db.CountCalls(t.Context())
	w.must(w.service.finish(ctx, r, app, want, usage{12, 3}))
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("finished in %d calls", n)
	}
	ctx = db.CountCalls(t.Context())
	got, err := w.service.recall(ctx, app)
	w.must(err)
	if diff := cmp.Diff(memory{turns: []turn{want}, last: want.answer.ID}, got, cmp.AllowUnexported(memory{}, turn{})); diff != "" || db.Calls(ctx) != 1 {
		t.Errorf("%d calls: %s", db.Calls(ctx), diff)
	}
	if u := w.taken(ada.userID, may); u.Taken != 15 {
		t.Errorf("taken %+v", u)
	}
}

// A model that broke off in the middle of a character has said text all the same.
func TestTextThatIsNone(t *testing.T) {
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
		if items := ada.listed(app, limit); len(items) != 4 || items[3].Content != last.answer.Content {
			t.Errorf("by %d: %d messages", limit, len(items))
		}
	}
	ctx := db.CountCalls(t.Context())
	m, err := w.service.recall(ctx, app)
	w.must(err)
	if len(m.turns) != 1 || m.turns[0].answer.Content != last.answer.Content || db.Calls(ctx) != 1 {
		t.Errorf("%d turns in %d calls", len(m.turns), db.Calls(ctx))
	}
}

// What is larger than can be kept is kept as far as possible.
func TestMessagesThatAreTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	long := strings.Repeat("é", 300_000)
	many := []action.Action{{Type: action.CreateFile, Path: "/a", Content: &long}, {Type: action.CreateFile, Path: "/b", Content: &long}}
	for name, tc := range map[string]struct {
		content, code string
		actions       []action.Action
		kept          messageBody
	}{
		"code that is said twice": {"x", long, many[:1], messageBody{Content: "x", Actions: many[:1]}},
		"too many actions":        {"x", long, many, messageBody{Content: "x", Actions: many[:1]}},
		"too much text":           {long + long, "", many, messageBody{Content: long}},
	} {
		turn, r := w.newTurn(ada, name, tc.content)
		turn.answer.Code, turn.answer.Actions = tc.code, tc.actions
		w.must(w.service.finish(t.Context(), r, app, turn, usage{}))
		m, err := w.service.recall(t.Context(), app)
		w.must(err)
		got := m.turns[len(m.turns)-1]
		if diff := cmp.Diff(tc.kept, messageBody{Content: got.answer.Content, Code: got.answer.Code, Actions: got.answer.Actions}); diff != "" || got.question.Content != name {
			t.Errorf("%s: kept %d of content, %d of code, %d actions", name, len(got.answer.Content), len(got.answer.Code), len(got.answer.Actions))
		}
	}
}

// Every packing has as few parts as a message's keys can name.
func TestAMessageHasFewParts(t *testing.T) {
	t.Parallel()
	if mostParts > lastPart || db.MessageKey("prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK", mostParts-1).IsZero() {
		t.Errorf("%d parts", mostParts)
	}
	if content.MaxBytes > maxPage {
		t.Error("a message does not fit a page")
	}
}

func TestTurnsAtOnceAreAllWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	codes := outcomes(16, func(i int) error {
		turn, r := w.newTurn(ada, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
		return w.service.finish(t.Context(), r, app, turn, usage{12, 3})
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
	m, err := w.service.recall(t.Context(), app)
	w.must(err)
	if diff := cmp.Diff(texts, saidIn(m.turns)); diff != "" {
		t.Error(diff)
	}
}

// A memory has the latest turns, whole ones, behind what its note is about, in one call.
func TestWhatIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app, other := ada.project("", project.Private), ada.project("", project.Private)
	w.say(ada, other, "elsewhere", "there")
	var turns []turn
	for i := range 20 {
		turns = append(turns, w.say(ada, app, fmt.Sprint("q", i), fmt.Sprint("a", i)))
	}
	m, err := w.service.recall(t.Context(), app)
	w.must(err)
	if diff := cmp.Diff(saidIn(turns[4:]), saidIn(m.turns)); diff != "" {
		t.Errorf("of 20: %s", diff)
	}
	w.must(w.service.remember(t.Context(), app, m, "They spoke.", turns[15].answer.ID))
	turn, r := w.newTurn(ada, "is half", "")
	turn.answer.ID, _ = id.Message.Next(turn.answer.ID)
	w.must(w.service.finish(t.Context(), r, app, turn, usage{}))
	turns = append(turns, w.say(ada, app, "last", "at last"))
	ctx := db.CountCalls(t.Context())
	m, err = w.service.recall(ctx, app)
	w.must(err)
	if diff := cmp.Diff(saidIn(turns[16:]), saidIn(m.turns)); diff != "" || db.Calls(ctx) != 1 {
		t.Errorf("behind the note, in %d calls: %s", db.Calls(ctx), diff)
	}
	if m.summary != "They spoke." || m.upTo != turns[15].answer.ID {
		t.Errorf("%q up to %s", m.summary, m.upTo)
	}
	// One call is one call, however long the messages are.
	for range 4 {
		turns = append(turns, w.say(ada, app, noise(200_000), noise(200_000)))
	}
	ctx = db.CountCalls(t.Context())
	m, err = w.service.recall(ctx, app)
	w.must(err)
	if n := len(m.turns); n == 0 || db.Calls(ctx) != 1 || !slices.Equal(saidIn(turns[len(turns)-n:]), saidIn(m.turns)) {
		t.Errorf("%d long turns in %d calls", n, db.Calls(ctx))
	}
}

// Of notes that are made at once, the first counts; and none of what was cleared or of a project that is gone.
func TestNotesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app, gone := ada.project("", project.Private), ada.project("", project.Private)
	first, second := w.say(ada, app, "1", "one"), w.say(ada, app, "2", "two")
	before, err := w.service.recall(t.Context(), app)
	w.must(err)
	remember := func(before memory, note, upTo string) memory {
		t.Helper()
		ctx := db.CountCalls(t.Context())
		w.must(w.service.remember(ctx, app, before, note, upTo))
		m, err := w.service.recall(t.Context(), app)
		w.must(err)
		if db.Calls(ctx) != 1 {
			t.Errorf("remembered in %d calls", db.Calls(ctx))
		}
		return m
	}
	if m := remember(before, "A", first.answer.ID); m.summary != "A" || len(m.turns) != 1 {
		t.Errorf("%+v", m)
	}
	m := remember(before, "B", second.answer.ID)
	if m.summary != "A" {
		t.Errorf("a second note of the same: %+v", m)
	}
	w.must(w.service.clear(ada.as(t.Context()), app))
	if m := remember(before, "none", second.answer.ID); m.summary != "" {
		t.Errorf("the first note, of what was cleared: %+v", m)
	}
	if m := remember(m, "C", second.answer.ID); m.summary != "" || m.upTo != "" || len(m.turns) != 0 || m.clearedTo == "" {
		t.Errorf("a note of what was cleared: %+v", m)
	}
	third := w.say(ada, app, "3", "three")
	m, err = w.service.recall(t.Context(), app)
	w.must(err)
	if m := remember(m, "D", third.answer.ID); m.summary != "D" || len(m.turns) != 0 {
		t.Errorf("a note behind what was cleared: %+v", m)
	}
	w.remove(w.names.projects, db.TreeKey(gone))
	w.must(w.service.remember(t.Context(), gone, memory{}, "E", third.answer.ID))
	if item := w.dump(w.names.conversations)[db.SummaryKey(gone)]; item != nil {
		t.Errorf("of a project that is gone: %v", item)
	}
}

func TestAmendments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "1", "one")
	turn := w.say(ada, app, "2", "two")
	w.say(ada, app, "3", "three")
	for _, text := range []string{noise(1_000_000), "short", noise(500_000), ""} {
		turn.answer.Content = text
		w.must(w.service.amend(t.Context(), app, turn.answer))
		m, err := w.service.recall(t.Context(), app)
		w.must(err)
		if diff := cmp.Diff([]string{"1", "one", "2", text, "3", "three"}, saidIn(m.turns)); diff != "" {
			t.Errorf("%d characters: %s", len(text), diff)
		}
	}
	if n := len(w.storedParts(app)); n != 6 {
		t.Errorf("%d parts are left", n)
	}
	never, _ := w.newTurn(ada, "never", "stored")
	w.must(w.service.amend(t.Context(), app, never.answer))
	if n := len(w.storedParts(app)); n != 6 {
		t.Errorf("one that is not stored became %d parts", n)
	}
	w.remove(w.names.projects, db.TreeKey(app))
	turn.answer.Content = "too late"
	w.must(w.service.amend(t.Context(), app, turn.answer))
	m, err := w.service.recall(t.Context(), app)
	w.must(err)
	if m.turns[1].answer.Content != "" {
		t.Errorf("amended in a project that is gone")
	}
}
