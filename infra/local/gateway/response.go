package gateway

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/http/httpguts"
)

// proxyResponse is a function's buffered response. AWS refuses other members.
type proxyResponse struct {
	head
	Body            *string `json:"body"`
	IsBase64Encoded bool    `json:"isBase64Encoded"`
}

// head is the part of a response that streamed responses have, too.
type head struct {
	StatusCode        int                 `json:"statusCode"` // 0 if the response has none; then AWS sends 200
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
}

// decodeOptions make the decoder strict: member names are case-sensitive, and unknown ones are refused. AWS also
// accepts a status code that is a string, and headers that are booleans.
var decodeOptions = json.JoinOptions(
	json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
)

// response returns the response without its body.
func (h *head) response() (*httpResponse, error) {
	r := &httpResponse{status: cmp.Or(h.StatusCode, http.StatusOK), header: http.Header{}}
	if r.status < http.StatusOK || r.status > 599 {
		return nil, errors.New("statusCode is not an HTTP status")
	}
	if err := setHeaders(r.header, h.Headers, h.MultiValueHeaders); err != nil {
		return nil, err
	}
	if len(r.header[headerContentType]) == 0 {
		r.header[headerContentType] = []string{jsonType}
	}
	return r, nil
}

// setHeaders sets both kinds of headers. A value that is in both appears once.
func setHeaders(into http.Header, single map[string]string, multi map[string][]string) error {
	for name, values := range multi {
		if err := setChecked(into, name, values); err != nil {
			return err
		}
	}
	for name, value := range single {
		if slices.Contains(into[http.CanonicalHeaderKey(name)], value) {
			continue
		}
		if err := setChecked(into, name, []string{value}); err != nil {
			return err
		}
	}
	return nil
}

func setChecked(into http.Header, name string, values []string) error {
	for _, value := range values {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("header %q cannot be sent", name)
		}
	}
	setHeader(into, name, values)
	return nil
}

// httpResponse is the HTTP response of a function.
type httpResponse struct {
	status int
	header http.Header
	body   []byte
}

// parseResponse decodes a function's buffered response. Every error except [errConfiguration] means 502 on AWS.
func (g *Gateway) parseResponse(payload []byte) (*httpResponse, error) {
	if kind := jsontext.Value(payload).Kind(); kind != '{' {
		return nil, errors.New("the response is not a JSON object")
	}
	var response proxyResponse
	if err := json.Unmarshal(payload, &response, decodeOptions); err != nil {
		return nil, fmt.Errorf("malformed Lambda proxy response: %w", err)
	}
	a, err := response.response()
	if err != nil {
		return nil, fmt.Errorf("malformed Lambda proxy response: %w", err)
	}
	if response.Body == nil {
		return a, nil
	}
	a.body = []byte(*response.Body)
	if !response.IsBase64Encoded || !g.options.API.IsBinary {
		return a, nil
	}
	if a.body, err = base64.StdEncoding.DecodeString(*response.Body); err != nil {
		return nil, fmt.Errorf("%w: body is not base64: %w", errConfiguration, err)
	}
	return a, nil
}

// send writes a to the client.
func (a *httpResponse) send(w http.ResponseWriter) {
	header := w.Header()
	maps.Copy(header, a.header)
	if bodyAllowed(a.status) {
		header["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	}
	w.WriteHeader(a.status)
	if bodyAllowed(a.status) {
		_, _ = w.Write(a.body) // the client may have disconnected
	}
}

func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}
