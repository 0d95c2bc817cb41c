package delivery_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"devplatform/shared/clock"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
)

// Without WEBHOOK_ALLOW_PRIVATE, as in production, the functions of both lanes send no request to a private address,
// such as the loopback address of the test server.
func TestPrivateAddressesNeedTheirSetting(t *testing.T) {
	t.Parallel()
	requests := 0
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	t.Cleanup(endpoint.Close)
	for allow, want := range map[bool]int{false: 0, true: 1} {
		requests = 0
		settings := delivery.WorkerSettings{AllowPrivate: allow}
		deps := settings.Deps(0, "", clock.System, slog.New(slog.DiscardHandler))
		result := deps.Sender.Send(t.Context(), sender.Request{URL: endpoint.URL})
		if requests != want || result.OK() != allow {
			t.Errorf("WEBHOOK_ALLOW_PRIVATE=%t: got %d requests and the result %+v, want %d requests",
				allow, requests, result, want)
		}
	}
}
