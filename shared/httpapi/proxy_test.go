package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/httpapi"
)

// The header with the client's address counts only if exactly one correct secret is sent with it.
func TestProxy(t *testing.T) {
	t.Parallel()
	const peer = "192.0.2.1" // the address of the connection to the gateway
	const realIP, cloudFront = "X-Real-Ip", "Cloudfront-Viewer-Address"
	for name, tc := range map[string]struct {
		configured string   // the header of the proxy
		header     string   // the header of the request
		addresses  []string // its values
		secrets    []string // the secrets of the request
		want       string
	}{
		"no proxy":       {"", realIP, []string{"203.0.113.7"}, []string{"s3cret"}, peer},
		"from the proxy": {realIP, realIP, []string{"203.0.113.7"}, []string{"s3cret"}, "203.0.113.7"},
		"IPv6":           {realIP, realIP, []string{"2001:db8::1:2"}, []string{"s3cret"}, "2001:db8::1:2"},
		"IPv6 with a zone, which can be any text": {
			realIP, realIP, []string{"2001:db8::1:2%https://evil.example"}, []string{"s3cret"}, "2001:db8::1:2",
		},
		"CloudFront":          {cloudFront, cloudFront, []string{"203.0.113.7:46532"}, []string{"s3cret"}, "203.0.113.7"},
		"CloudFront and IPv6": {cloudFront, cloudFront, []string{"2001:db8::1:4653"}, []string{"s3cret"}, "2001:db8::1"},
		"CloudFront, IPv6 in brackets": {
			cloudFront, cloudFront, []string{"[2001:db8::1]:4653"}, []string{"s3cret"}, "2001:db8::1",
		},
		"without a secret": {realIP, realIP, []string{"203.0.113.7"}, nil, peer},
		"wrong secret":     {realIP, realIP, []string{"203.0.113.7"}, []string{"guess"}, peer},
		"empty secret":     {realIP, realIP, []string{"203.0.113.7"}, []string{""}, peer},
		"two secrets":      {realIP, realIP, []string{"203.0.113.7"}, []string{"s3cret", "s3cret"}, peer},
		"two addresses":    {realIP, realIP, []string{"203.0.113.7", "203.0.113.8"}, []string{"s3cret"}, peer},
		"invalid address":  {cloudFront, cloudFront, []string{"unknown"}, []string{"s3cret"}, peer},
		"X-Forwarded-For":  {realIP, "X-Forwarded-For", []string{"203.0.113.7"}, []string{"s3cret"}, peer},
	} {
		for _, secret := range []string{"s3cret", ""} { // without a configured secret, no request is from the proxy
			var got httpapi.RequestInfo
			proxy := httpapi.Proxy{
				AddressHeader: tc.configured, Secret: func(context.Context) (string, error) { return secret, nil },
			}
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header[tc.header], r.Header["X-Proxy-Secret"] = tc.addresses, tc.secrets
			info, want := httpapi.RequestInfo{RequestID: "r-1", SourceIP: peer}, tc.want
			if secret == "" {
				want = peer
			}
			proxy.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = httpapi.RequestInfoFrom(r.Context())
			})).ServeHTTP(httptest.NewRecorder(), r.WithContext(httpapi.WithRequestInfo(r.Context(), info)))
			if got.SourceIP != want || got.RequestID != "r-1" {
				t.Errorf("%s, configured secret %q: got %+v, want the address %s", name, secret, got, want)
			}
		}
	}
}

// A request of the proxy is rejected if the secret can't be read: the limits would apply to the proxy's address. A
// request without the header does not need the secret.
func TestProxyWithoutSecretsManager(t *testing.T) {
	t.Parallel()
	proxy := httpapi.Proxy{
		AddressHeader: "X-Real-IP", Secret: func(context.Context) (string, error) { return "", config.ErrUnavailable },
	}
	handler := proxy.Handler(httpapi.NewRouter(httpapi.Config{Logger: edgetest.DiscardLog, Clock: edgetest.Clock}))
	for secret, want := range map[string]int{"": http.StatusNotFound, "s3cret": http.StatusServiceUnavailable} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if secret != "" {
			r.Header.Set("X-Proxy-Secret", secret)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("with the secret %q: got status %d, want %d", secret, w.Code, want)
		}
	}
}
