package delivery

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

const accountA, accountB = "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJM"

// takeSlot takes a slot of an account. It returns nil if there is none.
func (f *fixture) takeSlot(account string, at time.Time) *slotLease {
	f.t.Helper()
	lease, err := f.fast.Store.takeSlot(f.t.Context(), account, at)
	if err != nil {
		f.t.Error(err)
	}
	return lease
}

func (f *fixture) releaseSlot(lease slotLease) {
	f.t.Helper()
	if err := f.fast.Store.releaseSlot(f.t.Context(), lease); err != nil {
		f.t.Error(err)
	}
}

// An account never has more than two slots, even if responses are lost. The slots of other accounts are independent of
// them. A slot can be taken again when its lease has expired, or when it was released. A lease that has expired
// releases nothing if another worker has taken the slot.
func TestSlots(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var mu sync.Mutex
	taken := map[string][]slotLease{}
	take := func(account string, at time.Duration, lost, want int32) {
		t.Helper()
		if f.loseResponses(lost); account == accountA && at == 0 { // all requests read the slots before the first write
			var reads sync.WaitGroup
			reads.Add(concurrentCalls)
			var writes atomic.Int32
			f.breakCalls(func(operation, _ string) callOutcome {
				if operation == "UpdateItem" && writes.Add(1) <= concurrentCalls {
					reads.Done()
					reads.Wait()
				}
				return callPasses
			})
		}
		taken[account] = nil
		if got := concurrently(func() bool {
			lease := f.takeSlot(account, midnight.Add(at))
			if lease == nil {
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			taken[account] = append(taken[account], *lease)
			return true
		}); got != want {
			t.Errorf("%s, after %v: %d requests took a slot, want %d", account, at, got, want)
		}
		if all := taken[account]; len(all) == 2 && all[0].attribute == all[1].attribute {
			t.Errorf("%s, after %v: got the slots %+v, want different ones", account, at, all)
		}
	}
	const again = leaseTime + time.Millisecond
	take(accountA, 0, 0, 2)
	stale := taken[accountA]
	take(accountA, leaseTime-time.Millisecond, 0, 0)
	take(accountB, 0, 2, 2)
	take(accountA, again, 1, 2)
	current := taken[accountA]
	for _, lease := range stale {
		f.releaseSlot(lease)
	}
	take(accountA, again, 0, 0)
	f.loseResponses(1)
	f.releaseSlot(current[1])
	f.releaseSlot(current[1])
	take(accountA, again, 0, 1)
	if got := taken[accountA][0]; got.attribute != current[1].attribute {
		t.Errorf("got %+v, want the released slot %+v", got, current[1])
	}
	want := fmt.Sprint(midnight.Add(again + slotsTTL).Unix())
	for _, item := range dynamotest.Dump(t, f.sdk, f.table) {
		got, ok := item[db.AttrExpiresAt].(*types.AttributeValueMemberN)
		if !ok || got.Value != want && db.KeyOf(item) == db.SlotsKey(accountA) {
			t.Errorf("got item %v, want it to expire at %s", item, want)
		}
	}
}

// The deliveries that wait in the slow lane are read in the order in which they are due. The pages do not contain the
// deliveries of other webhooks or deliveries of the fast lane. A time that is not valid is read as the current time.
func TestSlowDeliveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w, other := f.subscribe(workspaceID, "https://example.com"), f.subscribe(workspaceID, "https://example.com")
	add := func(w Webhook, at time.Time, change func(Delivery) Delivery) dueEntry {
		d := newDelivery(f.newEvent(workspaceID), midnight, w, at).withSlowAttempt(at)
		f.must(f.store.Client.Do(t.Context(), f.store.Table.Create(d.key(), change(d))))
		return dueEntry{key: d.key(), dueAt: clock.Stamp(at).String(), at: at}
	}
	unchanged := func(d Delivery) Delivery { return d }
	var want []dueEntry
	for _, minute := range []int{3, 0, 4, 1, 2} {
		want = append(want, add(w, midnight.Add(time.Duration(minute)*time.Minute), unchanged))
	}
	slices.SortFunc(want, func(a, b dueEntry) int { return a.at.Compare(b.at) })
	add(other, midnight, unchanged)
	add(w, midnight, func(d Delivery) Delivery { return d.afterRestart(midnight, true) })
	add(w, midnight, func(d Delivery) Delivery { return d.withFinalStatus(Failed, "") })
	withoutTime := db.DeliveryKey(w.ID, f.ids.New(id.Delivery))
	f.putItem(withoutTime, db.Item{
		attrDue:   &types.AttributeValueMemberS{Value: db.SlowPartition(w.ID)},
		attrDueAt: &types.AttributeValueMemberS{Value: "x"},
	})
	now := midnight.Add(time.Hour)
	want = append(want, dueEntry{key: withoutTime, dueAt: "x", at: now})
	for _, limit := range []int{1, 2, 6, 100} {
		var got []dueEntry
		var after db.IndexKey
		for calls := 0; ; calls++ {
			page, next, err := f.store.due(t.Context(),
				db.IndexQuery{Partition: db.SlowPartition(w.ID), After: after, Limit: limit}, now)
			if err != nil || len(page) > limit || calls > 10 {
				t.Fatalf("limit %d, call %d: got %d entries, %v", limit, calls, len(page), err)
			}
			got = append(got, page...)
			if after = next; after.IsZero() {
				break
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(dueEntry{})); diff != "" {
			t.Errorf("limit %d: the deliveries (-want +got):\n%s", limit, diff)
		}
	}
}
