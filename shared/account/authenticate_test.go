package account

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// otherFunction returns the Sessions of a function that does not serve accounts.
func (w *world) otherFunction() *Sessions {
	return NewSessions(db.Wrap(w.sdk, w.clock.Now), w.tables, w.keys, w.clock.Now, slog.New(w.log))
}

func TestOtherFunctionsAuthenticate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	ctx := db.CountCalls(t.Context())
	caller, _, err := w.otherFunction().Authenticate(ctx, b.Cookie("session"))
	if err != nil || caller.UserID != b.me().Text("id") || caller.Username != "ada" || caller.Email != "ada@example.com" {
		t.Errorf("%+v, %v", caller, err)
	}
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("%d calls", n)
	}
	token := b.Cookie("session")
	b.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK)
	if _, _, err := w.otherFunction().Authenticate(t.Context(), token); !errors.Is(err, fault.New(fault.CodeInvalidToken, "")) {
		t.Errorf("after the logout: %v", err)
	}
}

func TestFindByUsername(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	want := b.Do(http.MethodPost, "/api/auth/signup", signupBody("kim@example.com", "Kim.K", goodPassword)).Want(t, http.StatusCreated).Text("userId")
	for _, username := range []string{"Kim.K", "kim.k", "KIM.K"} {
		ctx := db.CountCalls(t.Context())
		userID, canonical, err := w.otherFunction().FindByUsername(ctx, username)
		if err != nil || userID != want || canonical != "Kim.K" || db.Calls(ctx) != 2 {
			t.Errorf("%s: %s %s, %v, %d calls", username, userID, canonical, err, db.Calls(ctx))
		}
	}
	// The last two contain the Kelvin sign, which becomes "k" in lower case.
	for _, username := range []string{"", "kim", "kim.k ", "kim.k#", strings.Repeat("k", 3000), "\u212aim.k", "kim.\u212a"} {
		userID, canonical, err := w.otherFunction().FindByUsername(t.Context(), username)
		if !errors.Is(err, fault.New(fault.CodeUserNotFound, "")) || userID != "" || canonical != "" {
			t.Errorf("%q: %s %s, %v", username, userID, canonical, err)
		}
	}
}
