package account

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/operator/operatortest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/mail"
)

func (f *fixture) operator() operatortest.Operator {
	return operatortest.New(f.t, db.Wrap(f.sdk, f.clock.Now), f.tables, f.tables.Projects, f.clock.Now)
}

func (c *apiClient) userID() string {
	c.f.t.Helper()
	return c.me().Want(c.f.t, http.StatusOK).Text("id")
}

func TestSuspendedAccount(t *testing.T) {
	f := newFixture(t)
	o, ada, second, grace := f.operator(), f.newUser("ada"), f.newClient(), f.newUser("grace")
	second.login("ada", goodPassword).Want(t, http.StatusOK)
	id := ada.userID()
	if r := o.MustSuspend(id); !r.Changed || r.Memberships != 1 {
		t.Errorf("got %+v, want a change with one membership", r)
	}
	for _, c := range []*apiClient{ada, second} {
		for _, path := range []string{"/api/auth/me", "/api/auth/sessions", "/api/auth/activity"} {
			c.Get(path).Want(t, http.StatusForbidden, fault.CodeSuspended)
		}
		c.changePassword(goodPassword, newPassword).Want(t, http.StatusForbidden, fault.CodeSuspended)
	}
	anyone := f.newClient()
	if hasCookies(anyone.login("ada", goodPassword).Want(t, http.StatusForbidden, fault.CodeSuspended)) {
		t.Error("the login of a suspended account started a session")
	}
	anyone.login("ada", "wrong").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 1, network: 5, email: 0})
	grace.me().Want(t, http.StatusOK)
	if r := o.MustSuspend(id); r.Changed || r.Memberships != 0 {
		t.Errorf("a second suspension: got %+v, want no change", r)
	}

	if r := o.MustLift(id); !r.Changed || r.Memberships != 1 {
		t.Errorf("got %+v, want a change with one membership", r)
	}
	for _, c := range []*apiClient{ada, second} { // the sessions do not come back
		c.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	}
	ada.login("ada", goodPassword).Want(t, http.StatusOK)
	ada.me().Want(t, http.StatusOK)
	list := ada.activity("")
	types := strings.Join(list.Texts("activity", "type"), " ")
	if !strings.Contains(types, "operator.suspension-lifted") || !strings.Contains(types, "operator.suspended") {
		t.Errorf("got the activity %s, want both acts of the operator", types)
	}
	if r := o.MustLift(id); r.Changed || r.Memberships != 0 {
		t.Errorf("a second lift: got %+v, want no change", r)
	}
}

// A session that ended before the suspension is not reported as suspended.
func TestEndedSessionOfASuspendedAccount(t *testing.T) {
	f := newFixture(t)
	ada, stolen := f.newUser("ada"), f.newClient()
	stolen.login("ada", goodPassword).Want(t, http.StatusOK)
	ada.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	f.operator().MustSuspend(ada.userID())
	stolen.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// No mail lifts a suspension: each of them replaces the credential of the account.
func TestMailsDoNotLiftASuspension(t *testing.T) {
	f := newFixture(t)
	o, ada, anyone := f.operator(), f.newConfirmedUser("ada"), f.newClient()
	id := ada.userID()
	ada.requestEmail("new@example.com").Want(t, http.StatusAccepted)
	change := f.lastMail(mail.Change, "new@example.com").Token
	o.MustSuspend(id)
	wantSuspended := func(what, email, password string) {
		t.Helper()
		response := f.newClient().loginWith(email, password)
		if response.Status != http.StatusForbidden || response.Text("code") != string(fault.CodeSuspended) {
			t.Errorf("%s: got %d %s, want 403 AUTH_SUSPENDED", what, response.Status, response.Raw)
		}
	}
	anyone.forgot("ada@example.com").Want(t, http.StatusAccepted)
	anyone.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword).Want(t, http.StatusOK)
	wantSuspended("reset", "ada@example.com", newPassword)
	anyone.changeEmail(change) // the reset dropped the change
	f.clock.Advance(time.Minute)
	anyone.forgot("ada@example.com").Want(t, http.StatusAccepted)
	anyone.resetWithCode("ada@example.com", f.lastMail(mail.Reset, "ada@example.com").Code, goodPassword).
		Want(t, http.StatusOK)
	wantSuspended("reset with the code", "ada@example.com", goodPassword)

	o.MustLift(id)
	ada.login("ada", goodPassword).Want(t, http.StatusOK)
	ada.requestEmail("new@example.com").Want(t, http.StatusAccepted)
	o.MustSuspend(id)
	anyone.changeEmail(f.lastMail(mail.Change, "new@example.com").Token).Want(t, http.StatusOK)
	wantSuspended("change", "new@example.com", goodPassword)
	anyone.undo(f.lastMail(mail.Undo, "ada@example.com").Token).Want(t, http.StatusOK)
	anyone.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword).Want(t, http.StatusOK)
	wantSuspended("undo", "ada@example.com", newPassword)
	o.MustLift(id)
	anyone.login("ada", newPassword).Want(t, http.StatusOK)
}

func TestCodeHostAndSuspension(t *testing.T) {
	f, host := newHostFixture(t)
	o, ada := f.operator(), f.newUser("ada")
	id := ada.userID()
	ada.link(host, octocat(1))
	pending := host.approve(ada.startLink(), octocat(2))
	o.MustSuspend(id)
	ada.Get(pending).Want(t, http.StatusForbidden, fault.CodeSuspended)
	response := f.newClient().signIn(host, octocat(1)).Want(t, http.StatusForbidden, fault.CodeSuspended)
	if hasCookies(response) && strings.Contains(strings.Join(response.Header.Values("Set-Cookie"), " "), "session=ey") {
		t.Error("the sign-in to a suspended account started a session")
	}
	// An account without a password that only the address connects with the identity.
	grace := f.newClient()
	grace.signIn(host, octocat(3, verified("grace@example.com"))).Want(t, http.StatusFound)
	o.MustSuspend(grace.userID())
	f.newClient().signIn(host, octocat(4, verified("grace@example.com"))).
		Want(t, http.StatusForbidden, fault.CodeSuspended)
	o.MustLift(id)
	f.newClient().signIn(host, octocat(1)).Want(t, http.StatusFound)
}

// Whatever a login or a sign-in has read before the suspension, it starts no session that is accepted afterwards.
func TestSuspensionDuringALogin(t *testing.T) {
	f, host := newHostFixture(t)
	o := f.operator()
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client())
	for name, start := range map[string]func(c *apiClient, user string) slicetest.Response{
		"login":   func(c *apiClient, user string) slicetest.Response { return c.login(user, goodPassword) },
		"sign-in": func(c *apiClient, _ string) slicetest.Response { return c.signIn(host, octocat(7)) },
	} {
		for _, lifted := range []bool{false, true} {
			username := strings.ReplaceAll(name, "-", "")
			if lifted {
				username += "lifted"
			}
			first := f.newUser(username)
			id := first.userID()
			first.link(host, octocat(7))
			c, suspend := f.newClient(), func() {
				o.MustSuspend(id)
				if lifted {
					o.MustLift(id)
				}
			}
			before := func() { wire.Before("TransactWriteItems", suspend) }
			if name == "login" {
				before()
			} else {
				host.meanwhile = before // after the callback has used the state
			}
			start(c, username)
			if got := c.me(); got.Status == http.StatusOK {
				t.Errorf("%s, lifted %v: the session that started during the suspension is accepted", name, lifted)
			}
			if lifted {
				o.MustSuspend(id)
			}
			o.MustLift(id)
			c.login(username, goodPassword).Want(t, http.StatusOK)
			c.unlink(c.identityIDs()[0]).Want(t, http.StatusOK)
		}
	}
}
