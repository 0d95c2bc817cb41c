package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/api"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

func TestTheLogOfDeliveries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	at := s.stamp()
	later := clock.Stamp(noon.Add(time.Millisecond * 2).Add(time.Hour)).String()
	refused := map[string]any{"at": at, "statusCode": nil, "durationMs": 5.0, "error": "the connection was refused", "response": nil}
	ok := map[string]any{"at": at, "statusCode": 200.0, "durationMs": 5.0, "error": nil, "response": "ok"}
	var want []any
	for _, tc := range []struct {
		change   func(Delivery, time.Time) Delivery
		status   string
		attempts []any
		next     any
		reason   string
	}{
		{nil, "pending", []any{}, at, ""},
		{succeeded, "succeeded", []any{ok}, nil, ""},
		{failed, "failed", []any{refused}, nil, ""},
		{waiting, "pending", []any{refused}, later, ""},
		{underWay, "pending", []any{}, clock.Stamp(s.clock.Now().Add(5 * time.Second)).String(), ""},
		{unsent, "failed", []any{}, nil, "the webhook is not active"},
	} {
		d := s.deliver(path, tc.change)
		item := map[string]any{
			"id": d.ID, "eventId": d.EventID, "type": "file.created", "status": tc.status, "attempts": tc.attempts, "nextAttemptAt": tc.next,
		}
		if tc.reason != "" {
			item["reason"] = tc.reason
		}
		want = append(want, item)
	}
	slices.SortFunc(want, func(a, b any) int { return -strings.Compare(idOf(a), idOf(b)) })
	a := ada.Get(path+"/deliveries").Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"deliveries": want}, a.Body); diff != "" {
		t.Error(diff)
	}
	if a.Calls != 4 { // session, place, role, and the page
		t.Errorf("%d calls to DynamoDB", a.Calls)
	}
	for _, item := range want {
		one := ada.Get(path+"/deliveries/"+idOf(item)).Want(t, http.StatusOK)
		if payload, _ := one.Body["payload"].(map[string]any); payload["type"] != "file.created" || one.Calls != 4 {
			t.Error(one.Raw, one.Calls)
		}
		delete(one.Body, "payload")
		if diff := cmp.Diff(item, any(one.Body)); diff != "" {
			t.Error(diff)
		}
	}
	s.clock.Advance(leaseTime) // nobody came to record it
	interrupted := ada.Get(path+"/deliveries?status=pending").Want(t, http.StatusOK)
	if !strings.Contains(interrupted.Raw, sentenceInterrupted) {
		t.Error(interrupted.Raw)
	}
	s.clock.Advance(deliveryRetention)
	if old := ada.Get(path+"/deliveries").Want(t, http.StatusOK); len(old.List("deliveries")) != 0 {
		t.Error(old.Raw)
	}
	ada.Get(path+"/deliveries/"+idOf(want[0])).Want(t, http.StatusNotFound, api.CodeDeliveryNotFound)
}

func idOf(item any) string {
	object, _ := item.(map[string]any)
	text, _ := object["id"].(string)
	return text
}

// However a log is paged, each delivery of the status is in it once, and newest first.
func TestPagesOfDeliveries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada, grace := s.user("ada"), s.user("grace")
	path := ada.hook("/ok")
	var all []Delivery
	for i := range 130 {
		s.clock.Advance(time.Millisecond)
		change := []func(Delivery, time.Time) Delivery{succeeded, failed, nil}[i%13%3]
		all = append(all, s.deliver(path, change))
	}
	slices.Reverse(all)
	if first := ada.Get(path+"/deliveries").Want(t, http.StatusOK); len(first.List("deliveries")) != defaultLimit || first.Text("nextCursor") == "" {
		t.Error(first.Raw)
	}
	rapid.Check(t, func(r *rapid.T) {
		status := rapid.SampledFrom([]string{"", "pending", "succeeded", "failed"}).Draw(r, "status")
		limit := rapid.SampledFrom([]string{"7", "50", "100"}).Draw(r, "limit")
		var want, got []string
		for _, d := range all {
			if status == "" || string(d.Status) == status {
				want = append(want, d.ID)
			}
		}
		list := path + "/deliveries?limit=" + limit
		if status != "" {
			list += "&status=" + status
		}
		cursor := ""
		for {
			page := ada.Get(list + cursor)
			if page.Status != http.StatusOK {
				r.Fatal(page.Raw)
			}
			got = append(got, page.Texts("deliveries", "id")...)
			if page.Text("nextCursor") == "" {
				break
			}
			cursor = "&cursor=" + page.Text("nextCursor")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatal(diff)
		}
	})
	cursor := ada.Get(path + "/deliveries?limit=1").Text("nextCursor")
	for list, by := range map[string]*visitor{
		path + "/deliveries?status=failed&cursor=": ada, ada.hook("/ok") + "/deliveries?cursor=": ada, grace.hook("/ok") + "/deliveries?cursor=": grace,
	} {
		by.Get(list+cursor).Want(t, http.StatusBadRequest, api.CodeValidationFailed)
	}
	for _, wrong := range []string{"limit=0", "limit=101", "status=lost", "cursor=x"} {
		ada.Get(path+"/deliveries?"+wrong).Want(t, http.StatusBadRequest, api.CodeValidationFailed)
	}
}

// A page of a rare status ends after so much reading, and the next one goes on.
func TestLookingForAStatusIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	rare := s.deliver(path, failed)
	for range statusCalls*statusPage + 1 {
		s.clock.Advance(time.Millisecond)
		s.deliver(path, succeeded)
	}
	first := ada.Get(path+"/deliveries?status=failed").Want(t, http.StatusOK)
	if len(first.List("deliveries")) != 0 || first.Text("nextCursor") == "" || first.Calls != 3+statusCalls {
		t.Errorf("%s, %d calls", first.Raw, first.Calls)
	}
	second := ada.Get(path+"/deliveries?status=failed&cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	if diff := cmp.Diff([]string{rare.ID}, second.Texts("deliveries", "id")); diff != "" || second.Text("nextCursor") != "" {
		t.Error(diff, second.Raw)
	}
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok", object{"active": false}) // an explicit wish
	for name, change := range map[string]func(Delivery, time.Time) Delivery{
		"new": nil, "succeeded": succeeded, "failed": failed, "waiting": waiting, "under way": underWay, "unsent": unsent,
	} {
		d := s.deliver(path, change)
		s.clock.Advance(time.Second)
		a := ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
		if a.Text("status") != "pending" || a.Text("nextAttemptAt") != s.stamp() || a.Text("id") != d.ID || a.Body["reason"] != nil {
			t.Errorf("%s: %s", name, a.Raw)
		}
		if a.Calls != 6 { // session, place, role, delivery, limit, and the write
			t.Errorf("%s: %d calls", name, a.Calls)
		}
		now := s.delivery(d)
		if got := planTurn(now, &Webhook{Health: Health{Timeouts: maxTimeouts, ProbeUntil: now.DueAt}}, s.clock.Now()); got.turn != turnAttempt || now.Tries != 0 ||
			now.DueAt.Time().Sub(s.clock.Now()) != signalLoss || len(now.Attempts) != len(d.Attempts) {
			t.Errorf("%s: %+v, %+v", name, got, now)
		}
		if diff := cmp.Diff([]string{d.ID}, s.messages()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A redelivery that comes while an attempt is made is not swallowed by what comes of that.
func TestRedeliverDuringAnAttempt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	d := s.deliver(path, nil)
	claimed, at := d.claimed(s.stored(path), s.clock.Now(), 0)
	claimed, err := s.service.store.save(t.Context(), claimed)
	s.must(err)
	a := ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
	if strings.Contains(a.Raw, sentenceInterrupted) {
		t.Errorf("the attempt under way is shown: %s", a.Raw)
	}
	outcome := Attempt{At: at, StatusCode: 200, Response: "ok"}
	late, _ := claimed.recorded(outcome, verdict{fate: fateDone}, s.clock.Now())
	if _, err := s.service.store.save(t.Context(), late); err == nil {
		t.Fatal("the redelivery was overwritten")
	}
	now, _ := s.delivery(d).recorded(outcome, verdict{fate: fateDone}, s.clock.Now())
	if now.Status != Pending || !now.Manual || len(now.Attempts) != 1 || now.Attempts[0].StatusCode != 200 {
		t.Errorf("%+v", now)
	}
}

func TestRedeliveriesAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	d := s.deliver(path, failed)
	const n = 6
	answers := slicetest.AtOnce(n, func(int) slicetest.Answer { return ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil) })
	if diff := cmp.Diff(map[int]int{http.StatusAccepted: n}, slicetest.Statuses(answers)); diff != "" {
		t.Error(diff)
	}
	if now := s.delivery(d); now.Version != d.Version+n || len(s.messages()) != n {
		t.Errorf("%+v", now)
	}
}

// The table is the truth: a message that can't be sent is no error, and the delivery is found without it.
func TestWithoutTheQueue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	one, other := s.deliver(path, failed), s.deliver(path, unsent)
	wire := sqstest.NewWire(t, *s.sqs.Options().BaseEndpoint, nil)
	s.serve(s.sdk, wire.Client(sqstest.Once))
	wire.Break("SendMessageBatch", sqstest.MissingQueue)
	ada.Do("POST", path+"/deliveries/"+one.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
	recovered := ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusAccepted)
	if recovered.Body["count"] != 1.0 || wire.Hits() != 2 {
		t.Errorf("%s, %d hits", recovered.Raw, wire.Hits())
	}
	log := s.log.String()
	for _, d := range []Delivery{one, other} {
		now := s.delivery(d)
		if now.Status != Pending || now.Due == "" || now.DueAt.Time().After(s.clock.Now().Add(signalLoss)) {
			t.Errorf("%+v", now)
		}
		if !strings.Contains(log, d.ID) {
			t.Errorf("the log does not name %s", d.ID)
		}
	}
}

func TestRecover(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	var times []string
	var made [][]Delivery
	for range 4 { // at four moments, one of each
		s.clock.Advance(time.Second)
		times = append(times, s.stamp())
		var at []Delivery
		for _, change := range []func(Delivery, time.Time) Delivery{failed, waiting, unsent, succeeded, underWay, nil} {
			at = append(at, s.deliver(path, change))
		}
		made = append(made, at)
	}
	ada.Do("POST", path+"/test", object{}).Want(t, http.StatusOK)
	tested := s.deliver(path, func(d Delivery, now time.Time) Delivery { d.Test = true; return failed(d, now) })
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
			if (now.Version != d.Version) != recovered || recovered && (now.Status != Pending || now.Tries != 0 || now.Manual) {
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
		{object{"since": times[1], "until": times[2]}, 0}, // all of it is on its way
		{object{"since": noon.Add(time.Hour)}, 0},
		{object{"since": times[0], "until": times[0]}, 3},
		{object{"since": noon.In(time.FixedZone("", 7200)), "until": s.clock.Now()}, 3},
	} {
		if a := ada.Do("POST", path+"/recover", again.body).Want(t, http.StatusAccepted); a.Body["count"] != again.count {
			t.Errorf("%v: %s", again.body, a.Raw)
		}
	}
	if now := s.delivery(tested); now.Status != Failed {
		t.Errorf("a test was recovered: %+v", now)
	}
	for field, body := range map[string]any{
		"until": object{"since": times[1], "until": times[0]}, "since": object{"since": "yesterday"}, "body": "",
		"until: must": object{"since": times[1], "until": nil},
	} {
		wrong := ada.Do("POST", path+"/recover", body).Want(t, http.StatusBadRequest, api.CodeValidationFailed)
		if !strings.HasPrefix(wrong.Text("error"), field) {
			t.Errorf("%s: %s", field, wrong.Raw)
		}
	}
	ada.Do("PUT", path, object{"active": false}).Want(t, http.StatusOK)
	ada.Do("POST", path+"/recover", object{"since": noon}).Want(t, http.StatusConflict, api.CodeConflict)
}

// Recoveries that meet share the work: what fails once is sent once.
func TestRecoveriesAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	const n = 150
	for range n {
		s.deliver(path, failed)
	}
	answers := slicetest.AtOnce(4, func(int) slicetest.Answer { return ada.Do("POST", path+"/recover", object{"since": noon}) })
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

// A recovery that takes too long says where to go on.
func TestALongRecovery(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	const n = 2*recoverPage + 50
	for range n {
		s.clock.Advance(time.Millisecond)
		s.deliver(path, failed)
	}
	ticking := slicetest.NewClock(s.clock.Now(), recoverTime/recoverPage/2)
	s.service.now = ticking.Now
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

func TestTests(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok", object{"active": false, "secret": "s"})
	before := s.stored(path)
	for i, tc := range []struct {
		body any
		kind event.Type
	}{
		{nil, event.WebhookTest}, {object{}, event.WebhookTest}, {object{"type": "webhook.test"}, event.WebhookTest},
		{object{"type": "file.created"}, event.FileCreated}, {object{"type": "deployment.completed"}, event.DeploymentCompleted},
	} {
		a := ada.Do("POST", path+"/test", tc.body).Want(t, http.StatusOK)
		want := map[string]any{
			"at": s.stamp(), "statusCode": 200.0, "durationMs": 0.0, "error": nil, "response": a.Body["response"], "deliveryId": a.Text("deliveryId"),
		}
		if diff := cmp.Diff(want, a.Body); diff != "" {
			t.Error(diff)
		}
		got := s.receiver.Requests()[i]
		if err := got.Verify("s"); err != nil || got.Header.Get("X-Service-Event") != string(tc.kind) || got.Header.Get("X-Service-Delivery") != a.Text("deliveryId") {
			t.Errorf("%v, %v", err, got.Header)
		}
		one := ada.Get(path+"/deliveries/"+a.Text("deliveryId")).Want(t, http.StatusOK)
		if one.Text("status") != "succeeded" || one.Text("type") != string(tc.kind) || !strings.Contains(one.Raw, `"payload":`+string(got.Body)) ||
			one.Text("eventId") != got.ID() || len(one.List("attempts")) != 1 {
			t.Errorf("%s, sent was %s", one.Raw, got.Body)
		}
		if !strings.Contains(string(got.Body), ada.userID) {
			t.Errorf("who did it? %s", got.Body)
		}
	}
	if diff := cmp.Diff(before, s.stored(path)); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []any{object{"type": "file.*"}, object{"type": "*"}, object{"type": "lunch"}, object{"type": nil}, object{"type": 1}, "[]", "null", "{"} {
		ada.Do("POST", path+"/test", wrong).Want(t, http.StatusBadRequest, api.CodeValidationFailed)
	}
	if len(s.messages()) != 0 || s.receiver.Total() != 5 {
		t.Errorf("%d requests", s.receiver.Total())
	}
	failing := ada.hook("/status/500")
	a := ada.Do("POST", failing+"/test", nil).Want(t, http.StatusOK)
	if a.Body["statusCode"] != 500.0 || a.Text("error") == "" {
		t.Error(a.Raw)
	}
	one := s.delivery(Delivery{WebhookID: s.stored(failing).ID, ID: a.Text("deliveryId")})
	if one.Status != Failed || one.Due != "" || one.NextAttemptAt != nil {
		t.Errorf("%+v", one)
	}
	if a := ada.Do("POST", failing+"/recover", object{"since": noon}).Want(t, http.StatusAccepted); a.Body["count"] != 0.0 {
		t.Errorf("a test was recovered: %s", a.Raw)
	}
}

// Ten a minute, of each operation and webhook; those who may not don't count.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada, eve := s.user("ada"), s.user("eve")
	path, other := ada.hook("/ok"), ada.hook("/ok")
	d := s.deliver(path, succeeded)
	s.clock.Advance(20 * time.Second)
	calls := map[string]func(v *visitor) slicetest.Answer{
		"test":      func(v *visitor) slicetest.Answer { return v.Do("POST", path+"/test", nil) },
		"redeliver": func(v *visitor) slicetest.Answer { return v.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil) },
		"recover":   func(v *visitor) slicetest.Answer { return v.Do("POST", path+"/recover", object{"since": noon}) },
	}
	for name, call := range calls {
		call(eve).Want(t, http.StatusNotFound)
		for range 10 {
			if a := call(ada); a.Status >= 300 {
				t.Fatalf("%s: %s", name, a.Raw)
			}
		}
		a := call(ada).Want(t, http.StatusTooManyRequests, api.CodeRateLimited)
		if got := a.Header.Get("Retry-After"); got != "40" {
			t.Errorf("%s: Retry-After %s", name, got)
		}
	}
	ada.Do("POST", other+"/test", nil).Want(t, http.StatusOK)
	s.clock.Advance(40 * time.Second)
	for _, call := range calls {
		if a := call(ada); a.Status >= 300 {
			t.Error(a.Raw)
		}
	}
}

func TestADeliveryThatExpiresDuringARedelivery(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	d := s.deliver(path, failed)
	wire := s.interpose()
	wire.Before("PutItem", func() {
		if _, err := s.client.Do(t.Context(), s.webhooks.Delete(db.DeliveryKey(d.WebhookID, d.ID))); err != nil {
			t.Error(err)
		}
	})
	ada.Do("POST", path+"/deliveries/"+d.ID+"/redeliver", nil).Want(t, http.StatusNotFound, api.CodeDeliveryNotFound)
}

func TestWhereARecoveryBegins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		moment := time.UnixMilli(rapid.Int64Range(1, 1<<45).Draw(r, "moment"))
		entropy := [10]byte(rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(r, "entropy"))
		begin := justBefore(moment)
		if !id.Delivery.Valid(begin) || id.Delivery.From(moment, entropy) <= begin || id.Delivery.From(moment.Add(-time.Millisecond), entropy) > begin {
			r.Fatalf("%s is not just before %s", begin, moment)
		}
	})
	if begin := justBefore(time.Time{}); !id.Delivery.Valid(begin) || begin > id.Delivery.From(noon, [10]byte{}) {
		t.Error(begin)
	}
}
