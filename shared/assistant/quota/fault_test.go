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
	"devplatform/shared/id"
)

// If only one transaction at a time can succeed, as on the usage record that all users share, retries let all of them
// succeed.
func TestContentionOnOneItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 1_000_000 })
	ada := w.user()
	var busy atomic.Bool
	w.interpose(func(next http.Handler, out http.ResponseWriter, r *http.Request) {
		if dynamotest.Operation(r) != "TransactWriteItems" {
			next.ServeHTTP(out, r)
			return
		}
		if !busy.CompareAndSwap(false, true) {
			dynamotest.Conflict.Reply(out, r)
			return
		}
		defer busy.Store(false)
		next.ServeHTTP(out, r)
	})
	got := slicetest.CountCodes(16, func(int) error {
		r := w.reservation(ada, 1000)
		return errors.Join(w.reserve(r), w.settle(r, 10, 1))
	})
	if diff := cmp.Diff(map[fault.Code]int{"": 16}, got); diff != "" {
		t.Error(diff)
	}
	want := Usage{Input: 160, Output: 16, Taken: 176, Calls: 16}
	if diff := cmp.Diff([]Usage{want, want}, []Usage{w.taken(ada, may), w.taken("", may)}); diff != "" {
		t.Error(diff)
	}
}

// With faults between the ledger and DynamoDB, a call is never counted twice or in part.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range []dynamotest.Fault{
		dynamotest.ServerError, dynamotest.Throttled, dynamotest.CutLine, dynamotest.LostReply, dynamotest.LostReplies, dynamotest.Conflict,
		dynamotest.Throttled.Times(2), dynamotest.CutLine.Times(2), dynamotest.Conflict.Times(8),
	} {
		for _, step := range []string{"reserve", "settle"} {
			t.Run(step+" "+f.Name+fmt.Sprint(f.Calls), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, func(l *Limits) { l.GlobalMonthlyTokens = 50_000 })
				ada := w.user()
				wire := w.interpose(nil)
				r := w.reservation(ada, 1000)
				recovers := f.Calls > 0
				if step == "settle" {
					w.must(w.reserve(r))
				}
				wire.Break("TransactWriteItems", f)
				do := func() error {
					if step == "reserve" {
						return w.reserve(r)
					}
					return w.settle(r, 70, 7)
				}
				err := do()
				if recovers != (err == nil) || (err != nil && !errors.Is(err, db.ErrUnavailable)) {
					t.Fatalf("%v after %d hits", err, wire.Hits())
				}
				wire.Mend()
				done := recovers || f.Done
				want := map[string][2]Usage{
					"reserve": {{}, {Taken: 1000, Calls: 1}},
					"settle":  {{Taken: 1000, Calls: 1}, {Input: 70, Output: 7, Taken: 77, Calls: 1}},
				}[step][map[bool]int{true: 1}[done]]
				for _, userID := range []string{ada, ""} {
					if diff := cmp.Diff(want, w.taken(userID, may)); diff != "" {
						t.Errorf("usage of %q: %s", userID, diff)
					}
				}
				err = do()
				switch {
				case step == "reserve" && done && slicetest.CodeOf(err) != fault.CodeConflict:
					t.Errorf("second reservation: %v", err)
				case (step == "settle" || !done) && err != nil:
					t.Errorf("second call: %v", err)
				}
				w.must(w.settle(r, 70, 7))
				if diff := cmp.Diff(Usage{Input: 70, Output: 7, Taken: 77, Calls: 1}, w.taken(ada, may)); diff != "" {
					t.Errorf("after the settlement: %s", diff)
				}
			})
		}
	}
}

// In every order of calls, Taken is the sum of the used and the reserved tokens.
func TestTakenIsUsedPlusReserved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1_000_000, 5000, 8000 })
	rapid.Check(t, func(t *rapid.T) {
		users := []string{w.ids.New(id.User), w.ids.New(id.User)}
		w.put(db.GlobalUsageKey(may), Usage{}) // removes the usage of earlier checks
		type running struct {
			Reservation
			ended bool
		}
		var all []*running
		want := map[string]*Usage{users[0]: {}, users[1]: {}}
		total := 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"reserve", "reserve", "settle", "again"}).Draw(t, "do") {
			case "reserve":
				user := rapid.SampledFrom(users).Draw(t, "user")
				r := w.reservation(user, rapid.IntRange(1, 4000).Draw(t, "tokens"))
				err := w.reserveIn(context.Background(), r)
				fits := want[user].Taken+r.Tokens <= 5000 && total+r.Tokens <= 8000
				if fits != (err == nil) || (err != nil && slicetest.CodeOf(err) != fault.CodeQuotaExceeded) {
					t.Fatalf("usage %+v, all users %d, reservation of %d: %v", *want[user], total, r.Tokens, err)
				}
				if fits {
					all = append(all, &running{Reservation: r})
					want[user].Taken += r.Tokens
					want[user].Calls++
					total += r.Tokens
				}
			default:
				if len(all) == 0 {
					continue
				}
				g := rapid.SampledFrom(all).Draw(t, "which")
				in, out := rapid.IntRange(0, 3000).Draw(t, "in"), rapid.IntRange(0, 3000).Draw(t, "out")
				if err := w.settleIn(context.Background(), g.Reservation, in, out); err != nil {
					t.Fatal(err)
				}
				if u := want[g.UserID]; !g.ended {
					delta := in + out - g.Tokens
					u.Input, u.Output, u.Taken, g.ended = u.Input+in, u.Output+out, u.Taken+delta, true
					total += delta
				}
			}
		}
		for user, record := range want {
			if diff := cmp.Diff(*record, w.taken(user, may)); diff != "" {
				t.Fatal(diff)
			}
		}
		if got := w.taken("", may).Taken; got != total {
			t.Fatalf("all users: %d, want %d", got, total)
		}
	})
}
