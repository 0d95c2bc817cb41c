package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/webhook/delivery"
)

func TestRecover(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	var times []string
	var made [][]delivery.Delivery
	for range 4 { // at four times, a delivery in each state
		s.clock.Advance(time.Second)
		times = append(times, s.stamp())
		var at []delivery.Delivery
		for _, change := range []func(delivery.Delivery, time.Time) delivery.Delivery{failed, waiting, unsent, succeeded, inProgress, nil} {
			at = append(at, s.deliver(path, change))
		}
		made = append(made, at)
	}
	ada.Do("POST", path+"/test", object{}).Want(t, http.StatusOK)
	tested := s.deliver(path, func(d delivery.Delivery, now time.Time) delivery.Delivery { d.Test = true; return failed(d, now) })
	a := ada.Do("POST", path+"/recover", object{"since": times[1], "until": times[2]}).Want(t, http.StatusAccepted)
	if diff := cmp.Diff(map[string]any{"count": 6.0}, a.Body); diff != "" {
		t.Error(diff)
	}
	var want []string
	for i, at := range made {
		for j, d := range at {
			now, recovered := s.delivery(d), (i == 1 || i == 2) && j < 3
			if recovered {
				want = append(want, d.ID)
			}
			if (now.Version != d.Version) != recovered || recovered && (now.Status != delivery.Pending || now.Tries != 0 || now.Manual != 0) {
				t.Errorf("%d %d: %+v", i, j, now)
			}
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, s.messages()); diff != "" {
		t.Error(diff)
	}
	for _, again := range []struct {
		body  object
		count float64
	}{
		{object{"since": times[1], "until": times[2]}, 0}, // all of them were recovered
		{object{"since": noon.Add(time.Hour)}, 0},
		{object{"since": times[0], "until": times[0]}, 3},
		{object{"since": noon.In(time.FixedZone("", 7200)), "until": s.clock.Now()}, 3},
	} {
		if a := ada.Do("POST", path+"/recover", again.body).Want(t, http.StatusAccepted); a.Body["count"] != again.count {
			t.Errorf("%v: %s", again.body, a.Raw)
		}
	}
	if now := s.delivery(tested); now.Status != delivery.Failed {
		t.Errorf("a test was recovered: %+v", now)
	}
	for field, body := range map[string]any{
		"until": object{"since": times[1], "until": times[0]}, "since": object{"since": "yesterday"}, "body": "",
		"until: must": object{"since": times[1], "until": nil},
	} {
		wrong := ada.Do("POST", path+"/recover", body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.HasPrefix(wrong.Text("error"), field) {
			t.Errorf("%s: %s", field, wrong.Raw)
		}
	}
	ada.Do("PUT", path, object{"active": false}).Want(t, http.StatusOK)
	ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusConflict, fault.CodeConflict)
}

// Concurrent recoveries send each failed delivery once.
func TestConcurrentRecoveries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	const n = 150
	for range n {
		s.deliver(path, failed)
	}
	answers := slicetest.Concurrently(4, func(int) slicetest.Response { return ada.Do("POST", path+"/recover", object{"since": noon}) })
	count := 0.0
	for _, a := range answers {
		one, _ := a.Want(t, http.StatusAccepted).Body["count"].(float64)
		count += one
	}
	messages := s.messages()
	if distinct := slices.Compact(slices.Clone(messages)); count != n || len(messages) != n || len(distinct) != n {
		t.Errorf("%v counted, %d messages of %d deliveries", count, len(messages), len(distinct))
	}
}

// A recovery that takes too long returns the time from which to continue.
func TestRecoveryContinues(t *testing.T) {
	t.Parallel()
	const recoverPage, recoverTime = 100, 20 * time.Second // defined by package delivery
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	const n = 2*recoverPage + 50
	for range n {
		s.clock.Advance(time.Millisecond)
		s.deliver(path, failed)
	}
	ticking := slicetest.NewClock(s.clock.Now(), recoverTime/recoverPage/2)
	s.service.log.Clock = ticking.Now
	since, total, calls := noon.Format(time.RFC3339), 0.0, 0
	for since != "" && calls < 10 {
		a := ada.Do("POST", path+"/recover", object{"since": since}).Want(t, http.StatusAccepted)
		count, _ := a.Body["count"].(float64)
		total, since, calls = total+count, a.Text("continueFrom"), calls+1
	}
	if total != n || calls < 2 || len(s.messages()) != n {
		t.Errorf("%v in %d calls", total, calls)
	}
}
