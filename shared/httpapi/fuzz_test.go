package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// FuzzLambda sends arbitrary events. It checks that every response is valid, that errors have the documented format,
// and that the status is 5xx only if a handler failed.
func FuzzLambda(f *testing.F) {
	signup := edgetest.Event("POST", "/api/signup")
	signup.MultiValueHeaders["Content-Type"] = []string{"application/json"}
	signup.Body = `{"email":"a","password":"hunter2hunter2"}`
	me := edgetest.Event("GET", "/api/me")
	me.MultiValueHeaders["Cookie"] = []string{"__Host-session=good; session=old", "x=\"y\""}
	list := edgetest.Event("GET", "/api/list")
	list.MultiValueQueryStringParameters = map[string][]string{"limit": {"5", "%"}, "name": {"\u0000"}}
	item := edgetest.Event("DELETE", "/api/items/%2e%2e")
	item.Headers = map[string]string{"If-Match": `W/"a"`}
	options, invalidPath := edgetest.Event("OPTIONS", "/api/list"), edgetest.Event("GET", "/%zz")
	for _, e := range []events.APIGatewayProxyRequest{signup, me, list, item, options, invalidPath} {
		data, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"httpMethod":"GET","path":"/api/me","isBase64Encoded":true,"body":"!"}`))
	f.Add([]byte(`[]`))
	router, _ := edgetest.NewRouter(config.Edge{CookiePlainHTTP: true})
	f.Fuzz(func(t *testing.T, payload []byte) {
		response, _ := edgetest.Invoke(t, router, payload)
		if response.Status < 200 || response.Status > 599 {
			t.Fatalf("got the invalid status %d: %s", response.Status, response.Body)
		}
		if response.Status < 400 {
			return
		}
		var body struct {
			Error string
			Code  fault.Code
		}
		err := json.Unmarshal([]byte(response.Body), &body)
		if err != nil && response.Body != "" {
			t.Fatalf("got %d %s, want an error in JSON", response.Status, response.Body)
		}
		if err == nil && body.Code.Status() != response.Status {
			t.Fatalf("got %d %s, want the status %d of the code", response.Status, response.Body, body.Code.Status())
		}
		// Only endpoints whose handlers fail on purpose return 5xx. All of their paths contain /api/.
		if response.Status >= http.StatusInternalServerError && !strings.Contains(string(payload), "/api/") {
			t.Fatalf("got %d %s for an event without an endpoint", response.Status, response.Body)
		}
	})
}

// FuzzRequest varies the parts of a request that a client controls: path, query, one header and body. It skips the
// operations whose handlers fail.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "/api/signup", "", "Content-Type", "application/json", `{"email":"a","password":"hunter2hunter2"}`)
	f.Add("GET", "/api/list", "limit=1&name=%00", "Cookie", "__Host-session=good", "")
	f.Add("GET", "/api/me", "", "Cookie", "__Host-session=old; session=\x7f", "")
	f.Add("DELETE", "/api/items/a", "a=%", "Origin", "https://evil.example", "")
	f.Add("OPTIONS", "/api/list", ";", "Access-Control-Request-Method", "PUT", "")
	f.Add("POST", "/api/login", "", "Content-Length", "-1", "\x00")
	router, _ := edgetest.NewRouter(config.Edge{})
	f.Fuzz(func(t *testing.T, method, path, query, name, value, body string) {
		// edgetest.Sessions fails for the session token "down".
		failsOnPurpose := strings.HasPrefix(path, "/api/fail/") || path == "/api/panic" || path == "/api/broken" ||
			strings.Contains(value, "down")
		if failsOnPurpose || !strings.HasPrefix(path, "/") {
			return
		}
		e := edgetest.Event(method, path)
		e.Body = body
		e.MultiValueHeaders[name] = []string{value}
		if pairs := strings.SplitN(query, "=", 2); len(pairs) == 2 {
			e.MultiValueQueryStringParameters = map[string][]string{pairs[0]: {pairs[1]}}
		}
		if response, _ := edgetest.Invoke(t, router, e); response.Status < 200 || response.Status >= 500 {
			t.Fatalf("got %d %s, want a status from 200 to 499", response.Status, response.Body)
		}
	})
}

// FuzzRateKey checks that the key of an address is the address itself for IPv4 and its /64 network for IPv6, in any
// notation, and that all invalid addresses have the same key.
func FuzzRateKey(f *testing.F) {
	for _, seed := range []string{
		"198.51.100.1", "::ffff:198.51.100.1", "2001:db8::1", "fe80::1%eth0", "198.51.100.001", "", "0x7f.1", "::",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ip string) {
		key := httpapi.RateKey(ip)
		addr, err := netip.ParseAddr(ip)
		if err != nil {
			if key != "unknown" {
				t.Fatalf("invalid address %q: got the key %q, want unknown", ip, key)
			}
			return
		}
		plain := addr.Unmap().WithZone("")
		if plain.Is4() {
			if key != plain.String() {
				t.Fatalf("%q: got the key %q, want %s", ip, key, plain)
			}
			return
		}
		network, err := netip.ParsePrefix(key)
		if err != nil || network.Bits() != 64 || !network.Contains(plain) {
			t.Fatalf("%q: got the key %q and the error %v, want the /64 network of the address", ip, key, err)
		}
	})
}
