// Package apigateway adapts HTTP handlers to Lambda functions behind an API Gateway REST API: with buffered responses and
// with streamed ones. It converts events and responses. It knows no endpoint.
package apigateway

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/go-json-experiment/json"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn"
)

// New makes the function's handler of a router: API Gateway's proxy event in, proxy response out, buffered.
// What can't be made a request of is answered in the contract's shape, not failed: a failed function is
// a 502 and an alarm, and anyone can send a broken path.
func New(handler http.Handler) *Handler { return &Handler{handler: handler} }

// Handler implements aws-lambda-go's Handler.
type Handler struct {
	handler http.Handler
	events  core.RequestAccessor
}

// Invoke serves one event.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := lambdafn.WithMargin(ctx)
	defer cancel()
	out := core.NewProxyResponseWriter()
	h.handler.ServeHTTP(out, h.request(ctx, payload))
	answer, err := out.GetProxyResponse()
	if err != nil {
		return nil, fmt.Errorf("apigateway: no response: %w", err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("apigateway: response: %w", err)
	}
	return data, nil
}

// request makes an HTTP request of an event, with what the gateway knows in its context. If it can't,
// it makes one that the router refuses with the reason, so that every answer has the same headers and log line.
func (h *Handler) request(ctx context.Context, payload []byte) *http.Request {
	var event events.APIGatewayProxyRequest
	err := json.Unmarshal(payload, &event)
	if err != nil {
		err = errNoEvent.WithCause(err)
	}
	var r *http.Request
	if err == nil {
		r, err = h.convert(ctx, event)
	}
	if err != nil {
		refused := &http.Request{Method: event.HTTPMethod, URL: &url.URL{Path: "/"}, Header: http.Header{}}
		r = refused.WithContext(httpapi.WithRejection(ctx, err))
	}
	return r.WithContext(httpapi.WithRequestInfo(r.Context(), infoOf(r, event)))
}

var errNoEvent = fault.New(fault.CodeValidationFailed, "This is no event of an API Gateway proxy.")

func (h *Handler) convert(ctx context.Context, event events.APIGatewayProxyRequest) (*http.Request, error) {
	if event.HTTPMethod == "" {
		return nil, errNoEvent
	}
	path, err := escapedPath(event.Path)
	if err != nil {
		return nil, err
	}
	event.Path = path
	if event.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(event.Body)
		if err != nil {
			return nil, fault.New(fault.CodeValidationFailed, "body: is not valid base64").WithCause(err)
		}
		event.Body, event.IsBase64Encoded = string(body), false
	}
	r, err := h.events.EventToRequestWithContext(ctx, event)
	if err != nil {
		return nil, fault.New(fault.CodeValidationFailed, "The request is malformed.").WithCause(err)
	}
	return r, nil
}

// escapedPath is an event's path as a URL may have it; ROUTE_NOT_FOUND if it can't be one.
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
	if strings.ContainsAny(path, "?# ") {
		return (&url.URL{Path: path}).EscapedPath(), nil
	}
	return path, nil
}

// infoOf reads the request context, which is the gateway's alone to write. Of the headers only
// X-Forwarded-Proto counts, whose last value the gateway adds; without one it was https.
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

func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	all := values[len(values)-1]
	return strings.ToLower(strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:]))
}
