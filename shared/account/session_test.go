package account

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/account/session"
	"devplatform/shared/fault"
)

func TestSessionLifetimes(t *testing.T) {
	f := newFixture(t)
	idle := f.newUser("idle")
	f.clock.Advance(session.IdleLife - time.Second)
	idle.me().Want(t, http.StatusOK)
	f.clock.Advance(session.IdleLife + time.Second)
	idle.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

	// A session that is used every day still ends after 30 days.
	active := f.newUser("active")
	for range 29 {
		f.clock.Advance(24 * time.Hour)
		active.me().Want(t, http.StatusOK)
	}
	f.clock.Advance(24*time.Hour - time.Second)
	active.me().Want(t, http.StatusOK)
	f.clock.Advance(time.Second)
	active.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

func TestSessionIsRenewedOnceADay(t *testing.T) {
	f := newFixture(t, withoutMail) // with mail, me also reads the state of the address
	client := f.newUser("ada")
	oldToken := client.Cookie("session")
	f.clock.Advance(24*time.Hour - time.Second)
	if response := client.me().Want(t, http.StatusOK); hasCookies(response) || response.Calls != 1 {
		t.Errorf("within a day: got cookies %v and %d DynamoDB calls, want no renewal and 1 call",
			response.Header.Values("Set-Cookie"), response.Calls)
	}
	f.clock.Advance(time.Second)
	response := client.me().Want(t, http.StatusOK)
	if cookies := response.Header.Values("Set-Cookie"); len(cookies) != 2 {
		t.Errorf("after a day: got cookies %v, want 2", cookies)
	}
	if client.Cookie("session") == oldToken {
		t.Error("the renewal returned the old token")
	}
	if response := client.me().Want(t, http.StatusOK); hasCookies(response) || response.Calls != 1 {
		t.Errorf("after the renewal: got cookies %v and %d DynamoDB calls, want no renewal and 1 call",
			response.Header.Values("Set-Cookie"), response.Calls)
	}
	// A request with the old token is still accepted, and does not renew the session again.
	client.SetCookie("session", oldToken)
	if response := client.me().Want(t, http.StatusOK); hasCookies(response) {
		t.Errorf("a request with the old token renewed the session: %v", response.Header.Values("Set-Cookie"))
	}
}

func TestSessionsListAndEnd(t *testing.T) {
	f := newFixture(t)
	first := f.newUser("ada")
	f.clock.Advance(time.Minute)
	second := f.newClient().from("198.51.100.4")
	second.Header.Set("User-Agent", "Bro\twser\u00ad /"+strings.Repeat("é", 300))
	second.login("ada", goodPassword).Want(t, http.StatusOK)
	otherUser := f.newUser("eve")

	list := first.Get("/api/auth/sessions").Want(t, http.StatusOK)
	sessions := list.List("sessions")
	if len(sessions) != 2 || len(list.Body) != 1 {
		t.Fatalf("got the list %s, want 2 sessions", list.Raw)
	}
	newest, oldest := sessions[0], sessions[1]
	agent, _ := newest["userAgent"].(string)
	if !strings.HasPrefix(agent, "Browser /é") || len(agent) > 256 {
		t.Errorf("userAgent: got %q, want a printable text of at most %d bytes", agent, 256)
	}
	want := map[string]any{
		"id":         newest["id"],
		"createdAt":  "2031-05-05T10:06:00.000Z",
		"lastSeenAt": "2031-05-05T10:06:00.000Z",
		"expiresAt":  "2031-05-12T10:06:00.000Z",
		"userAgent":  agent,
		"ip":         "198.51.100.4",
		"current":    false,
	}
	if diff := cmp.Diff(want, newest); diff != "" {
		t.Errorf("newest session (-want +got):\n%s", diff)
	}
	if oldest["current"] != true {
		t.Errorf("got the session %v, want it to be the current one", oldest)
	}

	end := func(client *apiClient, id any) slicetest.Response {
		return client.Do(http.MethodDelete, fmt.Sprintf("/api/auth/sessions/%v", id), nil)
	}
	end(otherUser, newest["id"]).Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	end(first, "ses_invalid").Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	end(first, "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK").Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	end(first, "%23USER").Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	if response := end(first, newest["id"]).Want(t, http.StatusOK); hasCookies(response) {
		t.Errorf("ending another session set cookies: %v", response.Header.Values("Set-Cookie"))
	}
	end(first, newest["id"]).Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	second.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	first.me().Want(t, http.StatusOK)
	response := end(first, oldest["id"]).Want(t, http.StatusOK)
	if cookies := response.Header.Values("Set-Cookie"); len(cookies) != 2 {
		t.Errorf("ending the current session: got cookies %v, want 2 that are cleared", cookies)
	}
	first.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// The lists of sessions and identities have pages. Sessions that have ended do not shorten a page.
func TestPagesOfSessionsAndIdentities(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	for range 3 {
		f.clock.Advance(time.Minute)
		f.newClient().login("ada", goodPassword).Want(t, http.StatusOK)
	}
	var ids, cursors []string
	for cursor := ""; len(ids) < 10; {
		page := ada.Get("/api/auth/sessions?limit=1&cursor="+cursor).Want(t, http.StatusOK)
		for _, session := range page.List("sessions") {
			ids = append(ids, fmt.Sprint(session["id"]))
		}
		if cursor = page.Text("nextCursor"); cursor == "" {
			break
		}
		cursors = append(cursors, cursor)
	}
	newestFirst := slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
	if len(ids) != 4 || !newestFirst || len(cursors) != 3 {
		t.Errorf("got the sessions %v in %d pages, want 4, newest first", ids, len(cursors)+1)
	}
	for _, path := range []string{
		"/api/auth/sessions?limit=0", "/api/auth/sessions?limit=101", "/api/auth/sessions?cursor=forged",
		"/api/auth/identities?limit=x", "/api/auth/identities?cursor=" + cursors[0],
	} {
		ada.Get(path).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	change := map[string]any{"currentPassword": goodPassword, "newPassword": "another good password"}
	ada.Do(http.MethodPut, "/api/auth/password", change).Want(t, http.StatusOK)
	page := ada.Get("/api/auth/sessions?limit=1").Want(t, http.StatusOK)
	if got := page.List("sessions"); len(got) != 1 || got[0]["id"] != ids[3] || page.Text("nextCursor") != "" {
		t.Errorf("got %s after the other sessions ended, want one page with session %s", page.Raw, ids[3])
	}
}

func TestPasswordChangeEndsAllOtherSessions(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	var others []*apiClient
	for range 3 {
		other := f.newClient()
		other.login("ada", goodPassword).Want(t, http.StatusOK)
		others = append(others, other)
	}
	client.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	for _, other := range others {
		other.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
	client.me().Want(t, http.StatusOK)
	list := client.Get("/api/auth/sessions").Want(t, http.StatusOK)
	if len(list.List("sessions")) != 1 {
		t.Errorf("after the change: got the list %s, want 1 session", list.Raw)
	}
	client.login("ada", goodPassword).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	client.login("ada", newPassword).Want(t, http.StatusOK)
	client.me().Want(t, http.StatusOK)
}

func TestPasswordChangeValidation(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	for _, invalid := range []string{"short", "password", "ada@example.com", "ADA@EXAMPLE.COM"} {
		response := client.changePassword(goodPassword, invalid).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.HasPrefix(response.Text("error"), "newPassword: ") {
			t.Errorf("new password %q: got %s, want an error that names newPassword", invalid, response.Raw)
		}
	}
	response := client.changePassword(strings.Repeat("x", 1025), "ada@example.com").
		Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	message := response.Text("error")
	if !strings.HasPrefix(message, "currentPassword: ") || !strings.Contains(message, "; newPassword: ") {
		t.Errorf("two invalid fields: got %q, want a message that names both", message)
	}
	client.changePassword("wrong", newPassword).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	response = client.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	if response.Body["success"] != true || response.Text("message") == "" {
		t.Errorf("got %s, want success and a message", response.Raw)
	}
}

func TestForgedTokensAreRejectedWithoutDynamoDB(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	client.SetCookie("session", "a.b.c")
	response := client.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	if response.Calls != 0 {
		t.Errorf("a forged token caused %d DynamoDB calls, want 0", response.Calls)
	}
	client.logout().Want(t, http.StatusOK)
}

func TestTokenClaims(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	var claims jwt.MapClaims
	token, _, err := jwt.NewParser().ParseUnverified(client.Cookie("session"), &claims)
	if err != nil {
		t.Fatal(err)
	}
	if token.Header["alg"] != "HS256" || token.Header["kid"] != "k1" || len(token.Header) != 3 {
		t.Errorf("got the header %v, want alg HS256, kid k1 and typ", token.Header)
	}
	for _, name := range []string{"iss", "sub", "sid", "iat", "exp"} {
		if claims[name] == nil {
			t.Errorf("the claims %v do not contain %s", claims, name)
		}
	}
	if len(claims) != 5 {
		t.Errorf("got the claims %v, want 5", claims)
	}
}

// A login with the old password during a password change gets a session that is never accepted.
func TestLoginDuringPasswordChange(t *testing.T) {
	f := newFixture(t)
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client())
	client, other := f.newUser("ada"), f.newClient()
	wire.Before("TransactWriteItems", func() { client.changePassword(goodPassword, newPassword).Want(t, http.StatusOK) })
	other.login("ada", goodPassword).Want(t, http.StatusOK)
	other.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	client.me().Want(t, http.StatusOK)
}
