package gateway

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/infra/local/loopback"
)

// requestTimeLayout is the layout of requestContext.requestTime: the time in the Common Log Format.
const requestTimeLayout = "02/Jan/2006:15:04:05 -0700"

// request is an HTTP request with the values that the gateway derives from it.
type request struct {
	*http.Request

	ids      requestIDs
	received time.Time
	route    *route   // nil if none matches
	values   []string // of the path parameters, in the order of route.resource.params
	path     string
	query    map[string][]string // nil if there is none
	sourceIP string
	body     []byte
}

// sourceIP returns the address of the TCP peer without port and zone. An IPv4-mapped IPv6 address becomes an IPv4
// address.
func sourceIP(remoteAddr string) string {
	peer, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	return peer.Addr().Unmap().WithZone("").String()
}

// event is the Lambda proxy event (payload format 1.0). As on AWS, values that a request does not have are null, not
// absent.
type event struct {
	Resource        string              `json:"resource"`
	Path            string              `json:"path"`
	HTTPMethod      string              `json:"httpMethod"`
	Headers         map[string]string   `json:"headers"`
	AllHeaders      map[string][]string `json:"multiValueHeaders"`
	Query           map[string]string   `json:"queryStringParameters"`
	AllQuery        map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters  map[string]string   `json:"pathParameters"`
	StageVariables  *struct{}           `json:"stageVariables"`
	RequestContext  eventContext        `json:"requestContext"`
	Body            *string             `json:"body"`
	IsBase64Encoded bool                `json:"isBase64Encoded"`
}

type eventContext struct {
	ResourceID        string   `json:"resourceId"`
	ResourcePath      string   `json:"resourcePath"`
	AccountID         string   `json:"accountId"`
	Stage             string   `json:"stage"`
	APIID             string   `json:"apiId"`
	DeploymentID      string   `json:"deploymentId"`
	HTTPMethod        string   `json:"httpMethod"`
	Path              string   `json:"path"`
	Protocol          string   `json:"protocol"`
	RequestID         string   `json:"requestId"`
	ExtendedRequestID string   `json:"extendedRequestId"`
	RequestTime       string   `json:"requestTime"`
	RequestTimeEpoch  int64    `json:"requestTimeEpoch"`
	DomainName        string   `json:"domainName"`
	DomainPrefix      string   `json:"domainPrefix"`
	Identity          identity `json:"identity"`
}

// identity describes the caller. The fields about IAM and Cognito are always null.
type identity struct {
	PoolID        *string `json:"cognitoIdentityPoolId"`
	AccountID     *string `json:"accountId"`
	IdentityID    *string `json:"cognitoIdentityId"`
	Caller        *string `json:"caller"`
	SourceIP      string  `json:"sourceIp"`
	PrincipalOrg  *string `json:"principalOrgId"`
	AccessKey     *string `json:"accessKey"`
	Authenticated *string `json:"cognitoAuthenticationType"`
	Provider      *string `json:"cognitoAuthenticationProvider"`
	UserARN       *string `json:"userArn"`
	UserAgent     *string `json:"userAgent"`
	User          *string `json:"user"`
}

// eventOptions replace bytes that are not UTF-8 with U+FFFD.
var eventOptions = json.JoinOptions(json.FormatNilMapAsNull(true), jsontext.AllowInvalidUTF8(true))

// event returns the event of a request.
func (g *Gateway) event(q *request) ([]byte, error) {
	resource, headers := q.route.resource, q.headers()
	e := event{
		Resource: resource.path, Path: q.path, HTTPMethod: q.Method,
		Headers: lastValues(headers), AllHeaders: headers, Query: lastValues(q.query), AllQuery: q.query,
		RequestContext: eventContext{
			ResourceID: resource.id, ResourcePath: resource.path, AccountID: g.options.Account, Stage: g.options.API.Stage,
			APIID: g.options.API.ID, DeploymentID: g.deploymentID, HTTPMethod: q.Method, Path: q.path, Protocol: q.Proto,
			RequestID: q.ids.request, ExtendedRequestID: q.ids.extended, RequestTime: q.received.Format(requestTimeLayout),
			RequestTimeEpoch: q.received.UnixMilli(), DomainName: g.options.DomainName(q.Host),
			DomainPrefix: domainPrefix(q.Host), Identity: identity{SourceIP: q.sourceIP},
		},
	}
	if agent := q.UserAgent(); agent != "" {
		e.RequestContext.Identity.UserAgent = &agent
	}
	for i, name := range resource.params {
		if e.PathParameters == nil {
			e.PathParameters = map[string]string{}
		}
		e.PathParameters[name] = q.values[i]
	}
	if len(q.body) > 0 {
		text := string(q.body)
		if e.IsBase64Encoded = g.options.API.IsBinary || !utf8.Valid(q.body); e.IsBase64Encoded {
			text = base64.StdEncoding.EncodeToString(q.body)
		}
		e.Body = &text
	}
	payload, err := json.Marshal(e, eventOptions)
	if err != nil {
		return nil, fmt.Errorf("encode the event: %w", err)
	}
	return payload, nil
}

// lastValues returns the last value of each name, as AWS does.
func lastValues(all map[string][]string) map[string]string {
	if all == nil {
		return nil
	}
	last := make(map[string]string, len(all))
	for name, values := range all {
		last[name] = values[len(values)-1]
	}
	return last
}

// domainPrefix returns the first label of host, without its port. An IPv6 address has no labels.
func domainPrefix(host string) string {
	label, _, _ := strings.Cut(loopback.Name(host), ".")
	return label
}
