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
	lease, err := f.fast.store.takeSlot(f.t.Context(), account, at)
	if err != nil {
		f.t.Error(err)
	}
	return lease
}

func (f *fixture) releaseSlot(lease slotLease) {
	f.t.Helper()
	if err := f.fast.store.releaseSlot(f.t.Context(), lease); err != nil {
		f.t.Error(err)
	}
}

// An account never has more than two slots, even if responses are lost. The slots of other accounts are independent of
// them. A slot can be taken again when its lease has expired, or when it was released.
func TestTakeSlot(t *testing.T) {
	t.Parallel()
	var responsesToLose atomic.Int32
	f := newFixture(t, losing(&responsesToLose))
	var mu sync.Mutex
	var taken []slotLease
	take := func(account string, at time.Time) int32 {
		return concurrently(func() bool {
			lease := f.takeSlot(account, at)
			if lease == nil {
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, *lease)
			return true
		})
	}
	for _, tc := range []struct {
		name    string
		account string
		at      time.Duration // after midnight
		lost    int32
		want    int32
	}{
		{"new account", accountA, 0, 0, 2},
		{"both are leased", accountA, leaseTime - time.Millisecond, 0, 0},
		{"another account, lost responses", accountB, 0, 2, 2},
		{"both leases have expired", accountA, leaseTime, 1, 2},
	} {
		taken = nil
		responsesToLose.Store(tc.lost)
		if got := take(tc.account, midnight.Add(tc.at)); got != tc.want {
			t.Errorf("%s: %d requests took a slot, want %d", tc.name, got, tc.want)
		}
		if len(taken) == 2 && (taken[0].slot == taken[1].slot || taken[0].token == taken[1].token) {
			t.Errorf("%s: got the slots %+v, want different ones", tc.name, taken)
		}
	}
	released := taken[0]
	f.releaseSlot(released)
	taken = nil
	if got := take(accountA, midnight.Add(leaseTime+time.Second)); got != 1 || taken[0].slot != released.slot {
		t.Errorf("after slot %d was released, %d requests took %+v, want this slot once", released.slot, got, taken)
	}
}

// A lease that has expired releases nothing if another worker has taken the slot.
func TestReleaseSlot(t *testing.T) {
	t.Parallel()
	var responsesToLose atomic.Int32
	f := newFixture(t, losing(&responsesToLose))
	stale := []*slotLease{f.takeSlot(accountA, midnight), f.takeSlot(accountA, midnight)}
	now := midnight.Add(leaseTime)
	current := []*slotLease{f.takeSlot(accountA, now), f.takeSlot(accountA, now)}
	for _, lease := range stale {
		f.releaseSlot(*lease)
	}
	if lease := f.takeSlot(accountA, now); lease != nil {
		t.Errorf("a stale lease released slot %d of another worker", lease.slot)
	}
	responsesToLose.Store(1)
	f.releaseSlot(*current[1])
	f.releaseSlot(*current[1])
	if lease := f.takeSlot(accountA, now); lease == nil || lease.slot != current[1].slot {
		t.Errorf("got %+v, want the released slot %d", lease, current[1].slot)
	}
	if lease := f.takeSlot(accountA, now); lease != nil {
		t.Errorf("slot %d was released, want only one", lease.slot)
	}
}

// The slots of an account expire when they have not been used for a day. They can be taken until they are deleted.
func TestUnusedSlotsExpire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.takeSlot(accountA, f.now())
	items := dynamotest.Dump(t, f.sdk, f.table)
	if len(items) != 1 {
		t.Fatalf("got items %v, want one", items)
	}
	want := fmt.Sprint(midnight.Add(24 * time.Hour).Unix())
	if got, ok := items[0][db.AttrExpiresAt].(*types.AttributeValueMemberN); !ok || got.Value != want {
		t.Errorf("got item %v, want it to expire at %s", items[0], want)
	}
	f.advance(25 * time.Hour)
	if first, second := f.takeSlot(accountA, f.now()), f.takeSlot(accountA, f.now()); first == nil || second == nil {
		t.Errorf("got %+v and %+v, want both slots", first, second)
	}
	if lease := f.takeSlot(accountA, f.now()); lease != nil {
		t.Errorf("got a third slot %+v", lease)
	}
}

// The deliveries that wait in the slow lane are read in the order in which they are due. The pages do not contain the
// deliveries of other webhooks, deliveries of the fast lane, or items that are not deliveries. A time that is not valid
// is read as the zero time.
func TestSlowDeliveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w, other := f.subscribe(workspaceID, "https://example.com"), f.subscribe(workspaceID, "https://example.com")
	add := func(w Webhook, at time.Time, change func(Delivery) Delivery) slowEntry {
		d := newDelivery(f.newEvent(workspaceID), midnight, w, slowLane, at)
		if added, err := f.store.add(t.Context(), change(d)); !added || err != nil {
			t.Fatalf("add: got %t, %v", added, err)
		}
		return slowEntry{d.ID, at}
	}
	unchanged := func(d Delivery) Delivery { return d }
	var want []slowEntry
	for _, minute := range []int{3, 0, 4, 1, 2} {
		want = append(want, add(w, midnight.Add(time.Duration(minute)*time.Minute), unchanged))
	}
	slices.SortFunc(want, func(a, b slowEntry) int { return a.at.Compare(b.at) })
	add(other, midnight, unchanged)
	add(w, midnight, func(d Delivery) Delivery { return d.afterRestart(midnight, true) })
	add(w, midnight, func(d Delivery) Delivery { return d.withFinalStatus(Failed, "") })
	foreign := func(dueAt string) db.Item {
		return db.Item{
			attrDue:   &types.AttributeValueMemberS{Value: db.SlowPartition(w.ID)},
			attrDueAt: &types.AttributeValueMemberS{Value: dueAt},
		}
	}
	f.putItem(db.WebhookKey(workspaceID, f.ids.New(id.Webhook)), foreign(clock.Stamp(midnight).String()))
	withoutTime := f.ids.New(id.Delivery)
	f.putItem(db.DeliveryKey(w.ID, withoutTime), foreign("x"))
	want = append(want, slowEntry{withoutTime, time.Time{}})
	for _, limit := range []int{1, 2, 6, 100} {
		var got []slowEntry
		var after db.IndexKey
		for calls := 0; ; calls++ {
			page, next, err := f.store.slowDeliveries(t.Context(), w.ID, after, limit)
			if err != nil || len(page) > limit || calls > 10 {
				t.Fatalf("limit %d, call %d: got %d entries, %v", limit, calls, len(page), err)
			}
			got = append(got, page...)
			if after = next; after.IsZero() {
				break
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(slowEntry{})); diff != "" {
			t.Errorf("limit %d: the deliveries (-want +got):\n%s", limit, diff)
		}
	}
}
