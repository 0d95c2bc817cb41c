package account

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"pgregory.net/rapid"

	"devplatform/shared/fault"
)

func TestSessionLifetimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	idle := w.member("idle")
	w.clock.Advance(SessionIdleLife - time.Second)
	idle.me().Want(t, http.StatusOK)
	w.clock.Advance(SessionIdleLife + time.Second)
	idle.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

	used := w.member("used")
	for range 29 {
		w.clock.Advance(24 * time.Hour)
		used.me().Want(t, http.StatusOK)
	}
	w.clock.Advance(24*time.Hour - time.Second)
	used.me().Want(t, http.StatusOK)
	w.clock.Advance(time.Second)
	used.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken) // 30 days, however often it was used
}

func TestSessionIsRenewedOnceADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	old := b.Cookie("session")
	w.clock.Advance(24*time.Hour - time.Second)
	if a := b.me().Want(t, http.StatusOK); len(a.Header.Values("Set-Cookie")) != 0 || a.Calls != 1 {
		t.Errorf("renewed within a day: %v, %d calls", a.Header.Values("Set-Cookie"), a.Calls)
	}
	w.clock.Advance(time.Second)
	if a := b.me().Want(t, http.StatusOK); len(a.Header.Values("Set-Cookie")) != 2 {
		t.Errorf("not renewed after a day: %v", a.Header.Values("Set-Cookie"))
	}
	if b.Cookie("session") == old {
		t.Error("the renewed token is the old one")
	}
	if a := b.me().Want(t, http.StatusOK); len(a.Header.Values("Set-Cookie")) != 0 || a.Calls != 1 {
		t.Errorf("renewed twice: %v, %d calls", a.Header.Values("Set-Cookie"), a.Calls)
	}
	// A request with the old token is still accepted, and does not renew the session again.
	b.SetCookie("session", old)
	if a := b.me().Want(t, http.StatusOK); len(a.Header.Values("Set-Cookie")) != 0 {
		t.Errorf("the old token renews again: %v", a.Header.Values("Set-Cookie"))
	}
}

func TestSessionExpiryIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Session{CreatedAt: epoch, LastSeenAt: epoch, ExpiresAt: sessionExpiry(epoch, epoch)}
		now := epoch
		for range rapid.IntRange(1, 60).Draw(t, "uses") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(4*24*time.Hour)).Draw(t, "pause")))
			if !now.Before(s.ExpiresAt) {
				return
			}
			before := s
			s, _ = s.renewed(now)
			if s.ExpiresAt.After(s.CreatedAt.Add(SessionAbsoluteLife)) || s.ExpiresAt.After(now.Add(SessionIdleLife)) || s.ExpiresAt.Before(before.ExpiresAt) {
				t.Fatalf("at %v: %+v after %+v", now, s, before)
			}
		}
	})
}

func TestSessionsListAndEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.member("ada")
	w.clock.Advance(time.Minute)
	second := w.browser().from("198.51.100.4")
	second.Header.Set("User-Agent", "Bro\twser\u00ad /"+strings.Repeat("é", 300))
	second.login("ada", goodPassword).Want(t, http.StatusOK)
	other := w.member("eve")

	list := first.Do(http.MethodGet, "/api/auth/sessions", nil).Want(t, http.StatusOK)
	sessions, _ := list.Body["sessions"].([]any)
	if len(sessions) != 2 || len(list.Body) != 1 {
		t.Fatalf("sessions: %s", list.Raw)
	}
	newest, _ := sessions[0].(map[string]any)
	oldest, _ := sessions[1].(map[string]any)
	if newest["current"] != false || oldest["current"] != true || len(newest) != 7 {
		t.Errorf("current: %s", list.Raw)
	}
	if newest["ip"] != "198.51.100.4" || newest["createdAt"] != "2031-05-05T10:06:00.000Z" || newest["lastSeenAt"] != newest["createdAt"] || newest["expiresAt"] != "2031-05-12T10:06:00.000Z" {
		t.Errorf("session: %v", newest)
	}
	if agent, _ := newest["userAgent"].(string); !strings.HasPrefix(agent, "Browser /é") || len(agent) > maxUserAgentBytes {
		t.Errorf("userAgent %q", agent)
	}

	end := func(b *browser, id any) answer {
		return b.Do(http.MethodDelete, fmt.Sprintf("/api/auth/sessions/%v", id), nil)
	}
	end(other, newest["id"]).Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	end(first, "ses_nonsense").Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	end(first, "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK").Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	end(first, "%23USER").Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	if a := end(first, newest["id"]).Want(t, http.StatusOK); len(a.Header.Values("Set-Cookie")) != 0 {
		t.Error("ending another session took this one's cookie")
	}
	end(first, newest["id"]).Want(t, http.StatusNotFound, fault.CodeSessionNotFound)
	second.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	first.me().Want(t, http.StatusOK)
	if a := end(first, oldest["id"]).Want(t, http.StatusOK); len(a.Header.Values("Set-Cookie")) != 2 {
		t.Errorf("ending one's own session: %v", a.Header.Values("Set-Cookie"))
	}
	first.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

func TestPasswordChangeEndsEveryOtherSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	var others []*browser
	for range 3 {
		o := w.browser()
		o.login("ada", goodPassword).Want(t, http.StatusOK)
		others = append(others, o)
	}
	const fresh = "a wholly new password"
	change := func(current, next string) answer {
		return b.Do(http.MethodPut, "/api/auth/password", map[string]string{"currentPassword": current, "newPassword": next})
	}
	for _, bad := range []string{"short", "password", "ada@example.com", "ADA@EXAMPLE.COM"} {
		a := change(goodPassword, bad).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		if !strings.HasPrefix(a.Text("error"), "newPassword: ") {
			t.Errorf("%q: %s", bad, a.Raw)
		}
	}
	a := change(strings.Repeat("x", 1025), "ada@example.com").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	if text := a.Text("error"); !strings.HasPrefix(text, "currentPassword: ") || !strings.Contains(text, "; newPassword: ") {
		t.Errorf("two faults: %s", a.Raw)
	}
	change("wrong", fresh).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	if a := change(goodPassword, fresh).Want(t, http.StatusOK); a.Body["success"] != true || a.Text("message") == "" {
		t.Errorf("change: %s", a.Raw)
	}
	for _, o := range others {
		o.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
	b.me().Want(t, http.StatusOK)
	list := b.Do(http.MethodGet, "/api/auth/sessions", nil).Want(t, http.StatusOK)
	if sessions, _ := list.Body["sessions"].([]any); len(sessions) != 1 {
		t.Errorf("sessions after the change: %s", list.Raw)
	}
	b.login("ada", goodPassword).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	b.login("ada", fresh).Want(t, http.StatusOK)
	b.me().Want(t, http.StatusOK)
}

// A login with the old password during a password change gets a session that is never accepted.
func TestLoginDuringPasswordChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	state, err := w.service.store.loginState(t.Context(), "ada@example.com", "203.0.113.1", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Do(http.MethodPut, "/api/auth/password", map[string]string{"currentPassword": goodPassword, "newPassword": "a wholly new password"}).Want(t, http.StatusOK)
	late := newSession(w.service.ids.New("ses"), User{ID: state.credential.UserID, Generation: state.credential.Generation}, Client{}, w.clock.Now())
	if err := w.service.store.startSession(t.Context(), signIn{session: late, email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	token, err := w.service.tokens.sign(t.Context(), late, w.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.service.sessions.Authenticate(t.Context(), token); err == nil {
		t.Error("a session of the old password lives")
	}
}

func TestSessionNeedsNoStorageForForgedTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.SetCookie("session", "a.b.c")
	if a := b.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken); a.Calls != 0 {
		t.Errorf("%d calls", a.Calls)
	}
	b.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK)
}

func TestTokenClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	var c jwt.MapClaims
	token, _, err := jwt.NewParser().ParseUnverified(b.Cookie("session"), &c)
	if err != nil {
		t.Fatal(err)
	}
	if token.Header["alg"] != "HS256" || token.Header["kid"] != "k2" || len(token.Header) != 3 {
		t.Errorf("header %v", token.Header)
	}
	for _, name := range []string{"iss", "sub", "sid", "iat", "exp"} {
		if c[name] == nil {
			t.Errorf("no %s in %v", name, c)
		}
	}
	if len(c) != 5 {
		t.Errorf("claims %v", c)
	}
}
