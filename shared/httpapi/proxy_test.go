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
	const gatewayPeer, cloudFront = "192.0.2.1", "CloudFront-Viewer-Address"
	for name, tc := range map[string]struct {
		addressHeader string
		secret        string
		header        http.Header
		want          string
	}{
		"no proxy": {
			secret: "s3cret", header: http.Header{"X-Real-Ip": {"203.0.113.7"}, "X-Proxy-Secret": {"s3cret"}}, want: gatewayPeer,
		},
		"from the proxy": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Real-Ip": {"203.0.113.7"}, "X-Proxy-Secret": {"s3cret"}}, want: "203.0.113.7",
		},
		"IPv6": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Real-Ip": {"2001:db8::1:2"}, "X-Proxy-Secret": {"s3cret"}}, want: "2001:db8::1:2",
		},
		"IPv6 with a zone, which can be any text": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Real-Ip": {"2001:db8::1:2%https://evil.example"}, "X-Proxy-Secret": {"s3cret"}},
			want:   "2001:db8::1:2",
		},
		"CloudFront": {
			addressHeader: cloudFront, secret: "s3cret",
			header: http.Header{"Cloudfront-Viewer-Address": {"203.0.113.7:46532"}, "X-Proxy-Secret": {"s3cret"}},
			want:   "203.0.113.7",
		},
		"CloudFront and IPv6": {
			addressHeader: cloudFront, secret: "s3cret",
			header: http.Header{"Cloudfront-Viewer-Address": {"2001:db8::1:4653"}, "X-Proxy-Secret": {"s3cret"}},
			want:   "2001:db8::1",
		},
		"CloudFront, IPv6 in brackets": {
			addressHeader: cloudFront, secret: "s3cret",
			header: http.Header{"Cloudfront-Viewer-Address": {"[2001:db8::1]:4653"}, "X-Proxy-Secret": {"s3cret"}},
			want:   "2001:db8::1",
		},
		"without a secret": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Real-Ip": {"203.0.113.7"}}, want: gatewayPeer,
		},
		"wrong secret": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Real-Ip": {"203.0.113.7"}, "X-Proxy-Secret": {"guess"}}, want: gatewayPeer,
		},
		"two secrets": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Real-Ip": {"203.0.113.7"}, "X-Proxy-Secret": {"s3cret", "s3cret"}}, want: gatewayPeer,
		},
		"no secret is configured": {
			addressHeader: "X-Real-IP",
			header:        http.Header{"X-Real-Ip": {"203.0.113.7"}, "X-Proxy-Secret": {""}}, want: gatewayPeer,
		},
		"two addresses": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Real-Ip": {"203.0.113.7", "203.0.113.8"}, "X-Proxy-Secret": {"s3cret"}}, want: gatewayPeer,
		},
		"invalid address": {
			addressHeader: cloudFront, secret: "s3cret",
			header: http.Header{"Cloudfront-Viewer-Address": {"unknown"}, "X-Proxy-Secret": {"s3cret"}}, want: gatewayPeer,
		},
		"X-Forwarded-For": {
			addressHeader: "X-Real-IP", secret: "s3cret",
			header: http.Header{"X-Forwarded-For": {"203.0.113.7"}, "X-Proxy-Secret": {"s3cret"}}, want: gatewayPeer,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got httpapi.RequestInfo
			proxy := httpapi.Proxy{
				AddressHeader: tc.addressHeader, Secret: func(context.Context) (string, error) { return tc.secret, nil },
			}
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header = tc.header
			info := httpapi.RequestInfo{RequestID: "r-1", SourceIP: gatewayPeer}
			proxy.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = httpapi.RequestInfoFrom(r.Context())
			})).ServeHTTP(httptest.NewRecorder(), r.WithContext(httpapi.WithRequestInfo(r.Context(), info)))
			if got.SourceIP != tc.want || got.RequestID != "r-1" {
				t.Errorf("got %+v, want the address %s", got, tc.want)
			}
		})
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
