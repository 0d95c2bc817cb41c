package httpapi_test

import (
	"encoding/json"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/lambdafn/apigateway"
)

// BenchmarkEdge measures the overhead of the edge for one request, from the event to the response.
func BenchmarkEdge(b *testing.B) {
	router, _ := edgetest.NewRouter(config.Edge{})
	e := edgetest.Event("GET", "/api/me")
	e.MultiValueHeaders["Cookie"] = []string{"__Host-session=good"}
	payload, err := json.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	h := apigateway.New(router)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Invoke(b.Context(), payload); err != nil {
			b.Fatal(err)
		}
	}
}
