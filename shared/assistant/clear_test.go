package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project"
)

func TestClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app, other := ada.project("", project.Private), ada.project("", project.Private)
	w.say(ada, other, "elsewhere", "there")
	for i := range 3 {
		w.say(ada, app, fmt.Sprint("q", i), fmt.Sprint("a", i))
	}
	m, err := w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	w.must(w.saveSummary(t.Context(), app, m, "They spoke.", m.Turns[0].Answer.ID))
	_, next, err := ada.page(app, httpapi.PageInput{Limit: 2})
	w.must(err)

	ctx := db.CountCalls(t.Context())
	w.must(ada.clear(ctx, w.service, app))
	if n := db.Calls(ctx); n != 6 { // the project 2, the last message, the write, the messages' keys, their deletion
		t.Errorf("cleared in %d calls", n)
	}
	if items := ada.listed(app, 50); len(items) != 0 || len(w.storedParts(app)) != 0 {
		t.Errorf("%d messages, %d parts", len(items), len(w.storedParts(app)))
	}
	items, _, err := ada.page(app, httpapi.PageInput{Limit: 2, Cursor: next})
	if err != nil || len(items) != 0 {
		t.Errorf("with an old cursor: %d messages, %v", len(items), err)
	}
	if m, err := w.service.conversations.Recall(t.Context(), app); err != nil || m.Summary != "" || m.SummaryUpTo != "" || len(m.Turns) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	w.say(ada, app, "again", "hello")
	w.must(ada.clear(t.Context(), w.service, other))
	w.must(ada.clear(t.Context(), w.service, other))
	if diff := cmp.Diff([]string{"again", "hello"}, said(ada.listed(app, 50))); diff != "" {
		t.Error(diff)
	}
}

// If a conversation is cleared or its project is deleted, the tokens of a turn in progress are counted, but the turn is
// not stored.
func TestTurnsInProgressAreNotStoredAfterClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.GlobalMonthlyTokens = 100_000 }))
	ada := w.user("ada")
	app, gone, both := ada.project("", project.Private), ada.project("", project.Private), ada.project("", project.Private)
	clear := func(projectID string) { w.must(ada.clear(t.Context(), w.service, projectID)) }
	remove := func(projectID string) { w.remove(w.names.projects, db.TreeKey(projectID)) }
	paid := 0
	for projectID, meanwhile := range map[string]func(string){app: clear, gone: remove, both: func(id string) { clear(id); remove(id) }} {
		late, r := w.newTurn(ada, "too", "late")
		meanwhile(projectID)
		want := fault.Code("")
		if projectID != app {
			want = fault.CodeProjectNotFound
		}
		for range 2 {
			if err := w.service.saveTurn(t.Context(), projectID, late, settlement(r, 70, 7)); slicetest.CodeOf(err) != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
		paid += 77
		if parts := w.storedParts(projectID); len(parts) != 0 {
			t.Errorf("%v were stored", parts)
		}
		for _, userID := range []string{ada.userID, ""} {
			if u := w.taken(userID, may); u.Taken != paid {
				t.Errorf("usage of %q: %+v, want %d", userID, u, paid)
			}
		}
	}
}

// Turns that end while a conversation is cleared are stored completely or not at all. A list has only complete turns.
func TestConcurrentClears(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 1_000_000 }))
	ada := w.user("ada")
	app := ada.project("", project.Private)
	const n = 24
	codes := slicetest.CountCodes(n, func(i int) error {
		switch i % 8 {
		case 6:
			return ada.clear(t.Context(), w.service, app)
		case 7:
			items, _, err := ada.page(app, httpapi.PageInput{})
			if len(items)%2 != 0 {
				return fmt.Errorf("half a turn of %d messages", len(items))
			}
			return err
		}
		long := noise(1 + 400_000*(i%2)) // in two parts
		late, r := w.newTurn(ada, fmt.Sprint("q", i), long)
		return w.service.saveTurn(t.Context(), app, late, settlement(r, 70, 7))
	})
	if diff := cmp.Diff(map[fault.Code]int{"": n}, codes); diff != "" {
		t.Fatal(diff)
	}
	items := ada.listed(app, 50)
	m, err := w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	if len(items)%2 != 0 || (len(items) > 0 && items[0].ID <= m.ClearedUpTo) {
		t.Errorf("%d messages", len(items))
	}
	if u := w.taken(ada.userID, may); u.Taken != n/8*6*77 {
		t.Errorf("%+v", u)
	}
	w.must(ada.clear(t.Context(), w.service, app))
	if parts := w.storedParts(app); len(parts) != 0 {
		t.Errorf("parts remain: %v", parts)
	}
}

// A list that is read while the conversation is cleared is empty, even if parts of messages are not deleted yet.
func TestListDuringClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "q", "a")
	direct := w.service
	wire := w.interpose(nil)
	wire.Before("GetItem", func() { // after the query
		if err := ada.clear(t.Context(), direct, app); err != nil {
			t.Error(err)
		}
	})
	if items := ada.listed(app, 50); len(items) != 0 {
		t.Errorf("%v", said(items))
	}
}

// afterTheWrite calls do between the write of a clear and the deletions. The query before the write finds the last
// message.
func afterTheWrite(wire *dynamotest.Wire, do func()) {
	wire.Before("Query", func() { wire.Before("Query", do) })
}

// A turn that begins after the write of a clear is stored, although the clear is still deleting messages.
func TestTurnDuringClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "q", "a")
	late, r := w.newTurn(ada, "too", "late")
	direct := w.service
	wire := w.interpose(nil)
	afterTheWrite(wire, func() {
		after, next := w.newTurn(ada, "new", "turn")
		if err := direct.saveTurn(t.Context(), app, after, settlement(next, 0, 0)); err != nil {
			t.Error(err)
		}
	})
	w.must(ada.clear(t.Context(), w.service, app))
	w.must(w.service.saveTurn(t.Context(), app, late, settlement(r, 0, 0)))
	if diff := cmp.Diff([]string{"new", "turn"}, said(ada.listed(app, 50))); diff != "" || len(w.storedParts(app)) != 2 {
		t.Errorf("%d parts: %s", len(w.storedParts(app)), diff)
	}
}

// Messages that a clear could not delete are not visible, and the next clear deletes them.
func TestInterruptedClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app := ada.project("", project.Private)
	for i := range 4 {
		w.say(ada, app, fmt.Sprint("q", i), fmt.Sprint("a", i))
	}
	wire := w.interpose(nil)
	for _, operation := range []string{"Query", "BatchWriteItem"} {
		wire.Before("Query", func() { wire.Break(operation, dynamotest.ServerError) }) // after the first query
		w.must(ada.clear(t.Context(), w.service, app))
		if n := len(w.storedParts(app)); wire.Hits() == 0 || n != 8 {
			t.Errorf("%s: %d parts remain", operation, n)
		}
	}
	wire.Mend()
	w.say(ada, app, "new", "and old")
	for _, limit := range []int{1, 3, 50} {
		if diff := cmp.Diff([]string{"new", "and old"}, said(ada.listed(app, limit))); diff != "" {
			t.Error(diff)
		}
	}
	m, err := w.service.conversations.Recall(t.Context(), app)
	w.must(err)
	if diff := cmp.Diff([]string{"new", "and old"}, saidIn(m.Turns)); diff != "" {
		t.Error(diff)
	}
	w.must(ada.clear(t.Context(), w.service, app))
	if parts := w.storedParts(app); len(parts) != 0 {
		t.Errorf("%v", parts)
	}
}

// If a clear runs out of time, the next clear deletes the remaining messages.
func TestLongClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app := ada.project("", project.Private)
	const sweepPage = 200 // the number of messages that are deleted between two checks of the time
	var writes []db.Write
	for range sweepPage/2 + 1 {
		questionID, answerID := conversation.NewTurnIDs(w.ids, "")
		more, err := w.service.conversations.TurnWrites(app, conversation.Turn{
			Question: conversation.Message{ID: questionID}, Answer: conversation.Message{ID: answerID},
		})
		w.must(err)
		writes = append(writes, more[1:]...) // without the check, which can be in a transaction only once
	}
	for some := range slices.Chunk(writes, 100) {
		w.must(w.client.Transact(t.Context(), some...))
	}
	wire := w.interpose(nil)
	wire.Before("BatchWriteItem", func() { w.clock.Advance(deleteTime) })
	w.must(ada.clear(t.Context(), w.service, app))
	if n := len(w.storedParts(app)); n != 2 || len(ada.listed(app, 50)) != 0 {
		t.Errorf("%d parts remain", n)
	}
	wire.Mend()
	w.must(ada.clear(t.Context(), w.service, app))
	if n := len(w.storedParts(app)); n != 0 {
		t.Errorf("%d parts remain after the next clear", n)
	}
}

// Faults between the service and DynamoDB never store anything twice or in part.
func TestConversationFaults(t *testing.T) {
	t.Parallel()
	for _, f := range []dynamotest.Fault{
		dynamotest.ServerError, dynamotest.Throttled, dynamotest.CutLine, dynamotest.LostReply, dynamotest.LostReplies, dynamotest.Conflict,
		dynamotest.Throttled.Times(2), dynamotest.CutLine.Times(2),
	} {
		t.Run(f.Name+fmt.Sprint(f.Calls), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.user("ada")
			app := ada.project("", project.Private)
			w.say(ada, app, "before", "hand")
			wire := w.interpose(nil)
			now, r := w.newTurn(ada, "q", noise(400_000))
			finish := func(ctx context.Context) error {
				return w.service.saveTurn(ctx, app, now, settlement(r, 70, 7))
			}
			checkFault(t, wire, f, finish, func() bool {
				n, u := len(w.storedParts(app)), w.taken(ada.userID, may)
				if whole := n == 5; (!whole && n != 2) || (u.Taken == 15+77) != whole {
					t.Errorf("%d parts, %+v", n, u)
				}
				return n == 5
			})
			m, err := w.service.conversations.Recall(t.Context(), app)
			w.must(err)
			note := func(ctx context.Context) error { return w.saveSummary(ctx, app, m, "note", now.Question.ID) }
			checkFault(t, wire, f, note, func() bool {
				m, err := w.service.conversations.Recall(context.WithoutCancel(t.Context()), app)
				w.must(err)
				return m.Summary == "note"
			})
			now.Answer.Content = "less"
			amend := func(ctx context.Context) error { return w.replace(ctx, app, now.Answer) }
			checkFault(t, wire, f, amend, func() bool {
				items := ada.listed(app, 50)
				if len(items) != 4 {
					t.Fatalf("%d messages", len(items))
				}
				return items[3].Content == now.Answer.Content
			})
			clear := func(ctx context.Context) error { return ada.clear(ctx, w.service, app) }
			checkFault(t, wire, f, clear, func() bool { return len(ada.listed(app, 50)) == 0 })
			if n := len(w.storedParts(app)); n != 0 {
				t.Errorf("%d parts remain", n)
			}
		})
	}
}

// checkFault calls do while a fault affects its transaction, and again without the fault. It checks that the first call
// has an effect if the fault permits it, and that the second call always has one.
func checkFault(t *testing.T, wire *dynamotest.Wire, f dynamotest.Fault, do func(context.Context) error, happened func() bool) {
	t.Helper()
	wire.Break("TransactWriteItems", f)
	err := do(t.Context())
	recovers := f.Calls > 0
	if recovers != (err == nil) || (err != nil && !errors.Is(err, db.ErrUnavailable)) || wire.Hits() == 0 {
		t.Fatalf("%v after %d hits", err, wire.Hits())
	}
	wire.Mend()
	if happened() != (recovers || f.Done) {
		t.Errorf("happened: %v, after %v", happened(), err)
	}
	if err := do(t.Context()); err != nil {
		t.Errorf("second call: %v", err)
	}
	if !happened() {
		t.Error("the second call had no effect")
	}
}
