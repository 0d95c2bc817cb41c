package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"devplatform/infra/local/resources"
)

// defaultTemplates are the bodies if the API defines none.
var defaultTemplates = map[string]string{jsonType: `{"message":$context.error.messageString}`}

// variablePattern matches a variable in a body template: $context.path or ${context.path}, or one of stageVariables.
// Like AWS, templates support no directives.
var variablePattern = regexp.MustCompile(
	`\$(?:\{((?:context|stageVariables)\.[^}]*)\}|((?:context|stageVariables)(?:\.[A-Za-z0-9_-]+)+))`)

// contextVariables are the $context variables that a gateway response may use. A request without a route has no
// resource: its variables are empty, as on AWS.
var contextVariables = map[string]func(*Gateway, *request, *failure) string{
	"error.message":       func(_ *Gateway, _ *request, f *failure) string { return f.message },
	"error.messageString": func(_ *Gateway, _ *request, f *failure) string { return string(quote(nil, f.message)) },
	"error.responseType":  func(_ *Gateway, _ *request, f *failure) string { return f.kind },
	"accountId":           func(g *Gateway, _ *request, _ *failure) string { return g.options.Account },
	"apiId":               func(g *Gateway, _ *request, _ *failure) string { return g.options.API.ID },
	"deploymentId":        func(g *Gateway, _ *request, _ *failure) string { return g.deploymentID },
	"stage":               func(g *Gateway, _ *request, _ *failure) string { return g.options.API.Stage },
	"requestId":           func(_ *Gateway, q *request, _ *failure) string { return q.ids.request },
	"extendedRequestId":   func(_ *Gateway, q *request, _ *failure) string { return q.ids.extended },
	"httpMethod":          func(_ *Gateway, q *request, _ *failure) string { return q.Method },
	"path":                func(_ *Gateway, q *request, _ *failure) string { return q.fullPath },
	"protocol":            func(_ *Gateway, q *request, _ *failure) string { return q.Proto },
	"requestTime":         func(_ *Gateway, q *request, _ *failure) string { return q.received.Format(requestTimeLayout) },
	"requestTimeEpoch": func(_ *Gateway, q *request, _ *failure) string {
		return strconv.FormatInt(q.received.UnixMilli(), 10)
	},
	"domainName":         func(_ *Gateway, q *request, _ *failure) string { return q.Host },
	"domainPrefix":       func(_ *Gateway, q *request, _ *failure) string { return domainPrefix(q.Host) },
	"identity.sourceIp":  func(_ *Gateway, q *request, _ *failure) string { return q.sourceIP },
	"identity.userAgent": func(_ *Gateway, q *request, _ *failure) string { return headerText(q.UserAgent()) },
	"resourcePath":       func(_ *Gateway, q *request, _ *failure) string { return q.resource().path },
	"resourceId":         func(_ *Gateway, q *request, _ *failure) string { return q.resource().id },
}

// resource returns the resource of a request, an empty one if it has no route.
func (q *request) resource() *resource {
	if q.route == nil {
		return new(resource)
	}
	return q.route.resource
}

// checkResponses checks the variables of gateway responses.
func checkResponses(responses map[string]resources.GatewayResponse) error {
	check := func(variable string) error {
		name, isContext := strings.CutPrefix(variable, "context.")
		if isContext && contextVariables[name] == nil {
			return fmt.Errorf("$context.%s is not supported by the local platform", name)
		}
		return nil
	}
	for kind, response := range responses {
		for name, value := range response.Headers {
			if _, literal := headerLiteral(value); literal {
				continue
			}
			if !strings.HasPrefix(value, "context.") {
				return fmt.Errorf("gateway response %s: header %s: %s is neither a 'literal' nor a variable context.*",
					kind, name, value)
			}
			if err := check(value); err != nil {
				return fmt.Errorf("gateway response %s: header %s: %w", kind, name, err)
			}
		}
		for mediaType, template := range response.Templates {
			for _, variable := range variablePattern.FindAllString(template, -1) {
				if err := check(strings.Trim(variable, "${}")); err != nil {
					return fmt.Errorf("gateway response %s: template %s: %w", kind, mediaType, err)
				}
			}
		}
	}
	return nil
}

// headerLiteral returns the text of a header's value in single quotes.
func headerLiteral(value string) (text string, ok bool) {
	if len(value) < 2 || value[0] != '\'' || value[len(value)-1] != '\'' {
		return "", false
	}
	return value[1 : len(value)-1], true
}

// value returns the value of a variable, such as context.path.
func (g *Gateway) value(variable string, q *request, f *failure) string {
	if name, ok := strings.CutPrefix(variable, "stageVariables."); ok {
		return g.options.API.Variables[name]
	}
	return contextVariables[strings.TrimPrefix(variable, "context.")](g, q, f)
}

// response returns the gateway response for f: the response of its type, or the default of its class.
func (g *Gateway) response(f *failure) resources.GatewayResponse {
	responses := g.options.API.GatewayResponses
	if own, ok := responses[f.kind]; ok {
		return own
	}
	if f.status >= http.StatusInternalServerError {
		return responses[kindDefault5xx]
	}
	return responses[kindDefault4xx]
}

// fail sends the gateway response for f.
func (g *Gateway) fail(w http.ResponseWriter, q *request, f *failure) {
	response := g.response(f)
	status := f.status
	if response.StatusCode != 0 {
		status = response.StatusCode
	}
	templates := response.Templates
	if len(templates) == 0 {
		templates = defaultTemplates
	}
	mediaType := firstMediaType(q.Header["Accept"])
	if _, ok := templates[mediaType]; !ok {
		mediaType = jsonType
	}
	if _, ok := templates[mediaType]; !ok {
		mediaType = slices.Sorted(maps.Keys(templates))[0]
	}
	body := variablePattern.ReplaceAllStringFunc(templates[mediaType], func(variable string) string {
		return g.value(strings.Trim(variable, "${}"), q, f)
	})
	header := w.Header()
	header[headerContentType] = []string{mediaType}
	header[headerErrorType] = []string{f.code}
	for name, expression := range response.Headers {
		value, literal := headerLiteral(expression)
		if !literal {
			value = g.value(expression, q, f)
		}
		if value != "" {
			header[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may have disconnected
}
