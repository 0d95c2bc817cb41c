package account

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

func TestCodeHostNotConfigured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	b.Do(http.MethodGet, "/api/auth/codehost", nil).Want(t, http.StatusNotImplemented, fault.CodeOAuthNotConfigured)
	b.Do(http.MethodGet, CallbackPath+"?code=x&state=y", nil).Want(t, http.StatusNotImplemented, fault.CodeOAuthNotConfigured)
	b.Do(http.MethodPost, "/api/auth/codehost/link", nil).Want(t, http.StatusNotImplemented, fault.CodeOAuthNotConfigured)
}

func TestSignInWithCodeHost(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	b := w.browser()
	start := b.Do(http.MethodGet, "/api/auth/codehost?redirect=%2Fprojects%3Ftab%3D1", nil).Want(t, http.StatusFound)
	if got := rateOf(t, start); got != [3]int{60, 59, 600} {
		t.Errorf("RateLimit-* %v", got)
	}
	cookies := start.Header.Values("Set-Cookie")
	if len(cookies) != 2 || !strings.HasPrefix(cookies[0], "__Host-oauth=") {
		t.Fatalf("cookies %q", cookies)
	}
	for _, part := range []string{"; Path=/", "; Max-Age=600", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
		if !strings.Contains(cookies[0], part) {
			t.Errorf("%q lacks %q", cookies[0], part)
		}
	}
	location := start.Header.Get("Location")
	u, _ := url.Parse(location)
	if got := u.Query().Get("redirect_uri"); got != w.server.URL+CallbackPath {
		t.Errorf("redirect_uri %q", got)
	}
	state := u.Query().Get("state")
	if w.item(w.tables.Accounts, db.OAuthStateKey(state)) != nil || w.item(w.tables.Accounts, db.OAuthStateKey(hashParts(state))) == nil {
		t.Error("the state is stored as its hash")
	}

	back := b.Do(http.MethodGet, h.approve(location, octocat(1, verified("Octo@Example.com"))), nil).Want(t, http.StatusFound)
	if got := back.Header.Get("Location"); got != "/projects?tab=1" {
		t.Errorf("redirected to %q", got)
	}
	me := b.me().Want(t, http.StatusOK)
	if me.Text("email") != "octo@example.com" || me.Text("username") != "octocat" {
		t.Errorf("me %s", me.Raw)
	}
	again := w.browser()
	again.signIn(h, person{ID: 1, Login: "renamed", Emails: nil}).Want(t, http.StatusFound) // known: no e-mail needed
	if got := again.me().Text("id"); got != me.Text("id") {
		t.Errorf("the same identity is another user: %s", got)
	}
	// The account has a personal workspace and no password.
	page, err := w.service.store.projects.Query(t.Context(), db.Query{Prefix: db.Prefix{PK: "USER#" + me.Text("id"), SK: "WS#"}})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("workspaces: %d, %v", len(page.Items), err)
	}
	for _, password := range []string{"", "x", goodPassword} {
		b.Do(http.MethodPost, "/api/auth/login", loginBody("octo@example.com", password)).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
		b.Do(http.MethodPut, "/api/auth/password", map[string]string{"currentPassword": password, "newPassword": "a good new one"}).
			Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	}
}

func TestCallbackState(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	ada := octocat(1, verified("ada@example.com"))
	invalid := func(b *browser, path string) {
		t.Helper()
		b.Do(http.MethodGet, path, nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
		b.me().Want(t, http.StatusUnauthorized)
	}
	b := w.browser()
	for _, query := range []string{"", "?code=x", "?state=", "?state=x&code=y", "?error=access_denied", "?state=%23&code=x", "?state=" + strings.Repeat("s", 5000)} {
		invalid(b, CallbackPath+query)
	}
	callback := h.approve(b.start(""), ada)
	invalid(w.browser(), callback) // another browser that opens the link: login CSRF
	other := w.browser()
	other.start("")
	invalid(other, callback) // another browser with its own sign-in in progress
	b.Do(http.MethodGet, callback, nil).Want(t, http.StatusFound)
	reuse := w.browser()
	reuse.SetCookie("oauth", b.Cookie("oauth"))
	invalid(reuse, callback) // used

	late := w.browser()
	callback = h.approve(late.start(""), ada)
	w.clock.Advance(stateLife)
	invalid(late, callback)

	https := w.browser() // over HTTPS, the plain cookie is ignored
	callback = h.approve(https.start(""), ada)
	twin := https.Cookie("oauth")
	https = w.browser()
	https.SetCookie("oauth", twin)
	https.Do(http.MethodGet, callback, nil, func(r *http.Request) { r.Header.Set(headerHTTPS, "1") }).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
}

func TestStateIsUsedOnce(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	b := w.browser()
	callback := h.approve(b.start(""), octocat(1, verified("ada@example.com")))
	statuses := slicetest.CountStatuses(slicetest.Concurrently(6, func(int) answer { return b.Get(callback) }))
	if diff := cmp.Diff(map[int]int{http.StatusFound: 1, http.StatusBadRequest: 5}, statuses); diff != "" {
		t.Error(diff)
	}
}

func TestTwoSignInsInOneBrowser(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	b := w.browser()
	first, second := b.start("/first"), b.start("/second")
	for _, page := range []struct{ location, redirect string }{{first, "/first"}, {second, "/second"}} {
		a := b.Do(http.MethodGet, h.approve(page.location, octocat(1, verified("ada@example.com"))), nil).Want(t, http.StatusFound)
		if got := a.Header.Get("Location"); got != page.redirect {
			t.Errorf("redirected to %q, want %q", got, page.redirect)
		}
	}
}

func TestCallbackErrors(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	b := w.browser()
	stateOf := func() string {
		u, _ := url.Parse(b.start(""))
		return u.Query().Get("state")
	}
	for _, query := range []string{"&error=access_denied", "&error=server_error&error_description=%3Cscript%3E", "&error=access_denied&code=x", "", "&code=", "&code=forged"} {
		state := stateOf()
		b.Do(http.MethodGet, CallbackPath+"?state="+state+query, nil).Want(t, http.StatusUnauthorized, fault.CodeOAuthFailed)
		b.Do(http.MethodGet, CallbackPath+"?state="+state+"&code=x", nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid) // used up
	}
	for _, path := range []string{"/token", "/user", "/emails"} {
		h.breakDown(path)
		b.signIn(h, octocat(1, verified("ada@example.com"))).Want(t, http.StatusUnauthorized, fault.CodeOAuthFailed)
	}
	h.breakDown("")
	for name, p := range map[string]person{
		"no e-mail":         octocat(7),
		"an unverified one": octocat(7, unverified("ada@example.com")),
		"not an address":    octocat(7, verified("ada@localhost")),
	} {
		if a := b.signIn(h, p); a.Status != http.StatusUnauthorized || a.Text("code") != string(fault.CodeOAuthFailed) {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	}
	b.me().Want(t, http.StatusUnauthorized)
}

func TestOpenRedirect(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	b := w.member("ada")
	for _, redirect := range []string{"//evil.example", `/\evil.example`, "https://evil.example", "javascript:alert(1)", "/%2f/evil.example", "/\t/evil.example", "/\r\nX: y", "evil", `\\evil.example`} {
		query := "?redirect=" + url.QueryEscape(redirect)
		b.Do(http.MethodGet, "/api/auth/codehost"+query, nil).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		b.Do(http.MethodPost, "/api/auth/codehost/link"+query, nil).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	a := b.Do(http.MethodGet, h.approve(b.start(""), octocat(1, verified("o@example.com"))), nil).Want(t, http.StatusFound)
	if got := a.Header.Get("Location"); got != "/" {
		t.Errorf("without a redirect: %q", got)
	}
}

// An attacker signs up with the victim's address and waits until the victim signs in with the code host.
func TestAccountTakeoverBySigningUpFirst(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	attacker := w.browser()
	attacker.Do(http.MethodPost, "/api/auth/signup", signupBody("Victim@example.com", "attacker", goodPassword)).Want(t, http.StatusCreated)
	victim := w.browser()
	a := victim.signIn(h, octocat(1, verified("victim@example.com"))).Want(t, http.StatusConflict, fault.CodeUserExists)
	if !strings.Contains(strings.ToLower(a.Text("error")), "log in") || !strings.Contains(a.Text("error"), "link") {
		t.Errorf("message %q", a.Text("error"))
	}
	victim.me().Want(t, http.StatusUnauthorized)
	if w.item(w.tables.Accounts, db.IdentityKey("x", "1")) != nil {
		t.Error("an identity was linked")
	}
	// The reverse: a sign-up with the address of an account that the code host created.
	victim.signIn(h, octocat(2, verified("other@example.com"))).Want(t, http.StatusFound)
	attacker.Do(http.MethodPost, "/api/auth/signup", signupBody("other@example.com", "attacker2", goodPassword)).Want(t, http.StatusConflict, fault.CodeUserExists)
	// An unverified address at the code host does not give access to an account.
	attacker.signIn(h, octocat(3, unverified("other@example.com"))).Want(t, http.StatusUnauthorized, fault.CodeOAuthFailed)
}

func TestIdentityIsLinkedToVerifiedAccount(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	first := w.browser()
	first.signIn(h, octocat(1, verified("octo@example.com"))).Want(t, http.StatusFound)
	second := w.browser() // another identity with the same verified address, not its primary one
	second.signIn(h, octocat(2, mail{Email: "new@example.com", Verified: true, Primary: true}, mail{Email: "OCTO@example.com", Verified: true})).Want(t, http.StatusFound)
	if a, b := first.me().Text("id"), second.me().Text("id"); a != b {
		t.Errorf("two users: %s, %s", a, b)
	}
	third := w.browser() // names the address, but the code host has not verified it
	third.signIn(h, octocat(3, verified("third@example.com"), mail{Email: "octo@example.com"})).Want(t, http.StatusFound)
	if third.me().Text("id") == first.me().Text("id") {
		t.Error("an identity with an unverified address was linked")
	}
}

// The account can change between the read and the link. The transaction therefore checks its verification again.
func TestLinkChecksVerificationAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada") // signed up: unverified
	user, err := w.service.store.user(t.Context(), b.me().Text("id"))
	if err != nil {
		t.Fatal(err)
	}
	session := newSession(w.service.ids.New(id.Session), user, Client{}, w.clock.Now())
	l := link{
		identity:     identityRecord{UserID: user.ID, Provider: "custom", Subject: "1"},
		signIn:       signIn{session: session, email: user.Email, knownIP: "203.0.113.1"},
		onlyVerified: true,
	}
	if err := w.service.store.linkIdentity(t.Context(), l); !errors.Is(err, db.ErrStale) {
		t.Errorf("joined an unverified account: %v", err)
	}
	if _, err := w.service.store.userOfIdentity(t.Context(), "custom", "1"); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the identity: %v", err)
	}
}

func TestUsernamesFromTheCodeHostAreUnique(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	w.browser().Do(http.MethodPost, "/api/auth/signup", signupBody("x@example.com", "OctoCat", goodPassword)).Want(t, http.StatusCreated)
	seen := map[string]bool{"octocat": true}
	for i := range 7 {
		b := w.browser()
		b.signIn(h, octocat(i+1, verified(fmt.Sprintf("o%d@example.com", i)))).Want(t, http.StatusFound)
		name := b.me().Text("username")
		if seen[strings.ToLower(name)] || !strings.HasPrefix(name, "octocat-") || CheckUsername(name) != "" {
			t.Errorf("username %q", name)
		}
		seen[strings.ToLower(name)] = true
	}
}

func TestRacingSignInsCreateOneAccount(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	race := func(people func(i int) person) map[string]bool {
		browsers, callbacks := make([]*browser, 4), make([]string, 4)
		for i := range browsers {
			browsers[i] = w.browser()
			callbacks[i] = h.approve(browsers[i].start(""), people(i))
		}
		for _, a := range slicetest.Concurrently(len(browsers), func(i int) answer { return browsers[i].Get(callbacks[i]) }) {
			a.Want(t, http.StatusFound)
		}
		users := map[string]bool{}
		for _, b := range browsers {
			users[b.me().Text("id")] = true
		}
		return users
	}
	if users := race(func(int) person { return octocat(1, verified("one@example.com")) }); len(users) != 1 {
		t.Errorf("one identity, %d users", len(users))
	}
	if users := race(func(i int) person { return octocat(10+i, verified("shared@example.com")) }); len(users) != 1 {
		t.Errorf("one address, %d users", len(users))
	}
	if users := race(func(i int) person { return octocat(20+i, verified(fmt.Sprintf("r%d@example.com", i))) }); len(users) != 4 {
		t.Errorf("four people with one login name, %d users", len(users))
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	me := octocat(1, verified("elsewhere@example.com"))
	w.browser().Do(http.MethodPost, "/api/auth/codehost/link", nil).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

	b := w.member("ada")
	before := b.Cookie("session")
	b.Do(http.MethodGet, h.approve(b.link(), me), nil).Want(t, http.StatusFound)
	if b.Cookie("session") == before {
		t.Error("the callback kept the previous session")
	}
	id := b.me().Want(t, http.StatusOK).Text("id")
	old := w.browser()
	old.SetCookie("session", before)
	old.me().Want(t, http.StatusUnauthorized) // replaced, not doubled

	fresh := w.browser()
	fresh.signIn(h, me).Want(t, http.StatusFound)
	if got := fresh.me(); got.Text("id") != id || got.Text("email") != "ada@example.com" {
		t.Errorf("the linked identity leads to %s", got.Raw)
	}
	b.Do(http.MethodGet, h.approve(b.link(), me), nil).Want(t, http.StatusFound) // once more: nothing to do
	if got := b.me().Want(t, http.StatusOK).Text("id"); got != id {
		t.Errorf("linked again: %s", got)
	}

	eve := w.member("eve")
	eve.Do(http.MethodGet, h.approve(eve.link(), me), nil).Want(t, http.StatusConflict, fault.CodeConflict)
	if got := eve.me().Want(t, http.StatusOK).Text("username"); got != "eve" {
		t.Errorf("after the conflict, eve is %s", got)
	}
}

func TestLinkNeedsTheSameUserInTheSameBrowser(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	me := octocat(1, verified("elsewhere@example.com"))

	gone := w.member("gone")
	callback := h.approve(gone.link(), me)
	gone.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK)
	gone.Do(http.MethodGet, callback, nil).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

	changed := w.member("ada")
	callback = h.approve(changed.link(), me)
	changed.signup("eve").Want(t, http.StatusCreated)
	changed.login("eve", goodPassword).Want(t, http.StatusOK)
	changed.Do(http.MethodGet, callback, nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)

	// An attacker's link that the victim's browser follows links nothing.
	attacker, victim := w.member("mallory"), w.member("victim")
	callback = h.approve(attacker.link(), me)
	victim.Do(http.MethodGet, callback, nil).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)

	fresh := w.browser()
	fresh.signIn(h, me).Want(t, http.StatusFound)
	if got := fresh.me().Text("email"); got != "elsewhere@example.com" {
		t.Errorf("the identity was joined to %s", got)
	}
}

// An unverified account stays unverified when it is linked: another identity with its address gets no access.
func TestLinkDoesNotVerifyTheAddress(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	b := w.member("ada")
	b.Do(http.MethodGet, h.approve(b.link(), octocat(1, verified("ada@example.com"))), nil).Want(t, http.StatusFound)
	w.browser().signIn(h, octocat(2, verified("ada@example.com"))).Want(t, http.StatusConflict, fault.CodeUserExists)
}

func TestOAuthStartsAreLimited(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with(), withLimits(func(l *Limits) { l.OAuthIP = 3 }))
	b := w.member("ada")
	b.start("")
	if got := rateOf(t, b.Do(http.MethodPost, "/api/auth/codehost/link", nil).Want(t, http.StatusOK)); got != [3]int{3, 1, 600} {
		t.Errorf("RateLimit-* %v", got)
	}
	b.start("")
	a := b.Do(http.MethodGet, "/api/auth/codehost", nil).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	if got := rateOf(t, a); got != [3]int{3, 0, 600} || a.Header.Get("Retry-After") != "600" {
		t.Errorf("refused: %v %s", got, a.Header.Get("Retry-After"))
	}
	w.clock.Advance(10 * time.Minute)
	b.start("")
}

func TestSignInMarksTheAddressAsKnown(t *testing.T) {
	t.Parallel()
	h := newCodeHost(t)
	w := newWorld(t, h.with())
	w.browser().from("198.51.100.20").signIn(h, octocat(1, verified("octo@example.com"))).Want(t, http.StatusFound)
	known := w.item(w.tables.Accounts, db.KnownIPKey("octo@example.com", "198.51.100.20"))
	if _, ok := known["expiresAt"].(*types.AttributeValueMemberN); !ok {
		t.Errorf("the known network: %v", known)
	}
}
