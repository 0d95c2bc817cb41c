package gateway

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// proxyResponse is a function's buffered response. AWS refuses other members.
type proxyResponse struct {
	StatusCode        statusCode              `json:"statusCode"`
	Headers           map[string]headerValue  `json:"headers"`
	MultiValueHeaders map[string]headerValues `json:"multiValueHeaders"`
	Body              *string                 `json:"body"`
	IsBase64Encoded   bool                    `json:"isBase64Encoded"`
}

// decodeOptions make the decoder as strict and as lenient as AWS's: member names are case-sensitive, and unknown ones
// are refused.
var decodeOptions = json.JoinOptions(
	json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
)

var errStatusCode = errors.New("statusCode is not an HTTP status")

// statusCode is an integer, or a string with one. 0 means that the response has none; then AWS sends 200.
type statusCode int

// UnmarshalJSONFrom refuses values that are not a final HTTP status.
func (s *statusCode) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return fmt.Errorf("statusCode: %w", err)
	}
	switch token.Kind() {
	case 'n':
		return nil
	case '0', '"':
		n, err := strconv.ParseFloat(token.String(), 64)
		if err != nil || n != math.Trunc(n) || n < http.StatusOK || n > 599 {
			return errStatusCode
		}
		*s = statusCode(n)
		return nil
	default:
		return errStatusCode
	}
}

func (s statusCode) orOK() int {
	if s == 0 {
		return http.StatusOK
	}
	return int(s)
}

var errHeaderValue = errors.New("header value is neither a string nor a boolean")

// headerValue is a string, or a boolean that is sent as "true" or "false".
type headerValue string

// UnmarshalJSONFrom refuses numbers, null, arrays and objects.
func (h *headerValue) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	switch token.Kind() {
	case '"', 't', 'f':
		*h = headerValue(token.String())
		return nil
	default:
		return errHeaderValue
	}
}

// headerValues is a list of header values, or a single value.
type headerValues []headerValue

// UnmarshalJSONFrom reads a list or a single value.
func (h *headerValues) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		var one headerValue
		if err := one.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		*h = headerValues{one}
		return nil
	}
	if err := json.UnmarshalDecode(dec, (*[]headerValue)(h)); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

// setHeaders sets both kinds of headers. A value that is in both appears once.
func setHeaders(into http.Header, single map[string]headerValue, multi map[string]headerValues) error {
	for name, values := range multi {
		texts := make([]string, len(values))
		for i, value := range values {
			texts[i] = string(value)
		}
		if err := setChecked(into, name, texts); err != nil {
			return err
		}
	}
	for name, value := range single {
		if slices.Contains(into[http.CanonicalHeaderKey(name)], string(value)) {
			continue
		}
		if err := setChecked(into, name, []string{string(value)}); err != nil {
			return err
		}
	}
	return nil
}

func setChecked(into http.Header, name string, values []string) error {
	for _, value := range values {
		if !validHeader(name, value) {
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

var errBase64 = errors.New("body is not base64")

// parseResponse decodes a function's buffered response. Every error except [errBase64] means 502 on AWS.
func (g *Gateway) parseResponse(payload []byte, accept []string) (*httpResponse, error) {
	if kind := jsontext.Value(payload).Kind(); kind != '{' {
		return nil, errors.New("the response is not a JSON object")
	}
	var response proxyResponse
	if err := json.Unmarshal(payload, &response, decodeOptions); err != nil {
		return nil, fmt.Errorf("malformed Lambda proxy response: %w", err)
	}
	a := &httpResponse{
		status: response.StatusCode.orOK(),
		header: make(http.Header, len(response.MultiValueHeaders)+len(response.Headers)+5),
	}
	if err := setHeaders(a.header, response.Headers, response.MultiValueHeaders); err != nil {
		return nil, fmt.Errorf("malformed Lambda proxy response: %w", err)
	}
	if len(a.header[headerContentType]) == 0 {
		a.header[headerContentType] = []string{jsonType}
	}
	if response.Body == nil {
		return a, nil
	}
	a.body = []byte(*response.Body)
	if !response.IsBase64Encoded || !g.wantsBinary(accept, a.header[headerContentType]) {
		return a, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(*response.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBase64, err)
	}
	a.body = decoded
	return a, nil
}

// wantsBinary reports whether a base64 body is decoded. AWS uses the first type that the client accepts, or else the
// type of the response.
func (g *Gateway) wantsBinary(accept, contentType []string) bool {
	if len(accept) == 0 {
		return g.binary.match(firstMediaType(contentType))
	}
	return g.binary.match(firstMediaType(accept))
}

// send writes a to the client.
func (a *httpResponse) send(w http.ResponseWriter) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
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

// binaryTypes are the API's binary media types: "*/*", "image/*" or "image/png", in lower case.
type binaryTypes []string

func newBinaryTypes(types []string) binaryTypes {
	out := make(binaryTypes, len(types))
	for i, t := range types {
		out[i] = strings.ToLower(strings.ReplaceAll(t, "~1", "/")) // the escaped slash of a template
	}
	return out
}

// match reports whether a media type without parameters is binary. A body without a type matches "*/*" only.
func (b binaryTypes) match(mediaType string) bool {
	for _, pattern := range b {
		family, wild := strings.CutSuffix(pattern, "/*")
		if pattern == "*/*" || pattern == mediaType || wild && strings.HasPrefix(mediaType, family+"/") {
			return true
		}
	}
	return false
}

// firstMediaType returns the first media type of a Content-Type or Accept header, in lower case and without parameters.
func firstMediaType(header []string) string {
	if len(header) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(header[0], ",")
	first, _, _ = strings.Cut(first, ";")
	return strings.ToLower(strings.TrimSpace(first))
}
