package api

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/go-json-experiment/json"
)

// Lambda makes the function's handler of a router: API Gateway's proxy event in, proxy response out, buffered.
// What can't be made a request of is answered in the contract's shape, not failed: a failed function is
// a 502 and an alarm, and anyone can send a broken path.
func Lambda(handler http.Handler) *LambdaHandler { return &LambdaHandler{handler: handler} }

// LambdaHandler implements aws-lambda-go's Handler.
type LambdaHandler struct {
	handler http.Handler
	events  core.RequestAccessor
}

// answerMargin is the time that is kept for the answer: whoever still waits for storage then says so, where Lambda would end
// the function without a word.
const answerMargin = 500 * time.Millisecond

// withMargin ends the context so long before the function's own time is over.
func withMargin(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-answerMargin))
}

// Invoke serves one event.
func (h *LambdaHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := withMargin(ctx)
	defer cancel()
	out := core.NewProxyResponseWriter()
	h.handler.ServeHTTP(out, h.request(ctx, payload))
	answer, err := out.GetProxyResponse()
	if err != nil {
		return nil, fmt.Errorf("api: no response: %w", err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("api: response: %w", err)
	}
	return data, nil
}

// request makes an HTTP request of an event, with what the gateway knows in its context. If it can't,
// it makes one that the router refuses with the reason, so that every answer has the same headers and log line.
func (h *LambdaHandler) request(ctx context.Context, payload []byte) *http.Request {
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
		r = refused.WithContext(context.WithValue(ctx, refusalKey{}, err))
	}
	return r.WithContext(WithRequestInfo(r.Context(), infoOf(r, event)))
}

var errNoEvent = NewError(CodeValidationFailed, "This is no event of an API Gateway proxy.")

func (h *LambdaHandler) convert(ctx context.Context, event events.APIGatewayProxyRequest) (*http.Request, error) {
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
			return nil, NewError(CodeValidationFailed, "body: is not valid base64").WithCause(err)
		}
		event.Body, event.IsBase64Encoded = string(body), false
	}
	r, err := h.events.EventToRequestWithContext(ctx, event)
	if err != nil {
		return nil, NewError(CodeValidationFailed, "The request is malformed.").WithCause(err)
	}
	return r, nil
}

// escapedPath is an event's path as a URL may have it; ROUTE_NOT_FOUND if it can't be one.
func escapedPath(path string) (string, error) {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return "", errNoRoute.WithCause(err)
	}
	for _, r := range plain {
		if r < ' ' || r == 0x7f {
			return "", errNoRoute
		}
	}
	if strings.ContainsAny(path, "?# ") {
		return (&url.URL{Path: path}).EscapedPath(), nil
	}
	return path, nil
}

// infoOf reads the request context, which is the gateway's alone to write. Of the headers only
// X-Forwarded-Proto counts, whose last value the gateway adds; without one it was https.
func infoOf(r *http.Request, event events.APIGatewayProxyRequest) RequestInfo {
	rc := event.RequestContext
	info := RequestInfo{
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
	info.BaseURL = baseURL(info.HTTPS, rc.DomainName, stage)
	return info
}

func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	all := values[len(values)-1]
	return strings.ToLower(strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:]))
}
