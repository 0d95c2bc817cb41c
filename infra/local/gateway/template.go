package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"devplatform/infra/local/stack"
)

// gatewayResponse is a compiled gateway response of the API.
type gatewayResponse struct {
	status  int // 0: that of the failure
	headers []headerTemplate
	bodies  map[string][]segment // by media type
	types   []string             // the media types, sorted
}

type headerTemplate struct {
	name  string
	value segment
}

// segment is a part of a template: text, or a variable if value is set.
type segment struct {
	text  string
	value func(*request, *failure) string
}

// defaultResponse is the response if the API defines none.
var defaultResponse = &gatewayResponse{
	bodies: map[string][]segment{jsonType: {
		{text: `{"message":`}, {value: contextVariables["error.messageString"]}, {text: `}`},
	}},
	types: []string{jsonType},
}

// contextVariables are the $context variables that a gateway response may use, and that differ between requests. A request
// without a route has no resource: its variables are empty, as on AWS.
var contextVariables = map[string]func(*request, *failure) string{
	"error.message":       func(_ *request, f *failure) string { return f.message },
	"error.messageString": func(_ *request, f *failure) string { return string(quote(nil, f.message)) },
	"error.responseType":  func(_ *request, f *failure) string { return f.kind },
	"requestId":           func(q *request, _ *failure) string { return q.ids.request },
	"extendedRequestId":   func(q *request, _ *failure) string { return q.ids.extended },
	"httpMethod":          func(q *request, _ *failure) string { return q.Method },
	"path":                func(q *request, _ *failure) string { return q.fullPath },
	"protocol":            func(q *request, _ *failure) string { return q.Proto },
	"requestTime":         func(q *request, _ *failure) string { return q.received.Format(requestTimeLayout) },
	"requestTimeEpoch":    func(q *request, _ *failure) string { return strconv.FormatInt(q.received.UnixMilli(), 10) },
	"domainName":          func(q *request, _ *failure) string { return q.Host },
	"domainPrefix":        func(q *request, _ *failure) string { return domainPrefix(q.Host) },
	"identity.sourceIp":   func(q *request, _ *failure) string { return q.sourceIP },
	"identity.userAgent":  func(q *request, _ *failure) string { return headerText(q.UserAgent()) },
	"resourcePath":        func(q *request, _ *failure) string { return q.resource().path },
	"resourceId":          func(q *request, _ *failure) string { return q.resource().id },
}

// resource returns the resource of a request, an empty one if it has no route.
func (q *request) resource() *resource {
	if q.route == nil {
		return new(resource)
	}
	return q.route.resource
}

func (g *Gateway) compileResponses(responses map[string]stack.GatewayResponse) (map[string]*gatewayResponse, error) {
	compiled := make(map[string]*gatewayResponse, len(responses))
	for kind, response := range responses {
		c := &gatewayResponse{status: response.StatusCode, bodies: make(map[string][]segment)}
		for name, expression := range response.Headers {
			value, err := g.compileParameter(expression)
			if err != nil {
				return nil, fmt.Errorf("gateway response %s: header %s: %w", kind, name, err)
			}
			c.headers = append(c.headers, headerTemplate{http.CanonicalHeaderKey(name), value})
		}
		for mediaType, template := range response.Templates {
			body, err := g.compileTemplate(template)
			if err != nil {
				return nil, fmt.Errorf("gateway response %s: template %s: %w", kind, mediaType, err)
			}
			c.bodies[mediaType] = body
			c.types = append(c.types, mediaType)
		}
		if len(c.bodies) == 0 {
			c.bodies, c.types = defaultResponse.bodies, defaultResponse.types
		}
		slices.Sort(c.types)
		compiled[kind] = c
	}
	return compiled, nil
}

// compileParameter compiles the value of a header: 'a literal', or context.* for a variable.
func (g *Gateway) compileParameter(expression string) (segment, error) {
	if len(expression) >= 2 && expression[0] == '\'' && expression[len(expression)-1] == '\'' {
		return segment{text: expression[1 : len(expression)-1]}, nil
	}
	if name, ok := strings.CutPrefix(expression, "context."); ok {
		return g.variable(name)
	}
	return segment{}, fmt.Errorf("%s is neither a 'literal' nor a variable context.*", expression)
}

func (g *Gateway) variable(name string) (segment, error) {
	api := g.options.API
	constants := map[string]string{
		"apiId": api.ID, "accountId": g.options.Account, "stage": api.Stage, "deploymentId": g.deploymentID,
	}
	if text, ok := constants[name]; ok {
		return segment{text: text}, nil
	}
	value, ok := contextVariables[name]
	if !ok {
		return segment{}, fmt.Errorf("$context.%s is not supported by the local platform", name)
	}
	return segment{value: value}, nil
}

// compileTemplate compiles a body template. Like AWS, it supports variables, and no directives of the template language.
func (g *Gateway) compileTemplate(template string) ([]segment, error) {
	var segments []segment
	for {
		at := strings.IndexByte(template, '$')
		if at < 0 {
			return append(segments, segment{text: template}), nil
		}
		name, size := variableName(template[at:])
		found := segment{text: "$"}
		if variable, ok := strings.CutPrefix(name, "context."); ok {
			var err error
			if found, err = g.variable(variable); err != nil {
				return nil, err
			}
		} else if variable, ok := strings.CutPrefix(name, "stageVariables."); ok {
			found = segment{text: g.options.API.Variables[variable]}
		} else {
			size = 1
		}
		segments = append(segments, segment{text: template[:at]}, found)
		template = template[at+size:]
	}
}

// variableName returns the name in $a.b or ${a.b} at the beginning of s, and the length of the whole.
func variableName(s string) (name string, size int) {
	body := s[1:]
	if rest, ok := strings.CutPrefix(body, "{"); ok {
		if end := strings.IndexByte(rest, '}'); end >= 0 {
			return rest[:end], end + len("${}")
		}
		return "", 1
	}
	end := 0
	for end < len(body) && (isWord(body[end]) || body[end] == '.' && end+1 < len(body) && isWord(body[end+1])) {
		end++
	}
	return body[:end], end + 1
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// response returns the gateway response for f: that of its type, the default of its class, or AWS's.
func (g *Gateway) response(f *failure) *gatewayResponse {
	if own := g.responses[f.kind]; own != nil {
		return own
	}
	class := kindDefault4xx
	if f.status >= http.StatusInternalServerError {
		class = kindDefault5xx
	}
	if shared := g.responses[class]; shared != nil {
		return shared
	}
	return defaultResponse
}

// render returns the body for the client's Accept header, and its media type.
func (c *gatewayResponse) render(q *request, f *failure) (body []byte, mediaType string) {
	mediaType = c.types[0]
	if _, ok := c.bodies[jsonType]; ok {
		mediaType = jsonType
	}
	if accepted := firstMediaType(q.Header["Accept"]); c.bodies[accepted] != nil {
		mediaType = accepted
	}
	for _, s := range c.bodies[mediaType] {
		body = append(body, s.of(q, f)...)
	}
	return body, mediaType
}

func (s segment) of(q *request, f *failure) string {
	if s.value == nil {
		return s.text
	}
	return s.value(q, f)
}

// fail sends the gateway response for f.
func (g *Gateway) fail(w http.ResponseWriter, q *request, f *failure) {
	c := g.response(f)
	status := f.status
	if c.status != 0 {
		status = c.status
	}
	body, mediaType := c.render(q, f)
	header := w.Header()
	header[headerContentType] = []string{mediaType}
	header[headerErrorType] = []string{f.code}
	for _, h := range c.headers {
		if value := h.value.of(q, f); value != "" {
			header[h.name] = []string{value}
		}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}
