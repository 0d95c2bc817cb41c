package account

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/activity"
	"devplatform/shared/fault"
	"devplatform/shared/mail"
)

// activity returns the list of what happened to the client's account.
func (c *apiClient) activity(query string) slicetest.Response {
	c.f.t.Helper()
	return c.Get("/api/auth/activity"+query).Want(c.f.t, http.StatusOK)
}

func TestActivity(t *testing.T) {
	f, host := newHostFixture(t)
	f.newClient().Get("/api/auth/activity").Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	ada := f.newConfirmedUser("ada")
	f.newUser("eve").changePassword(goodPassword, newPassword) // the activity of another account
	for _, act := range []func(){
		func() { f.newClient().login("ada", goodPassword) },
		func() {
			sessions := ada.Get("/api/auth/sessions").Texts("sessions", "id")
			ada.Do(http.MethodDelete, "/api/auth/sessions/"+sessions[0], nil)
		},
		func() { ada.link(host, octocat(1)) },
		func() { ada.unlink(ada.identityIDs()[0]) },
		func() { ada.changePassword(goodPassword, newPassword) },
		func() { ada.requestEmail("new@example.com") },
		func() { ada.changeEmail(f.lastMail(mail.Change, "new@example.com").Token) },
		func() { ada.forgot("new@example.com") },
		func() { ada.reset(f.lastMail(mail.Reset, "new@example.com").Token, goodPassword) },
		func() { ada.undo(f.lastMail(mail.Undo, "ada@example.com").Token) },
		func() { ada.reset(f.lastMail(mail.Reset, "ada@example.com").Token, goodPassword) },
		func() { ada.login("ada", goodPassword) },
	} {
		f.clock.Advance(time.Minute)
		act()
	}
	list := ada.activity("")
	want := []string{
		"login", "password.reset", "email.restored", "password.reset", "email.changed", "email.requested",
		"password.changed", "identity.removed", "LINK", "LINK", "session.ended", "login", "FIRST", "FIRST",
	}
	got := list.Texts("activity", "type")
	// The two entries of the link (8 and 9), and the two of the login and the confirmation at the start (12 and 13), have
	// no order, because each pair has the same time.
	for i, what := range got {
		switch {
		case what == "identity.linked" || i > 7 && i < 10 && what == "login":
			got[i] = "LINK"
		case i > 11:
			got[i] = "FIRST"
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	got = list.Texts("activity", "type")
	newest := list.List("activity")[0]
	if newest["ip"] != "203.0.113.1" || newest["userAgent"] == "" || newest["at"] != "2031-05-05T10:17:00.000Z" {
		t.Errorf("got the entry %v, want the client and the time", newest)
	}
	first := ada.activity("?limit=5")
	second := ada.activity("?limit=100&cursor=" + first.Text("nextCursor"))
	if both := append(first.Texts("activity", "type"), second.Texts("activity", "type")...); !cmp.Equal(both, got) {
		t.Errorf("got the pages %v, want %v", both, got)
	}
	f.clock.Advance(activity.Retention)
	ada.login("ada", goodPassword).Want(t, http.StatusOK)
	if got := len(ada.activity("").List("activity")); got != 1 {
		t.Errorf("got %d entries after 90 days, want 1", got)
	}
}

// The failed logins from a network in an hour are one entry.
func TestFailedLoginsInActivity(t *testing.T) {
	f := newFixture(t)
	ada, eve := f.newUser("ada"), f.newClient()
	for i := range 3 {
		for range 2 + i {
			eve.from(fmt.Sprintf("198.51.100.%d", i)).login("ada", "wrong").Want(t, http.StatusUnauthorized)
		}
	}
	f.clock.Advance(time.Hour)
	eve.login("ada", "wrong").Want(t, http.StatusUnauthorized)
	counts := map[string]int{}
	for _, entry := range ada.activity("").List("activity") {
		detail, _ := entry["detail"].(map[string]any)
		if count, isCounted := detail["count"]; entry["type"] == "login.failed" {
			counts[fmt.Sprint(entry["at"], " ", entry["ip"], " ", count)]++
		} else if isCounted {
			t.Errorf("got the count %v in an entry of the type %v, want none", count, entry["type"])
		}
	}
	want := map[string]int{
		"2031-05-05T10:00:00.000Z 198.51.100.0 2": 1, "2031-05-05T10:00:00.000Z 198.51.100.1 3": 1,
		"2031-05-05T10:00:00.000Z 198.51.100.2 4": 1, "2031-05-05T11:00:00.000Z 198.51.100.2 1": 1,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("failed logins (-want +got):\n%s", diff)
	}
}

// A failed login does not reveal whether the address has an account, or is reserved. The test counts hashes and
// DynamoDB calls instead of measuring the time, because the time varies.
func TestFailedLoginsRevealNothing(t *testing.T) {
	f := newFixture(t)
	f.newUser("known")
	moved := f.newConfirmedUser("moved")
	moved.moveTo("elsewhere@example.com")
	client := f.newClient()
	login := func(name, ip string) observation {
		return f.observe(func() slicetest.Response { return client.from(ip).login(name, "wrong") })
	}
	for range 12 { // the limit is 10
		want := login("nobod", "198.51.100.1")
		for i, name := range []string{"known", "moved"} { // the second address is reserved
			if diff := cmp.Diff(want, login(name, fmt.Sprintf("198.51.100.%d", i+2))); diff != "" {
				t.Fatalf("%s (-unknown +got):\n%s", name, diff)
			}
		}
		if want.Calls < 1 || want.Calls > 5 || want.RateLimit == "" {
			t.Errorf("got %+v, want at most 5 calls, and the headers of the limit", want)
		}
	}
	if raw := moved.activity("").Raw; strings.Contains(raw, "login.failed") {
		t.Errorf("got the activity %s, want no failed login with a former address", raw)
	}
}

func TestNotices(t *testing.T) {
	f, host := newHostFixture(t)
	ada := f.newUser("ada")
	kinds := []mail.Kind{mail.Confirm}
	check := func(added ...mail.Kind) {
		t.Helper()
		kinds = append(kinds, added...)
		f.checkMails("ada@example.com", kinds...)
	}
	check()
	ada.changePassword("wrong", newPassword)
	check()
	ada.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	check(mail.PasswordChanged)
	ada.link(host, octocat(1))
	check(mail.IdentityLinked)
	if m := f.lastMail(mail.IdentityLinked, "ada@example.com"); m.Values["name"] != "octocat" || m.Username != "ada" ||
		m.Values["provider"] == "" || m.Values["ip"] != "203.0.113.1" {
		t.Errorf("got the mail %+v, want the identity and the client", m)
	}
	ada.link(host, octocat(1)) // it is linked already
	check()
	ada.unlink(ada.identityIDs()[0]).Want(t, http.StatusOK)
	check(mail.IdentityRemoved)
}

// A login from an unknown network causes a mail, at most once a day. The network of the sign-up is known.
func TestLoginFromAnUnknownNetwork(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	notices := func() (n int) {
		for _, m := range f.mails("ada@example.com") {
			if m.Kind == mail.NewNetwork {
				n++
			}
		}
		return n
	}
	for i, step := range []struct {
		ip   string
		wait time.Duration
		want int
	}{
		{"203.0.113.1", 0, 0}, {"198.51.100.1", 0, 1}, {"198.51.100.1", day, 1}, {"198.51.100.2", 0, 2},
		{"198.51.100.3", day - time.Second, 2}, {"198.51.100.4", time.Second, 3},
	} {
		f.clock.Advance(step.wait)
		ada.from(step.ip).login("ada", goodPassword).Want(t, http.StatusOK)
		if got := notices(); got != step.want {
			t.Errorf("login %d from %s: got %d mails, want %d", i, step.ip, got, step.want)
		}
	}
	f.clock.Advance(day)
	responses := slicetest.Concurrently(6, func(i int) slicetest.Response {
		return f.newClient().from(fmt.Sprintf("192.0.2.%d", i)).login("ada", goodPassword)
	})
	if got := slicetest.CountStatuses(responses)[http.StatusOK]; got != 6 || notices() != 4 {
		t.Errorf("got %d successful logins and %d mails, want 6 and 4", got, notices())
	}
}

func TestSignInFromAnUnknownNetwork(t *testing.T) {
	f, host := newHostFixture(t)
	user := octocat(1, verified("octo@example.com"))
	f.newClient().signIn(host, user).Want(t, http.StatusFound)
	f.newClient().signIn(host, user).Want(t, http.StatusFound)
	f.checkMails("octo@example.com")
	f.newClient().from("198.51.100.1").signIn(host, user).Want(t, http.StatusFound)
	f.newClient().from("198.51.100.2").signIn(host, user).Want(t, http.StatusFound)
	f.checkMails("octo@example.com", mail.NewNetwork)
}
