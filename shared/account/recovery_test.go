package account

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/mail"
)

func TestReset(t *testing.T) {
	t.Parallel()
	for name, withCode := range map[string]bool{"token": false, "code": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ada, anyone := f.newUser("ada"), f.newClient()
			for range 3 {
				ada.login("ada", "wrong").Want(t, http.StatusUnauthorized)
			}
			anyone.forgot("ADA@example.com").Want(t, http.StatusAccepted)
			f.clock.Advance(time.Minute)
			anyone.forgot("ada@example.com").Want(t, http.StatusAccepted)
			resets := f.mails("ada@example.com")
			older, m := resets[len(resets)-2], resets[len(resets)-1]
			if m.Kind != mail.Reset || m.Username != "ada" || !m.ExpiresAt.Equal(f.clock.Now().Add(30*time.Minute)) {
				t.Fatalf("got the mail %+v, want a reset for ada, valid for 30 minutes", m)
			}
			reset := func(m mail.Message, password string) slicetest.Response {
				if withCode {
					return anyone.resetWithCode("ada@example.com", strings.ToLower(m.Code), password)
				}
				return anyone.reset(m.Token, password)
			}
			for _, weak := range []string{"short", "ada@example.com", "ADA@EXAMPLE.COM"} {
				reset(m, weak).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			}
			response := reset(m, newPassword).Want(t, http.StatusOK)
			if hasCookies(response) {
				t.Error("the reset started a session")
			}
			wantCodeInvalid(t, reset(m, newPassword))
			wantCodeInvalid(t, reset(older, newPassword))
			ada.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
			f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 0, network: 4, email: 0})
			ada.login("ada", goodPassword).Want(t, http.StatusUnauthorized)
			ada.login("ada", newPassword).Want(t, http.StatusOK)
			ada.checkAddress("ada@example.com", true, nil)
			wantCodeInvalid(t, anyone.confirm(f.lastMail(mail.Confirm, "ada@example.com").Token))
			f.lastMail(mail.PasswordReset, "ada@example.com")
		})
	}
}

func TestResetExpires(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	ada.forgot("ada@example.com").Want(t, http.StatusAccepted)
	m := f.lastMail(mail.Reset, "ada@example.com")
	f.clock.Advance(30 * time.Minute)
	wantCodeInvalid(t, ada.reset(m.Token, newPassword))
	wantCodeInvalid(t, ada.resetWithCode("ada@example.com", m.Code, newPassword))
}

// A weak password does not use up the link.
func TestPasswordEqualToTheUsername(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	client.signupWith("ada@example.com", "ada-lovelace", goodPassword).Want(t, http.StatusCreated)
	client.forgot("ada@example.com").Want(t, http.StatusAccepted)
	token := f.lastMail(mail.Reset, "ada@example.com").Token
	client.reset(token, "Ada-Lovelace").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	client.reset(token, newPassword).Want(t, http.StatusOK)
}

// If the address had never been confirmed, another person may have created the account. A reset removes the identities
// of such an account.
func TestResetRemovesIdentitiesOfAnUnconfirmedAddress(t *testing.T) {
	t.Parallel()
	for name, confirmed := range map[string]bool{"confirmed": true, "unconfirmed": false} {
		t.Run(name, func(t *testing.T) {
			f, host := newHostFixture(t)
			ada := f.newUser("ada")
			if confirmed {
				ada.confirm(f.lastMail(mail.Confirm, "ada@example.com").Token).Want(t, http.StatusOK)
			}
			ada.link(host, octocat(1))
			ada.forgot("ada@example.com").Want(t, http.StatusAccepted)
			ada.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword).Want(t, http.StatusOK)
			want := 0
			if confirmed {
				want = 1
			}
			if got := f.checkIdentities(); got != want {
				t.Errorf("got %d identities after the reset, want %d", got, want)
			}
		})
	}
}

// observation is the part of a request and its response that an observer can measure.
type observation struct {
	Status     int
	Body       string
	RetryAfter string
	RateLimit  string
	Calls      int64
	Hashes     int64
	Written    map[string]int // bytes of the items that were written or changed, by table and kind
}

// observe sends a request, and returns what an observer can measure.
func (f *fixture) observe(send func() slicetest.Response) observation {
	f.t.Helper()
	before, hashes := f.dump(), f.hashes.Load()
	response := send()
	o := observation{
		Status: response.Status, Body: response.Raw, RetryAfter: response.Header.Get("Retry-After"),
		RateLimit: response.Header.Get("RateLimit-Limit") + " " + response.Header.Get("RateLimit-Remaining"),
		Calls:     response.Calls, Hashes: f.hashes.Load() - hashes, Written: map[string]int{},
	}
	for key, item := range f.dump() {
		if reflect.DeepEqual(before[key], item) {
			continue
		}
		kind, _, _ := strings.Cut(key.PK, "#")
		part, _, _ := strings.Cut(key.SK, "act_")
		if kind == "RATE" {
			kind, part = strings.Join(strings.Split(key.PK, "#")[:2], "#"), ""
		}
		if kind == "MAIL" {
			part = ""
		}
		o.Written[kind+" "+part] += size(item)
	}
	return o
}

// dump returns the encoded items of the tables of accounts and mails.
func (f *fixture) dump() map[db.Key]db.Item {
	all := slicetest.Dump(f.t, f.sdk, f.tables.Accounts)
	for key, item := range slicetest.Dump(f.t, f.sdk, f.tables.Mail) {
		all[key] = item
	}
	return all
}

// size returns the size of an item as DynamoDB counts it, except for the overhead of lists.
func size(value any) int {
	switch v := value.(type) {
	case db.Item:
		n := 0
		for name, value := range v {
			n += len(name) + size(value)
		}
		return n
	case *types.AttributeValueMemberM:
		return size(v.Value)
	case *types.AttributeValueMemberL:
		n := 0
		for _, value := range v.Value {
			n += size(value)
		}
		return n
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)
	}
	return 1
}

// TestNoUserEnumerationByResets checks that a request for an address with an account and a request for an address
// without an account do not differ in their responses, limits, calls and written items. The addresses have the same
// length.
func TestNoUserEnumerationByResets(t *testing.T) {
	f := newFixture(t)
	known, unknown := f.newUser("known").from("198.51.100.1"), f.newClient().from("198.51.100.2")
	compare := func(name string, send func(c *apiClient, address string) slicetest.Response) {
		t.Helper()
		a := f.observe(func() slicetest.Response { return send(known, "known@example.com") })
		b := f.observe(func() slicetest.Response { return send(unknown, "nobod@example.com") })
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: (-with an account +without an account):\n%s", name, diff)
		}
		if a.Calls == 0 || (len(a.Written) == 0 && a.Status != http.StatusTooManyRequests) {
			t.Errorf("%s: got %+v, want calls and writes", name, a)
		}
	}
	wrongCode := func(c *apiClient, address string) slicetest.Response {
		return c.resetWithCode(address, "00000000", newPassword)
	}
	compare("a code without a mail", wrongCode)
	for i := range 7 {
		compare(fmt.Sprint("request ", i), func(c *apiClient, address string) slicetest.Response { return c.forgot(address) })
		compare(fmt.Sprint("too early ", i), func(c *apiClient, address string) slicetest.Response {
			return c.forgot(address).Want(t, http.StatusTooManyRequests)
		})
		compare(fmt.Sprint("wrong code ", i), wrongCode)
		f.clock.Advance(time.Minute)
	}
	if got := len(f.mails("nobod@example.com")); got != 0 {
		t.Errorf("got %d mails to an unknown address, want none", got)
	}
	stored := db.MailTokensKey(mailtoken.UnknownUser("nobod@example.com"), "reset")
	if f.item(f.tables.Accounts, stored) == nil {
		t.Error("there is no record of the requests for the unknown address")
	}
}

// An attacker in one network can neither use up the limit of the user, nor end the links of the user.
func TestAttackerCannotPreventAReset(t *testing.T) {
	f := newFixture(t)
	f.newUser("ada")
	eve, ada := f.newClient().from("198.51.100.66"), f.newClient()
	for range 12 {
		for range 3 {
			eve.forgot("ada@example.com")
			eve.resetWithCode("ada@example.com", "00000000", newPassword)
		}
		f.clock.Advance(time.Hour)
	}
	ada.forgot("ada@example.com").Want(t, http.StatusAccepted)
	m := f.lastMail(mail.Reset, "ada@example.com")
	for range 20 {
		eve.resetWithCode("ada@example.com", "00000000", newPassword)
	}
	wantCodeInvalid(t, ada.resetWithCode("ada@example.com", m.Code, newPassword))
	ada.reset(m.Token, newPassword).Want(t, http.StatusOK)
}

// Five wrong codes end a code, however many requests arrive at the same time. The service has no state in memory, so
// requests to several instances are not different.
func TestParallelGuesses(t *testing.T) {
	f := newFixture(t)
	f.newUser("ada").forgot("ada@example.com").Want(t, http.StatusAccepted)
	m := f.lastMail(mail.Reset, "ada@example.com")
	responses := slicetest.Concurrently(16, func(i int) slicetest.Response {
		return f.newClient().from(fmt.Sprintf("198.51.100.%d", i)).resetWithCode("ada@example.com", "00000000", newPassword)
	})
	counted := slicetest.CountStatuses(responses)[http.StatusBadRequest]
	if got := f.guesses("reset"); counted < mailtoken.MaxGuesses || got != counted {
		t.Errorf("%d wrong codes were counted, and %d were rejected, want the same number, at least 5", got, counted)
	}
	for _, response := range responses {
		if response.Status != http.StatusBadRequest && response.Status != http.StatusServiceUnavailable {
			t.Errorf("got %d %s, want 400, or 503 after many conflicts", response.Status, response.Raw)
		}
	}
	wantCodeInvalid(t, f.newClient().resetWithCode("ada@example.com", m.Code, newPassword))
	f.newClient().reset(m.Token, newPassword).Want(t, http.StatusOK)
}

// guesses returns the number of wrong codes that were counted for the only set of tokens of a kind.
func (f *fixture) guesses(kind string) int {
	f.t.Helper()
	for key, item := range slicetest.Dump(f.t, f.sdk, f.tables.Accounts) {
		if key.SK == "MAILTOKENS#"+kind {
			stored, err := db.Decode[struct {
				Tokens []mailtoken.Token `dynamodbav:"tokens"`
			}](item)
			if err != nil || len(stored.Tokens) != 1 {
				f.t.Fatalf("got the tokens %+v and the error %v, want one token", stored.Tokens, err)
			}
			return stored.Tokens[0].Guesses
		}
	}
	return 0
}

// Of several requests with the same link or code, one succeeds.
func TestLinkIsUsedOnce(t *testing.T) {
	f := newFixture(t)
	f.newUser("ada").forgot("ada@example.com").Want(t, http.StatusAccepted)
	m := f.lastMail(mail.Reset, "ada@example.com")
	responses := slicetest.Concurrently(8, func(i int) slicetest.Response {
		client := f.newClient()
		if i%2 == 0 {
			return client.reset(m.Token, fmt.Sprint(newPassword, i))
		}
		return client.resetWithCode("ada@example.com", m.Code, fmt.Sprint(newPassword, i))
	})
	if got := slicetest.CountStatuses(responses)[http.StatusOK]; got != 1 {
		t.Errorf("%d requests succeeded, want 1: %v", got, slicetest.CountStatuses(responses))
	}
}
