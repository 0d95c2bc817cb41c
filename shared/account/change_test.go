package account

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/mail"
)

const day = 24 * time.Hour

// moveTo changes the address of the client's account, with a new login.
func (c *apiClient) moveTo(email string) {
	c.f.t.Helper()
	old := c.me().Want(c.f.t, http.StatusOK).Text("email")
	c.loginWith(old, goodPassword).Want(c.f.t, http.StatusOK)
	c.requestEmail(email).Want(c.f.t, http.StatusAccepted)
	c.f.newClient().changeEmail(c.f.lastMail(mail.Change, email).Token).Want(c.f.t, http.StatusOK)
}

func TestChangeOfAddress(t *testing.T) {
	f := newFixture(t)
	ada, anyone := f.newConfirmedUser("ada"), f.newClient()
	ada.forgot("ada@example.com").Want(t, http.StatusAccepted)
	ada.requestEmail("New@example.com").Want(t, http.StatusAccepted)
	ada.checkAddress("ada@example.com", true, "new@example.com")
	requested := f.lastMail(mail.ChangeRequested, "ada@example.com")
	if requested.Values["email"] != "new@example.com" || requested.Token != "" {
		t.Errorf("got the notice %+v, want the new address and no link", requested)
	}
	f.clock.Advance(time.Minute)
	ada.resend().Want(t, http.StatusAccepted)
	f.checkMails("new@example.com", mail.Change, mail.Change)
	m := f.mails("new@example.com")[0]
	if m.Username != "ada" || m.Code == "" {
		t.Errorf("got the mail %+v, want the username and a code", m)
	}
	anyone.changeEmail(m.Token).Want(t, http.StatusOK)
	ada.checkAddress("new@example.com", true, nil) // the session continues
	f.newClient().loginWith("new@example.com", goodPassword).Want(t, http.StatusOK)
	f.newClient().loginWith("ada@example.com", goodPassword).Want(t, http.StatusUnauthorized)
	undo := f.lastMail(mail.Undo, "ada@example.com")
	if undo.Values["email"] != "new@example.com" || undo.Code != "" ||
		!undo.ExpiresAt.Equal(f.clock.Now().Add(7*day)) {
		t.Errorf("got the mail %+v, want the new address, no code, and 7 days", undo)
	}
	for _, old := range f.mails("new@example.com") {
		wantCodeInvalid(t, anyone.changeEmail(old.Token))
	}
	wantCodeInvalid(t, anyone.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword))
}

func TestChangeWithACode(t *testing.T) {
	f := newFixture(t)
	ada, eve := f.newConfirmedUser("ada"), f.newConfirmedUser("eve")
	ada.requestEmail("new@example.com").Want(t, http.StatusAccepted)
	body := map[string]any{"code": f.lastMail(mail.Change, "new@example.com").Code}
	f.newClient().post("email/change", body).Want(t, http.StatusUnauthorized)
	wantCodeInvalid(t, eve.post("email/change", body))
	ada.post("email/change", body).Want(t, http.StatusOK)
	ada.checkAddress("new@example.com", true, nil)
}

func TestChangeNeedsAFreshLogin(t *testing.T) {
	f := newFixture(t)
	ada := f.newConfirmedUser("ada")
	f.clock.Advance(10*time.Minute + time.Millisecond)
	ada.requestEmail("new@example.com").Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	ada.login("ada", goodPassword).Want(t, http.StatusOK)
	for _, invalid := range []string{"", "x", "ada@example.com"} {
		ada.requestEmail(invalid).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	f.clock.Advance(10 * time.Minute)
	ada.requestEmail("new@example.com").Want(t, http.StatusAccepted)
}

func TestRejectedChange(t *testing.T) {
	f := newFixture(t)
	ada := f.newConfirmedUser("ada")
	ada.requestEmail("new@example.com").Want(t, http.StatusAccepted)
	token := f.lastMail(mail.Change, "new@example.com").Token
	reject := map[string]any{"token": token, "reject": true}
	f.newClient().post("email/change", reject).Want(t, http.StatusOK)
	ada.checkAddress("ada@example.com", true, nil)
	wantCodeInvalid(t, ada.changeEmail(token))
	wantCodeInvalid(t, ada.post("email/change", reject))
}

// A newer request ends the links of the older one.
func TestOtherPendingAddress(t *testing.T) {
	f := newFixture(t)
	ada := f.newConfirmedUser("ada")
	ada.requestEmail("one@example.com").Want(t, http.StatusAccepted)
	ada.requestEmail("two@example.com").Want(t, http.StatusAccepted)
	wantCodeInvalid(t, ada.changeEmail(f.lastMail(mail.Change, "one@example.com").Token))
	ada.checkAddress("ada@example.com", true, "two@example.com")
	older := f.lastMail(mail.Change, "one@example.com").Token
	f.clock.Advance(time.Minute)
	ada.requestEmail("one@example.com").Want(t, http.StatusAccepted)
	wantCodeInvalid(t, ada.changeEmail(older))
	ada.requestEmail("two@example.com").Want(t, http.StatusAccepted)
	ada.changeEmail(f.lastMail(mail.Change, "two@example.com").Token).Want(t, http.StatusOK)
}

// A password change drops a change of the address, which a stolen session could have requested.
func TestPasswordChangeDropsThePendingAddress(t *testing.T) {
	f := newFixture(t)
	ada := f.newConfirmedUser("ada")
	ada.requestEmail("new@example.com").Want(t, http.StatusAccepted)
	ada.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	ada.checkAddress("ada@example.com", true, nil)
	wantCodeInvalid(t, ada.changeEmail(f.lastMail(mail.Change, "new@example.com").Token))
}

// TestNoUserEnumerationByChanges checks that a request for an address that another account has, or has reserved, does
// not differ from a request for a free address of the same length. The owner of the address gets a mail.
func TestNoUserEnumerationByChanges(t *testing.T) {
	f := newFixture(t)
	ada, eve, bob := f.newConfirmedUser("ada"), f.newConfirmedUser("eve"), f.newConfirmedUser("bob")
	bob.moveTo("other@example.com") // bob@example.com stays reserved
	want := f.observe(func() slicetest.Response { return ada.requestEmail("fre@example.com") })
	for _, taken := range []string{"eve@example.com", "bob@example.com"} {
		got := f.observe(func() slicetest.Response { return ada.requestEmail(taken) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-free +taken):\n%s", taken, diff)
		}
		ada.checkAddress("ada@example.com", true, taken)
		for _, m := range f.mails(taken) {
			if m.Kind == mail.Change {
				t.Errorf("the owner of the address got the mail %+v", m)
			}
		}
	}
	if m := f.lastMail(mail.AddressTaken, "eve@example.com"); m.Username != "eve" || m.Token != "" || m.Code != "" {
		t.Errorf("got the mail %+v, want a notice to eve", m)
	}
	f.lastMail(mail.AddressTaken, "bob@example.com")
	eve.checkAddress("eve@example.com", true, nil)
}

// An address that was free when it was requested can be taken before it is confirmed.
func TestAddressIsTakenInTheMeantime(t *testing.T) {
	f := newFixture(t)
	ada := f.newConfirmedUser("ada")
	ada.requestEmail("new@example.com").Want(t, http.StatusAccepted)
	f.newUser("new")
	ada.changeEmail(f.lastMail(mail.Change, "new@example.com").Token).
		Want(t, http.StatusConflict, fault.CodeUserExists)
	ada.checkAddress("ada@example.com", true, "new@example.com")
}

// If the old address was not confirmed, there is no way back, and the address is free.
func TestChangeOfAnUnconfirmedAddress(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	ada.moveTo("new@example.com")
	ada.checkAddress("new@example.com", true, nil)
	f.checkMails("ada@example.com", mail.Confirm, mail.ChangeRequested)
	wantCodeInvalid(t, ada.confirm(f.lastMail(mail.Confirm, "ada@example.com").Token))
	f.newClient().signupWith("ada@example.com", "ada2", newPassword).Want(t, http.StatusCreated)
}

func TestOldAddressIsReserved(t *testing.T) {
	f, host := newHostFixture(t)
	ada := f.newConfirmedUser("ada")
	ada.moveTo("new@example.com")
	for _, wait := range []time.Duration{7*day - time.Second, time.Second} {
		f.newClient().signupWith("ada@example.com", "other", newPassword).
			Want(t, http.StatusConflict, fault.CodeUserExists)
		f.newClient().signIn(host, octocat(1, verified("ada@example.com"))).
			Want(t, http.StatusConflict, fault.CodeUserExists)
		ada.forgot("ada@example.com").Want(t, http.StatusAccepted) // as for an unknown address
		f.clock.Advance(wait)
	}
	for _, m := range f.mails("ada@example.com") {
		if m.Kind == mail.Reset {
			t.Error("a former address got a mail that resets the password")
		}
	}
	wantCodeInvalid(t, ada.undo(f.lastMail(mail.Undo, "ada@example.com").Token))
	f.newClient().signupWith("ada@example.com", "other", newPassword).Want(t, http.StatusCreated)
}

func TestUndo(t *testing.T) {
	f, host := newHostFixture(t)
	ada := f.newConfirmedUser("ada")
	ada.link(host, octocat(1))
	f.clock.Advance(time.Minute)
	ada.moveTo("eve@example.com") // by a person who stole the session
	for i := range 50 {           // more than one transaction removes
		ada.link(host, octocat(2+i))
	}
	f.clock.Advance(time.Minute)
	ada.forgot("eve@example.com").Want(t, http.StatusAccepted)
	ada.requestEmail("next@example.com").Want(t, http.StatusAccepted)
	undo, owner := f.lastMail(mail.Undo, "ada@example.com").Token, f.newClient()
	owner.undo(undo).Want(t, http.StatusOK)
	ada.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	wantCodeInvalid(t, owner.undo(undo))
	wantCodeInvalid(t, owner.changeEmail(f.lastMail(mail.Change, "next@example.com").Token))
	wantCodeInvalid(t, owner.reset(f.lastMail(mail.Reset, "eve@example.com").Token, newPassword))
	for _, email := range []string{"ada@example.com", "eve@example.com"} {
		owner.loginWith(email, goodPassword).Want(t, http.StatusUnauthorized)
	}
	if got := f.checkIdentities(); got != 1 {
		t.Errorf("got %d identities, want the one that was linked before the change", got)
	}
	owner.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword).Want(t, http.StatusOK)
	owner.loginWith("ada@example.com", newPassword).Want(t, http.StatusOK)
	owner.checkAddress("ada@example.com", true, nil)
	f.newClient().signupWith("eve@example.com", "eve", goodPassword).Want(t, http.StatusCreated)
}

// Each change has its own link that undoes it. A later change, a reset and a password change do not end the link.
func TestFirstUndoLinkAfterTwoChanges(t *testing.T) {
	f := newFixture(t)
	ada, owner := f.newConfirmedUser("ada"), f.newClient()
	ada.moveTo("one@example.com")
	f.clock.Advance(day)
	ada.moveTo("two@example.com")
	ada.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	f.clock.Advance(time.Minute)
	ada.forgot("two@example.com").Want(t, http.StatusAccepted)
	ada.reset(f.lastMail(mail.Reset, "two@example.com").Token, goodPassword).Want(t, http.StatusOK)
	first, second := f.lastMail(mail.Undo, "ada@example.com"), f.lastMail(mail.Undo, "one@example.com")
	owner.undo(first.Token).Want(t, http.StatusOK)
	wantCodeInvalid(t, owner.undo(second.Token))
	owner.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword).Want(t, http.StatusOK)
	owner.loginWith("ada@example.com", newPassword).Want(t, http.StatusOK)
	for i, free := range []string{"one@example.com", "two@example.com"} {
		owner.signupWith(free, fmt.Sprint("user", i), goodPassword).Want(t, http.StatusCreated)
	}
}

// Undoing the second change leaves the first one, with its link and the reservation of its address.
func TestSecondUndoLink(t *testing.T) {
	f := newFixture(t)
	ada, owner := f.newConfirmedUser("ada"), f.newClient()
	ada.moveTo("one@example.com")
	f.clock.Advance(day)
	ada.moveTo("two@example.com")
	owner.undo(f.lastMail(mail.Undo, "one@example.com").Token).Want(t, http.StatusOK)
	owner.signupWith("ada@example.com", "other", goodPassword).Want(t, http.StatusConflict, fault.CodeUserExists)
	owner.signupWith("two@example.com", "other", goodPassword).Want(t, http.StatusCreated)
	owner.reset(f.lastMail(mail.Reset, "one@example.com").Token, newPassword).Want(t, http.StatusOK)
	owner.loginWith("one@example.com", newPassword).Want(t, http.StatusOK)
	owner.undo(f.lastMail(mail.Undo, "ada@example.com").Token).Want(t, http.StatusOK)
	owner.signupWith("one@example.com", "other2", goodPassword).Want(t, http.StatusCreated)
}

// An account can go back to a former address without the link. The links of both changes stay valid.
func TestChangeBackToAFormerAddress(t *testing.T) {
	t.Parallel()
	for name, undone := range map[string]string{"first": "ada@example.com", "second": "one@example.com"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ada := f.newConfirmedUser("ada")
			ada.moveTo("one@example.com")
			f.clock.Advance(day)
			ada.moveTo("ada@example.com")
			ada.loginWith("ada@example.com", goodPassword).Want(t, http.StatusOK)
			f.newClient().undo(f.lastMail(mail.Undo, undone).Token).Want(t, http.StatusOK)
			ada.reset(f.lastMail(mail.Reset, undone).Token, newPassword).Want(t, http.StatusOK)
			ada.loginWith(undone, newPassword).Want(t, http.StatusOK)
			status := map[string]int{"ada@example.com": http.StatusConflict, "one@example.com": http.StatusCreated}
			if undone == "one@example.com" { // the link of the first change is still valid
				status["one@example.com"] = http.StatusConflict
			}
			for email, want := range status {
				ada.signupWith(email, "u-"+email[:3], goodPassword).Want(t, want)
			}
		})
	}
}

func TestNumberOfUndoLinksIsLimited(t *testing.T) {
	f := newFixture(t)
	ada := f.newConfirmedUser("ada")
	for i := range mailtoken.MaxUndo {
		ada.moveTo(fmt.Sprintf("a%d@example.com", i))
		f.clock.Advance(15 * time.Minute)
	}
	ada.loginWith("a9@example.com", goodPassword).Want(t, http.StatusOK) // the last address
	ada.requestEmail("more@example.com").Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	f.newClient().undo(f.lastMail(mail.Undo, "ada@example.com").Token).Want(t, http.StatusOK)
	var emails []db.Key
	for key := range slicetest.Dump(t, f.sdk, f.tables.Accounts) {
		if key.SK == "EMAIL" {
			emails = append(emails, key)
		}
	}
	if want := []db.Key{db.EmailKey("ada@example.com")}; !slices.Equal(emails, want) {
		t.Errorf("got the addresses %v of the account, want only %v", emails, want)
	}
}

// After changes, undos, logins and resets at the same time, the account has only the restored address, and its password
// can be reset.
func TestConcurrentChangesAndUndo(t *testing.T) {
	f := newFixture(t)
	ada := f.newConfirmedUser("ada")
	ada.moveTo("one@example.com")
	ada.requestEmail("two@example.com").Want(t, http.StatusAccepted)
	undo, change := f.lastMail(mail.Undo, "ada@example.com"), f.lastMail(mail.Change, "two@example.com")
	responses := slicetest.Concurrently(8, func(i int) slicetest.Response {
		switch i % 4 {
		case 0:
			return f.newClient().undo(undo.Token)
		case 1:
			return f.newClient().changeEmail(change.Token)
		case 2:
			return f.newClient().loginWith("one@example.com", goodPassword)
		default:
			return f.newClient().forgot("one@example.com")
		}
	})
	if responses[0].Status != http.StatusOK && responses[4].Status != http.StatusOK {
		t.Fatalf("no undo succeeded: %v", slicetest.CountStatuses(responses))
	}
	owner := f.newClient()
	owner.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword).Want(t, http.StatusOK)
	owner.loginWith("ada@example.com", newPassword).Want(t, http.StatusOK)
	for _, email := range []string{"one@example.com", "two@example.com"} {
		if f.item(f.tables.Accounts, db.EmailKey(email)) != nil {
			t.Errorf("the account still has the address %s", email)
		}
	}
}
