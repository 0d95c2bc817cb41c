package quota

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// inProgress returns the number of a user's generations that are stored as in progress.
func (f *fixture) inProgress(userID string) int {
	f.t.Helper()
	item := slicetest.Dump(f.t, f.sdk, f.table)[db.OperationsKey("ai", userID)]
	entries, _ := item["entries"].(*types.AttributeValueMemberSS)
	if entries == nil {
		return 0
	}
	return len(entries.Value)
}

// A user can have a limited number of generations in progress. A rejected call changes nothing. The end of a
// generation makes room for one other.
func TestGenerationsInProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.InProgress, l.GlobalMonthlyTokens = 3, 50_000 })
	ada, grace := f.newUserID(), f.newUserID()
	reservations := make([]Reservation, 15)
	for i := range reservations {
		reservations[i] = f.newReservation(ada, 100)
	}
	codes := slicetest.CountCodes(len(reservations), func(i int) error { return f.reserve(reservations[i]) })
	if diff := cmp.Diff(map[fault.Code]int{"": 3, fault.CodeRateLimited: 12}, codes); diff != "" {
		t.Fatalf("error codes (-want +got):\n%s", diff)
	}
	f.checkUsage(ada, may, Usage{Taken: 300, Calls: 3})
	f.checkUsage("", may, Usage{Taken: 300, Calls: 3})
	f.clock.Advance(time.Second)
	refuse := func() {
		t.Helper()
		err := f.reserve(f.newReservation(ada, 100))
		if retryAfter(err) != "159" || // one second of the Lease has passed
			!strings.Contains(err.Error(), "answers in progress (3)") {
			t.Fatalf("got error %v with Retry-After %q, want one about 3 answers in progress with 159", err, retryAfter(err))
		}
	}
	refuse()
	f.must(f.reserve(f.newReservation(grace, 100)))

	var begun []Reservation
	for _, r := range reservations {
		if _, ok := f.reserved.Load(r.MessageID); ok {
			begun = append(begun, r)
		}
	}
	ctx := db.CountCalls(t.Context())
	f.must(f.settleContext(ctx, begun[0], 10, 1))
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("Settle made %d calls, want 1", n)
	}
	f.must(f.settle(begun[0], 10, 1)) // has no effect
	ctx = db.CountCalls(t.Context())
	f.must(f.reserveContext(ctx, f.newReservation(ada, 100)))
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("Reserve made %d calls, want 1", n)
	}
	refuse()
	f.checkUsage(ada, may, Usage{Input: 10, Output: 1, Taken: 311, Calls: 4})

	// A settlement that fails does not end the generation.
	f.must(f.ledger.Cancel(t.Context(), ada, begun[1].MessageID))
	reserved, _ := f.reserved.Load(begun[1].MessageID)
	settlement := Settlement{Reservation: reserved.(Reservation), UnlessCancelled: true}
	if err := f.ledger.Settle(t.Context(), settlement); !errors.Is(err, ErrCancelled) {
		t.Errorf("got error %v, want ErrCancelled", err)
	}
	refuse()
	settlement.UnlessCancelled = false
	f.must(f.ledger.Settle(t.Context(), settlement))
	if n := f.inProgress(ada); n != 2 {
		t.Errorf("got %d generations in progress, want 2", n)
	}
}

// If functions crash, their generations no longer count after their leases have expired.
func TestCrashedGenerationsMakeRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.InProgress = 2 })
	ada := f.newUserID()
	crashed := f.newReservation(ada, 100)
	f.must(f.reserve(crashed))
	f.must(f.reserve(f.newReservation(ada, 100)))
	f.clock.Advance(Lease - time.Millisecond)
	if err := f.reserve(f.newReservation(ada, 100)); retryAfter(err) != "1" {
		t.Errorf("before the end of the leases: got error %v with Retry-After %q, want 1", err, retryAfter(err))
	}
	f.clock.Advance(time.Millisecond)
	codes := slicetest.CountCodes(8, func(int) error { return f.reserve(f.newReservation(ada, 100)) })
	if diff := cmp.Diff(map[fault.Code]int{"": 2, fault.CodeRateLimited: 6}, codes); diff != "" {
		t.Errorf("error codes after the end of the leases (-want +got):\n%s", diff)
	}
	f.must(f.settle(crashed, 10, 1)) // it was only slow
	if n := f.inProgress(ada); n != 2 {
		t.Errorf("after the end of a generation that no longer counted: got %d in progress, want 2", n)
	}
}
