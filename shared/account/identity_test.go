package account

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/codehost"
	"devplatform/shared/account/session"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

func passwordField(password string) map[string]string { return map[string]string{"password": password} }

// requestLink requests a link. body is nil or the body with the password.
func (c *apiClient) requestLink(body any) slicetest.Response {
	c.f.t.Helper()
	return c.Do(http.MethodPost, "/api/auth/codehost/link", body)
}

// link links a user of the code host to the client's user.
func (c *apiClient) link(host *fakeCodeHost, user codeHostUser) {
	c.f.t.Helper()
	c.Get(host.approve(c.startLink(), user)).Want(c.f.t, http.StatusFound)
}

func (c *apiClient) unlink(identityID string) slicetest.Response {
	c.f.t.Helper()
	return c.Do(http.MethodDelete, "/api/auth/identities/"+identityID, nil)
}

func (c *apiClient) identityIDs() []string {
	c.f.t.Helper()
	return c.Get("/api/auth/identities").Want(c.f.t, http.StatusOK).Texts("identities", "id")
}

// linkedUser returns a client whose user has no password and n identities at the code host, with the IDs from first.
func (f *fixture) linkedUser(host *fakeCodeHost, first, n int) *apiClient {
	f.t.Helper()
	client := f.newClient()
	client.signIn(host, octocat(first, verified("octo@example.com"))).Want(f.t, http.StatusFound)
	for i := 1; i < n; i++ {
		client.link(host, octocat(first+i))
	}
	return client
}

// checkIdentities checks that each identity is stored under the user of the code host and under the user of the
// service, and returns the number of identities.
func (f *fixture) checkIdentities() int {
	f.t.Helper()
	both := map[string]int{}
	for key, item := range slicetest.Dump(f.t, f.sdk, f.tables.Accounts) {
		if strings.HasPrefix(key.PK, "IDENTITY#") || strings.HasPrefix(key.SK, "IDENTITY#") {
			record, err := db.Decode[codehost.Identity](item)
			if err != nil {
				f.t.Fatal(err)
			}
			both[record.ID]++
		}
	}
	for id, records := range both {
		if records != 2 {
			f.t.Errorf("the identity %s has %d records, want 2", id, records)
		}
	}
	return len(both)
}

// A stolen session alone is not enough to add another way to sign in, or to remove one.
func TestIdentitiesNeedReauthentication(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newUser("ada")
	client.link(host, octocat(1))
	identityPath := "/api/auth/identities/" + client.identityIDs()[0]

	f.clock.Advance(10 * time.Minute)
	client.requestLink(nil).Want(t, http.StatusOK) // the login was 10 minutes ago
	f.clock.Advance(time.Millisecond)
	for _, body := range []any{nil, "{}", passwordField(""), passwordField("wrong")} { // the login is too old
		client.requestLink(body).Want(t, http.StatusForbidden, fault.CodeReauthRequired)
		client.Do(http.MethodDelete, identityPath, body).Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	}
	client.requestLink(passwordField(strings.Repeat("p", 1025))).
		Want(t, http.StatusBadRequest, fault.CodeValidationFailed)

	f.clock.Advance(session.RenewalEvery) // the next request renews the session
	client.requestLink(nil).Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	client.requestLink(nil).Want(t, http.StatusForbidden, fault.CodeReauthRequired)

	client.requestLink(passwordField(goodPassword)).Want(t, http.StatusOK)
	client.Do(http.MethodDelete, identityPath, passwordField(goodPassword)).Want(t, http.StatusOK)
	client.login("ada", goodPassword).Want(t, http.StatusOK)
	client.requestLink(nil).Want(t, http.StatusOK)
}

// A user without a password logs in again.
func TestReauthenticationWithoutAPassword(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.linkedUser(host, 1, 1)
	f.clock.Advance(time.Hour)
	for _, body := range []any{nil, passwordField("x"), passwordField(goodPassword)} {
		client.requestLink(body).Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	}
	client.signIn(host, octocat(1)).Want(t, http.StatusFound)
	client.requestLink(nil).Want(t, http.StatusOK)
}

func TestReauthenticationCountsAsALogin(t *testing.T) {
	f, _ := newHostFixture(t, withLimits(func(l *attempt.Limits) { l.LoginPair, l.OAuthIP = 2, 1 }))
	client := f.newUser("ada")
	f.clock.Advance(time.Hour)
	client.requestLink(passwordField(goodPassword)).Want(t, http.StatusOK)
	f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 0, network: 1, email: 0}) // refunded

	f.clock.Advance(time.Hour)
	response := client.requestLink(passwordField("wrong")).Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 2, Remaining: 1, Reset: 600})
	response = client.Do(http.MethodDelete, "/api/auth/identities/x", passwordField("wrong")).
		Want(t, http.StatusForbidden, fault.CodeReauthRequired)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 2, Remaining: 0, Reset: 600})
	for _, response := range []slicetest.Response{
		client.requestLink(passwordField(goodPassword)),
		client.Do(http.MethodDelete, "/api/auth/identities/x", passwordField(goodPassword)),
		client.changePassword(goodPassword, newPassword),
		client.login("ada", goodPassword),
	} {
		response.Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	}
	f.newClient().Get("/api/auth/codehost").Want(t, http.StatusFound) // the rejected links were not counted as starts
}

func TestIdentitiesListAndRemove(t *testing.T) {
	f, host := newHostFixture(t)
	f.newClient().Get("/api/auth/identities").Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	ada, eve := f.newUser("ada"), f.newUser("eve")
	if got := ada.Get("/api/auth/identities").Want(t, http.StatusOK).Raw; got != `{"identities":[]}` {
		t.Errorf("without an identity: got %s, want an empty list", got)
	}
	ada.link(host, octocat(1))
	f.clock.Advance(time.Minute)
	ada.link(host, codeHostUser{ID: 2, Login: "hubot"})
	list := ada.Get("/api/auth/identities").Want(t, http.StatusOK)
	ids := list.Texts("identities", "id")
	provider := "custom:" + strings.TrimPrefix(host.server.URL, "http://")
	want := []map[string]any{
		{"id": ids[0], "provider": provider, "username": "octocat", "linkedAt": "2031-05-05T10:05:00.000Z"},
		{"id": ids[1], "provider": provider, "username": "hubot", "linkedAt": "2031-05-05T10:06:00.000Z"},
	}
	if diff := cmp.Diff(want, list.List("identities")); diff != "" || !strings.HasPrefix(ids[0], "idn_") {
		t.Errorf("identities with the IDs %q (-want +got):\n%s", ids, diff)
	}

	for _, id := range []string{ids[0], "idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "x", "%23"} {
		eve.unlink(id).Want(t, http.StatusNotFound, fault.CodeIdentityNotFound)
	}
	removed := ada.unlink(ids[0]).Want(t, http.StatusOK)
	if removed.Body["success"] != true || removed.Text("message") == "" || len(removed.Body) != 2 {
		t.Errorf("remove: got %s, want success and message", removed.Raw)
	}
	ada.unlink(ids[0]).Want(t, http.StatusNotFound, fault.CodeIdentityNotFound)
	if diff := cmp.Diff(ids[1:], ada.identityIDs()); diff != "" {
		t.Errorf("identities after the removal (-want +got):\n%s", diff)
	}
	// The removed identity no longer signs in to the account, and can be linked to another one.
	f.newClient().signIn(host, octocat(1)).Want(t, http.StatusUnauthorized, fault.CodeOAuthFailed)
	eve.link(host, octocat(1))
	ada.unlink(ids[1]).Want(t, http.StatusOK) // the password remains
	if got := f.checkIdentities(); got != 1 {
		t.Errorf("got %d stored identities, want 1", got)
	}
}

func TestLastWayToSignInRemains(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.linkedUser(host, 1, 2)
	ids := client.identityIDs()
	first := client.Get("/api/auth/identities?limit=1").Want(t, http.StatusOK)
	rest := client.Get("/api/auth/identities?cursor="+first.Text("nextCursor")).Want(t, http.StatusOK)
	if all := append(first.List("identities"), rest.List("identities")...); len(all) != 2 || all[0]["id"] != ids[0] ||
		all[1]["id"] != ids[1] || rest.Text("nextCursor") != "" {
		t.Errorf("got the pages %s and %s, want the identities %v", first.Raw, rest.Raw, ids)
	}
	client.unlink(ids[0]).Want(t, http.StatusOK)
	client.unlink(ids[1]).Want(t, http.StatusConflict, fault.CodeConflict)
	f.newClient().signIn(host, octocat(2)).Want(t, http.StatusFound)
}

// If two requests remove the last two ways to sign in, the second request fails.
func TestLastTwoIdentitiesAreRemovedAtTheSameTime(t *testing.T) {
	f, host := newHostFixture(t)
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client())
	client := f.linkedUser(host, 1, 2)
	ids := client.identityIDs()
	wire.Before("TransactWriteItems", func() { client.unlink(ids[1]).Want(t, http.StatusOK) })
	client.unlink(ids[0]).Want(t, http.StatusConflict, fault.CodeConflict)
	if diff := cmp.Diff(ids[:1], client.identityIDs()); diff != "" {
		t.Errorf("identities (-want +got):\n%s", diff)
	}

	for i := range 5 {
		client.link(host, octocat(3+i))
		ids := client.identityIDs()
		responses := slicetest.Concurrently(2, func(i int) slicetest.Response { return client.unlink(ids[i]) })
		want := map[int]int{http.StatusOK: 1, http.StatusConflict: 1}
		if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
			t.Errorf("number of responses by status (-want +got):\n%s", diff)
		}
	}
}

// An identity is removed while it signs in, or while it is linked again.
func TestIdentityIsRemovedWhileItIsUsed(t *testing.T) {
	f, host := newHostFixture(t)
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client())
	client, attacker := f.newUser("ada"), f.newClient()
	client.link(host, octocat(1))
	remove := func() {
		wire.Before("TransactWriteItems", func() {
			client.unlink(client.identityIDs()[0]).Want(t, http.StatusOK)
		})
	}
	callback := host.approve(attacker.startSignIn(""), octocat(1))
	host.meanwhile = remove
	attacker.Get(callback).Want(t, http.StatusUnauthorized, fault.CodeOAuthFailed) // it has no e-mail address
	attacker.me().Want(t, http.StatusUnauthorized)
	if got := f.checkIdentities(); got != 0 {
		t.Errorf("after the sign-in: got %d stored identities, want none", got)
	}

	// The identity is already linked when the link is finished, and is then removed: it is linked again.
	client.link(host, octocat(1))
	other := f.newClient()
	other.login("ada", goodPassword).Want(t, http.StatusOK)
	callback = host.approve(other.startLink(), octocat(1))
	host.meanwhile = func() {
		wire.Before("TransactWriteItems", func() { // the attempt to link the identity, which fails
			wire.Before("TransactWriteItems", func() { // the attempt to start a session
				client.unlink(client.identityIDs()[0]).Want(t, http.StatusOK)
			})
		})
	}
	other.Get(callback).Want(t, http.StatusFound)
	other.me().Want(t, http.StatusOK)
	if got := f.checkIdentities(); got != 1 {
		t.Errorf("after the link: got %d stored identities, want 1", got)
	}
	f.newClient().signIn(host, octocat(1)).Want(t, http.StatusFound)

	// The identity is already linked, and is removed before its user is read.
	callback = host.approve(other.startLink(), octocat(1))
	host.meanwhile = func() {
		wire.Before("GetItem", func() { client.unlink(client.identityIDs()[0]).Want(t, http.StatusOK) })
	}
	other.Get(callback).Want(t, http.StatusFound)
	if got := f.checkIdentities(); got != 1 {
		t.Errorf("after the second link: got %d stored identities, want 1", got)
	}
}

// Links and removals at the same time keep both records of an identity equal.
func TestConcurrentLinksAndRemovals(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newUser("ada")
	client.link(host, octocat(1))
	for range 5 {
		linker := f.newClient()
		linker.login("ada", goodPassword).Want(t, http.StatusOK)
		callback := host.approve(linker.startLink(), octocat(1))
		ids := client.identityIDs()
		responses := slicetest.Concurrently(2, func(i int) slicetest.Response {
			if i == 0 {
				return linker.Get(callback)
			}
			return client.unlink(ids[0])
		})
		responses[0].Want(t, http.StatusFound)
		responses[1].Want(t, http.StatusOK)
		if f.checkIdentities() == 0 {
			client.link(host, octocat(1))
		}
	}
}
