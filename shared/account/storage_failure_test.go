package account

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/account/session"
	"devplatform/shared/awsclient"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/mail"
)

// useDynamoDB makes the service use DynamoDB through an SDK client.
func (f *fixture) useDynamoDB(sdk *dynamodb.Client) {
	f.restart(func(d *Deps) { d.DB = db.Wrap(sdk, f.clock.Now) })
}

// If a response from DynamoDB is lost, the SDK sends the request again. The second request must not fail because of the
// first one.
func TestLostResponses(t *testing.T) {
	f, host := newHostFixture(t)
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client())
	client := f.newClient()
	// checkStatus causes the loss of the response to the next request of a DynamoDB operation. It checks the status of
	// the response that send returns.
	checkStatus := func(name string, want int, operation string, send func() slicetest.Response) {
		t.Helper()
		wire.Break(operation, dynamotest.LostReply)
		if response := send(); response.Status != want {
			t.Errorf("%s: got status %d, want %d: %s", name, response.Status, want, response.Raw)
		}
		if wire.Hits() != 1 {
			t.Fatalf("%s: %d responses were lost, want 1", name, wire.Hits())
		}
	}
	checkStatus("signup", http.StatusCreated, "TransactWriteItems", func() slicetest.Response {
		return client.signup("ada")
	})
	checkStatus("login", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.login("ada", goodPassword)
	})
	f.checkLoginAttempts("ada@example.com", loginAttempts{pair: 0, network: 1, email: 0}) // refunded once
	checkStatus("me", http.StatusOK, "BatchGetItem", client.me)
	checkStatus("password", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.changePassword(goodPassword, newPassword)
	})
	checkStatus("confirm", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.confirm(f.lastMail(mail.Confirm, "ada@example.com").Token)
	})
	checkStatus("request a change", http.StatusAccepted, "TransactWriteItems", func() slicetest.Response {
		return client.requestEmail("new@example.com")
	})
	checkStatus("change", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.changeEmail(f.lastMail(mail.Change, "new@example.com").Token)
	})
	checkStatus("undo", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.undo(f.lastMail(mail.Undo, "ada@example.com").Token)
	})
	checkStatus("a wrong code", http.StatusBadRequest, "PutItem", func() slicetest.Response {
		return client.resetWithCode("ada@example.com", "00000000", newPassword)
	})
	if got := f.guesses("reset"); got != 1 {
		t.Errorf("a wrong code was counted %d times, want once", got)
	}
	checkStatus("reset", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword)
	})
	client.login("ada", newPassword).Want(t, http.StatusOK)
	checkStatus("logout", http.StatusOK, "DeleteItem", client.logout)

	checkStatus("start a sign-in", http.StatusFound, "PutItem", func() slicetest.Response {
		return client.Get("/api/auth/codehost")
	})
	checkStatus("callback", http.StatusFound, "TransactWriteItems", func() slicetest.Response {
		return client.signIn(host, octocat(1, verified("octo@example.com")))
	})
	f.newClient().signIn(host, octocat(1)).Want(t, http.StatusFound)
	list := client.Get("/api/auth/sessions").Want(t, http.StatusOK)
	sessions := list.List("sessions")
	if len(sessions) != 2 {
		t.Fatalf("got the list %s, want 2 sessions", list.Raw)
	}
	newestID, _ := sessions[0]["id"].(string)
	checkStatus("end a session", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.Do(http.MethodDelete, "/api/auth/sessions/"+newestID, nil)
	})
	for _, id := range []int{2, 3} {
		callback := host.approve(client.startLink(), octocat(id))
		checkStatus("link", http.StatusFound, "TransactWriteItems", func() slicetest.Response { return client.Get(callback) })
	}
	newest := client.identityIDs()[2]
	checkStatus("remove an identity", http.StatusOK, "TransactWriteItems", func() slicetest.Response {
		return client.unlink(newest)
	})
	f.clock.Advance(session.RenewalEvery)
	checkStatus("renewal", http.StatusOK, "UpdateItem", client.me)
}

// While DynamoDB is unavailable, the response has status 503 and Retry-After, and contains no internal details.
func TestStorageUnavailable(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	f.useDynamoDB(dynamotest.Client(closed.URL, dynamotest.Once))
	for name, response := range map[string]slicetest.Response{
		"me":     client.me(),
		"login":  client.login("ada", goodPassword),
		"signup": client.signup("eve"),
		"logout": client.logout(),
	} {
		if response.Status != http.StatusServiceUnavailable ||
			response.Text("code") != string(fault.CodeServiceUnavailable) {
			t.Errorf("%s: got %d %s, want 503 %s", name, response.Status, response.Raw, fault.CodeServiceUnavailable)
		}
		if response.Header.Get("Retry-After") == "" {
			t.Errorf("%s: the response has no Retry-After header", name)
		}
		if strings.Contains(response.Raw, "127.0.0.1") || strings.Contains(response.Raw, "dynamo") {
			t.Errorf("%s: the response exposes internal details: %s", name, response.Raw)
		}
	}
}

// If the user cannot be read, a login from an unknown network fails. Otherwise, the network would become known without
// a mail.
func TestUnknownNetworkWhileStorageFails(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada").from("198.51.100.9")
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client(dynamotest.Once))
	wire.Break("GetItem", dynamotest.ServerError.Times(1))
	client.login("ada", goodPassword).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	f.checkMails("ada@example.com", mail.Confirm)
	client.login("ada", goodPassword).Want(t, http.StatusOK)
	f.checkMails("ada@example.com", mail.Confirm, mail.NewNetwork)
}

// If an address becomes unverified after a sign-in has read the account, the sign-in must not link the identity to the
// account.
func TestAddressBecomesUnverifiedDuringSignIn(t *testing.T) {
	f, host := newHostFixture(t)
	first := f.newClient()
	first.signIn(host, octocat(1, verified("octo@example.com"))).Want(t, http.StatusFound)
	userID := first.me().Want(t, http.StatusOK).Text("id")
	unverify := func() {
		accounts := db.Wrap(f.sdk, f.clock.Now)
		write := accounts.Table(f.tables.Accounts).Update(db.UserKey(userID),
			expression.Set(expression.Name("verified"), expression.Value(false)).
				Add(expression.Name("revision"), expression.Value(1)))
		if _, err := accounts.Do(t.Context(), write); err != nil {
			t.Error(err)
		}
	}
	links := 0
	f.useDynamoDB(dynamotest.Client(aws.ToString(f.sdk.Options().BaseEndpoint), func(o *dynamodb.Options) {
		o.HTTPClient = slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if r.Body = io.NopCloser(bytes.NewReader(body)); bytes.Contains(body, []byte("IDENTITY#")) &&
				dynamotest.Operation(r) == "TransactWriteItems" {
				links++
				unverify()
			}
			if err != nil {
				return nil, err
			}
			return slicetest.Transfers.Do(r)
		})
	}))
	client := f.newClient()
	client.signIn(host, octocat(2, verified("octo@example.com"))).Want(t, http.StatusConflict, fault.CodeUserExists)
	if links != 1 {
		t.Errorf("got %d attempts to link, want 1", links)
	}
	client.me().Want(t, http.StatusUnauthorized)
}

// TestAttemptsOfLogin counts the attempts of the calls of a login while storage always fails. The retries of the layers
// must not multiply.
func TestAttemptsOfLogin(t *testing.T) {
	const unavailable = fault.CodeServiceUnavailable
	f := newFixture(t)
	client := f.newUser("ada")
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client(func(o *dynamodb.Options) { o.Retryer = awsclient.Retryer() }))
	check := func(operation string, fault dynamotest.Fault, want int) {
		t.Helper()
		wire.Break(operation, fault)
		client.login("ada", goodPassword).Want(t, http.StatusServiceUnavailable, unavailable)
		if hits := wire.Hits(); hits != want {
			t.Errorf("%s with %s: got %d attempts, want %d", operation, fault.Name, hits, want)
		}
	}
	for _, operation := range []string{"BatchGetItem", "TransactWriteItems"} {
		for _, fault := range []dynamotest.Fault{dynamotest.ServerError, dynamotest.Throttled} {
			check(operation, fault, awsclient.MaxAttempts)
		}
	}
	check("TransactWriteItems", dynamotest.Conflict.Times(0), 20) // the attempts of db.Retry
}
