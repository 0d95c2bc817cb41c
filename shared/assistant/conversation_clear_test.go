package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project"
)

func TestAClearedConversationIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app, other := ada.project("", project.Private), ada.project("", project.Private)
	w.say(ada, other, "elsewhere", "there")
	for i := range 3 {
		w.say(ada, app, fmt.Sprint("q", i), fmt.Sprint("a", i))
	}
	m, err := w.service.recall(t.Context(), app)
	w.must(err)
	w.must(w.service.remember(t.Context(), app, m, "They spoke.", m.turns[0].answer.ID))
	_, next, err := w.service.conversation(ada.as(t.Context()), app, httpapi.PageInput{Limit: 2})
	w.must(err)

	ctx := db.CountCalls(ada.as(t.Context()))
	w.must(w.service.clear(ctx, app))
	if n := db.Calls(ctx); n != 6 { // the project 2, the last message, the write, the messages' keys, their deletion
		t.Errorf("cleared in %d calls", n)
	}
	if items := ada.listed(app, 50); len(items) != 0 || len(w.storedParts(app)) != 0 {
		t.Errorf("%d messages, %d parts", len(items), len(w.storedParts(app)))
	}
	items, _, err := w.service.conversation(ada.as(t.Context()), app, httpapi.PageInput{Limit: 2, Cursor: next})
	if err != nil || len(items) != 0 {
		t.Errorf("behind an old cursor: %d, %v", len(items), err)
	}
	if m, err := w.service.recall(t.Context(), app); err != nil || m.summary != "" || m.upTo != "" || len(m.turns) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	w.say(ada, app, "again", "hello")
	w.must(w.service.clear(ada.as(t.Context()), other))
	w.must(w.service.clear(ada.as(t.Context()), other))
	if diff := cmp.Diff([]string{"again", "hello"}, said(ada.listed(app, 50))); diff != "" {
		t.Error(diff)
	}
}

// A turn that is in flight while its conversation is cleared is paid for and not kept; neither is one whose project is deleted.
func TestTurnsThatComeTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.GlobalMonthlyTokens = 100_000 }))
	ada := w.user("ada")
	app, gone, both := ada.project("", project.Private), ada.project("", project.Private), ada.project("", project.Private)
	clear := func(projectID string) { w.must(w.service.clear(ada.as(t.Context()), projectID)) }
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
			if err := w.service.finish(t.Context(), r, projectID, late, usage{InputTokens: 70, OutputTokens: 7}); codeOf(err) != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
		paid += 77
		if parts := w.storedParts(projectID); len(parts) != 0 {
			t.Errorf("%v were stored", parts)
		}
		for _, who := range []string{ada.userID, ""} {
			if u := w.taken(who, may); u.Taken != paid {
				t.Errorf("%q took %+v, want %d", who, u, paid)
			}
		}
	}
}

// Turns that end while a conversation is cleared are kept or not, whole; what is listed meanwhile is whole, too.
func TestClearingAmongTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 1_000_000 }))
	ada := w.user("ada")
	app := ada.project("", project.Private)
	const n = 24
	codes := outcomes(n, func(i int) error {
		switch i % 8 {
		case 6:
			return w.service.clear(ada.as(t.Context()), app)
		case 7:
			items, _, err := w.service.conversation(ada.as(t.Context()), app, httpapi.PageInput{})
			if len(items)%2 != 0 {
				return fmt.Errorf("half a turn of %d messages", len(items))
			}
			return err
		}
		long := noise(1 + 400_000*(i%2)) // in two parts
		late, r := w.newTurn(ada, fmt.Sprint("q", i), long)
		return w.service.finish(t.Context(), r, app, late, usage{InputTokens: 70, OutputTokens: 7})
	})
	if diff := cmp.Diff(map[fault.Code]int{"": n}, codes); diff != "" {
		t.Fatal(diff)
	}
	items := ada.listed(app, 50)
	m, err := w.service.recall(t.Context(), app)
	w.must(err)
	if len(items)%2 != 0 || (len(items) > 0 && items[0].ID <= m.clearedTo) {
		t.Errorf("%d messages", len(items))
	}
	if u := w.taken(ada.userID, may); u.Taken != n/8*6*77 {
		t.Errorf("%+v", u)
	}
	w.must(w.service.clear(ada.as(t.Context()), app))
	if parts := w.storedParts(app); len(parts) != 0 {
		t.Errorf("%v are left", parts)
	}
}

// A list that is read while the conversation is cleared shows nothing of it, though parts of it are there still.
func TestAListThatMeetsAClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "q", "a")
	direct := w.service
	wire := w.interpose(nil)
	wire.Before("GetItem", func() { // behind the query
		if err := direct.clear(ada.as(t.Context()), app); err != nil {
			t.Error(err)
		}
	})
	if items := ada.listed(app, 50); len(items) != 0 {
		t.Errorf("%v", said(items))
	}
}

// behindTheWrite runs something between the write of a clear and the deletions. The query in front of the write looks for the last message.
func behindTheWrite(wire *dynamotest.Wire, do func()) {
	wire.Before("Query", func() { wire.Before("Query", do) })
}

// What is said after a clear stays, though the clear goes on deleting.
func TestAClearThatMeetsATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	w.say(ada, app, "q", "a")
	late, r := w.newTurn(ada, "too", "late")
	direct := w.service
	wire := w.interpose(nil)
	behindTheWrite(wire, func() {
		after, next := w.newTurn(ada, "new", "turn")
		if err := direct.finish(t.Context(), next, app, after, usage{}); err != nil {
			t.Error(err)
		}
	})
	w.must(w.service.clear(ada.as(t.Context()), app))
	w.must(w.service.finish(t.Context(), r, app, late, usage{}))
	if diff := cmp.Diff([]string{"new", "turn"}, said(ada.listed(app, 50))); diff != "" || len(w.storedParts(app)) != 2 {
		t.Errorf("%d parts: %s", len(w.storedParts(app)), diff)
	}
}

// What a clear could not delete is not seen any more, and deleted by the next.
func TestAClearThatIsInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app := ada.project("", project.Private)
	for i := range 4 {
		w.say(ada, app, fmt.Sprint("q", i), fmt.Sprint("a", i))
	}
	wire := w.interpose(nil)
	for _, operation := range []string{"Query", "BatchWriteItem"} {
		wire.Before("Query", func() { wire.Break(operation, dynamotest.ServerError) }) // behind the first one
		w.must(w.service.clear(ada.as(t.Context()), app))
		if n := len(w.storedParts(app)); wire.Hits() == 0 || n != 8 {
			t.Errorf("%s: %d parts are left", operation, n)
		}
	}
	wire.Mend()
	w.say(ada, app, "new", "and old")
	for _, limit := range []int{1, 3, 50} {
		if diff := cmp.Diff([]string{"new", "and old"}, said(ada.listed(app, limit))); diff != "" {
			t.Error(diff)
		}
	}
	m, err := w.service.recall(t.Context(), app)
	w.must(err)
	if diff := cmp.Diff([]string{"new", "and old"}, saidIn(m.turns)); diff != "" {
		t.Error(diff)
	}
	w.must(w.service.clear(ada.as(t.Context()), app))
	if parts := w.storedParts(app); len(parts) != 0 {
		t.Errorf("%v", parts)
	}
}

// A clear has so much time, and does first what nobody sees undone.
func TestAClearThatTakesLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	app := ada.project("", project.Private)
	var writes []db.Write
	for range sweepPage/2 + 1 {
		questionID, answerID := w.service.newTurn("")
		more, err := w.service.store.turnWrites(app, turn{message{ID: questionID}, message{ID: answerID}})
		w.must(err)
		writes = append(writes, more...)
	}
	for some := range slices.Chunk(writes, 100) {
		w.must(w.client.Transact(t.Context(), some...))
	}
	wire := w.interpose(nil)
	wire.Before("BatchWriteItem", func() { w.clock.Advance(sweepTime) })
	w.must(w.service.clear(ada.as(t.Context()), app))
	if n := len(w.storedParts(app)); n != 2 || len(ada.listed(app, 50)) != 0 {
		t.Errorf("%d parts are left", n)
	}
	wire.Mend()
	w.must(w.service.clear(ada.as(t.Context()), app))
	if n := len(w.storedParts(app)); n != 0 {
		t.Errorf("%d parts are left by the next", n)
	}
}

// Nothing is stored twice and nothing half, whatever happens on the way to DynamoDB.
func TestFaultsOfConversations(t *testing.T) {
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
				return w.service.finish(ctx, r, app, now, usage{InputTokens: 70, OutputTokens: 7})
			}
			checkFault(t, wire, f, finish, func() bool {
				n, u := len(w.storedParts(app)), w.taken(ada.userID, may)
				if whole := n == 5; (!whole && n != 2) || (u.Taken == 15+77) != whole {
					t.Errorf("%d parts, %+v", n, u)
				}
				return n == 5
			})
			m, err := w.service.recall(t.Context(), app)
			w.must(err)
			note := func(ctx context.Context) error { return w.service.remember(ctx, app, m, "note", now.question.ID) }
			checkFault(t, wire, f, note, func() bool {
				m, err := w.service.recall(context.WithoutCancel(t.Context()), app)
				w.must(err)
				return m.summary == "note"
			})
			now.answer.Content = "less"
			amend := func(ctx context.Context) error { return w.service.amend(ctx, app, now.answer) }
			checkFault(t, wire, f, amend, func() bool {
				items := ada.listed(app, 50)
				if len(items) != 4 {
					t.Fatalf("%d messages", len(items))
				}
				return items[3].Content == now.answer.Content
			})
			clear := func(ctx context.Context) error { return w.service.clear(ada.as(ctx), app) }
			checkFault(t, wire, f, clear, func() bool { return len(ada.listed(app, 50)) == 0 })
			if n := len(w.storedParts(app)); n != 0 {
				t.Errorf("%d parts are left", n)
			}
		})
	}
}

// checkFault does something while a fault happens to its transaction, and once more without. It has happened or not, as the fault says,
// and in the end it has.
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
		t.Errorf("it is %v that it happened, after %v", happened(), err)
	}
	if err := do(t.Context()); err != nil {
		t.Errorf("once more: %v", err)
	}
	if !happened() {
		t.Error("it has not happened in the end")
	}
}
