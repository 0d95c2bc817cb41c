package stack

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/resources"
)

// maxBufferedMillis is the default and the maximum of TimeoutInMillis for a response that is not streamed.
const maxBufferedMillis = 29_000

type (
	// apiProperties are the properties of an API. DefinitionBody, Cors, MinimumCompressionSize and others are missing:
	// they would change the responses.
	apiProperties struct {
		object
		_ struct{} `ignored:"AccessLogSetting AlwaysDeploy ApiKeySourceType CacheClusterEnabled CacheClusterSize"`
		_ struct{} `ignored:"Description DisableExecuteApiEndpoint Domain EndpointAccessMode EndpointConfiguration"`
		_ struct{} `ignored:"FailOnWarnings MethodSettings Mode Models OpenApiVersion PropagateTags SecurityPolicy Tags"`
		_ struct{} `ignored:"TracingEnabled"`

		StageName        string `cfn:",required"`
		Name             string
		BinaryMediaTypes []string `cfn:",oneof=*/*"`
		GatewayResponses *node
		Auth             struct { // without an authorizer, these settings have no effect
			object `ignored:"AddDefaultAuthorizerToCorsPreflight AddApiKeyRequiredToCorsPreflight"`
		}
	}
	gatewayResponseProperties struct {
		object

		StatusCode         int `cfn:",min=100,max=599"`
		ResponseParameters struct{ Headers map[string]string }
		ResponseTemplates  map[string]string
	}
	apiEventProperties struct {
		object

		Path                 string `cfn:",required"`
		Method               string `cfn:",required"`
		RestAPI              string `cfn:"RestApiId,required"`
		ResponseTransferMode string `cfn:",default=BUFFERED,oneof=BUFFERED|RESPONSE_STREAM"`
		TimeoutInMillis      int    `cfn:",default=29000,min=50,max=900000"`
	}
)

var (
	gatewayHeaderValue  = regexp.MustCompile(`^'.*'$|^context\.requestId$`)
	methods             = []string{"GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "ANY"}
	literalPart         = regexp.MustCompile(`^[A-Za-z0-9._:~@$!&'()*+,;=%-]+$`)
	parameterPart       = regexp.MustCompile(`^\{[A-Za-z0-9._:-]+\+?\}$`)
	gatewayResponseType = strings.Fields(`ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR
		AUTHORIZER_FAILURE BAD_REQUEST_BODY BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN
		INTEGRATION_FAILURE INTEGRATION_TIMEOUT INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN
		QUOTA_EXCEEDED REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED`)
)

func (b *builder) api(res *resource) {
	var p apiProperties
	b.decodeProperties(res, &p)
	b.stack.APIs = append(b.stack.APIs, resources.API{
		LogicalID: res.id, ID: resources.RestAPIID(b.options.StackName, res.id), Name: cmp.Or(p.Name, b.options.StackName),
		Stage: p.StageName, GatewayResponses: b.gatewayResponses(p.property("GatewayResponses")),
		IsBinary: len(p.BinaryMediaTypes) > 0,
	})
}

func (b *builder) gatewayResponses(all object) map[string]resources.GatewayResponse {
	if all.n == nil || !all.is(mapping, "must be a mapping") {
		return nil
	}
	responses := map[string]resources.GatewayResponse{}
	for _, f := range all.n.fields {
		if !slices.Contains(gatewayResponseType, f.key) {
			all.problem(f.key, "API Gateway has no response of this type")
			continue
		}
		var r gatewayResponseProperties
		b.decode(all.at.field(f.key), f.line, f.value, &r)
		headers := r.ResponseParameters.Headers
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			if !gatewayHeaderValue.MatchString(headers[name]) {
				r.problem("ResponseParameters.Headers", "%s: %q is %s: use a 'literal' or context.requestId",
					name, headers[name], unsupported)
			}
		}
		response := resources.GatewayResponse{StatusCode: r.StatusCode, Headers: headers}
		for response.MediaType, response.Body = range r.ResponseTemplates {
			if strings.Contains(response.Body, "$") {
				r.problem("ResponseTemplates", "variables are %s", unsupported)
			}
		}
		if len(r.ResponseTemplates) > 1 {
			r.problem("ResponseTemplates", "more than one media type is %s", unsupported)
		}
		responses[f.key] = response
	}
	return responses
}

// domainMapping adds a custom domain to an API. It ignores mappings with values that only AWS knows.
func (b *builder) domainMapping(res *resource) {
	domain, id := b.tryText(res.properties.get("DomainName"), ""), b.tryText(res.properties.get("RestApiId"), "")
	for i := range b.stack.APIs {
		if api := &b.stack.APIs[i]; api.ID == id && domain != "" {
			api.Domains = append(api.Domains, domain)
		}
	}
}

// apiEvent adds a route to the API that the event names.
func (b *builder) apiEvent(ev eventProperties, f resources.Function) {
	var p apiEventProperties
	b.decodeEvent(ev, &p)
	index := slices.IndexFunc(b.stack.APIs, func(api resources.API) bool { return api.ID == p.RestAPI })
	if index < 0 && p.RestAPI != "" {
		p.problem("RestApiId", "must refer to an %s of this template", typeAPI)
	}
	route := resources.Route{
		Method: strings.ToUpper(p.Method), Path: p.Path, Function: f.Name,
		Stream:  p.ResponseTransferMode == "RESPONSE_STREAM",
		Timeout: time.Duration(p.TimeoutInMillis) * time.Millisecond,
	}
	if !route.Stream && p.TimeoutInMillis > maxBufferedMillis {
		p.problem("TimeoutInMillis", "%d is more than %d, the maximum unless ResponseTransferMode is RESPONSE_STREAM",
			p.TimeoutInMillis, maxBufferedMillis)
	}
	if p.Method != "" && !slices.Contains(methods, route.Method) {
		p.problem("Method", "%q is not a method of API Gateway", p.Method)
		return
	}
	if p.Path == "" || p.Method == "" || index < 0 {
		return
	}
	if problem := checkPath(p.Path); problem != "" {
		p.problem("Path", "%q %s", p.Path, problem)
		return
	}
	api := &b.stack.APIs[index]
	for _, other := range api.Routes {
		if other.Method == route.Method && other.Path == route.Path {
			b.add(ev.at, p.lineOf("Path"), "%s %s is already a route to %s", route.Method, route.Path, other.Function)
			return
		}
	}
	api.Routes = append(api.Routes, route)
}

// checkPath returns why API Gateway refuses a resource path, "" if it accepts it.
func checkPath(path string) string {
	if !strings.HasPrefix(path, "/") {
		return "must begin with /"
	}
	if path == "/" {
		return ""
	}
	parts := strings.Split(path[1:], "/")
	for i, part := range parts {
		switch {
		case parameterPart.MatchString(part) && strings.HasSuffix(part, "+}") && i < len(parts)-1:
			return "has the greedy parameter " + part + " before its end"
		case !parameterPart.MatchString(part) && !literalPart.MatchString(part):
			return fmt.Sprintf("has the part %q, which is neither literal nor a parameter", part)
		}
	}
	return ""
}
