package main

import (
	"crypto/rand"
	"strings"

	"github.com/go-json-experiment/json"
)

// check is a request to a new version of a function, with texts that its response must contain. Every request is safe
// to repeat.
type check struct {
	payload string
	want    []string
}

// checks returns the check of each function, by logical ID in template.yaml. sitesOrigin is the origin below which
// sites are published, "" if there is none.
func checks(sitesOrigin string) map[string]check {
	_, sites, _ := strings.Cut(sitesOrigin, "://")
	unauthorized := []string{`"statusCode":401`, "AUTH_INVALID_TOKEN"}
	emptyBatch := check{`{"Records":[]}`, []string{`"batchItemFailures":[]`}}
	return map[string]check{
		"AuthFunction": {
			request(loginMethod, loginPath, "", unknownLogin()), []string{`"statusCode":401`, codeUnknownLogin},
		},
		// A session token with an unknown key needs the key ring.
		"ProjectsFunction":    {request("GET", "/api/projects", "", ""), unauthorized},
		"AiFunction":          {request("GET", "/api/ai/usage", "", ""), unauthorized},
		"WebhooksFunction":    {request("GET", "/api/webhooks", "", ""), unauthorized},
		"WebhookTestFunction": {request("POST", "/api/webhooks/wh_01KGA5B1S0ABCDEFGHJKMNPQRS/test", "", "{}"), unauthorized},
		"DocsFunction":        {request("GET", "/api/openapi.json", "", ""), []string{`"statusCode":200`, "openapi"}},
		// The function looks for an address that does not exist.
		"SitesFunction": {
			request("GET", "/", "check-"+strings.ToLower(rand.Text())+"."+sites, ""), []string{`"statusCode":404`},
		},

		"JobsFunction":                emptyBatch,
		"MailerFunction":              emptyBatch,
		"ProjectCleanupFunction":      emptyBatch,
		"WebhookFanoutFunction":       emptyBatch,
		"WebhookDeliveryFunction":     emptyBatch,
		"WebhookSlowDeliveryFunction": emptyBatch,
		// The usual run of the schedule. Runs may overlap.
		"WebhookRetryFunction": {`{}`, []string{"null"}},
	}
}

// A login with an address that no user has. It counts attempts, looks for a user and computes a hash.
const (
	loginMethod      = "POST"
	loginPath        = "/api/auth/login"
	codeUnknownLogin = "AUTH_INVALID_CREDENTIALS" // the code of the response
)

// unknownLogin returns the body of the request. The address is random, so that no limit of failed logins applies.
func unknownLogin() string {
	return `{"email":"` + rand.Text() + `@example.com","password":"` + rand.Text() + `"}`
}

// unknownSession is a session token that has the correct format, but a key that does not exist:
// {"alg":"HS256","kid":"check"}, {} and a signature.
const unknownSession = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImNoZWNrIn0.e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// request returns the event of a request. host is the name of the gateway.
func request(method, path, host, body string) string {
	event, _ := json.Marshal(map[string]any{ // strings are always valid
		"httpMethod": method, "path": path, "body": body,
		"multiValueHeaders": map[string][]string{
			"Content-Type": {"application/json"}, "Host": {host}, "Cookie": {"__Host-session=" + unknownSession},
		},
		"requestContext": map[string]any{
			"requestId": "check-" + rand.Text(), "domainName": host, "identity": map[string]string{"sourceIp": "192.0.2.1"},
		},
	}, json.Deterministic(true))
	return string(event)
}
