package account

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// newSessions returns the sessions of a Lambda function that does not serve accounts.
func (f *fixture) newSessions() *session.Service {
	return session.New(db.Wrap(f.sdk, f.clock.Now), f.tables, f.keys, f.clock.Now, slog.New(f.log))
}

func TestOtherFunctionsAuthenticate(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	userID, token := client.me().Text("id"), client.Cookie("session")
	ctx := db.CountCalls(t.Context())
	caller, err := f.newSessions().AuthenticateNow(ctx, token)
	if err != nil {
		t.Fatal(err)
	}
	if caller.UserID != userID || caller.Account().Username != "ada" || caller.Account().Email != "ada@example.com" {
		t.Errorf("got the caller %+v, want ada (%s)", caller, userID)
	}
	if n := db.Calls(ctx); n != 1 {
		t.Errorf("AuthenticateNow used %d DynamoDB calls, want 1", n)
	}
	client.logout().Want(t, http.StatusOK)
	_, err = f.newSessions().AuthenticateNow(t.Context(), token)
	if !errors.Is(err, fault.New(fault.CodeInvalidToken, "")) {
		t.Errorf("AuthenticateNow after the logout: got %v, want %s", err, fault.CodeInvalidToken)
	}
}

func TestFindByUsername(t *testing.T) {
	f := newFixture(t)
	want := f.newClient().signupWith("kim@example.com", "Kim.K", goodPassword).
		Want(t, http.StatusCreated).Text("userId")
	for _, username := range []string{"Kim.K", "kim.k", "KIM.K"} {
		ctx := db.CountCalls(t.Context())
		userID, canonical, err := user.NewStore(f.deps.DB, f.tables).FindByUsername(ctx, username)
		if err != nil || userID != want || canonical != "Kim.K" {
			t.Errorf("FindByUsername(%q) = %q, %q, %v; want %q, Kim.K", username, userID, canonical, err, want)
		}
		if n := db.Calls(ctx); n != 2 {
			t.Errorf("FindByUsername(%q) used %d DynamoDB calls, want 2", username, n)
		}
	}
	// The last two contain the Kelvin sign, which becomes "k" in lower case.
	for _, username := range []string{
		"", "kim", "kim.k ", "kim.k#", strings.Repeat("k", 3000), "\u212aim.k", "kim.\u212a",
	} {
		userID, canonical, err := user.NewStore(f.deps.DB, f.tables).FindByUsername(t.Context(), username)
		if !errors.Is(err, fault.New(fault.CodeUserNotFound, "")) || userID != "" || canonical != "" {
			t.Errorf("FindByUsername(%q) = %q, %q, %v; want %s",
				username, userID, canonical, err, fault.CodeUserNotFound)
		}
	}
}
