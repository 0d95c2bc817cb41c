package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/platformtest"
)

// ageSessions makes the sessions of a user appear to have started an hour earlier.
func ageSessions(t testing.TB, p *platformtest.Platform, userID string) {
	t.Helper()
	client, table := p.DynamoDB(), aws.String("local-AccountsTable")
	page, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: table, KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :sk)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": &types.AttributeValueMemberS{Value: "USER#" + userID}, ":sk": &types.AttributeValueMemberS{Value: "SESSION#"},
		},
	})
	if err != nil || len(page.Items) == 0 {
		t.Fatalf("got %d sessions and the error %v, want at least one session", len(page.Items), err)
	}
	hourAgo := time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	for _, item := range page.Items {
		_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: table, Key: map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]},
			UpdateExpression:          aws.String("SET createdAt = :t"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":t": &types.AttributeValueMemberS{Value: hourAgo}},
		})
		must(t, err)
	}
}

// TestAttacksOnAccounts repeats attacks that were possible once.
func TestAttacksOnAccounts(t *testing.T) {
	t.Parallel()
	const frontEnd = "http://localhost:5173"
	p := platformtest.Start(t, "ALLOWED_ORIGINS="+frontEnd, "LIMIT_OAUTH_IP=6")
	t.Run("a stolen session becomes permanent", func(t *testing.T) { stolenSession(t, p) }) // counts as two starts
	t.Run("large bodies", func(t *testing.T) {
		c := platformtest.NewClient(t, p.URL)
		c.SignUp("grace")
		large := `{"email":"grace@example.com","password":"wrong","x":[` + strings.Repeat("{},", 20_000) + `{}]}`
		for range 12 { // more than the limit of failed logins
			c.Do("POST", "/api/auth/login", large).WantError(t, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
		}
		c.Login("grace").Want(t, http.StatusOK)
	})
	t.Run("images on another site use up the limit", func(t *testing.T) {
		c := platformtest.NewClient(t, p.URL)
		for range 6 {
			c.Do("GET", "/api/auth/codehost", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image").
				WantError(t, http.StatusForbidden, "AUTH_CSRF_REJECTED")
		}
		c.Do("GET", "/api/auth/codehost", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document").
			Want(t, http.StatusFound)
	})
	t.Run("redirects to other origins", func(t *testing.T) {
		c := platformtest.NewClient(t, p.URL)
		for _, target := range []string{"https://evil.example/", frontEnd + "@evil.example/", frontEnd + "0/"} {
			c.Do("GET", "/api/auth/codehost?redirect="+url.QueryEscape(target), "").
				WantError(t, http.StatusBadRequest, "VALIDATION_FAILED")
		}
		begin := c.Do("GET", "/api/auth/codehost?redirect="+url.QueryEscape(frontEnd+"/projects"), "")
		begin.Want(t, http.StatusFound)
		signedIn := c.Do("GET", consent(t, c, begin.Header.Get("Location"), "hubot"), "")
		signedIn.Want(t, http.StatusFound)
		if to := signedIn.Header.Get("Location"); to != frontEnd+"/projects" {
			t.Errorf("got a redirect to %q, want %s/projects", to, frontEnd)
		}
	})
}

// stolenSession checks that a session alone is not enough to add or remove a way to sign in, and that a link does not
// outlive the session that started it.
func stolenSession(t *testing.T, p *platformtest.Platform) {
	t.Helper()
	const linkPath, password = "/api/auth/codehost/link", `{"password":"correct horse battery"}`
	c := platformtest.NewClient(t, p.URL)
	adaID := c.SignUp("ada")
	ageSessions(t, p, adaID)
	for _, body := range []string{"", `{"password":"wrong"}`} {
		c.Do("POST", linkPath, body).WantError(t, http.StatusForbidden, "AUTH_REAUTHENTICATION_REQUIRED")
	}
	link := func() (callback string) {
		t.Helper()
		page, _ := c.Do("POST", linkPath, password).Want(t, http.StatusOK)["url"].(string)
		return consent(t, c, page, "octo")
	}
	pending := link()
	c.Do("POST", "/api/auth/logout", "").Want(t, http.StatusOK)
	c.Login("ada").Want(t, http.StatusOK)
	c.Do("GET", pending, "").WantError(t, http.StatusBadRequest, "AUTH_OAUTH_STATE_INVALID")
	c.Do("GET", link(), "").Want(t, http.StatusFound)

	identities := c.Do("GET", "/api/auth/identities", "").List(t, "identities")
	if len(identities) != 1 || identities[0]["username"] != "octo" {
		t.Fatalf("got the identities %v, want octo", identities)
	}
	path := fmt.Sprint("/api/auth/identities/", identities[0]["id"])
	ageSessions(t, p, adaID)
	c.Do("DELETE", path, "").WantError(t, http.StatusForbidden, "AUTH_REAUTHENTICATION_REQUIRED")
	c.Do("DELETE", path, password).Want(t, http.StatusOK)
	c.Do("DELETE", path, password).WantError(t, http.StatusNotFound, "IDENTITY_NOT_FOUND")
}

// TestUnavailableCodeHost signs in with a code host that accepts connections and never responds, and with one that
// cannot be reached. The sign-in ends within a few seconds and is not reported as a refusal.
func TestUnavailableCodeHost(t *testing.T) {
	t.Parallel()
	hanging, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = hanging.Close() })
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, closed.Close())
	for name, address := range map[string]string{"hanging": hanging.Addr().String(), "unreachable": closed.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := "http://" + address
			p := platformtest.Start(t, "OAUTH_PROVIDER=gitea", "OAUTH_BASE_URL="+base, "OAUTH_CLIENT_ID=id", "OAUTH_CLIENT_SECRET=a secret of the client")
			c := platformtest.NewClient(t, p.URL)
			begin := c.Do("GET", "/api/auth/codehost", "")
			begin.Want(t, http.StatusFound)
			page, err := url.Parse(begin.Header.Get("Location"))
			must(t, err)
			started := time.Now()
			response := c.Do("GET", "/api/auth/codehost/callback?code=x&state="+page.Query().Get("state"), "")
			response.WantError(t, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
			if took := time.Since(started); took > 8*time.Second {
				t.Errorf("the response took %v, want at most 5 seconds and the time of a busy machine", took)
			}
			if response.Header.Get("Retry-After") == "" {
				t.Error("the response has no Retry-After header")
			}
		})
	}
}
