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

// Client invokes functions with API Gateway's events. It sends the last cookie that a response set. Every response must
// match the OpenAPI document.
type Client struct {
	t      *testing.T
	cookie string
}

// NewClient returns a client without a cookie.
func NewClient(t *testing.T) *Client { return &Client{t: t} }

// Do invokes a function with the event of a request and returns the response.
func (c *Client) Do(function http.Handler, method, path, body string) events.APIGatewayProxyResponse {
	c.t.Helper()
	pathWithoutQuery, query, _ := strings.Cut(path, "?")
	queryValues, err := url.ParseQuery(query)
	if err != nil {
		c.t.Fatal(err)
	}
	event := events.APIGatewayProxyRequest{
		HTTPMethod:                      method,
		Path:                            pathWithoutQuery,
		MultiValueQueryStringParameters: queryValues,
		MultiValueHeaders:               map[string][]string{"Content-Type": {"application/json"}, "Cookie": {c.cookie}},
		Body:                            body,
	}
	event.RequestContext.RequestID = "r-1"
	event.RequestContext.Identity.SourceIP = "203.0.113.5"
	event.RequestContext.DomainName = "api.example.com"
	payload, err := json.Marshal(event)
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := apigateway.New(function).Invoke(c.t.Context(), payload)
	if err != nil {
		c.t.Fatal(err)
	}
	var response events.APIGatewayProxyResponse
	if err := json.Unmarshal(out, &response); err != nil {
		c.t.Fatal(err)
	}
	header := http.Header(response.MultiValueHeaders)
	contract.Check(c.t, method, path, response.StatusCode, header, []byte(response.Body))
	if cookies := header["Set-Cookie"]; len(cookies) > 0 {
		c.cookie, _, _ = strings.Cut(cookies[0], ";")
	}
	return response
}

// Field returns the value of a string field of a JSON object, or "" if the field is missing or not a string.
func Field(t *testing.T, body, name string) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Fatalf("the body %s is not a JSON object: %v", body, err)
	}
	text, _ := object[name].(string)
	return text
}
