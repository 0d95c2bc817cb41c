package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/delivery"
)

func TestRecover(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	var times []string
	var deliveries [][]delivery.Delivery // by time, and then by state
	for range 4 {
		f.clock.Advance(time.Second)
		times = append(times, f.timestamp())
		var atTime []delivery.Delivery
		for _, state := range []stateFunc{failed, waiting, notAttempted, succeeded, inProgress, nil} {
			atTime = append(atTime, f.putDelivery(path, state))
		}
		deliveries = append(deliveries, atTime)
		tooLarge := f.putDelivery(path, failed) // for the item of a recovered delivery
		for size := 409_600; ; size -= 20 {     // 400 KiB, the limit of an item
			update := expression.Set(expression.Name("type"), expression.Value(strings.Repeat("x", size)))
			write := f.webhooks.Update(db.DeliveryKey(tooLarge.WebhookID, tooLarge.ID), update)
			if _, err := f.client.Do(t.Context(), write); err == nil {
				break
			}
		}
	}
	const recoverableStates = 3 // the first three
	ada.Do("POST", path+"/test", object{}).Want(t, http.StatusOK)
	test := f.putDelivery(path, func(d delivery.Delivery, now time.Time) delivery.Delivery {
		d.Test = true
		return failed(d, now)
	})
	response := ada.Do("POST", path+"/recover", object{"since": times[1], "until": times[2]}).Want(t, http.StatusAccepted)
	if diff := cmp.Diff(map[string]any{"count": 6.0}, response.Body); diff != "" {
		t.Errorf("the response (-want +got):\n%s", diff)
	}
	var want []string
	for i, atTime := range deliveries {
		for j, d := range atTime {
			recovered := (i == 1 || i == 2) && j < recoverableStates
			after := f.storedDelivery(d)
			if changed := after.Version != d.Version; changed != recovered {
				t.Errorf("delivery %d of time %d was changed: got %t, want %t", j, i, changed, recovered)
			}
			if !recovered {
				continue
			}
			want = append(want, d.ID)
			if after.Status != delivery.Pending || after.Tries != 0 || after.Manual != 0 {
				t.Errorf("delivery %d of time %d: got %+v, want a new run of the schedule", j, i, after)
			}
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, f.receiveMessages()); diff != "" {
		t.Errorf("the messages in the queue (-want +got):\n%s", diff)
	}
	for _, tc := range []struct {
		body  object
		count float64
	}{
		{object{"since": times[1], "until": times[2]}, 0}, // already recovered
		{object{"since": noon.Add(time.Hour)}, 0},
		{object{"since": times[0], "until": times[0]}, 3},
		{object{"since": noon.In(time.FixedZone("", 7200)), "until": f.clock.Now()}, 3},
	} {
		response := ada.Do("POST", path+"/recover", tc.body).Want(t, http.StatusAccepted)
		if response.Body["count"] != tc.count {
			t.Errorf("%v: got %s, want a count of %v", tc.body, response.Raw, tc.count)
		}
	}
	if after := f.storedDelivery(test); after.Status != delivery.Failed {
		t.Errorf("a test was recovered: %+v", after)
	}
	ada.Do("PUT", path, object{"active": false}).Want(t, http.StatusOK)
	ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusConflict, fault.CodeConflict)
}

func TestRecoverRejectsInvalidTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	for wantPrefix, body := range map[string]any{
		"until":       object{"since": noon, "until": noon.Add(-time.Second)},
		"since":       object{"since": "yesterday"},
		"body":        "",
		"until: must": object{"since": noon, "until": nil},
	} {
		response := ada.Do("POST", path+"/recover", body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if got := response.Text("error"); !strings.HasPrefix(got, wantPrefix) {
			t.Errorf("got error %q, want one that begins with %q", got, wantPrefix)
		}
	}
}

// Concurrent recoveries send each failed delivery once.
func TestConcurrentRecoveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	const n = 150
	for range n {
		f.putDelivery(path, failed)
	}
	responses := slicetest.Concurrently(4, func(int) slicetest.Response {
		return ada.Do("POST", path+"/recover", object{"since": noon})
	})
	total := 0.0
	for _, response := range responses {
		count, _ := response.Want(t, http.StatusAccepted).Body["count"].(float64)
		total += count
	}
	messages := f.receiveMessages()
	if distinct := slices.Compact(slices.Clone(messages)); total != n || len(messages) != n || len(distinct) != n {
		t.Errorf("got a total count of %v and %d messages for %d deliveries, want %d of each",
			total, len(messages), len(distinct), n)
	}
}

// A recovery that takes too long returns the time from which to continue.
func TestRecoveryContinues(t *testing.T) {
	t.Parallel()
	const recoverPage, recoverTime = 100, 20 * time.Second // defined by package delivery
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok")
	const n = 2*recoverPage + 50
	for range n {
		f.clock.Advance(time.Millisecond)
		f.putDelivery(path, failed)
	}
	ticking := slicetest.NewClock(f.clock.Now(), recoverTime/recoverPage/2) // advances with each call
	f.service.log.Clock = ticking.Now
	since, total, calls := noon.Format(time.RFC3339), 0.0, 0
	for since != "" && calls < 10 {
		response := ada.Do("POST", path+"/recover", object{"since": since}).Want(t, http.StatusAccepted)
		count, _ := response.Body["count"].(float64)
		total, since, calls = total+count, response.Text("continueFrom"), calls+1
	}
	if total != n || calls < 2 {
		t.Errorf("got a total count of %v in %d calls, want %d in at least 2", total, calls, n)
	}
	if messages := f.receiveMessages(); len(messages) != n {
		t.Errorf("got %d messages, want %d", len(messages), n)
	}
}
