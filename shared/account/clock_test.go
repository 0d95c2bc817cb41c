package account

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"devplatform/shared/fault"
)

var jumps = []time.Duration{time.Second, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour}

// A session begun while the clock was ahead is good when it is put right, and ends when it is ended, whatever the clock
// says before and after.
func TestSessionsWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	const fresh = "a wholly new password"
	for _, by := range jumps {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.member("ada")
			w.clock.Advance(by)
			ahead, leaving := w.browser(), w.browser()
			ahead.login("ada", goodPassword).Want(t, http.StatusOK)
			leaving.login("ada", goodPassword).Want(t, http.StatusOK)
			token := leaving.Cookie("session")
			leaving.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK)

			w.clock.Advance(-by)
			before.me().Want(t, http.StatusOK) // also after a month in which it would have ended
			ahead.me().Want(t, http.StatusOK)  // its token is issued in the future
			leaving.SetCookie("session", token)
			leaving.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

			w.clock.Advance(by)
			ahead.Do(http.MethodPut, "/api/auth/password", map[string]string{"currentPassword": goodPassword, "newPassword": fresh}).Want(t, http.StatusOK)
			w.clock.Advance(-by)
			before.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
			ahead.me().Want(t, http.StatusOK)
			after := w.browser()
			after.login("ada", goodPassword).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
			after.login("ada", fresh).Want(t, http.StatusOK)
			after.me().Want(t, http.StatusOK)
		})
	}
}

// No session lives longer than it may by the clock that is right, however often it was prolonged by one that was wrong.
func TestSessionsEndThoughTheClockJumped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	for range 3 {
		w.clock.Advance(6 * 24 * time.Hour)
		b.me().Want(t, http.StatusOK) // prolonged
		w.clock.Advance(-6 * 24 * time.Hour)
		b.me().Want(t, http.StatusOK)
	}
	w.clock.Advance(SessionAbsoluteLife)
	b.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// Limits hold in the window that the clock is in, wherever it was before; nobody waits for longer than a window.
func TestLimitsWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for _, by := range jumps[1:] {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.browser().signup("ada").Want(t, http.StatusCreated)
			b := w.browser()
			use := func() {
				t.Helper()
				for range 10 {
					b.login("ada", "wrong").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
				}
				a := b.login("ada", goodPassword).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
				if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 15*60 {
					t.Errorf("to wait: %q", a.Header.Get("Retry-After"))
				}
			}
			use()
			w.clock.Advance(by)
			use()
			w.clock.Advance(-by) // what was counted here still counts
			b.login("ada", goodPassword).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
			w.clock.Advance(-by)
			b.login("ada", goodPassword).Want(t, http.StatusOK)
		})
	}
}

// A sign-in that is under way ends where its time is over, and is used once, wherever the clock jumps.
func TestSignInsUnderWayWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for _, by := range jumps[1:] {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			h := newCodeHost(t)
			w := newWorld(t, h.with())
			ada := octocat(1, verified("ada@example.com"))
			b := w.browser()
			callback := h.approve(b.depart(""), ada)
			w.clock.Advance(by)
			b.Do(http.MethodGet, callback, nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
			callback = h.approve(b.depart(""), ada)
			w.clock.Advance(-by)
			b.Do(http.MethodGet, callback, nil).Want(t, http.StatusFound)
			b.me().Want(t, http.StatusOK)
			b.Do(http.MethodGet, callback, nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
		})
	}
}
