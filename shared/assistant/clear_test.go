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
)

func TestClear(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := f.newUser("ada")
	projectID, otherID := ada.newProject(), ada.newProject()
	f.storeTurn(ada, otherID, "other question", "other answer")
	for i := range 3 {
		f.storeTurn(ada, projectID, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
	}
	before := f.recall(projectID)
	f.must(f.saveSummary(t.Context(), projectID, before, "Summary.", before.Turns[0].Answer.ID))
	_, oldCursor, err := ada.readPage(projectID, httpapi.PageInput{Limit: 2})
	f.must(err)

	ctx := db.CountCalls(t.Context())
	f.must(ada.clear(ctx, f.service, projectID))
	// Two calls read the project. The other four read the last message, write the clear, read the keys of the messages,
	// and delete the messages.
	if n := db.Calls(ctx); n != 6 {
		t.Errorf("Clear made %d calls, want 6", n)
	}
	if texts := ada.readAll(projectID, 50); len(texts) != 0 {
		t.Errorf("got messages %v, want none", texts)
	}
	f.checkPartCount(projectID, 0)
	items, _, err := ada.readPage(projectID, httpapi.PageInput{Limit: 2, Cursor: oldCursor})
	if err != nil || len(items) != 0 {
		t.Errorf("page at an old cursor: got %d messages and error %v, want none", len(items), err)
	}
	if m := f.recall(projectID); m.Summary != "" || m.SummaryUpTo != "" || len(m.Turns) != 0 {
		t.Errorf("got memory %+v, want neither a summary nor turns", m)
	}

	f.storeTurn(ada, projectID, "new question", "new answer")
	f.must(ada.clear(t.Context(), f.service, otherID))
	f.must(ada.clear(t.Context(), f.service, otherID))
	if diff := cmp.Diff([]string{"new question", "new answer"}, ada.readAll(projectID, 50)); diff != "" {
		t.Errorf("messages after another project's clear (-want +got):\n%s", diff)
	}
}

// If a conversation is cleared or its project is deleted, the tokens of a turn in progress are counted, but the turn is
// not stored.
func TestTurnsInProgressAreNotStoredAfterClear(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.GlobalMonthlyTokens = 100_000 }))
	ada := f.newUser("ada")
	wantTaken := 0
	for _, tc := range []struct {
		name           string
		clear, deleted bool
		wantCode       fault.Code
	}{
		{name: "cleared conversation", clear: true},
		{name: "deleted project", deleted: true, wantCode: fault.CodeProjectNotFound},
		{name: "cleared conversation of a deleted project", clear: true, deleted: true, wantCode: fault.CodeProjectNotFound},
	} {
		projectID := ada.newProject()
		turn, r := f.newTurn(ada, "question", "answer")
		if tc.clear {
			f.must(ada.clear(t.Context(), f.service, projectID))
		}
		if tc.deleted {
			f.deleteProject(projectID)
		}
		for range 2 {
			err := f.service.saveTurn(t.Context(), projectID, turn, settlement(r, 70, 7))
			if slicetest.CodeOf(err) != tc.wantCode {
				t.Errorf("%s: got error %v, want code %q", tc.name, err, tc.wantCode)
			}
		}
		wantTaken += 77
		f.checkPartCount(projectID, 0)
		for _, userID := range []string{ada.id, ""} {
			if got := f.usage(userID, monthMay).Taken; got != wantTaken {
				t.Errorf("%s: got %d tokens taken by %q, want %d", tc.name, got, userID, wantTaken)
			}
		}
	}
}

// A turn that ends while its conversation is cleared is stored completely or not at all. Lists contain only complete
// turns.
func TestConcurrentClears(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.InProgress = 1000, 100 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	const calls = 24 // of every eight calls, six store a turn, one clears the conversation, and one reads it
	codes := slicetest.CountCodes(calls, func(i int) error {
		switch i % 8 {
		case 6:
			return ada.clear(t.Context(), f.service, projectID)
		case 7:
			items, _, err := ada.readPage(projectID, httpapi.PageInput{})
			if len(items)%2 != 0 {
				return fmt.Errorf("got %d messages, want an even number", len(items))
			}
			return err
		}
		answer := randomText(1 + 400_000*(i%2)) // every second answer has two parts
		turn, r := f.newTurn(ada, fmt.Sprint("question ", i), answer)
		return f.service.saveTurn(t.Context(), projectID, turn, settlement(r, 70, 7))
	})
	if diff := cmp.Diff(map[fault.Code]int{"": calls}, codes); diff != "" {
		t.Fatalf("error codes (-want +got):\n%s", diff)
	}
	items, _, err := ada.readPage(projectID, httpapi.PageInput{Limit: 50})
	f.must(err)
	if len(items)%2 != 0 {
		t.Errorf("got %d messages, want an even number", len(items))
	}
	if clearedUpTo := f.recall(projectID).ClearedUpTo; len(items) > 0 && items[0].ID <= clearedUpTo {
		t.Errorf("got message %s, but all messages up to %s were cleared", items[0].ID, clearedUpTo)
	}
	if got, want := f.usage(ada.id, monthMay).Taken, calls/8*6*77; got != want {
		t.Errorf("got %d tokens taken, want %d", got, want)
	}
	f.must(ada.clear(t.Context(), f.service, projectID))
	f.checkPartCount(projectID, 0)
}

// A list that is read while the conversation is cleared is empty, even if some parts of messages are not deleted yet.
func TestListDuringClear(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.storeTurn(ada, projectID, "question", "answer")
	direct := f.service // is not affected by the wire
	wire := f.startWire()
	wire.Before("GetItem", func() { // the messages were already read, but not yet ClearedUpTo
		if err := ada.clear(t.Context(), direct, projectID); err != nil {
			t.Error(err)
		}
	})
	if texts := ada.readAll(projectID, 50); len(texts) != 0 {
		t.Errorf("got messages %v, want none", texts)
	}
}

// A clear first writes ClearedUpTo, which hides the messages, and then deletes them. A turn that begins after this
// write is stored, even if the clear is still deleting messages.
func TestTurnDuringClear(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.InProgress = 2 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.storeTurn(ada, projectID, "stored question", "stored answer")
	early, earlyReservation := f.newTurn(ada, "early question", "early answer")
	direct := f.service // is not affected by the wire
	wire := f.startWire()
	storeLateTurn := func() {
		late, r := f.newTurn(ada, "late question", "late answer")
		if err := direct.saveTurn(t.Context(), projectID, late, settlement(r, 0, 0)); err != nil {
			t.Error(err)
		}
	}
	// The first query finds the last message. The second query, after the write, finds the messages to delete.
	wire.Before("Query", func() { wire.Before("Query", storeLateTurn) })
	f.must(ada.clear(t.Context(), f.service, projectID))
	f.must(f.service.saveTurn(t.Context(), projectID, early, settlement(earlyReservation, 0, 0)))
	if diff := cmp.Diff([]string{"late question", "late answer"}, ada.readAll(projectID, 50)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	f.checkPartCount(projectID, 2)
}

// If a clear fails to delete messages, they are hidden nevertheless, and the next clear deletes them.
func TestInterruptedClear(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	for i := range 4 {
		f.storeTurn(ada, projectID, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
	}
	wire := f.startWire()
	for _, operation := range []string{"Query", "BatchWriteItem"} {
		wire.Before("Query", func() { wire.Break(operation, dynamotest.ServerError) }) // after the first query
		f.must(ada.clear(t.Context(), f.service, projectID))
		if wire.Hits() == 0 {
			t.Errorf("%s did not fail", operation)
		}
		f.checkPartCount(projectID, 8)
	}
	wire.Clear()
	f.storeTurn(ada, projectID, "new question", "new answer")
	want := []string{"new question", "new answer"}
	for _, pageSize := range []int{1, 3, 50} {
		if diff := cmp.Diff(want, ada.readAll(projectID, pageSize)); diff != "" {
			t.Errorf("messages in pages of %d (-want +got):\n%s", pageSize, diff)
		}
	}
	if diff := cmp.Diff(want, textsOf(f.recall(projectID).Turns)); diff != "" {
		t.Errorf("recalled turns (-want +got):\n%s", diff)
	}
	f.must(ada.clear(t.Context(), f.service, projectID))
	f.checkPartCount(projectID, 0)
}

// If a clear runs out of time, the next clear deletes the remaining messages.
func TestLongClear(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	const deletePageSize = 200 // the number of items that are deleted between two checks of the time
	var writes []db.Write
	for range deletePageSize/2 + 1 {
		questionID, answerID := conversation.NewTurnIDs(f.ids, "")
		turnWrites, err := f.service.conversations.TurnWrites(projectID, conversation.Turn{
			Question: conversation.Message{ID: questionID}, Answer: conversation.Message{ID: answerID},
		})
		f.must(err)
		writes = append(writes, turnWrites[1:]...) // without the condition check: a transaction can contain it only once
	}
	for chunk := range slices.Chunk(writes, 100) {
		f.must(f.client.Tx(chunk...).Commit(t.Context()))
	}
	wire := f.startWire()
	wire.Before("BatchWriteItem", func() { f.clock.Advance(deleteTime) })
	f.must(ada.clear(t.Context(), f.service, projectID))
	f.checkPartCount(projectID, 2)
	if texts := ada.readAll(projectID, 50); len(texts) != 0 {
		t.Errorf("got %d messages, want none", len(texts))
	}
	wire.Clear()
	f.must(ada.clear(t.Context(), f.service, projectID))
	f.checkPartCount(projectID, 0)
}

// If calls to DynamoDB fail, nothing is stored twice or only in part.
func TestConversationFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range []dynamotest.Fault{
		dynamotest.ServerError,
		dynamotest.Throttled,
		dynamotest.DroppedConnection,
		dynamotest.LostReply,
		dynamotest.LostReplies,
		dynamotest.Conflict,
		dynamotest.Throttled.Times(2),
		dynamotest.DroppedConnection.Times(2),
	} {
		t.Run(injected.Name+fmt.Sprint(injected.Calls), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			projectID := ada.newProject()
			f.storeTurn(ada, projectID, "first question", "first answer")
			wire := f.startWire()
			turn, r := f.newTurn(ada, "second question", randomText(400_000))
			saveTurn := func(ctx context.Context) error {
				return f.service.saveTurn(ctx, projectID, turn, settlement(r, 70, 7))
			}
			checkFault(t, wire, injected, saveTurn, func() bool {
				parts, taken := len(f.storedParts(projectID)), f.usage(ada.id, monthMay).Taken
				// The first turn has 2 parts and took 15 tokens. The second turn has 3 parts and takes 77 tokens.
				isStored, isSettled := parts == 2+3, taken == 15+77
				if isStored != isSettled || (!isStored && parts != 2) {
					t.Errorf("the turn was stored in part: got %d message parts and %d tokens taken", parts, taken)
				}
				return isStored
			})
			before := f.recall(projectID)
			saveSummary := func(ctx context.Context) error {
				return f.saveSummary(ctx, projectID, before, "Summary.", turn.Question.ID)
			}
			checkFault(t, wire, injected, saveSummary, func() bool { return f.recall(projectID).Summary == "Summary." })
			turn.Answer.Content = "replaced answer"
			replace := func(ctx context.Context) error { return f.replace(ctx, projectID, turn.Answer) }
			checkFault(t, wire, injected, replace, func() bool {
				texts := ada.readAll(projectID, 50)
				if len(texts) != 4 {
					t.Fatalf("got %d messages, want 4", len(texts))
				}
				return texts[3] == turn.Answer.Content
			})
			clear := func(ctx context.Context) error { return ada.clear(ctx, f.service, projectID) }
			checkFault(t, wire, injected, clear, func() bool { return len(ada.readAll(projectID, 50)) == 0 })
			f.checkPartCount(projectID, 0)
		})
	}
}

// checkFault calls the function write twice: first with a fault in its transaction, then without the fault. It checks
// that the first call takes effect exactly if the fault is temporary or if only the response is lost, and that the
// second call always takes effect.
func checkFault(
	t *testing.T, wire *dynamotest.Wire, injected dynamotest.Fault,
	write func(context.Context) error, tookEffect func() bool,
) {
	t.Helper()
	wire.Break("TransactWriteItems", injected)
	err := write(t.Context())
	isTemporary := injected.Calls > 0
	if isTemporary != (err == nil) || (err != nil && !errors.Is(err, db.ErrUnavailable)) || wire.Hits() == 0 {
		t.Fatalf("first call: got error %v after %d faults, want success: %v", err, wire.Hits(), isTemporary)
	}
	wire.Clear()
	if got, want := tookEffect(), isTemporary || injected.Executed; got != want {
		t.Errorf("the first call took effect: got %v, want %v; its error is %v", got, want, err)
	}
	if err := write(t.Context()); err != nil {
		t.Errorf("second call: got error %v, want none", err)
	}
	if !tookEffect() {
		t.Error("the second call did not take effect")
	}
}
