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
	"devplatform/shared/account/attempt"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// rateLimitHeaders returns the RateLimit-* headers of a response.
func rateLimitHeaders(t *testing.T, response slicetest.Response) attempt.RateLimit {
	t.Helper()
	number := func(name string) int {
		n, err := strconv.Atoi(response.Header.Get(name))
		if err != nil {
			t.Fatalf("%s: got %q, want a number", name, response.Header.Get(name))
		}
		return n
	}
	return attempt.RateLimit{
		Limit:     number("RateLimit-Limit"),
		Remaining: number("RateLimit-Remaining"),
		Reset:     number("RateLimit-Reset"),
	}
}

// checkRateLimit checks the RateLimit-* headers of a response.
func checkRateLimit(t *testing.T, response slicetest.Response, want attempt.RateLimit) {
	t.Helper()
	if got := rateLimitHeaders(t, response); got != want {
		t.Errorf("RateLimit-* headers: got %+v, want %+v", got, want)
	}
}

// storedAttempts returns the stored number of attempts of a counter.
func (f *fixture) storedAttempts(counter db.Key) int {
	f.t.Helper()
	n, ok := f.item(f.tables.Accounts, counter)["hits"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	attempts, err := strconv.Atoi(n.Value)
	if err != nil {
		f.t.Fatal(err)
	}
	return attempts
}

// loginAttempts contains the number of attempts that each counter of a login has stored.
type loginAttempts struct {
	pair    int // with the e-mail address, from the network
	network int // with any e-mail address, from the network
	email   int // with the e-mail address, from unknown networks
}

func (f *fixture) loginAttempts(email, ip string) loginAttempts {
	f.t.Helper()
	limiter := attempt.New(f.deps.DB, db.Table{}, f.deps.Limits, f.clock.Now)
	counters := limiter.LoginCounters(email, httpapi.RequestInfo{SourceIP: ip})
	return loginAttempts{
		pair:    f.storedAttempts(counters.Pair.Key()),
		network: f.storedAttempts(counters.IP.Key()),
		email:   f.storedAttempts(counters.Email.Key()),
	}
}

// checkLoginAttempts checks the stored attempts for an e-mail address and the network of 203.0.113.1.
func (f *fixture) checkLoginAttempts(email string, want loginAttempts) {
	f.t.Helper()
	if got := f.loginAttempts(email, "203.0.113.1"); got != want {
		f.t.Errorf("stored attempts of %s: got %+v, want %+v", email, got, want)
	}
}

// The limit is the same for an e-mail address with an account and for one without.
func TestFailedLoginsPerPairAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newClient()
	client.signup("ada").Want(t, http.StatusCreated)
	for _, name := range []string{"ada", "unknown"} {
		for i := range 10 {
			response := client.login(name, "wrong").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
			checkRateLimit(t, response, attempt.RateLimit{Limit: 10, Remaining: 9 - i, Reset: 600})
		}
		for _, password := range []string{"wrong", goodPassword} {
			response := client.login(name, password).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
			checkRateLimit(t, response, attempt.RateLimit{Limit: 10, Remaining: 0, Reset: 600})
			if got := response.Header.Get("Retry-After"); got != "600" {
				t.Errorf("Retry-After: got %q, want 600", got)
			}
			if response.Calls != 1 {
				t.Errorf("a rejected login used %d DynamoDB calls, want 1", response.Calls)
			}
		}
	}
	client.from("198.51.100.9").login("ada", goodPassword).Want(t, http.StatusOK) // another network
	client.from("203.0.113.1")
	f.clock.Advance(10 * time.Minute)
	client.login("ada", goodPassword).Want(t, http.StatusOK)
}

func TestSuccessfulLoginIsRefunded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newClient()
	client.signup("ada").Want(t, http.StatusCreated)
	for range 15 {
		got := rateLimitHeaders(t, client.login("ada", goodPassword).Want(t, http.StatusOK))
		if got.Limit != 10 || got.Remaining != 10 {
			t.Fatalf("RateLimit-* headers of a successful login: got %+v, want limit 10 and remaining 10", got)
		}
	}
	f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 0, network: 15, email: 0})
	client.login("ada", "wrong").Want(t, http.StatusUnauthorized)
	// The e-mail counter does not change, because the network is known.
	f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 1, network: 16, email: 0})
}

func TestLimitIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.newClient().from("198.51.100.9").signup("ada").Want(t, http.StatusCreated)
	const attempts = 24
	responses := slicetest.Concurrently(attempts, func(int) slicetest.Response {
		return f.newClient().login("ada", "wrong")
	})
	want := map[int]int{http.StatusUnauthorized: 10, http.StatusTooManyRequests: attempts - 10}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("number of responses by status (-want +got):\n%s", diff)
	}
	// Attempts that the rule login-pair rejected are not counted by the other rules.
	f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 10, network: 10, email: 10})
}

func TestEmailLimitAppliesToUnknownNetworksOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *attempt.Limits) { l.LoginEmail = 3 }))
	known := f.newUser("ada")
	unknown := f.newClient()
	for i := range 3 {
		unknown.from(fmt.Sprintf("198.51.100.%d", i)).login("ada", "wrong").Want(t, http.StatusUnauthorized)
	}
	unknown.from("198.51.100.77").login("ada", goodPassword).
		Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	known.login("ada", goodPassword).Want(t, http.StatusOK)
	known.login("ada", "wrong").Want(t, http.StatusUnauthorized)
}

func TestLoginsPerNetworkAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *attempt.Limits) { l.LoginIP = 4 }))
	client := f.newClient()
	client.signup("ada").Want(t, http.StatusCreated)
	for i := range 4 { // successful logins count too
		response := client.login("ada", goodPassword).Want(t, http.StatusOK)
		checkRateLimit(t, response, attempt.RateLimit{Limit: 4, Remaining: 3 - i, Reset: 600})
	}
	response := client.login("eve", "wrong").Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 4, Remaining: 0, Reset: 600})
	f.checkLoginAttempts("eve@example.com", loginAttempts{pair: 0, network: 4, email: 0})
}

func TestSignupsPerNetworkAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *attempt.Limits) { l.SignupIP = 2 }))
	client := f.newClient()
	response := client.signup("a1").Want(t, http.StatusCreated)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 2, Remaining: 1, Reset: 3300})
	client.signupWith("bad", "b", "c").Want(t, http.StatusBadRequest) // not counted
	response = client.signup("a1").Want(t, http.StatusConflict)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 2, Remaining: 0, Reset: 3300})
	response = client.signup("a3").Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	if got := response.Header.Get("Retry-After"); got != "3300" {
		t.Errorf("Retry-After: got %q, want 3300", got)
	}
	f.clock.Advance(55 * time.Minute)
	client.signup("a3").Want(t, http.StatusCreated)
}

func TestIPv6IsCountedByNetwork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *attempt.Limits) { l.LoginPair = 2 }))
	client := f.newClient()
	client.from("2001:db8:1:2::1").login("ada", "x").Want(t, http.StatusUnauthorized)
	client.from("2001:db8:1:2:ffff::2").login("ada", "x").Want(t, http.StatusUnauthorized)
	client.from("2001:db8:1:2:abcd::3").login("ada", "x").Want(t, http.StatusTooManyRequests)
	client.from("2001:db8:1:3::1").login("ada", "x").Want(t, http.StatusUnauthorized) // another network
}

func TestPasswordChangeCountsAsALogin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *attempt.Limits) { l.LoginPair = 2 }))
	client := f.newUser("ada")
	for i := range 2 {
		response := client.changePassword("wrong", newPassword).
			Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
		checkRateLimit(t, response, attempt.RateLimit{Limit: 2, Remaining: 1 - i, Reset: 600})
	}
	client.changePassword(goodPassword, newPassword).
		Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	client.login("ada", goodPassword).Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	f.clock.Advance(15 * time.Minute)
	response := client.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
	if got := rateLimitHeaders(t, response).Remaining; got != 2 {
		t.Errorf("RateLimit-Remaining after a successful change: got %d, want 2", got)
	}
	f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 0, network: 1, email: 0})
}
