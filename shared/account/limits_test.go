package account

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// rateOf reads RateLimit-Limit, -Remaining and -Reset.
func rateOf(t *testing.T, a answer) [3]int {
	t.Helper()
	var got [3]int
	for i, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		n, err := strconv.Atoi(a.Header.Get(name))
		if err != nil {
			t.Fatalf("%s: %q", name, a.Header.Get(name))
		}
		got[i] = n
	}
	return got
}

// hits returns the stored number of attempts of a counter.
func (w *world) hits(c limit.Counter) int {
	w.t.Helper()
	n, ok := w.item(w.tables.Accounts, c.Key())["hits"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	hits, err := strconv.Atoi(n.Value)
	if err != nil {
		w.t.Fatal(err)
	}
	return hits
}

func (w *world) loginHits(email, ip string) [3]int {
	w.t.Helper()
	var hits [3]int
	for i, c := range w.service.loginCounters(email, ip) {
		hits[i] = w.hits(c)
	}
	return hits // pair, address, e-mail
}

func TestFailedLoginsPerPairAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	for _, who := range []string{"ada", "nobody"} { // known or not, the same
		for i := range 10 {
			a := b.login(who, "wrong").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
			if got, want := rateOf(t, a), [3]int{10, 9 - i, 600}; got != want {
				t.Errorf("%s, attempt %d: %v, want %v", who, i+1, got, want)
			}
		}
		for _, password := range []string{"wrong", goodPassword} {
			a := b.login(who, password).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
			if got := rateOf(t, a); got != [3]int{10, 0, 600} || a.Header.Get("Retry-After") != "600" {
				t.Errorf("%s refused: %v, Retry-After %s", who, got, a.Header.Get("Retry-After"))
			}
			if a.Calls != 1 {
				t.Errorf("a refusal took %d calls", a.Calls)
			}
		}
	}
	b.from("198.51.100.9").login("ada", goodPassword).Want(t, http.StatusOK) // another address
	b.from("203.0.113.1")
	w.clock.Advance(10 * time.Minute)
	b.login("ada", goodPassword).Want(t, http.StatusOK)
}

func TestSuccessfulLoginIsRefunded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	for range 15 {
		a := b.login("ada", goodPassword).Want(t, http.StatusOK)
		if got := rateOf(t, a); got[0] != 10 || got[1] != 10 {
			t.Fatalf("after a success: %v", got)
		}
	}
	if got, want := w.loginHits("ada@example.com", "203.0.113.1"), [3]int{0, 15, 0}; got != want {
		t.Errorf("hits %v, want %v", got, want)
	}
	b.login("ada", "wrong").Want(t, http.StatusUnauthorized)
	if got, want := w.loginHits("ada@example.com", "203.0.113.1"), [3]int{1, 16, 0}; got != want {
		t.Errorf("hits %v, want %v: the e-mail counter is only for unknown networks", got, want)
	}
}

func TestLimitIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.browser().signup("ada").Want(t, http.StatusCreated)
	const attempts = 24
	count := slicetest.CountStatuses(slicetest.Concurrently(attempts, func(int) answer { return w.browser().login("ada", "wrong") }))
	if diff := cmp.Diff(map[int]int{http.StatusUnauthorized: 10, http.StatusTooManyRequests: attempts - 10}, count); diff != "" {
		t.Error(diff)
	}
	// Attempts that the rule of the pair rejected are not counted by the other rules.
	if got, want := w.loginHits("ada@example.com", "203.0.113.1"), [3]int{10, 10, 10}; got != want {
		t.Errorf("hits %v, want %v", got, want)
	}
}

func TestEmailLimitAppliesToUnknownNetworksOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.LoginEmail = 3 }))
	b := w.member("ada")
	stranger := w.browser()
	for i := range 3 {
		stranger.from(fmt.Sprintf("198.51.100.%d", i)).login("ada", "wrong").Want(t, http.StatusUnauthorized)
	}
	stranger.from("198.51.100.77").login("ada", goodPassword).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	b.login("ada", goodPassword).Want(t, http.StatusOK)
	b.login("ada", "wrong").Want(t, http.StatusUnauthorized)
}

func TestLoginsPerNetworkAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.LoginIP = 4 }))
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	for i := range 4 { // right or wrong
		a := b.login("ada", goodPassword).Want(t, http.StatusOK)
		if got, want := rateOf(t, a), [3]int{4, 3 - i, 600}; got != want {
			t.Errorf("login %d: %v, want %v", i+1, got, want)
		}
	}
	a := b.login("eve", "wrong").Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	if got := rateOf(t, a); got != [3]int{4, 0, 600} {
		t.Errorf("refused: %v", got)
	}
	if got := w.loginHits("eve@example.com", "203.0.113.1"); got != [3]int{0, 4, 0} {
		t.Errorf("hits %v", got)
	}
}

func TestSignupsPerNetworkAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.SignupIP = 2 }))
	b := w.browser()
	if got := rateOf(t, b.signup("a1").Want(t, http.StatusCreated)); got != [3]int{2, 1, 3300} {
		t.Errorf("first: %v", got)
	}
	b.Do(http.MethodPost, "/api/auth/signup", signupBody("bad", "b", "c")).Want(t, http.StatusBadRequest) // not counted
	if got := rateOf(t, b.signup("a1").Want(t, http.StatusConflict)); got != [3]int{2, 0, 3300} {
		t.Errorf("second: %v", got)
	}
	a := b.signup("a3").Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	if a.Header.Get("Retry-After") != "3300" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	w.clock.Advance(55 * time.Minute)
	b.signup("a3").Want(t, http.StatusCreated)
}

func TestIPv6IsCountedByNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.LoginPair = 2 }))
	b := w.browser()
	b.from("2001:db8:1:2::1").login("ada", "x").Want(t, http.StatusUnauthorized)
	b.from("2001:db8:1:2:ffff::2").login("ada", "x").Want(t, http.StatusUnauthorized)
	b.from("2001:db8:1:2:abcd::3").login("ada", "x").Want(t, http.StatusTooManyRequests)
	b.from("2001:db8:1:3::1").login("ada", "x").Want(t, http.StatusUnauthorized)
}

func TestPasswordChangeCountsAsALogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.LoginPair = 2 }))
	b := w.member("ada")
	change := func(current string) answer {
		return b.Do(http.MethodPut, "/api/auth/password", map[string]string{"currentPassword": current, "newPassword": "another good one"})
	}
	for i := range 2 {
		if got := rateOf(t, change("wrong").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)); got != [3]int{2, 1 - i, 600} {
			t.Errorf("attempt %d: %v", i+1, got)
		}
	}
	change(goodPassword).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	b.login("ada", goodPassword).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	w.clock.Advance(15 * time.Minute)
	if got := rateOf(t, change(goodPassword).Want(t, http.StatusOK)); got[1] != 2 {
		t.Errorf("after a success: %v", got)
	}
	if got := w.loginHits("ada@example.com", "203.0.113.1"); got != [3]int{0, 1, 0} {
		t.Errorf("a success was not refunded: %v", got)
	}
}

func TestHashPartsIsUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, parts := range [][]string{{"a", "bc"}, {"ab", "c"}, {"abc"}, {"abc", ""}, {"", "abc"}, {"a#b", "c"}, {"a", "b#c"}} {
		key := hashParts(parts...)
		if seen[key] || len(key) != 64 {
			t.Errorf("%q has the key of another", parts)
		}
		seen[key] = true
	}
}
