package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/project"
	"devplatform/shared/workspace"
)

func conversationURL(projectID string) string { return "/api/ai/conversations/" + projectID }

func cancelURL(messageID string) string { return "/api/ai/messages/" + messageID + "/cancel" }

const usageURL = "/api/ai/usage"

func TestConversationResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	conversationID := "cnv_" + strings.TrimPrefix(app, "prj_")
	a := ada.Get(conversationURL(app)).Want(t, http.StatusOK)
	if want := fmt.Sprintf(`{"conversationId":%q,"projectId":%q,"messages":[]}`, conversationID, app); strings.TrimSpace(a.Raw) != want {
		t.Errorf("empty conversation: %s", a.Raw)
	}
	if a.Calls != 4 { // the session, the project 2, the messages
		t.Errorf("empty conversation: %d calls", a.Calls)
	}
	plain := w.say(ada, app, "Hi", "Hello")
	w.clock.Advance(time.Minute)
	rich, r := w.newTurn(ada, "A file", "Here")
	text := "export {}\n"
	rich.Answer.Code, rich.Answer.Status = text, conversation.Interrupted
	rich.Answer.Actions = []action.Action{{Type: action.CreateFile, Path: "/a.ts", Content: &text}}
	w.must(w.service.saveTurn(t.Context(), app, rich, settlement(r, 12, 3)))
	a = ada.Get(conversationURL(app)).Want(t, http.StatusOK)
	usageObject := map[string]any{"inputTokens": 12.0, "outputTokens": 3.0}
	want := map[string]any{"conversationId": conversationID, "projectId": app, "messages": []any{
		map[string]any{"id": plain.Question.ID, "role": "user", "content": "Hi", "status": "complete", "createdAt": "2031-05-15T10:05:20.501Z"},
		map[string]any{"id": plain.Answer.ID, "role": "assistant", "content": "Hello", "model": "script-1", "usage": usageObject, "status": "complete", "createdAt": "2031-05-15T10:05:20.501Z"},
		map[string]any{"id": rich.Question.ID, "role": "user", "content": "A file", "status": "complete", "createdAt": "2031-05-15T10:06:20.501Z"},
		map[string]any{
			"id": rich.Answer.ID, "role": "assistant", "content": "Here", "model": "script-1", "usage": usageObject, "status": "interrupted", "createdAt": "2031-05-15T10:06:20.501Z",
			"code": text, "actions": []any{map[string]any{"type": "create_file", "path": "/a.ts", "content": text}},
		},
	}}
	if diff := cmp.Diff(want, a.Body); diff != "" {
		t.Error(diff)
	}
	if a.Calls != 5 { // and the record of the last clear
		t.Errorf("%d calls", a.Calls)
	}
	ada.Do(http.MethodDelete, conversationURL(app), nil).Want(t, http.StatusOK)
	if a := ada.Get(conversationURL(app)).Want(t, http.StatusOK); len(a.List("messages")) != 0 {
		t.Errorf("after the clear: %s", a.Raw)
	}
}

func TestConversationPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada, eve := w.user("ada"), w.user("eve")
	app, other := ada.project("", project.Private), ada.project("", project.Private)
	for i := range 30 {
		w.say(ada, app, fmt.Sprint("q", i), fmt.Sprint("a", i))
	}
	first := ada.Get(conversationURL(app)).Want(t, http.StatusOK)
	if n := len(first.List("messages")); n != 50 {
		t.Errorf("%d messages by default", n)
	}
	rest := ada.Get(conversationURL(app)+"?limit=100&cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	if n := len(rest.List("messages")); n != 10 || rest.Text("nextCursor") != "" || rest.Calls != 5 {
		t.Errorf("second page: %d messages in %d calls, next cursor %q", n, rest.Calls, rest.Text("nextCursor"))
	}
	exact := ada.Get(conversationURL(app)+"?limit=60").Want(t, http.StatusOK)
	if len(exact.List("messages")) != 60 || exact.Text("nextCursor") != "" {
		t.Errorf("limit 60: %d messages, next cursor %q", len(exact.List("messages")), exact.Text("nextCursor"))
	}
	team := w.workspace(map[*browser]workspace.Role{ada: workspace.Owner, eve: workspace.Owner})
	shared := ada.project(team, project.Team)
	w.say(ada, shared, "q", "a")
	cursor := ada.Get(conversationURL(shared)+"?limit=1").Want(t, http.StatusOK).Text("nextCursor")
	for name, a := range map[string]answered{
		"another list's": ada.Get(conversationURL(other) + "?cursor=" + first.Text("nextCursor")),
		"another user's": eve.Get(conversationURL(shared) + "?cursor=" + cursor),
		"an invalid":     ada.Get(conversationURL(app) + "?cursor=x"),
	} {
		if a.Status != http.StatusBadRequest || a.Text("code") != string(fault.CodeValidationFailed) {
			t.Errorf("%s cursor: %d %s", name, a.Status, a.Raw)
		}
	}
	for _, limit := range []string{"0", "101", "-1", "x"} {
		ada.Get(conversationURL(app)+"?limit="+limit).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}

// A page has only as many messages as fit into a response.
func TestConversationPagesOfLongMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	app := ada.project("", project.Private)
	long := strings.Repeat(`"\`, 250_000) // four times as long once it is escaped twice
	for range 2 {
		w.say(ada, app, long, long)
	}
	n, pages := 0, 0
	for cursor := ""; ; pages++ {
		a := ada.Get(conversationURL(app)+"?cursor="+cursor).Want(t, http.StatusOK)
		messages := a.List("messages")
		n += len(messages)
		if len(messages) == 0 || len(a.Raw)+strings.Count(a.Raw, `"`)+strings.Count(a.Raw, `\`) > 4<<20 && len(messages) > 1 {
			t.Fatalf("a page of %d messages, %d bytes", len(messages), len(a.Raw))
		}
		if cursor = a.Text("nextCursor"); cursor == "" {
			break
		}
	}
	if n != 4 || pages == 0 {
		t.Errorf("%d messages after %d pages", n, pages)
	}
}

// conversationCalls are the endpoints of a conversation, with the permission that each needs.
var conversationCalls = []struct {
	method string
	action workspace.Action
}{{http.MethodGet, workspace.Read}, {http.MethodDelete, workspace.Write}}

// Access follows from the permission table. The conversation of a public project is open to its workspace only.
func TestConversationAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	callers := map[*browser]workspace.Role{
		w.user("outsider"): "", w.user("viewer"): workspace.Viewer, w.user("member"): workspace.Member,
		w.user("admin"): workspace.Admin, w.user("owner"): workspace.Owner,
	}
	creator := w.user("creator")
	roles := map[*browser]workspace.Role{creator: workspace.Member}
	for b, role := range callers {
		if role != "" {
			roles[b] = role
		}
	}
	team := w.workspace(roles)
	never := creator.Get(conversationURL("prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK")).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	for _, visibility := range []project.Visibility{project.Private, project.Team, project.Public} {
		app := creator.project(team, visibility)
		for b, role := range roles {
			sees := visibility == project.Public || (role.May(workspace.Read) &&
				(visibility == project.Team || b == creator || role.May(workspace.Moderate)))
			checkCalls(t, w, creator, b, role, app, sees, never.Raw)
		}
		for b, role := range callers {
			if role == "" {
				checkCalls(t, w, creator, b, role, app, visibility == project.Public, never.Raw)
			}
		}
	}
	app := creator.project(team, project.Public)
	for _, id := range []string{"x", "prj_", creator.userID, conversation.ID(app), strings.ToLower(app)} {
		for _, call := range conversationCalls {
			creator.Do(call.method, conversationURL(id), nil).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		}
	}
	creator.SetCookie("session", "nobody")
	for _, call := range conversationCalls {
		creator.Do(call.method, conversationURL(app), nil).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
	creator.Get(usageURL).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	creator.Do(http.MethodPost, cancelURL("msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"), nil).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// checkCalls makes every call as b on a conversation with two messages.
func checkCalls(t *testing.T, w *world, creator, b *browser, role workspace.Role, app string, sees bool, never string) {
	t.Helper()
	for _, call := range conversationCalls {
		w.must(creator.clear(t.Context(), w.service, app))
		w.say(creator, app, "secret", "answer")
		want := http.StatusForbidden
		switch {
		case !sees:
			want = http.StatusNotFound
		case role.May(call.action):
			want = http.StatusOK
		}
		a := b.Do(call.method, conversationURL(app), nil)
		if a.Status != want || (want == http.StatusNotFound && a.Raw != never) {
			t.Errorf("%s by %s: %d %s, want %d", call.method, b.name, a.Status, a.Raw, want)
		}
		left := len(w.storedParts(app))
		if cleared := want == http.StatusOK && call.method == http.MethodDelete; cleared != (left == 0) {
			t.Errorf("after %s by %s, %d parts are stored", call.method, b.name, left)
		}
	}
}

func TestUsageResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.MonthlyTokens = 5000 }))
	ada, bob := w.user("ada"), w.user("bob")
	want := func(b *browser, month string, in, out, reserved, remaining, calls int, resets string) {
		t.Helper()
		a := b.Get(usageURL).Want(t, http.StatusOK)
		expected := map[string]any{
			"month": month, "inputTokens": float64(in), "outputTokens": float64(out), "totalTokens": float64(in + out),
			"reservedTokens": float64(reserved), "limit": 5000.0, "remaining": float64(remaining), "calls": float64(calls), "resetsAt": resets,
		}
		if diff := cmp.Diff(expected, a.Body); diff != "" || a.Calls != 2 {
			t.Errorf("%d calls: %s", a.Calls, diff)
		}
	}
	first, second := w.reservation(ada.userID, 2000), w.reservation(ada.userID, 3000)
	w.must(w.reserve(first))
	w.must(w.reserve(second))
	want(ada, may, 0, 0, 5000, 0, 2, "2031-06-01T00:00:00.000Z")
	w.must(w.settle(first, 1000, 200))
	want(ada, may, 1000, 200, 3000, 800, 2, "2031-06-01T00:00:00.000Z")
	w.must(w.settle(second, 4000, 200)) // more than was reserved
	want(ada, may, 5000, 400, 0, 0, 2, "2031-06-01T00:00:00.000Z")
	want(bob, may, 0, 0, 0, 5000, 0, "2031-06-01T00:00:00.000Z")
	w.clock.Advance(17 * 24 * time.Hour)
	want(ada, june, 0, 0, 0, 5000, 0, "2031-07-01T00:00:00.000Z")
	w.clock.Advance(time.Date(2031, 12, 31, 23, 59, 59, 0, time.UTC).Sub(w.clock.Now()))
	want(ada, "2031-12", 0, 0, 0, 5000, 0, "2032-01-01T00:00:00.000Z")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, eve := w.user("ada"), w.user("eve")
	app := ada.project("", project.Private)
	turn, r := w.newTurn(ada, "q", "a")
	isCancelled := func(want bool) {
		t.Helper()
		if got, err := w.service.quota.IsCancelled(t.Context(), r); err != nil || got != want {
			t.Errorf("cancelled %v, %v", got, err)
		}
	}
	isCancelled(false)
	for _, b := range []*browser{eve, ada} {
		for _, id := range []string{turn.Question.ID, "msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK", app, "x", strings.ToLower(r.MessageID), r.MessageID + "%230"} {
			b.Do(http.MethodPost, cancelURL(id), nil).Want(t, http.StatusNotFound, fault.CodeMessageNotFound)
		}
	}
	eve.Do(http.MethodPost, cancelURL(r.MessageID), nil).Want(t, http.StatusNotFound, fault.CodeMessageNotFound)
	isCancelled(false)
	for range 2 {
		if a := ada.Do(http.MethodPost, cancelURL(r.MessageID), nil).Want(t, http.StatusAccepted); a.Calls != 2 || a.Body["success"] != true {
			t.Errorf("%d calls: %s", a.Calls, a.Raw)
		}
		isCancelled(true)
	}
	if err := w.service.saveTurn(t.Context(), app, turn, settlement(r, 12, 3)); !errors.Is(err, quota.ErrCancelled) { // a cancelled answer is not complete
		t.Errorf("%v", err)
	}
	turn.Answer.Status = conversation.Interrupted
	w.must(w.service.saveTurn(t.Context(), app, turn, settlement(r, 12, 3)))
	ended, last := w.newTurn(ada, "q2", "a2")
	w.must(w.service.saveTurn(t.Context(), app, ended, settlement(last, 12, 3)))
	end := func() any { return w.dump(w.names.conversations)[db.GenerationKey(ada.userID, last.MessageID)]["end"] }
	before := end()
	ada.Do(http.MethodPost, cancelURL(last.MessageID), nil).Want(t, http.StatusAccepted)
	if after := end(); before == nil || !reflect.DeepEqual(after, before) {
		t.Errorf("%+v became %+v", before, after)
	}
	if diff := cmp.Diff([]string{"q", "a", "q2", "a2"}, said(ada.listed(app, 50))); diff != "" {
		t.Error(diff)
	}
	if got, err := w.service.quota.IsCancelled(t.Context(), w.reservation(ada.userID, 1)); got || err != nil {
		t.Errorf("an answer that is not in progress: %v, %v", got, err)
	}
	wire := w.interpose(nil)
	for operation, f := range map[string]dynamotest.Fault{"UpdateItem": dynamotest.LostReply, "GetItem": dynamotest.ServerError} {
		wire.Break(operation, f)
		ada.Do(http.MethodPost, cancelURL(r.MessageID), nil).Want(t, http.StatusAccepted)
		_, err := w.service.quota.IsCancelled(t.Context(), r)
		if (operation == "GetItem") != (err != nil) {
			t.Errorf("%s: %v", operation, err)
		}
	}
	wire.Break("UpdateItem", dynamotest.ServerError)
	ada.Do(http.MethodPost, cancelURL(r.MessageID), nil).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
}

// A failed read is an error, not an empty conversation, and reveals nothing to users without access.
func TestListFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, eve := w.user("ada"), w.user("eve")
	app := ada.project("", project.Private)
	w.say(ada, app, "q", "a")
	wire := w.interpose(nil)
	for _, operation := range []string{"Query", "GetItem", "BatchGetItem"} {
		wire.Break(operation, dynamotest.Throttled)
		ada.Get(conversationURL(app)).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
		if operation != "BatchGetItem" {
			eve.Get(conversationURL(app)).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		}
	}
	wire.Break("GetItem", dynamotest.CutLine)
	ada.Get(usageURL).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
}
