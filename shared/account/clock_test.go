package account

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"devplatform/shared/account/session"
	"devplatform/shared/fault"
)

// clockJumps are the durations by which the clock is set ahead and back. The longest one exceeds the absolute lifetime
// of a session.
var clockJumps = []time.Duration{time.Second, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour}

// A session that started while the clock was ahead is valid after the clock is corrected. A session that was ended
// stays ended.
func TestSessionsWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	for _, jump := range clockJumps {
		t.Run(jump.String(), func(t *testing.T) {
			f := newFixture(t)
			before := f.newUser("ada") // signs in before the clock is ahead
			f.clock.Advance(jump)
			ahead, loggedOut := f.newClient(), f.newClient()
			ahead.login("ada", goodPassword).Want(t, http.StatusOK)
			loggedOut.login("ada", goodPassword).Want(t, http.StatusOK)
			token := loggedOut.Cookie("session")
			loggedOut.logout().Want(t, http.StatusOK)

			f.clock.Advance(-jump)
			before.me().Want(t, http.StatusOK)
			ahead.me().Want(t, http.StatusOK) // its token was issued in the future
			loggedOut.SetCookie("session", token)
			loggedOut.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

			f.clock.Advance(jump)
			ahead.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
			f.clock.Advance(-jump)
			before.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
			ahead.me().Want(t, http.StatusOK)
			after := f.newClient()
			after.login("ada", goodPassword).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
			after.login("ada", newPassword).Want(t, http.StatusOK)
			after.me().Want(t, http.StatusOK)
		})
	}
}

// Renewals while the clock is ahead do not extend a session beyond its absolute lifetime after the clock is corrected.
func TestSessionsExpireWhenTheClockJumps(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	for range 3 {
		f.clock.Advance(6 * 24 * time.Hour)
		client.me().Want(t, http.StatusOK) // renews the session
		f.clock.Advance(-6 * 24 * time.Hour)
		client.me().Want(t, http.StatusOK)
	}
	f.clock.Advance(session.AbsoluteLife)
	client.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// If the clock jumps ahead or back, only the attempts in the window of the new time count. No client has to wait longer
// than a window.
func TestLimitsWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for _, jump := range clockJumps[1:] {
		t.Run(jump.String(), func(t *testing.T) {
			f := newFixture(t)
			f.newClient().signup("ada").Want(t, http.StatusCreated)
			client := f.newClient()
			reachLimit := func() {
				t.Helper()
				for range 10 {
					client.login("ada", "wrong").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
				}
				response := client.login("ada", goodPassword).
					Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
				retryAfter := response.Header.Get("Retry-After")
				if seconds, err := strconv.Atoi(retryAfter); err != nil || seconds < 1 || seconds > 15*60 {
					t.Errorf("Retry-After: got %q, want 1 to 900 seconds", retryAfter)
				}
			}
			reachLimit()
			f.clock.Advance(jump)
			reachLimit()
			f.clock.Advance(-jump) // back in the first window, whose attempts still count
			client.login("ada", goodPassword).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
			f.clock.Advance(-jump)
			client.login("ada", goodPassword).Want(t, http.StatusOK)
		})
	}
}

// If the clock jumps ahead, a sign-in in progress expires. If the clock jumps back, the sign-in can be finished once.
func TestSignInsInProgressWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for _, jump := range clockJumps[1:] {
		t.Run(jump.String(), func(t *testing.T) {
			f, host := newHostFixture(t)
			user := octocat(1, verified("ada@example.com"))
			client := f.newClient()
			callback := host.approve(client.startSignIn(""), user)
			f.clock.Advance(jump)
			client.Get(callback).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
			callback = host.approve(client.startSignIn(""), user)
			f.clock.Advance(-jump)
			client.Get(callback).Want(t, http.StatusFound)
			client.me().Want(t, http.StatusOK)
			client.Get(callback).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
		})
	}
}
