package functiontest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/infra/openapi/contract"
	"devplatform/shared/lambdafn/apigateway"
)

// Client sends API Gateway's events to functions, with the cookie that it was given. What they answer must be as the OpenAPI
// document says.
type Client struct {
	t      *testing.T
	cookie string
}

// NewClient makes a client without a cookie.
func NewClient(t *testing.T) *Client { return &Client{t: t} }

// Do makes a request of a function.
func (c *Client) Do(function http.Handler, method, path, body string) events.APIGatewayProxyResponse {
	c.t.Helper()
	bare, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		c.t.Fatal(err)
	}
	event := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: bare, Body: body, MultiValueQueryStringParameters: values,
		MultiValueHeaders: map[string][]string{"Content-Type": {"application/json"}, "Cookie": {c.cookie}},
	}
	event.RequestContext.RequestID, event.RequestContext.Identity.SourceIP = "r-1", "203.0.113.5"
	event.RequestContext.DomainName = "api.example.com"
	payload, err := json.Marshal(event)
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := apigateway.New(function).Invoke(c.t.Context(), payload)
	if err != nil {
		c.t.Fatal(err)
	}
	var answer events.APIGatewayProxyResponse
	if err := json.Unmarshal(out, &answer); err != nil {
		c.t.Fatal(err)
	}
	header := http.Header{}
	for name, values := range answer.MultiValueHeaders {
		header[name] = values
	}
	contract.Check(c.t, method, path, answer.StatusCode, header, []byte(answer.Body))
	if cookies := header["Set-Cookie"]; len(cookies) > 0 {
		c.cookie, _, _ = strings.Cut(cookies[0], ";")
	}
	return answer
}

// Field is a member of a JSON object's text.
func Field(t *testing.T, body, name string) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	text, _ := object[name].(string)
	return text
}
