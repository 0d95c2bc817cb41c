package webhook

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

func TestCreateUpdateDelete(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	created := ada.Do("POST", "/api/webhooks", object{
		"url": "https://example.com/hooks", "events": []string{"project.*", "file.created", "project.*"}, "description": "Builds.",
	}).Want(t, http.StatusCreated)
	secret, made := created.Body["secret"].(string)
	if !made || !strings.HasPrefix(secret, "whsec_") || len(secret) != len("whsec_")+44 {
		t.Errorf("the secret is %q", secret)
	}
	want := map[string]any{
		"id": created.Text("id"), "url": "https://example.com/hooks", "events": []any{"project.*", "file.created"}, "active": true,
		"description": "Builds.", "workspaceId": ada.personal, "projectId": nil, "createdAt": s.stamp(), "updatedAt": s.stamp(),
		"lastDelivery": nil, "disabledReason": nil,
	}
	delete(created.Body, "secret")
	if diff := cmp.Diff(want, created.Body); diff != "" {
		t.Error(diff)
	}
	if listed := ada.Get("/api/webhooks").Want(t, http.StatusOK); !cmp.Equal(listed.Body, map[string]any{"webhooks": []any{want}}) {
		t.Errorf("list: %s", listed.Raw)
	}
	path := "/api/webhooks/" + created.Text("id")
	s.clock.Advance(time.Minute)
	changed := ada.Do("PUT", path, object{"active": false, "events": []string{"*"}, "workspaceId": "ws_other", "projectId": "prj_other"}).Want(t, http.StatusOK)
	want["active"], want["events"], want["updatedAt"] = false, []any{"*"}, s.stamp()
	if diff := cmp.Diff(want, changed.Body); diff != "" {
		t.Error(diff)
	}
	done := ada.Do("DELETE", path, nil).Want(t, http.StatusOK)
	if done.Body["success"] != true {
		t.Errorf("deleted: %s", done.Raw)
	}
	for _, a := range []slicetest.Response{ada.Do("DELETE", path, nil), ada.Do("PUT", path, object{}), ada.Get(path + "/deliveries")} {
		a.Want(t, http.StatusNotFound, fault.CodeWebhookNotFound)
	}
	if left := s.dump(); strings.Contains(left, "WEBHOOK#") || !strings.Contains(left, `"n":0`) {
		t.Errorf("stored after the test: %s", left)
	}
}

func TestCreateValidation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	team := s.workspace(nil) // older than her own
	ada := s.user("ada")
	s.join(team, ada, workspace.Admin)
	inTeam, personal := s.project(team, "team", ada), s.project(ada.personal, "private", ada)
	long := strings.Repeat("é", 2048-utf8.RuneCountInString("https://é.example/"))
	for name, tc := range map[string]struct {
		fields object
		wrong  []string // the fields that are named; none: it is made
	}{
		"everything":            {object{"url": "https://example.com:8443/a?b=c", "events": []string{"*"}, "secret": "s", "description": "", "active": false}, nil},
		"every type":            {object{"events": event.Subscribable()}, nil},
		"a secret of null":      {object{"secret": nil}, nil},
		"the longest":           {object{"url": "https://é.example/" + long, "secret": strings.Repeat("☃", 256), "description": strings.Repeat("☃", 2000)}, nil},
		"of a team":             {object{"workspaceId": team}, nil},
		"of a project":          {object{"projectId": inTeam}, nil},
		"of both":               {object{"projectId": inTeam, "workspaceId": team}, nil},
		"of both, not together": {object{"projectId": personal, "workspaceId": team}, []string{"workspaceId"}},
		"nothing":               {object{"url": nil, "events": nil}, []string{"url", "events"}},
		"too long":              {object{"url": "https://é.example/" + long + "x", "secret": strings.Repeat("☃", 257), "description": strings.Repeat("☃", 2001)}, []string{"url", "secret", "description"}},
		"empty":                 {object{"url": "", "events": []string{}, "secret": ""}, []string{"url", "events", "secret"}},
		"too many events":       {object{"events": strings.Split(strings.Repeat("*,", 20)+"*", ",")}, []string{"events"}},
		"unknown events":        {object{"events": []string{"*", "project.eaten", "project*", "*.created", "webhook.test", ""}}, []string{"events[1]", "events[2]", "events[3]", "events[4]", "events[5]"}},
		"other kinds":           {object{"url": 1, "events": "*", "secret": 1, "active": "yes", "description": 1}, []string{"url", "events", "secret", "active", "description"}},
		"null":                  {object{"active": nil, "description": nil, "workspaceId": nil}, []string{"active", "description", "workspaceId"}},
		"no project":            {object{"projectId": nil}, nil}, // the form of responses
		"not a web address":     {object{"url": "ftp://example.com/", "events": []string{"x"}}, []string{"url", "events[0]"}},
		"relative":              {object{"url": "/hooks"}, []string{"url"}},
		"credentials":           {object{"url": "https://me:secret@example.com/"}, []string{"url"}},
	} {
		fields := object{"url": "https://example.com/", "events": []string{"*"}}
		for field, value := range tc.fields {
			fields[field] = value
		}
		if name == "nothing" {
			fields = object{}
		}
		a := ada.Do("POST", "/api/webhooks", fields)
		if tc.wrong == nil {
			a.Want(t, http.StatusCreated)
			where := ada.personal
			if fields["workspaceId"] == team || fields["projectId"] == inTeam {
				where = team
			}
			if a.Text("workspaceId") != where || a.Body["projectId"] != fields["projectId"] || a.Body["active"] != (fields["active"] == nil) {
				t.Errorf("%s: %s", name, a.Raw)
			}
			if made, sent := a.Text("secret") != "", fields["secret"] != nil; made == sent {
				t.Errorf("%s: %s", name, a.Raw)
			}
			continue
		}
		a.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		for _, field := range tc.wrong {
			if !strings.Contains("; "+a.Text("error"), "; "+field+": ") {
				t.Errorf("%s: %s is not named in %q", name, field, a.Text("error"))
			}
		}
		if strings.Contains(a.Raw, "secret@") {
			t.Errorf("%s: quoted in %s", name, a.Raw)
		}
	}
}

func TestPlainHTTPIsForTheLocalPlatformOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	s.private = false
	s.serve(s.sdk, s.sqs)
	for _, a := range []slicetest.Response{
		ada.Do("POST", "/api/webhooks", object{"url": s.receiver.URL("/ok"), "events": []string{"*"}}),
		ada.Do("PUT", path, object{"url": "http://example.com/"}),
	} {
		a.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.Contains(a.Text("error"), "url: must be an absolute https URL") {
			t.Error(a.Raw)
		}
	}
	ada.Do("PUT", path, object{"url": "https://127.0.0.1/"}).Want(t, http.StatusOK)
	tested := ada.Do("POST", path+"/test", object{}).Want(t, http.StatusOK)
	if tested.Text("error") != "the address is not public" || tested.Body["statusCode"] != nil || tested.Body["response"] != nil {
		t.Error(tested.Raw)
	}
}

// An update keeps the stored health, unless the endpoint is a new one.
func TestUpdateResetsHealthForANewEndpoint(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		put       object
		another   bool
		unchanged bool
	}{
		"nothing":           {object{}, false, true},
		"the same":          {object{"url": "URL", "events": []string{"*"}, "secret": "old", "description": "", "active": false}, false, true},
		"a description":     {object{"description": "new"}, false, false},
		"events":            {object{"events": []string{"file.*"}}, false, false},
		"a secret":          {object{"secret": "new"}, false, false},
		"another url":       {object{"url": "https://example.com/elsewhere"}, true, false},
		"active":            {object{"active": true}, true, false},
		"active, with more": {object{"active": true, "description": "new"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			ada := s.user("ada")
			path := ada.hook("/ok", object{"secret": "old"})
			at := clock.Stamp(s.clock.Now())
			sick := delivery.Health{Timeouts: 3, Failures: 4, FailingSince: &at, LastAt: &at, LastStatus: delivery.Failed, ProbeUntil: &at}
			s.change(path, func(w *delivery.Webhook) {
				w.Health, w.Active, w.DisabledReason, w.Revision = sick, false, "it is gone", w.Revision+1
			})
			before := s.stored(path)
			s.clock.Advance(time.Second)
			if tc.put["url"] == "URL" {
				tc.put["url"] = before.URL
			}
			a := ada.Do("PUT", path, tc.put).Want(t, http.StatusOK)
			after := s.stored(path)
			if tc.unchanged {
				if diff := cmp.Diff(before, after); diff != "" {
					t.Error(diff)
				}
				return
			}
			want, reason := sick, "it is gone"
			if tc.another {
				want = delivery.Health{LastAt: &at, LastStatus: delivery.Failed}
			}
			if after.Active { // with only a new URL, the webhook stays disabled by the service
				reason = ""
			}
			if diff := cmp.Diff(want, after.Health); diff != "" || after.DisabledReason != reason {
				t.Error(diff, after.DisabledReason)
			}
			if (after.Generation != before.Generation) != tc.another || after.Revision != before.Revision+1 || a.Text("updatedAt") != s.stamp() {
				t.Errorf("before %+v, after %+v", before, after)
			}
			if last, _ := a.Body["lastDelivery"].(map[string]any); last["status"] != "failed" || last["at"] != at.String() {
				t.Error(a.Raw)
			}
			if a.Text("disabledReason") != reason || a.Body["secret"] != nil {
				t.Error(a.Raw)
			}
		})
	}
}

// An update that conflicts with another writer is decided again.
func TestUpdateConflicts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	wire := s.interpose()
	w := s.stored(path)
	wire.Before("UpdateItem", func() { // the service disables it between the read and the write
		s.change(path, func(w *delivery.Webhook) { w.Active, w.DisabledReason, w.Revision = false, "it is gone", w.Revision+1 })
	})
	a := ada.Do("PUT", path, object{"description": "new", "active": true}).Want(t, http.StatusOK)
	if a.Body["active"] != true || a.Body["disabledReason"] != nil || s.stored(path).Generation != w.Generation+1 {
		t.Error(a.Raw)
	}
	wire.Before("UpdateItem", func() { ada.Do("DELETE", path, nil).Want(t, http.StatusOK) })
	ada.Do("PUT", path, object{"description": "newer"}).Want(t, http.StatusNotFound, fault.CodeWebhookNotFound)
	if left := s.dump(); strings.Contains(left, "newer") {
		t.Errorf("stored after the test: %s", left)
	}
}

func TestLostResponses(t *testing.T) {
	t.Parallel()
	for _, fault := range []dynamotest.Fault{dynamotest.LostReply, dynamotest.Throttled} {
		s := newSite(t)
		ada := s.user("ada")
		wire := s.interpose()
		wire.Break("TransactWriteItems", fault.Times(1))
		path := ada.hook("/ok", object{"secret": "old"})
		if n := wire.Hits(); n != 1 {
			t.Errorf("%s: %d faults", fault.Name, n)
		}
		wire.Break("UpdateItem", fault.Times(1))
		ada.Do("PUT", path, object{"secret": "new", "description": "new"}).Want(t, http.StatusOK)
		if w := s.stored(path); w.Revision != 2 || len(w.Previous) != 1 {
			t.Errorf("%s: %+v", fault.Name, w)
		}
		wire.Break("UpdateItem", fault.Times(1))
		if made := ada.Do("PUT", path, object{"secret": nil}).Want(t, http.StatusOK).Text("secret"); made == "" || s.stored(path).Revision != 3 {
			t.Errorf("%s: the generated secret is missing in the response", fault.Name)
		}
		wire.Break("TransactWriteItems", fault.Times(1))
		ada.Do("DELETE", path, nil).Want(t, http.StatusOK)
	}
}

// A workspace has at most twenty webhooks, even if they are created concurrently. Concurrent deletions of one webhook
// free one place.
func TestQuota(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	create := func(int) slicetest.Response {
		for {
			a := ada.Do("POST", "/api/webhooks", object{"url": "https://example.com/", "events": []string{"*"}})
			if a.Status != http.StatusConflict { // "safe to retry"
				return a
			}
		}
	}
	answers := slicetest.Concurrently(maxWebhooks+5, create)
	if diff := cmp.Diff(map[int]int{http.StatusCreated: maxWebhooks, http.StatusPaymentRequired: 5}, slicetest.CountStatuses(answers)); diff != "" {
		t.Fatal(diff)
	}
	full := create(0).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if !strings.Contains(full.Text("error"), "20 webhooks") {
		t.Error(full.Raw)
	}
	hooks := ada.Get("/api/webhooks").Texts("webhooks", "id")
	answers = slicetest.Concurrently(4, func(int) slicetest.Response { return ada.Do("DELETE", "/api/webhooks/"+hooks[3], nil) })
	if diff := cmp.Diff(map[int]int{http.StatusOK: 1, http.StatusNotFound: 3}, slicetest.CountStatuses(answers)); diff != "" {
		t.Error(diff)
	}
	answers = slicetest.Concurrently(3, create)
	if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusPaymentRequired: 2}, slicetest.CountStatuses(answers)); diff != "" {
		t.Error(diff)
	}
	s.user("grace").hook("/ok") // a workspace of her own
}

// The webhooks of deleted projects do not count against the limit of the workspace. They are deleted when it is
// reached.
func TestQuotaIgnoresDeletedProjects(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	deleted, existing := s.project(ada.personal, "team", ada), s.project(ada.personal, "team", ada)
	var want []string
	for i := range maxWebhooks {
		switch {
		case i < 3:
			ada.hook("/ok", object{"projectId": deleted})
		case i < 6:
			want = append(want, ada.hook("/ok", object{"projectId": existing}))
		default:
			want = append(want, ada.hook("/ok"))
		}
	}
	create := func(more object) slicetest.Response {
		fields := object{"url": "https://example.com/", "events": []string{"*"}}
		for name, value := range more {
			fields[name] = value
		}
		return ada.Do("POST", "/api/webhooks", fields)
	}
	create(nil).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	s.deleteProject(ada.personal, deleted)
	for range 3 {
		want = append(want, "/api/webhooks/"+create(nil).Want(t, http.StatusCreated).Text("id"))
	}
	create(nil).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	create(object{"projectId": deleted}).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	var got []string
	for _, id := range ada.Get("/api/webhooks").Texts("webhooks", "id") {
		got = append(got, "/api/webhooks/"+id)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if left := s.dump(); strings.Count(left, " WEBHOOK:{") != maxWebhooks || !strings.Contains(left, `"n":20`) {
		t.Error("the count or the pointers do not match the webhooks")
	}
}

// After the deletion of a webhook nothing more is sent, and its deliveries cannot be read. They expire 30 days after
// their events.
func TestDeliveriesOfDeletedWebhook(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok")
	pending, redelivered := s.deliver(path, nil), s.deliver(path, failed)
	ada.Do("POST", path+"/deliveries/"+redelivered.ID+"/redeliver", nil).Want(t, http.StatusAccepted)
	ada.Do("DELETE", path, nil).Want(t, http.StatusOK)
	for _, a := range []slicetest.Response{
		ada.Get(path + "/deliveries"), ada.Get(path + "/deliveries/" + pending.ID),
		ada.Do("POST", path+"/deliveries/"+pending.ID+"/redeliver", nil), ada.Do("POST", path+"/recover", object{"since": noon}),
	} {
		a.Want(t, http.StatusNotFound, fault.CodeWebhookNotFound)
	}
	logger := slog.New(s.log)
	worker := delivery.NewWorker(delivery.WorkerDeps{
		Deps: delivery.Deps{
			DB: s.client, Webhooks: s.webhooks, Queue: queue.Wrap(s.sqs).Queue(s.queueURL), Clock: s.clock.Now, Logger: logger,
			Metrics: metric.New(logger, "test", s.clock.Now),
		},
		Keys: s.keys, Sender: sender.New(sender.Options{AllowPrivate: true, Now: s.clock.Now}),
	})
	for _, d := range []delivery.Delivery{pending, redelivered} {
		body := `{"workspaceId":"` + d.WorkspaceID + `","webhookId":"` + d.WebhookID + `","deliveryId":"` + d.ID + `"}`
		if errs := worker.Handle(t.Context(), []lambdafn.QueueMessage{{ID: "m", ReceiptHandle: "r", Body: body}}); errs[0] != nil {
			t.Error(errs)
		}
		now := s.delivery(d)
		if now.Status != delivery.Failed || now.Reason != "the webhook was deleted" || now.ExpiresAt != eventTime(d).Add(retention).Unix() {
			t.Errorf("%+v", now)
		}
	}
	if n := s.receiver.Total(); n != 0 {
		t.Errorf("%d requests after the deletion", n)
	}
	if !strings.Contains(deleteDescription, "can no longer be read") || !strings.Contains(deleteDescription, "deleted 30 days after their events") {
		t.Errorf("described as: %s", deleteDescription)
	}
}

// eventTime returns the time of the event of a delivery.
func eventTime(d delivery.Delivery) time.Time {
	at, _ := id.Delivery.Time(d.ID)
	return at
}

// No concurrent update is lost.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok", object{"secret": "s"})
	puts := []object{{"description": "new"}, {"events": []string{"file.*"}}, {"active": false}, {"url": "https://example.com/new"}, {"secret": "t"}}
	answers := slicetest.Concurrently(len(puts), func(i int) slicetest.Response { return ada.Do("PUT", path, puts[i]) })
	if diff := cmp.Diff(map[int]int{http.StatusOK: len(puts)}, slicetest.CountStatuses(answers)); diff != "" {
		t.Fatal(diff)
	}
	w := s.stored(path)
	if w.Description != "new" || w.Events[0] != "file.*" || w.Active || w.URL != "https://example.com/new" || len(w.Previous) != 1 || w.Revision != 6 {
		t.Errorf("%+v", w)
	}
}

func TestCreateForDeletedProject(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	project := s.project(ada.personal, "private", ada)
	wire := s.interpose()
	wire.Before("TransactWriteItems", func() {
		if _, err := s.client.Do(t.Context(), s.projects.Delete(db.TreeKey(project))); err != nil {
			t.Error(err)
		}
	})
	ada.Do("POST", "/api/webhooks", object{"url": "https://example.com/", "events": []string{"*"}, "projectId": project}).
		Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	if left := s.dump(); left != "map[]" {
		t.Errorf("stored after the test: %s", left)
	}
}

func TestListWebhooks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada, grace := s.user("ada"), s.user("grace")
	administers := s.workspace(map[*visitor]workspace.Role{ada: workspace.Admin, grace: workspace.Owner})
	views := s.workspace(map[*visitor]workspace.Role{ada: workspace.Viewer, grace: workspace.Owner})
	outside := s.workspace(map[*visitor]workspace.Role{grace: workspace.Owner})
	var want []string
	for i, workspaceID := range []string{administers, ada.personal, views, administers, outside, ada.personal, administers} {
		by := grace
		if workspaceID == ada.personal {
			by = ada
		}
		path := by.hook("/ok", object{"workspaceId": workspaceID})
		if i != 2 && i != 4 {
			want = append(want, path[len("/api/webhooks/"):])
		}
	}
	all := ada.Get("/api/webhooks").Want(t, http.StatusOK)
	if diff := cmp.Diff(want, all.Texts("webhooks", "id")); diff != "" {
		t.Error(diff)
	}
	if all.Calls != 2+2 { // session, memberships, and one for each of the two workspaces that she administers
		t.Errorf("%d calls to DynamoDB", all.Calls)
	}
	if strings.Contains(all.Raw, "secret") {
		t.Error("a secret is listed")
	}
	only := ada.Get("/api/webhooks?workspaceId="+administers).Want(t, http.StatusOK)
	if diff := cmp.Diff([]string{want[0], want[2], want[4]}, only.Texts("webhooks", "id")); diff != "" || only.Calls != 3 {
		t.Error(diff, only.Calls)
	}
	ada.Get("/api/webhooks?workspaceId="+views).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	for _, unknown := range []string{outside, "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "team"} {
		ada.Get("/api/webhooks?workspaceId="+unknown).Want(t, http.StatusNotFound, fault.CodeWorkspaceNotFound)
	}
	var paged []string
	cursor := ""
	for {
		page := ada.Get("/api/webhooks?limit=2"+cursor).Want(t, http.StatusOK)
		paged = append(paged, page.Texts("webhooks", "id")...)
		if page.Text("nextCursor") == "" {
			break
		}
		cursor = "&cursor=" + page.Text("nextCursor")
		grace.Get("/api/webhooks?limit=2"+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		ada.Get("/api/webhooks?workspaceId="+administers+cursor).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	if diff := cmp.Diff(want, paged); diff != "" {
		t.Error(diff)
	}
}
