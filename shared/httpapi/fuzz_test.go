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

// FuzzLambda sends arbitrary events. Every response is valid, errors have the documented format, and the status is only
// 5xx if a handler failed.
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
	for _, e := range []events.APIGatewayProxyRequest{signup, me, list, item, edgetest.Event("OPTIONS", "/api/list"), edgetest.Event("GET", "/%zz")} {
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
		a, _ := edgetest.Invoke(t, router, payload)
		if a.Status < 200 || a.Status > 599 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if a.Status < 400 {
			return
		}
		var body struct {
			Error string
			Code  fault.Code
		}
		if err := json.Unmarshal([]byte(a.Body), &body); err != nil && a.Body != "" || err == nil && body.Code.Status() != a.Status {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if meant := strings.Contains(string(payload), "/api/"); a.Status >= http.StatusInternalServerError && !meant {
			t.Fatalf("%d %s", a.Status, a.Body)
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
		if strings.HasPrefix(path, "/api/fail/") || path == "/api/panic" || path == "/api/broken" || strings.Contains(value, "down") || !strings.HasPrefix(path, "/") {
			return // these operations fail on purpose
		}
		e := edgetest.Event(method, path)
		e.Body = body
		e.MultiValueHeaders[name] = []string{value}
		if pairs := strings.SplitN(query, "=", 2); len(pairs) == 2 {
			e.MultiValueQueryStringParameters = map[string][]string{pairs[0]: {pairs[1]}}
		}
		if a, _ := edgetest.Invoke(t, router, e); a.Status < 200 || a.Status >= 500 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	})
}

// FuzzRateKey checks that all addresses of a network have the same key, in any notation, and that no other address has
// it.
func FuzzRateKey(f *testing.F) {
	for _, seed := range []string{"198.51.100.1", "::ffff:198.51.100.1", "2001:db8::1", "fe80::1%eth0", "198.51.100.001", "", "0x7f.1", "::"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ip string) {
		key := httpapi.RateKey(ip)
		addr, err := netip.ParseAddr(ip)
		if err != nil {
			if key != "unknown" {
				t.Fatalf("%q counts as %q", ip, key)
			}
			return
		}
		network, err := netip.ParsePrefix(key)
		if err != nil {
			var single netip.Addr
			if single, err = netip.ParseAddr(key); err == nil {
				network, err = single.Prefix(32)
			}
		}
		if plain := addr.Unmap().WithZone(""); err != nil || !network.Contains(plain) || network.Bits() != map[bool]int{true: 32, false: 64}[plain.Is4()] {
			t.Fatalf("%q counts as %q: %v", ip, key, err)
		}
	})
}
