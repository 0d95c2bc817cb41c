package assistant

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
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

// Where one transaction at a time gets through, as on the month that all users share, all of them do in the end.
func TestManyAtOnceOnOneItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.GlobalMonthlyTokens = 1000, 1_000_000 }))
	ada := w.user("ada")
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
	got := outcomes(16, func(int) error {
		r := w.reservation(ada.userID, 1000)
		return errors.Join(w.service.reserve(t.Context(), r), w.service.settle(t.Context(), r, usage{InputTokens: 10, OutputTokens: 1}))
	})
	if diff := cmp.Diff(map[fault.Code]int{"": 16}, got); diff != "" {
		t.Error(diff)
	}
	want := usageRecord{Input: 160, Output: 16, Taken: 176, Calls: 16}
	if diff := cmp.Diff([]usageRecord{want, want}, []usageRecord{w.taken(ada.userID, may), w.taken("", may)}); diff != "" {
		t.Error(diff)
	}
}

// Nothing is counted twice and nothing half, whatever happens on the way to DynamoDB.
func TestFaultsOfReservations(t *testing.T) {
	t.Parallel()
	for _, f := range []dynamotest.Fault{
		dynamotest.ServerError, dynamotest.Throttled, dynamotest.CutLine, dynamotest.LostReply, dynamotest.LostReplies, dynamotest.Conflict,
		dynamotest.Throttled.Times(2), dynamotest.CutLine.Times(2), dynamotest.Conflict.Times(8),
	} {
		for _, step := range []string{"reserve", "settle"} {
			t.Run(step+" "+f.Name+fmt.Sprint(f.Calls), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, withLimits(func(l *Limits) { l.GlobalMonthlyTokens = 50_000 }))
				ada := w.user("ada")
				wire := w.interpose(nil)
				r := w.reservation(ada.userID, 1000)
				recovers := f.Calls > 0
				if step == "settle" {
					w.must(w.service.reserve(t.Context(), r))
				}
				wire.Break("TransactWriteItems", f)
				do := func() error {
					if step == "reserve" {
						return w.service.reserve(t.Context(), r)
					}
					return w.service.settle(t.Context(), r, usage{InputTokens: 70, OutputTokens: 7})
				}
				err := do()
				if recovers != (err == nil) || (err != nil && !errors.Is(err, db.ErrUnavailable)) {
					t.Fatalf("%v after %d hits", err, wire.Hits())
				}
				wire.Mend()
				done := recovers || f.Done
				want := map[string][2]usageRecord{
					"reserve": {{}, {Taken: 1000, Calls: 1}},
					"settle":  {{Taken: 1000, Calls: 1}, {Input: 70, Output: 7, Taken: 77, Calls: 1}},
				}[step][map[bool]int{true: 1}[done]]
				for _, who := range []string{ada.userID, ""} {
					if diff := cmp.Diff(want, w.taken(who, may)); diff != "" {
						t.Errorf("%q: %s", who, diff)
					}
				}
				err = do()
				switch {
				case step == "reserve" && done && codeOf(err) != fault.CodeConflict:
					t.Errorf("reserved again: %v", err)
				case (step == "settle" || !done) && err != nil:
					t.Errorf("again: %v", err)
				}
				w.must(w.service.settle(t.Context(), r, usage{InputTokens: 70, OutputTokens: 7}))
				if diff := cmp.Diff(usageRecord{Input: 70, Output: 7, Taken: 77, Calls: 1}, w.taken(ada.userID, may)); diff != "" {
					t.Errorf("in the end: %s", diff)
				}
			})
		}
	}
}

// Whatever happens in whatever order, what is taken is what was used and what is reserved.
func TestAccountsAreRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1_000_000, 5000, 8000 }))
	rapid.Check(t, func(t *rapid.T) {
		users := []string{w.ids.New(id.User), w.ids.New(id.User)}
		w.put(w.names.conversations, db.GlobalUsageKey(may), usageRecord{}) // as if nobody else had ever been
		type running struct {
			reservation
			ended bool
		}
		var all []*running
		want := map[string]*usageRecord{users[0]: {}, users[1]: {}}
		total := 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"reserve", "reserve", "settle", "again"}).Draw(t, "do") {
			case "reserve":
				user := rapid.SampledFrom(users).Draw(t, "user")
				r := w.reservation(user, rapid.IntRange(1, 4000).Draw(t, "tokens"))
				err := w.service.reserve(context.Background(), r)
				fits := want[user].Taken+r.tokens <= 5000 && total+r.tokens <= 8000
				if fits != (err == nil) || (err != nil && codeOf(err) != fault.CodeQuotaExceeded) {
					t.Fatalf("%+v, all %d, asked for %d: %v", *want[user], total, r.tokens, err)
				}
				if fits {
					all = append(all, &running{reservation: r})
					want[user].Taken += r.tokens
					want[user].Calls++
					total += r.tokens
				}
			default:
				if len(all) == 0 {
					continue
				}
				g := rapid.SampledFrom(all).Draw(t, "which")
				used := usage{rapid.IntRange(0, 3000).Draw(t, "in"), rapid.IntRange(0, 3000).Draw(t, "out")}
				if err := w.service.settle(context.Background(), g.reservation, used); err != nil {
					t.Fatal(err)
				}
				if u := want[g.userID]; !g.ended {
					delta := used.InputTokens + used.OutputTokens - g.tokens
					u.Input, u.Output, u.Taken, g.ended = u.Input+used.InputTokens, u.Output+used.OutputTokens, u.Taken+delta, true
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
			t.Fatalf("all together %d, want %d", got, total)
		}
	})
}
