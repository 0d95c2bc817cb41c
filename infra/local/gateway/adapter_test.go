package gateway_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/runtime"
)

// TestAdapter calls an http.Handler through AWS's own adapter.
func TestAdapter(t *testing.T) {
	t.Parallel()
	adapter := httpadapter.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, "%s %s %s %q %q %s %s", r.Method, r.URL.EscapedPath(), r.RemoteAddr, r.URL.Query()["q"], r.Header["Cookie"], r.Host, body)
	}))
	f := &function{respond: func(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
		var event events.APIGatewayProxyRequest
		if err := json.Unmarshal(in.Payload, &event); err != nil {
			return nil, err
		}
		response, err := adapter.ProxyWithContext(ctx, event)
		if err != nil {
			return nil, err
		}
		payload, err := json.Marshal(response)
		return &runtime.Response{Payload: payload, Body: http.NoBody}, err
	}}
	server := serve(t, f, gateway.Options{API: apiOf(anyRoute("/api/{proxy+}"))})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/api/a%2Fb/na%C3%AFve?q=1+2&q=%26", strings.NewReader("\xff"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header["Cookie"] = []string{"x=1; y=2"}
	request.Header.Set("X-Forwarded-For", "10.9.8.7")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	want := fmt.Sprintf("PUT /api/a%%2Fb/na%%C3%%AFve 127.0.0.1 [\"1 2\" \"&\"] [\"x=1; y=2\"] %s ", server.Listener.Addr())
	// The adapter encodes a body that is not UTF-8 in base64. Without a binary media type, API Gateway does not decode it.
	if body := text(t, response); response.StatusCode != http.StatusAccepted || !strings.HasPrefix(decoded(body), want) {
		t.Errorf("%d %q, want %q", response.StatusCode, decoded(body), want)
	}
	if !slices.Equal(response.Header["Set-Cookie"], []string{"a=1", "b=2"}) {
		t.Errorf("cookies %q", response.Header["Set-Cookie"])
	}
}

func decoded(body string) string {
	plain, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return err.Error()
	}
	return string(plain)
}
