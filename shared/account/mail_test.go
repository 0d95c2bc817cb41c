package account

import (
	"net/http"
	"testing"
	"time"

	"devplatform/infra/mailtest"
	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/mail"
)

// mails returns the stored mails to an address that are not discarded, in the order of their creation.
func (f *fixture) mails(to string) []mail.Message {
	f.t.Helper()
	var sent []mail.Message
	for _, m := range mailtest.To(to, mailtest.Stored(f.t, f.sdk, f.tables.Mail, f.keys)) {
		if !m.Discard {
			sent = append(sent, m)
		}
	}
	return sent
}

// checkMails checks the kinds of the mails to an address.
func (f *fixture) checkMails(to string, want ...mail.Kind) {
	f.t.Helper()
	got := f.mails(to)
	for i := range max(len(got), len(want)) {
		if len(got) != len(want) || got[i].Kind != want[i] {
			f.t.Fatalf("got the mails %+v to %s, want the kinds %v", got, to, want)
		}
	}
}

// lastMail returns the newest mail of a kind to an address.
func (f *fixture) lastMail(kind mail.Kind, to string) mail.Message {
	f.t.Helper()
	all := f.mails(to)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			return all[i]
		}
	}
	f.t.Fatalf("there is no mail of the kind %s to %s", kind, to)
	return mail.Message{}
}

func (c *apiClient) post(path string, body map[string]any) slicetest.Response {
	c.f.t.Helper()
	return c.Do(http.MethodPost, "/api/auth/"+path, body)
}

func (c *apiClient) confirm(token string) slicetest.Response {
	c.f.t.Helper()
	return c.post("email/confirm", map[string]any{"token": token})
}

func (c *apiClient) reject(token string) slicetest.Response {
	c.f.t.Helper()
	return c.post("email/confirm", map[string]any{"token": token, "reject": true})
}

func (c *apiClient) resend() slicetest.Response {
	c.f.t.Helper()
	return c.post("email/resend", nil)
}

func (c *apiClient) forgot(email string) slicetest.Response {
	c.f.t.Helper()
	return c.post("password/forgot", map[string]any{"email": email})
}

func (c *apiClient) reset(token, password string) slicetest.Response {
	c.f.t.Helper()
	return c.post("password/reset", map[string]any{"token": token, "password": password})
}

func (c *apiClient) resetWithCode(email, code, password string) slicetest.Response {
	c.f.t.Helper()
	return c.post("password/reset", map[string]any{"email": email, "code": code, "password": password})
}

func (c *apiClient) requestEmail(email string) slicetest.Response {
	c.f.t.Helper()
	return c.Do(http.MethodPut, "/api/auth/email", map[string]any{"email": email})
}

func (c *apiClient) changeEmail(token string) slicetest.Response {
	c.f.t.Helper()
	return c.post("email/change", map[string]any{"token": token})
}

func (c *apiClient) undo(token string) slicetest.Response {
	c.f.t.Helper()
	return c.post("email/undo", map[string]any{"token": token})
}

// newConfirmedUser returns a client of a user whose address is confirmed.
func (f *fixture) newConfirmedUser(name string) *apiClient {
	f.t.Helper()
	client := f.newUser(name)
	client.confirm(f.lastMail(mail.Confirm, name+"@example.com").Token).Want(f.t, http.StatusOK)
	return client
}

// checkAddress checks what me shows of the addresses of the client's account.
func (c *apiClient) checkAddress(email string, verified bool, pending any) {
	c.f.t.Helper()
	me := c.me().Want(c.f.t, http.StatusOK)
	if me.Text("email") != email || me.Body["emailVerified"] != verified || me.Body["pendingEmail"] != pending {
		c.f.t.Errorf("got %s, want the address %q, confirmed: %t, pending: %v", me.Raw, email, verified, pending)
	}
}

// wantCodeInvalid checks that a response is the only error of links and codes that cannot be used.
func wantCodeInvalid(t *testing.T, response slicetest.Response) {
	t.Helper()
	response.Want(t, http.StatusBadRequest, fault.CodeCodeInvalid)
}

func TestConfirmation(t *testing.T) {
	f := newFixture(t)
	ada, anyone := f.newUser("ada"), f.newClient()
	f.checkMails("ada@example.com", mail.Confirm)
	first := f.lastMail(mail.Confirm, "ada@example.com")
	if first.Username != "ada" || !first.ExpiresAt.Equal(startTime.Add(24*time.Hour)) {
		t.Errorf("got the mail %+v, want the username ada, and 24 hours", first)
	}
	ada.checkAddress("ada@example.com", false, nil)
	ada.resend().Want(t, http.StatusAccepted)
	second := f.lastMail(mail.Confirm, "ada@example.com")
	if second.Token == first.Token || !second.TryUndeliverable {
		t.Errorf("got the mail %+v, want another token, and TryUndeliverable", second)
	}
	for range 2 { // repeated
		anyone.confirm(first.Token).Want(t, http.StatusOK)
	}
	ada.checkAddress("ada@example.com", true, nil)
	wantCodeInvalid(t, anyone.confirm(second.Token)) // using a token ends the others of its kind
	wantCodeInvalid(t, anyone.reject(first.Token))   // a confirmed address cannot be rejected
	f.clock.Advance(time.Minute)
	ada.resend().Want(t, http.StatusAccepted)
	f.checkMails("ada@example.com", mail.Confirm, mail.Confirm)
}

func TestConfirmationWithACode(t *testing.T) {
	f := newFixture(t)
	ada, eve := f.newUser("ada"), f.newUser("eve")
	code := f.lastMail(mail.Confirm, "ada@example.com").Code
	confirm := func(c *apiClient, code string) slicetest.Response {
		return c.post("email/confirm", map[string]any{"code": code})
	}
	confirm(f.newClient(), code).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	wantCodeInvalid(t, confirm(eve, code)) // the code of another user
	typed := " " + code[:4] + "-" + code[4:]
	for range 2 {
		confirm(ada, typed).Want(t, http.StatusOK)
	}
	ada.checkAddress("ada@example.com", true, nil)
	eve.checkAddress("eve@example.com", false, nil)
	for _, body := range []map[string]any{{}, {"token": "t", "code": "c"}, {"reject": true}} {
		ada.post("email/confirm", body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}

// A code ends after five wrong attempts. Its link does not.
func TestCodeEndsAfterWrongAttempts(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	m := f.lastMail(mail.Confirm, "ada@example.com")
	for range 5 {
		wantCodeInvalid(t, ada.post("email/confirm", map[string]any{"code": "00000000"}))
	}
	wantCodeInvalid(t, ada.post("email/confirm", map[string]any{"code": m.Code}))
	ada.resend().Want(t, http.StatusAccepted)
	next := f.lastMail(mail.Confirm, "ada@example.com") // has its own five attempts
	wantCodeInvalid(t, ada.post("email/confirm", map[string]any{"code": "00000000"}))
	wantCodeInvalid(t, ada.post("email/confirm", map[string]any{"code": m.Code}))
	ada.post("email/confirm", map[string]any{"code": next.Code}).Want(t, http.StatusOK)

	eve := f.newUser("eve")
	m = f.lastMail(mail.Confirm, "eve@example.com")
	for range 6 {
		wantCodeInvalid(t, eve.post("email/confirm", map[string]any{"code": "00000000"}))
	}
	eve.confirm(m.Token).Want(t, http.StatusOK)
}

func TestConfirmationExpires(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	m := f.lastMail(mail.Confirm, "ada@example.com")
	f.clock.Advance(24 * time.Hour)
	wantCodeInvalid(t, ada.confirm(m.Token))
	wantCodeInvalid(t, ada.post("email/confirm", map[string]any{"code": m.Code}))
}

// Three mails of a kind stay valid.
func TestFourthMailEndsTheFirst(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	for range 3 {
		ada.resend().Want(t, http.StatusAccepted)
		f.clock.Advance(time.Minute)
	}
	all := f.mails("ada@example.com")
	wantCodeInvalid(t, ada.confirm(all[0].Token))
	ada.confirm(all[1].Token).Want(t, http.StatusOK)
}

func TestRejectedAccount(t *testing.T) {
	f := newFixture(t)
	eve, owner := f.newUser("eve"), f.newClient() // eve uses the address of owner
	m := f.lastMail(mail.Confirm, "eve@example.com")
	eve.resend().Want(t, http.StatusAccepted)
	owner.reject(m.Token).Want(t, http.StatusOK)
	eve.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	f.newClient().login("eve", goodPassword).Want(t, http.StatusUnauthorized)
	for _, stored := range f.mails("eve@example.com") {
		wantCodeInvalid(t, owner.confirm(stored.Token))
		wantCodeInvalid(t, owner.reject(stored.Token))
	}
	owner.signupWith("eve@example.com", "owner", newPassword).Want(t, http.StatusCreated)
	owner.loginWith("eve@example.com", newPassword).Want(t, http.StatusOK)
}

func TestRequestsForMailAreLimited(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	check := func(response slicetest.Response, status int, retryAfter string) {
		t.Helper()
		response.Want(t, status)
		if got := response.Header.Get("Retry-After"); got != retryAfter {
			t.Errorf("got Retry-After %q, want %q", got, retryAfter)
		}
		if got := response.Header.Get("RateLimit-Remaining"); retryAfter != "" && got != "0" {
			t.Errorf("got RateLimit-Remaining %q, want 0", got)
		}
	}
	for range 4 {
		check(ada.resend(), http.StatusAccepted, "")
		check(ada.resend(), http.StatusTooManyRequests, "60")
		f.clock.Advance(time.Minute)
	}
	check(ada.resend(), http.StatusAccepted, "")
	check(ada.resend(), http.StatusTooManyRequests, "3060") // until the hour ends
	check(ada.from("198.51.100.9").resend(), http.StatusAccepted, "")
}

func TestWithoutMail(t *testing.T) {
	f := newFixture(t, withoutMail)
	ada := f.newUser("ada")
	me := ada.me().Want(t, http.StatusOK)
	if me.Body["mail"] != false || me.Body["emailVerified"] != false {
		t.Errorf("got %s, want no mail and no confirmed address", me.Raw)
	}
	for name, response := range map[string]slicetest.Response{
		"forgot": ada.forgot("ada@example.com"), "resend": ada.resend(), "change": ada.requestEmail("new@example.com"),
	} {
		if response.Status != http.StatusNotImplemented || response.Text("code") != string(fault.CodeMailNotConfigured) {
			t.Errorf("%s: got %d %s, want 501", name, response.Status, response.Raw)
		}
	}
	ada.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	wantCodeInvalid(t, ada.confirm("x"))
}

func TestTokensAndCodesAreLimitedPerNetwork(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	send := []func() slicetest.Response{
		func() slicetest.Response { return client.confirm("x") },
		func() slicetest.Response { return client.changeEmail("x") },
		func() slicetest.Response { return client.undo("x") },
		func() slicetest.Response { return client.reset("x", newPassword) },
		func() slicetest.Response { return client.resetWithCode("a@example.com", "x", newPassword) },
	}
	for i := range 20 {
		wantCodeInvalid(t, send[i%len(send)]())
	}
	for _, next := range send {
		response := next().Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
		if got := response.Header.Get("Retry-After"); got != "600" {
			t.Errorf("got Retry-After %q, want 600", got)
		}
	}
	wantCodeInvalid(t, client.from("198.51.100.9").confirm("x"))
}
