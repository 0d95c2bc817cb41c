// Package apigateway adapts HTTP handlers to Lambda functions behind an API Gateway REST API, with buffered or with
// streamed responses. It only converts events and responses. It defines no endpoints.
package apigateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/go-json-experiment/json"

	"devplatform/shared/async"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn"
)

// New returns the Lambda handler for a router. It takes a proxy event of API Gateway and returns a buffered proxy
// response. If an event cannot be converted to a request, for example because of an invalid path, the response is an
// error response like any other. It is not a function error, which would let any client cause a 502 and an alarm.
func New(handler http.Handler) *Handler { return &Handler{handler: handler} }

// Handler implements aws-lambda-go's Handler.
type Handler struct {
	handler http.Handler
	events  core.RequestAccessor
}

// Invoke serves one event. If the handler panics, Invoke returns an error, because a panic would end the process.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, end := lambdafn.WithMargin(ctx)
	defer end()
	out := core.NewProxyResponseWriter()
	err := async.Recover(func() error {
		h.handler.ServeHTTP(out, h.request(ctx, payload))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("apigateway: %w", err)
	}
	response, err := out.GetProxyResponse()
	if err != nil {
		return nil, fmt.Errorf("apigateway: incomplete response: %w", err)
	}
	data, err := json.Marshal(response)
	if err != nil {
		return nil, fmt.Errorf("apigateway: encode response: %w", err)
	}
	return data, nil
}

// Errors of events that cannot be converted to requests.
var (
	errNotEvent   = fault.New(fault.CodeValidationFailed, "event: must be a proxy event of API Gateway")
	errNotRequest = fault.New(fault.CodeValidationFailed, "request: must have a valid method, path, headers and body")
)

// request converts an event to an HTTP request, with the gateway's RequestInfo in its context. If the event is invalid,
// it returns a request that the router rejects with the error.
func (h *Handler) request(ctx context.Context, payload []byte) *http.Request {
	var event events.APIGatewayProxyRequest
	reject := func(err error) *http.Request {
		r := &http.Request{Method: event.HTTPMethod, URL: &url.URL{Path: "/"}, Header: http.Header{}}
		return r.WithContext(httpapi.WithRequestInfo(httpapi.WithRejection(ctx, err), infoOf(r, event)))
	}
	if err := json.Unmarshal(payload, &event); err != nil || event.HTTPMethod == "" {
		return reject(errNotEvent.WithCause(err))
	}
	path, err := escapedPath(event.Path)
	if err != nil {
		return reject(err)
	}
	escaped := event
	escaped.Path = path
	r, err := h.events.EventToRequestWithContext(ctx, escaped)
	if err != nil {
		return reject(errNotRequest.WithCause(err))
	}
	return r.WithContext(httpapi.WithRequestInfo(r.Context(), infoOf(r, event)))
}

// escapedPath returns an event's path, escaped as in a URL. It returns ROUTE_NOT_FOUND if the path is not valid in a
// URL.
func escapedPath(path string) (string, error) {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return "", httpapi.ErrNoRoute.WithCause(err)
	}
	for _, r := range plain {
		if r < ' ' || r == 0x7f {
			return "", httpapi.ErrNoRoute
		}
	}
	if strings.ContainsAny(path, "?# ") { // these characters would end the path
		return (&url.URL{Path: path}).EscapedPath(), nil
	}
	return path, nil
}

// infoOf returns the request info of an event. It uses the event's request context, which clients cannot influence, and
// the last value of X-Forwarded-Proto, which the gateway added. If that header is missing, it assumes HTTPS.
func infoOf(r *http.Request, event events.APIGatewayProxyRequest) httpapi.RequestInfo {
	rc := event.RequestContext
	info := httpapi.RequestInfo{
		RequestID: rc.RequestID,
		SourceIP:  rc.Identity.SourceIP,
		UserAgent: r.UserAgent(),
		HTTPS:     lastValue(r.Header.Values("X-Forwarded-Proto")) != "http",
	}
	if info.RequestID == "" {
		info.RequestID = rand.Text()
	}
	stage, found := strings.CutSuffix(rc.Path, event.Path)
	if !found {
		stage = ""
	}
	info.BaseURL = httpapi.BaseURL(info.HTTPS, rc.DomainName, stage)
	return info
}

// lastValue returns, in lower case, the last element of a list that may be sent in several header lines.
func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	line := values[len(values)-1]
	return strings.ToLower(strings.TrimSpace(line[strings.LastIndexByte(line, ',')+1:]))
}
