package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/lambdafn/apigateway"
)

// BenchmarkEdge measures the overhead of the edge for one request, from the event to the response.
func BenchmarkEdge(b *testing.B) {
	router, _ := edgetest.NewRouter(config.Edge{})
	e := edgetest.Event("GET", "/api/me")
	e.MultiValueHeaders["Cookie"] = []string{"__Host-session=good"}
	invoke(b, router, e)
}

// BenchmarkBody measures the same for a request with a small body.
func BenchmarkBody(b *testing.B) {
	router, _ := edgetest.NewRouter(config.Edge{})
	e := edgetest.Event("POST", "/api/signup")
	e.MultiValueHeaders["Content-Type"] = []string{"application/json"}
	e.Body = `{"email":"ada@example.com","password":"hunter2hunter2","age":7,"tags":[{"name":"a"},{"name":"b"}]}`
	invoke(b, router, e)
}

// invoke sends an event again and again.
func invoke(b *testing.B, router http.Handler, e events.APIGatewayProxyRequest) {
	b.Helper()
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
