package stack

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	// implicitAPI and implicitStage are what SAM calls the API that it makes for Api events without RestApiId.
	implicitAPI   = "ServerlessRestApi"
	implicitStage = "Prod"
)

// apiProperties: what is missing here (DefinitionBody, Cors, CanarySetting, MinimumCompressionSize, …) would change
// what a client gets, and is refused.
var apiProperties = map[string]support{
	"StageName": runs, "Name": runs, "GatewayResponses": runs, "BinaryMediaTypes": runs, "Variables": runs, "Auth": runs,

	"AccessLogSetting": inert, "AlwaysDeploy": inert, "ApiKeySourceType": inert, "CacheClusterEnabled": inert, "CacheClusterSize": inert,
	"Description": inert, "DisableExecuteApiEndpoint": inert, "Domain": inert, "EndpointAccessMode": inert, "EndpointConfiguration": inert,
	"FailOnWarnings": inert, "MethodSettings": inert, "Mode": inert, "Models": inert, "OpenApiVersion": inert, "PropagateTags": inert,
	"SecurityPolicy": inert, "Tags": inert, "TracingEnabled": inert,
}

// Authorisers are refused; these two settings do nothing without one.
var authProperties = map[string]support{"AddDefaultAuthorizerToCorsPreflight": inert, "AddApiKeyRequiredToCorsPreflight": inert}

func implicitProperties(globals *node) *node {
	stage := field{"StageName", 0, textNode(0, implicitStage)}
	if globals == nil {
		return &node{kind: mapping, fields: []field{stage}}
	}
	merged := *globals
	merged.fields = append(slices.Clone(globals.fields), stage)
	return &merged
}

func (r *resolver) buildAPI(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), apiProperties)
	p.object("Auth", authProperties)
	api := API{
		LogicalID: res.id, ID: restAPIID(r.options.StackName, res.id), Name: p.text("Name", r.options.StackName),
		Stage: p.required("StageName"), Variables: p.textMap("Variables"), GatewayResponses: r.gatewayResponses(p),
	}
	if api.Stage != "" && !regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$|^\$default$`).MatchString(api.Stage) {
		p.problem("StageName", "%q can't be a stage's name: letters, digits, - and _ only", api.Stage)
	}
	for _, media := range p.texts("BinaryMediaTypes") {
		api.BinaryMediaTypes = append(api.BinaryMediaTypes, strings.ReplaceAll(media, "~1", "/"))
	}
	r.stack.APIs = append(r.stack.APIs, api)
}

func orEmpty(res *resource) *node {
	if res.properties == nil {
		return &node{kind: mapping, line: res.line}
	}
	return res.properties
}

var (
	gatewayResponseProperties  = map[string]support{"StatusCode": runs, "ResponseParameters": runs, "ResponseTemplates": runs}
	responseParameterKinds     = map[string]support{"Headers": runs}
	gatewayResponseHeaderValue = regexp.MustCompile(`^'.*'$|^context\.[A-Za-z0-9._]+$`)
)

// gatewayResponseTypes are those of API Gateway.
var gatewayResponseTypes = []string{
	"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "BAD_REQUEST_BODY",
	"BAD_REQUEST_PARAMETERS", "DEFAULT_4XX", "DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE", "INTEGRATION_TIMEOUT",
	"INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED", "REQUEST_TOO_LARGE",
	"RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
}

func (r *resolver) gatewayResponses(api object) map[string]GatewayResponse {
	all := r.anyObject(api.at.field("GatewayResponses"), api.n.get("GatewayResponses"))
	if all.n == nil {
		return nil
	}
	responses := map[string]GatewayResponse{}
	for _, f := range all.n.fields {
		if !slices.Contains(gatewayResponseTypes, f.key) {
			all.problem(f.key, "API Gateway has no response of this type")
			continue
		}
		p := all.object(f.key, gatewayResponseProperties)
		response := GatewayResponse{Templates: p.textMap("ResponseTemplates")}
		if p.has("StatusCode") {
			response.StatusCode = p.integer("StatusCode", 0, 100, 599)
		}
		if p.has("ResponseParameters") {
			parameters := p.object("ResponseParameters", responseParameterKinds)
			response.Headers = parameters.textMap("Headers")
			for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
				value := response.Headers[name]
				if !gatewayResponseHeaderValue.MatchString(value) {
					parameters.problem("Headers", "%s: %q is %s, which knows 'literals' and context.*", name, value, unsupported)
				}
			}
		}
		responses[f.key] = response
	}
	return responses
}
