package assistant

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// A turn is stored in one call and read without changes, including characters that JSON escapes.
func TestStoredTurnIsUnchanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	text, empty := "export {}\n", ""
	want, r := f.newTurn(ada, "Wie heißt das \x00 hier? 😀", "So: <b>\u2028</b> \"quoted\"\\")
	want.Answer.Status = conversation.Interrupted
	want.Answer.Code = text
	want.Answer.Actions = []action.Action{
		{Type: action.CreateFile, Path: "/a.ts", Content: &text},
		{Type: action.EditFile, Path: "/b.ts", Search: &text, Replace: &empty},
		{Type: action.AddDependency, Path: "/package.json", Packages: []string{"zod@^4"}},
	}
	ctx := db.CountCalls(t.Context())
	f.must(f.service.saveTurn(ctx, projectID, want, settlement(r, 12, 3)))
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("saveTurn made %d calls, want 1", n)
	}
	got := f.recallInOneCall(projectID)
	if diff := cmp.Diff(conversation.Memory{Turns: []conversation.Turn{want}, Last: want.Answer.ID}, got); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	if taken := f.usage(ada.id, monthMay).Taken; taken != 12+3 {
		t.Errorf("got %d tokens taken, want 12 input and 3 output tokens", taken)
	}
}

// If a model stops in the middle of a character, U+FFFD replaces the incomplete character.
func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.storeTurn(ada, projectID, "Hi", "caf\xc3")
	if diff := cmp.Diff([]string{"Hi", "caf\ufffd"}, ada.readAll(projectID, 50)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// Long messages are stored in several parts, and read without changes.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.storeTurn(ada, projectID, "first", randomText(500_000))
	last := f.storeTurn(ada, projectID, "second", randomText(1_000_000))
	f.checkPartCount(projectID, 1+2+1+3) // "first", 375 KB, "second" and 750 KB, in parts of at most 350 KiB
	for _, pageSize := range []int{1, 50} {
		if texts := ada.readAll(projectID, pageSize); len(texts) != 4 || texts[3] != last.Answer.Content {
			t.Errorf("page size %d: got %d messages, want 4 unchanged messages", pageSize, len(texts))
		}
	}
	// Recall makes one call, which returns at most 1 MB. This is less than all parts of both turns.
	if turns := f.recallInOneCall(projectID).Turns; len(turns) != 1 || turns[0].Answer.Content != last.Answer.Content {
		t.Errorf("got %d turns, want only the last turn", len(turns))
	}
}

// If an answer does not fit into 1 MiB, parts of it are removed: first the code, then the last actions, and finally the
// end of the content.
func TestTooLargeMessagesAreTruncated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	long := strings.Repeat("é", 300_000) // 600,000 bytes: one fits into 1 MiB, two do not
	twoActions := []action.Action{
		{Type: action.CreateFile, Path: "/a", Content: &long},
		{Type: action.CreateFile, Path: "/b", Content: &long},
	}
	oneAction := twoActions[:1]
	for name, tc := range map[string]struct{ answer, stored conversation.Message }{
		"code that is also in an action": {
			answer: conversation.Message{Content: "x", Code: long, Actions: oneAction},
			stored: conversation.Message{Content: "x", Actions: oneAction},
		},
		"too many actions": {
			answer: conversation.Message{Content: "x", Code: long, Actions: twoActions},
			stored: conversation.Message{Content: "x", Actions: oneAction},
		},
		"too much text": {
			answer: conversation.Message{Content: long + long, Actions: twoActions},
			stored: conversation.Message{Content: long},
		},
	} {
		turn, r := f.newTurn(ada, name, tc.answer.Content)
		turn.Answer.Code, turn.Answer.Actions = tc.answer.Code, tc.answer.Actions
		f.must(f.service.saveTurn(t.Context(), projectID, turn, settlement(r, 0, 0)))
		turns := f.recall(projectID).Turns
		latest := turns[len(turns)-1]
		if latest.Question.Content != name {
			t.Fatalf("%s: got the latest question %q, want %q", name, latest.Question.Content, name)
		}
		got := conversation.Message{
			Content: latest.Answer.Content, Code: latest.Answer.Code, Actions: latest.Answer.Actions,
		}
		if !cmp.Equal(tc.stored, got) {
			t.Errorf("%s: got %d bytes of content, %d bytes of code and %d actions, want %d, %d and %d", name,
				len(got.Content), len(got.Code), len(got.Actions),
				len(tc.stored.Content), len(tc.stored.Code), len(tc.stored.Actions))
		}
	}
}

// Turns that are stored concurrently are all kept, and each answer follows its question.
func TestConcurrentTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.InProgress = 100 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	codes := slicetest.CountCodes(16, func(i int) error {
		turn, r := f.newTurn(ada, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
		return f.service.saveTurn(t.Context(), projectID, turn, settlement(r, 12, 3))
	})
	if diff := cmp.Diff(map[fault.Code]int{"": 16}, codes); diff != "" {
		t.Fatalf("error codes (-want +got):\n%s", diff)
	}
	texts := ada.readAll(projectID, 5)
	if len(texts) != 32 {
		t.Fatalf("got %d messages, want 32", len(texts))
	}
	for i := 0; i < len(texts); i += 2 {
		if _, number, _ := strings.Cut(texts[i], " "); texts[i+1] != "answer "+number {
			t.Errorf("got %q after %q, want %q", texts[i+1], texts[i], "answer "+number)
		}
	}
	if diff := cmp.Diff(texts, textsOf(f.recall(projectID).Turns)); diff != "" {
		t.Errorf("recalled turns (-want +got):\n%s", diff)
	}
}

// Recall reads the latest complete turns after the summary in one call: at most 16 turns, and at most 1 MB.
func TestRecall(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := f.newUser("ada")
	projectID, otherID := ada.newProject(), ada.newProject()
	f.storeTurn(ada, otherID, "other question", "other answer")
	var turns []conversation.Turn
	for i := range 20 {
		turns = append(turns, f.storeTurn(ada, projectID, fmt.Sprint("question ", i), fmt.Sprint("answer ", i)))
	}
	memory := f.recall(projectID)
	if diff := cmp.Diff(textsOf(turns[4:]), textsOf(memory.Turns)); diff != "" {
		t.Errorf("the latest 16 of 20 turns (-want +got):\n%s", diff)
	}

	f.must(f.saveSummary(t.Context(), projectID, memory, "Summary.", turns[15].Answer.ID))
	incomplete, r := f.newTurn(ada, "question without an answer", "")
	// An answer has the ID that follows its question's ID. With another ID, it does not belong to the question.
	incomplete.Answer.ID, _ = id.Message.Next(incomplete.Answer.ID)
	f.must(f.service.saveTurn(t.Context(), projectID, incomplete, settlement(r, 0, 0)))
	turns = append(turns, f.storeTurn(ada, projectID, "last question", "last answer"))
	memory = f.recallInOneCall(projectID)
	if diff := cmp.Diff(textsOf(turns[16:]), textsOf(memory.Turns)); diff != "" {
		t.Errorf("turns after the summary (-want +got):\n%s", diff)
	}
	if memory.Summary != "Summary." || memory.SummaryUpTo != turns[15].Answer.ID {
		t.Errorf("got summary %q up to %s, want %q up to %s",
			memory.Summary, memory.SummaryUpTo, "Summary.", turns[15].Answer.ID)
	}

	for range 4 { // 300 KB each, so one call does not return all of them
		turns = append(turns, f.storeTurn(ada, projectID, randomText(200_000), randomText(200_000)))
	}
	longTurns := f.recallInOneCall(projectID).Turns
	if n := len(longTurns); n == 0 || !slices.Equal(textsOf(turns[len(turns)-n:]), textsOf(longTurns)) {
		t.Errorf("long turns: got %d turns, want at least one, and only the latest turns", n)
	}
}

// If two summaries are based on the same memory, only the first is stored. A summary of a conversation that was cleared
// in the meantime, or of a deleted project, is not stored.
func TestConcurrentSummaries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID, deletedID := ada.newProject(), ada.newProject()
	first := f.storeTurn(ada, projectID, "1", "one")
	second := f.storeTurn(ada, projectID, "2", "two")
	before := f.recall(projectID)
	save := func(before conversation.Memory, summary, upTo string) conversation.Memory {
		t.Helper()
		ctx := db.CountCalls(t.Context())
		f.must(f.saveSummary(ctx, projectID, before, summary, upTo))
		if n := db.Calls(ctx); n != 1 {
			t.Errorf("SaveSummary made %d calls, want 1", n)
		}
		return f.recall(projectID)
	}
	if m := save(before, "A", first.Answer.ID); m.Summary != "A" || len(m.Turns) != 1 {
		t.Errorf("first summary: got %+v, want the summary A and one turn", m)
	}
	afterFirst := save(before, "B", second.Answer.ID)
	if afterFirst.Summary != "A" {
		t.Errorf("second summary based on the same memory: got %+v, want the summary A", afterFirst)
	}

	f.must(ada.clear(t.Context(), f.service, projectID))
	if m := save(before, "C", second.Answer.ID); m.Summary != "" {
		t.Errorf("summary based on the memory before the first summary and the clear: got %+v, want no summary", m)
	}
	m := save(afterFirst, "D", second.Answer.ID)
	if m.Summary != "" || m.SummaryUpTo != "" || len(m.Turns) != 0 || m.ClearedUpTo == "" {
		t.Errorf("summary based on the memory before the clear: got %+v, want a cleared conversation", m)
	}
	third := f.storeTurn(ada, projectID, "3", "three")
	if m := save(f.recall(projectID), "E", third.Answer.ID); m.Summary != "E" || len(m.Turns) != 0 {
		t.Errorf("summary after the clear: got %+v, want the summary E and no turns", m)
	}

	f.deleteProject(deletedID)
	f.must(f.saveSummary(t.Context(), deletedID, conversation.Memory{}, "F", third.Answer.ID))
	if item := f.items(f.tables.conversations)[db.SummaryKey(deletedID)]; item != nil {
		t.Errorf("deleted project: got the stored summary %v, want none", item)
	}
}

// Replace replaces the content of a stored message. It changes nothing if the message or the project does not exist.
func TestReplace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.storeTurn(ada, projectID, "1", "one")
	turn := f.storeTurn(ada, projectID, "2", "two")
	f.storeTurn(ada, projectID, "3", "three")
	for _, text := range []string{randomText(1_000_000), "short", randomText(500_000), ""} {
		turn.Answer.Content = text
		f.must(f.replace(t.Context(), projectID, turn.Answer))
		want := []string{"1", "one", "2", text, "3", "three"}
		if diff := cmp.Diff(want, textsOf(f.recall(projectID).Turns)); diff != "" {
			t.Errorf("replacement of %d bytes (-want +got):\n%s", len(text), diff)
		}
	}
	f.checkPartCount(projectID, 6)

	notStored, _ := f.newTurn(ada, "4", "four")
	f.must(f.replace(t.Context(), projectID, notStored.Answer))
	f.checkPartCount(projectID, 6)

	f.deleteProject(projectID)
	turn.Answer.Content = "replaced after the deletion"
	f.must(f.replace(t.Context(), projectID, turn.Answer))
	if got := f.recall(projectID).Turns[1].Answer.Content; got != "" {
		t.Errorf("a message of a deleted project was replaced: got %q, want the empty content", got)
	}
}
