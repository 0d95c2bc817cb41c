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
	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

const (
	unknownProjectID = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	unknownMessageID = "msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
)

func TestConversationResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	conversationID := "cnv_" + strings.TrimPrefix(projectID, "prj_")
	got := ada.Get(conversationURL(projectID)).Want(t, http.StatusOK)
	empty := fmt.Sprintf(`{"conversationId":%q,"projectId":%q,"messages":[]}`, conversationID, projectID)
	if strings.TrimSpace(got.Raw) != empty {
		t.Errorf("empty conversation: got %s, want %s", got.Raw, empty)
	}
	if got.Calls != 3 { // two for the session and the project, one for the messages
		t.Errorf("empty conversation: got %d calls, want 3", got.Calls)
	}

	first := f.storeTurn(ada, projectID, "Hi", "Hello")
	f.clock.Advance(time.Minute)
	second, r := f.newTurn(ada, "A file", "Here")
	text := "export {}\n"
	second.Answer.Code, second.Answer.Status = text, conversation.Interrupted
	second.Answer.Actions = []action.Action{{Type: action.CreateFile, Path: "/a.ts", Content: &text}}
	f.must(f.service.saveTurn(t.Context(), projectID, second, settlement(r, 12, 3)))
	got = ada.Get(conversationURL(projectID)).Want(t, http.StatusOK)
	usage := map[string]any{"inputTokens": 12.0, "outputTokens": 3.0}
	want := map[string]any{"conversationId": conversationID, "projectId": projectID, "messages": []any{
		map[string]any{
			"id": first.Question.ID, "role": "user", "content": "Hi",
			"status": "complete", "createdAt": "2031-05-15T10:05:20.501Z",
		},
		map[string]any{
			"id": first.Answer.ID, "role": "assistant", "content": "Hello", "model": "fake-model", "usage": usage,
			"status": "complete", "createdAt": "2031-05-15T10:05:20.501Z",
		},
		map[string]any{
			"id": second.Question.ID, "role": "user", "content": "A file",
			"status": "complete", "createdAt": "2031-05-15T10:06:20.501Z",
		},
		map[string]any{
			"id": second.Answer.ID, "role": "assistant", "content": "Here", "model": "fake-model", "usage": usage,
			"code":    text,
			"actions": []any{map[string]any{"type": "create_file", "path": "/a.ts", "content": text}},
			"status":  "interrupted", "createdAt": "2031-05-15T10:06:20.501Z",
		},
	}}
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	if got.Calls != 4 { // one more, which reads ClearedUpTo
		t.Errorf("got %d calls, want 4", got.Calls)
	}

	ada.Do(http.MethodDelete, conversationURL(projectID), nil).Want(t, http.StatusOK)
	if messages := ada.messages(projectID); len(messages) != 0 {
		t.Errorf("after the clear: got messages %v, want none", messages)
	}
}

func TestConversationPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	projectID, otherID := ada.newProject(), ada.newProject()
	for i := range 30 {
		f.storeTurn(ada, projectID, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
	}
	url := conversationURL(projectID)
	first := ada.Get(url).Want(t, http.StatusOK)
	if n := len(first.List("messages")); n != 50 {
		t.Errorf("first page: got %d messages, want 50", n)
	}
	second := ada.Get(url+"?limit=100&cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	if n := len(second.List("messages")); n != 10 || second.Text("nextCursor") != "" || second.Calls != 4 {
		t.Errorf("second page: got %d messages in %d calls and next cursor %q, want 10 in 4 calls and no cursor",
			n, second.Calls, second.Text("nextCursor"))
	}
	all := ada.Get(url+"?limit=60").Want(t, http.StatusOK)
	if n := len(all.List("messages")); n != 60 || all.Text("nextCursor") != "" {
		t.Errorf("limit 60: got %d messages and next cursor %q, want 60 and no cursor", n, all.Text("nextCursor"))
	}

	workspaceID := f.newWorkspace(map[*user]workspace.Role{ada: workspace.Owner, grace: workspace.Owner})
	sharedID := ada.newProjectIn(workspaceID, workspace.Team)
	f.storeTurn(ada, sharedID, "question", "answer")
	cursor := ada.Get(conversationURL(sharedID)+"?limit=1").Want(t, http.StatusOK).Text("nextCursor")
	for name, got := range map[string]slicetest.Response{
		"cursor of another list": ada.Get(conversationURL(otherID) + "?cursor=" + first.Text("nextCursor")),
		"cursor of another user": grace.Get(conversationURL(sharedID) + "?cursor=" + cursor),
		"invalid cursor":         ada.Get(url + "?cursor=x"),
		"limit 0":                ada.Get(url + "?limit=0"),
		"limit 101":              ada.Get(url + "?limit=101"),
		"limit -1":               ada.Get(url + "?limit=-1"),
		"limit x":                ada.Get(url + "?limit=x"),
	} {
		if got.Status != http.StatusBadRequest || got.Text("code") != string(fault.CodeValidationFailed) {
			t.Errorf("%s: got status %d and %s, want 400 and code %s",
				name, got.Status, got.Raw, fault.CodeValidationFailed)
		}
	}
}

// A page contains only as many messages as fit into a response.
func TestConversationPagesOfLongMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	long := strings.Repeat(`"\`, 250_000) // four times as long after it is escaped twice
	for range 2 {
		f.storeTurn(ada, projectID, long, long)
	}
	total, pages := 0, 0
	for cursor, done := "", false; !done; pages++ {
		page := ada.Get(conversationURL(projectID)+"?cursor="+cursor).Want(t, http.StatusOK)
		n := len(page.List("messages"))
		escapedSize := len(page.Raw) + strings.Count(page.Raw, `"`) + strings.Count(page.Raw, `\`)
		if n == 0 || (n > 1 && escapedSize > 4<<20) {
			t.Fatalf("got a page of %d messages and %d bytes, want one message or at most 4 MiB", n, escapedSize)
		}
		total += n
		cursor = page.Text("nextCursor")
		done = cursor == ""
	}
	if total != 4 || pages < 2 {
		t.Errorf("got %d messages in %d pages, want 4 messages in several pages", total, pages)
	}
}

// conversationCalls are the calls to a conversation, with the permission that each requires.
var conversationCalls = []struct {
	method     string
	permission workspace.Action
}{
	{http.MethodGet, workspace.Read},
	{http.MethodDelete, workspace.Write},
}

// Access to a conversation depends on the role in the workspace. If the project is public, the same roles are required.
func TestConversationAccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	creator, nonMember := f.newUser("creator"), f.newUser("nonmember")
	roles := map[*user]workspace.Role{
		creator:             workspace.Member,
		f.newUser("viewer"): workspace.Viewer,
		f.newUser("member"): workspace.Member,
		f.newUser("admin"):  workspace.Admin,
		f.newUser("owner"):  workspace.Owner,
	}
	workspaceID := f.newWorkspace(roles)
	notFound := creator.Get(conversationURL(unknownProjectID)).
		Want(t, http.StatusNotFound, fault.CodeProjectNotFound).Raw
	for _, visibility := range []workspace.Visibility{workspace.Private, workspace.Team, workspace.Public} {
		projectID := creator.newProjectIn(workspaceID, visibility)
		for u, role := range roles {
			isVisible := visibility == workspace.Public || (role.May(workspace.Read) &&
				(visibility == workspace.Team || u == creator || role.May(workspace.Moderate)))
			checkConversationAccess(t, creator, u, role, projectID, isVisible, notFound)
		}
		checkConversationAccess(t, creator, nonMember, "", projectID, visibility == workspace.Public, notFound)
	}

	projectID := creator.newProjectIn(workspaceID, workspace.Public)
	for _, id := range []string{"x", "prj_", creator.id, conversation.ID(projectID), strings.ToLower(projectID)} {
		for _, call := range conversationCalls {
			creator.Do(call.method, conversationURL(id), nil).
				Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		}
	}

	creator.SetCookie("session", "invalid")
	for _, call := range conversationCalls {
		creator.Do(call.method, conversationURL(projectID), nil).
			Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
	creator.Get(usageURL).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	creator.Do(http.MethodPost, cancelURL(unknownMessageID), nil).
		Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// checkConversationAccess makes every call to a conversation as the user u. The conversation has one turn of the
// creator. If the project is not visible to u, the response must be notFound, which is the response for a project that
// does not exist.
func checkConversationAccess(
	t *testing.T, creator, u *user, role workspace.Role, projectID string, isVisible bool, notFound string,
) {
	t.Helper()
	f := creator.f
	for _, call := range conversationCalls {
		f.must(creator.clear(t.Context(), f.service, projectID))
		f.storeTurn(creator, projectID, "question", "answer")
		want := http.StatusForbidden
		switch {
		case !isVisible:
			want = http.StatusNotFound
		case role.May(call.permission):
			want = http.StatusOK
		}
		got := u.Do(call.method, conversationURL(projectID), nil)
		if got.Status != want {
			t.Errorf("%s by %s: got status %d, want %d: %s", call.method, u.name, got.Status, want, got.Raw)
		}
		if want == http.StatusNotFound && got.Raw != notFound {
			t.Errorf("%s by %s: got %s, want %s", call.method, u.name, got.Raw, notFound)
		}
		wantParts := 2
		if want == http.StatusOK && call.method == http.MethodDelete {
			wantParts = 0
		}
		f.checkPartCount(projectID, wantParts)
	}
}

func TestUsageResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.InProgress, l.MonthlyTokens = 2, 5000 }))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	check := func(u *user, want UsageItem, resetsAt string) {
		t.Helper()
		got := u.Get(usageURL).Want(t, http.StatusOK)
		wantBody := map[string]any{
			"month":          want.Month,
			"inputTokens":    float64(want.InputTokens),
			"outputTokens":   float64(want.OutputTokens),
			"totalTokens":    float64(want.InputTokens + want.OutputTokens),
			"reservedTokens": float64(want.ReservedTokens),
			"limit":          5000.0,
			"remaining":      float64(want.Remaining),
			"calls":          float64(want.Calls),
			"resetsAt":       resetsAt,
		}
		if diff := cmp.Diff(wantBody, got.Body); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
		if got.Calls != 1 {
			t.Errorf("got %d calls to DynamoDB, want 1", got.Calls)
		}
	}
	const juneFirst = "2031-06-01T00:00:00.000Z"
	first, second := f.reserve(f.newReservation(ada.id, 2000)), f.reserve(f.newReservation(ada.id, 3000))
	check(ada, UsageItem{Month: monthMay, ReservedTokens: 5000, Calls: 2}, juneFirst)
	f.must(f.settle(first, 1000, 200))
	check(ada, UsageItem{
		Month: monthMay, InputTokens: 1000, OutputTokens: 200, ReservedTokens: 3000, Remaining: 800, Calls: 2,
	}, juneFirst)
	f.must(f.settle(second, 4000, 200)) // more than was reserved
	check(ada, UsageItem{Month: monthMay, InputTokens: 5000, OutputTokens: 400, Calls: 2}, juneFirst)
	check(grace, UsageItem{Month: monthMay, Remaining: 5000}, juneFirst)
	f.clock.Advance(17 * 24 * time.Hour)
	check(ada, UsageItem{Month: monthJune, Remaining: 5000}, "2031-07-01T00:00:00.000Z")
	f.clock.Advance(time.Date(2031, 12, 31, 23, 59, 59, 0, time.UTC).Sub(f.clock.Now()))
	check(ada, UsageItem{Month: "2031-12", Remaining: 5000}, "2032-01-01T00:00:00.000Z")
}

// checkCancelled checks whether the answer of a reservation was cancelled.
func (f *fixture) checkCancelled(r quota.Reservation, want bool) {
	f.t.Helper()
	got, err := f.service.quota.IsCancelled(f.t.Context(), r)
	if err != nil || got != want {
		f.t.Errorf("IsCancelled: got %v and error %v, want %v", got, err, want)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	turn, r := f.newTurn(ada, "question", "answer")
	f.checkCancelled(r, false)
	for range 2 {
		got := ada.Do(http.MethodPost, cancelURL(r.MessageID), nil).Want(t, http.StatusAccepted)
		if got.Calls != 2 || got.Body["success"] != true {
			t.Errorf("got %s after %d calls to DynamoDB, want success after 2 calls", got.Raw, got.Calls)
		}
		f.checkCancelled(r, true)
	}
	// A cancelled answer cannot be stored as complete.
	err := f.service.saveTurn(t.Context(), projectID, turn, settlement(r, 12, 3))
	if !errors.Is(err, quota.ErrCancelled) {
		t.Errorf("got error %v, want quota.ErrCancelled", err)
	}
	turn.Answer.Status = conversation.Interrupted
	f.must(f.service.saveTurn(t.Context(), projectID, turn, settlement(r, 12, 3)))

	// Cancelling an answer that has ended succeeds and has no effect.
	ended, endedReservation := f.newTurn(ada, "question 2", "answer 2")
	f.must(f.service.saveTurn(t.Context(), projectID, ended, settlement(endedReservation, 12, 3)))
	end := func() any {
		return f.items(f.tables.conversations)[db.GenerationKey(ada.id, endedReservation.MessageID)]["end"]
	}
	before := end()
	ada.Do(http.MethodPost, cancelURL(endedReservation.MessageID), nil).Want(t, http.StatusAccepted)
	if after := end(); before == nil || !reflect.DeepEqual(after, before) {
		t.Errorf("end of the generation: got %+v, want %+v", after, before)
	}
	want := []string{"question", "answer", "question 2", "answer 2"}
	if diff := cmp.Diff(want, ada.readAll(projectID, 50)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	f.checkCancelled(f.newReservation(ada.id, 1), false)
}

func TestCancelUnknownAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	projectID := ada.newProject()
	turn, r := f.newTurn(ada, "question", "answer")
	for _, u := range []*user{ada, grace} {
		for _, id := range []string{
			turn.Question.ID, unknownMessageID, projectID, "x", strings.ToLower(r.MessageID), r.MessageID + "%230",
		} {
			u.Do(http.MethodPost, cancelURL(id), nil).Want(t, http.StatusNotFound, fault.CodeMessageNotFound)
		}
	}
	grace.Do(http.MethodPost, cancelURL(r.MessageID), nil).Want(t, http.StatusNotFound, fault.CodeMessageNotFound)
	f.checkCancelled(r, false)
}

func TestCancelFaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	_, r := f.newTurn(ada, "question", "answer")
	wire := f.startWire()
	wire.Break("UpdateItem", dynamotest.LostReply)
	ada.Do(http.MethodPost, cancelURL(r.MessageID), nil).Want(t, http.StatusAccepted)
	f.checkCancelled(r, true)
	wire.Break("BatchGetItem", dynamotest.ServerError)
	if _, err := f.service.quota.IsCancelled(t.Context(), r); err == nil {
		t.Error("IsCancelled: got no error, want one because the read fails")
	}
	wire.Break("UpdateItem", dynamotest.ServerError)
	ada.Do(http.MethodPost, cancelURL(r.MessageID), nil).
		Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
}

// If a read fails, the response is an error instead of an empty conversation. Users without access still receive the
// not-found error.
func TestListFaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	projectID := ada.newProject()
	f.storeTurn(ada, projectID, "question", "answer")
	wire := f.startWire()
	for _, operation := range []string{"Query", "BatchGetItem"} {
		wire.Break(operation, dynamotest.Throttled)
		ada.Get(conversationURL(projectID)).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
		if operation != "BatchGetItem" { // without BatchGetItem, access cannot be checked
			grace.Get(conversationURL(projectID)).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		}
	}
	wire.Break("BatchGetItem", dynamotest.DroppedConnection)
	ada.Get(usageURL).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
}
