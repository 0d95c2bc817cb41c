package account

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"devplatform/shared/fault"
)

var jumps = []time.Duration{time.Second, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour}

// A session that started while the clock was ahead is valid after the clock is corrected. A session that was ended
// stays ended.
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

// Renewals with a wrong clock do not extend a session beyond its absolute lifetime by the correct clock.
func TestSessionsExpireWhenTheClockJumps(t *testing.T) {
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

// Limits apply in the current window of the clock, wherever it was before. No client waits longer than a window.
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

// A sign-in in progress expires in time and is used once, wherever the clock jumps.
func TestSignInsInProgressWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for _, by := range jumps[1:] {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			h := newCodeHost(t)
			w := newWorld(t, h.with())
			ada := octocat(1, verified("ada@example.com"))
			b := w.browser()
			callback := h.approve(b.start(""), ada)
			w.clock.Advance(by)
			b.Do(http.MethodGet, callback, nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
			callback = h.approve(b.start(""), ada)
			w.clock.Advance(-by)
			b.Do(http.MethodGet, callback, nil).Want(t, http.StatusFound)
			b.me().Want(t, http.StatusOK)
			b.Do(http.MethodGet, callback, nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
		})
	}
}
