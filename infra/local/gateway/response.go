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
)

// proxyResponse is a function's buffered response. AWS refuses other members.
type proxyResponse struct {
	head
	Body            *string `json:"body"`
	IsBase64Encoded bool    `json:"isBase64Encoded"`
}

// head is the part that buffered and streamed responses share.
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
		if err := setHeader(into, name, values); err != nil {
			return err
		}
	}
	for name, value := range single {
		if slices.Contains(into[http.CanonicalHeaderKey(name)], value) {
			continue
		}
		if err := setHeader(into, name, []string{value}); err != nil {
			return err
		}
	}
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
	if jsontext.Value(payload).Kind() != '{' {
		return nil, errors.New("the response is not a JSON object")
	}
	var response proxyResponse
	if err := json.Unmarshal(payload, &response, decodeOptions); err != nil {
		return nil, fmt.Errorf("malformed Lambda proxy response: %w", err)
	}
	parsed, err := response.response()
	if err != nil {
		return nil, fmt.Errorf("malformed Lambda proxy response: %w", err)
	}
	if response.Body == nil {
		return parsed, nil
	}
	parsed.body = []byte(*response.Body)
	if !response.IsBase64Encoded || !g.options.API.IsBinary {
		return parsed, nil
	}
	if parsed.body, err = base64.StdEncoding.DecodeString(*response.Body); err != nil {
		return nil, fmt.Errorf("%w: body is not base64: %w", errConfiguration, err)
	}
	return parsed, nil
}

// send writes the response to the client.
func (r *httpResponse) send(w http.ResponseWriter) {
	header := w.Header()
	maps.Copy(header, r.header)
	if bodyAllowed(r.status) {
		header["Content-Length"] = []string{strconv.Itoa(len(r.body))}
	}
	w.WriteHeader(r.status)
	if bodyAllowed(r.status) {
		_, _ = w.Write(r.body) // the client may have disconnected
	}
}

func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}
