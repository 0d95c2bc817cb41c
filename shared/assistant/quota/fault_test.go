package quota

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// All calls write the same record, which counts the usage of all users together. If only one transaction at a time can
// succeed, the others are retried until they succeed.
func TestContentionOnOneItem(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 1_000_000 })
	userID := f.newUserID()
	var inTransaction atomic.Bool
	f.startWire(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) != "TransactWriteItems" {
			next.ServeHTTP(w, r)
			return
		}
		if !inTransaction.CompareAndSwap(false, true) {
			dynamotest.Conflict.Reply(w, r)
			return
		}
		defer inTransaction.Store(false)
		next.ServeHTTP(w, r)
	})
	codes := slicetest.CountCodes(16, func(int) error {
		r := f.newReservation(userID, 1000)
		return errors.Join(f.reserve(r), f.settle(r, 10, 1))
	})
	if diff := cmp.Diff(map[fault.Code]int{"": 16}, codes); diff != "" {
		t.Errorf("error codes (-want +got):\n%s", diff)
	}
	want := Usage{Input: 160, Output: 16, Taken: 176, Calls: 16}
	f.checkUsage(userID, may, want)
	f.checkUsage("", may, want)
}

// injectedFaults are the faults of calls to DynamoDB.
var injectedFaults = []dynamotest.Fault{
	dynamotest.ServerError,
	dynamotest.Throttled,
	dynamotest.DroppedConnection,
	dynamotest.LostReply,
	dynamotest.LostReplies,
	dynamotest.Conflict,
	dynamotest.Throttled.Times(2),
	dynamotest.DroppedConnection.Times(2),
	dynamotest.Conflict.Times(8),
}

var (
	usageWhenReserved = Usage{Taken: 1000, Calls: 1}
	usageWhenSettled  = Usage{Input: 70, Output: 7, Taken: 77, Calls: 1}
)

// If calls to DynamoDB fail during a reservation, the reservation is not counted twice or only in part.
func TestReserveFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range injectedFaults {
		t.Run(injected.Name+fmt.Sprint(injected.Calls), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(l *Limits) { l.GlobalMonthlyTokens = 50_000 })
			userID := f.newUserID()
			r := f.newReservation(userID, 1000)
			isReserved := f.checkFault(injected, func() error { return f.reserve(r) })
			want := Usage{}
			if isReserved {
				want = usageWhenReserved
			}
			f.checkUsage(userID, may, want)
			f.checkUsage("", may, want)

			err := f.reserve(r)
			switch {
			case isReserved && slicetest.CodeOf(err) != fault.CodeConflict:
				t.Errorf("second reservation: got error %v, want code %s", err, fault.CodeConflict)
			case !isReserved && err != nil:
				t.Errorf("second reservation: got error %v, want none", err)
			}
			f.must(f.settle(r, 70, 7))
			f.checkUsage(userID, may, usageWhenSettled)
		})
	}
}

// If calls to DynamoDB fail during a settlement, the tokens are not counted twice or only in part.
func TestSettleFaults(t *testing.T) {
	t.Parallel()
	for _, injected := range injectedFaults {
		t.Run(injected.Name+fmt.Sprint(injected.Calls), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(l *Limits) { l.GlobalMonthlyTokens = 50_000 })
			userID := f.newUserID()
			r := f.newReservation(userID, 1000)
			f.must(f.reserve(r))
			want := usageWhenReserved
			if f.checkFault(injected, func() error { return f.settle(r, 70, 7) }) {
				want = usageWhenSettled
			}
			f.checkUsage(userID, may, want)
			f.checkUsage("", may, want)
			for range 2 {
				f.must(f.settle(r, 70, 7))
				f.checkUsage(userID, may, usageWhenSettled)
			}
		})
	}
}

// checkFault calls the function write with a fault in its transaction. It checks that the call succeeds if the fault is
// temporary, and that it fails with db.ErrUnavailable otherwise. takesEffect reports whether DynamoDB has executed the
// transaction in spite of the fault.
func (f *fixture) checkFault(injected dynamotest.Fault, write func() error) (takesEffect bool) {
	f.t.Helper()
	wire := f.startWire(nil)
	wire.Break("TransactWriteItems", injected)
	defer wire.Clear()
	err := write()
	isTemporary := injected.Calls > 0
	if isTemporary && err != nil {
		f.t.Fatalf("got error %v after %d faults, want none", err, wire.Hits())
	}
	if !isTemporary && !errors.Is(err, db.ErrUnavailable) {
		f.t.Fatalf("got error %v after %d faults, want db.ErrUnavailable", err, wire.Hits())
	}
	return isTemporary || injected.Executed
}

// After any sequence of calls, Taken is the sum of the used and the reserved tokens.
func TestTakenIsUsedPlusReserved(t *testing.T) {
	t.Parallel()
	const userLimit, globalLimit = 5000, 8000
	f := newFixture(t, func(l *Limits) {
		l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1_000_000, userLimit, globalLimit
	})
	rapid.Check(t, func(t *rapid.T) {
		f.put(db.GlobalUsageKey(may, 1), Usage{}) // removes the usage of earlier checks
		userIDs := []string{f.newUserID(), f.newUserID()}
		want := map[string]*Usage{userIDs[0]: {}, userIDs[1]: {}}
		wantGlobalTaken := 0
		var reservations []Reservation
		isSettled := map[string]bool{} // by message ID

		reserve := func() {
			userID := rapid.SampledFrom(userIDs).Draw(t, "user")
			r := f.newReservation(userID, rapid.IntRange(1, 4000).Draw(t, "tokens"))
			err := f.reserveContext(context.Background(), r)
			usage := want[userID]
			if usage.Taken+r.Tokens > userLimit || wantGlobalTaken+r.Tokens > globalLimit {
				if slicetest.CodeOf(err) != fault.CodeQuotaExceeded {
					t.Fatalf("reservation of %d tokens: got error %v, want code %s; usage %+v, taken by all users %d",
						r.Tokens, err, fault.CodeQuotaExceeded, *usage, wantGlobalTaken)
				}
				return
			}
			if err != nil {
				t.Fatalf("reservation of %d tokens: got error %v, want none; usage %+v, taken by all users %d",
					r.Tokens, err, *usage, wantGlobalTaken)
			}
			reservations = append(reservations, r)
			usage.Taken += r.Tokens
			usage.Calls++
			wantGlobalTaken += r.Tokens
		}
		settle := func() {
			r := rapid.SampledFrom(reservations).Draw(t, "reservation")
			input := rapid.IntRange(0, 3000).Draw(t, "input")
			output := rapid.IntRange(0, 3000).Draw(t, "output")
			if err := f.settleContext(context.Background(), r, input, output); err != nil {
				t.Fatalf("settlement: got error %v, want none", err)
			}
			if isSettled[r.MessageID] { // the second settlement has no effect
				return
			}
			isSettled[r.MessageID] = true
			usage, change := want[r.UserID], input+output-r.Tokens
			usage.Input += input
			usage.Output += output
			usage.Taken += change
			wantGlobalTaken += change
		}
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			if rapid.Bool().Draw(t, "reserve") {
				reserve()
			} else if len(reservations) > 0 {
				settle()
			}
		}

		for userID, usage := range want {
			if diff := cmp.Diff(*usage, f.usage(userID, may)); diff != "" {
				t.Fatalf("usage of user %s (-want +got):\n%s", userID, diff)
			}
		}
		if got := f.usage("", may).Taken; got != wantGlobalTaken {
			t.Fatalf("got %d tokens taken by all users, want %d", got, wantGlobalTaken)
		}
	})
}
