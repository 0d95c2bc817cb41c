package gateway

import (
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// requestTimeLayout is the Common Log Format, which requestContext.requestTime has.
const requestTimeLayout = "02/Jan/2006:15:04:05 -0700"

// request is a request with its properties.
type request struct {
	*http.Request

	ids      requestIDs
	received time.Time
	route    *route   // nil if none matches
	values   []string // of the path parameters, in the order of route.resource.params
	path     string   // for routing and the function
	fullPath string   // with the stage if StageInPath is set
	query    []parameter
	sourceIP string
	body     []byte
	binary   bool // the body's type is one of the API's binary media types
}

// sourceIP returns the address of the TCP peer without port and zone. An IPv4-mapped IPv6 address becomes an IPv4
// address.
func sourceIP(remoteAddr string) string {
	if peer, err := netip.ParseAddrPort(remoteAddr); err == nil {
		return peer.Addr().Unmap().WithZone("").String()
	}
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	return host
}

// event returns the Lambda proxy event of a request (payload format 1.0). As on AWS, values that a request does not
// have are null, not absent.
func (g *Gateway) event(q *request) []byte {
	res := q.route.resource
	b := make([]byte, 0, len(q.body)+len(q.body)/8+2048)
	b = appendString(b, `{"resource":`, res.path)
	b = appendString(b, `,"path":`, q.path)
	b = appendString(b, `,"httpMethod":`, q.Method)
	b = appendHeaders(b, q.headers())
	b = appendQuery(b, q.query)
	b = append(b, `,"pathParameters":`...)
	b = appendPathParameters(b, res.params, q.values)
	b = append(b, `,"stageVariables":null`...)
	b = g.appendContext(b, q)
	return appendBody(b, q.body, q.binary)
}

func (g *Gateway) appendContext(b []byte, q *request) []byte {
	b = appendString(b, `,"requestContext":{"resourceId":`, q.route.resource.id)
	b = appendString(b, `,"resourcePath":`, q.route.resource.path)
	b = appendString(b, `,"accountId":`, g.options.Account)
	b = appendString(b, `,"stage":`, g.options.API.Stage)
	b = appendString(b, `,"apiId":`, g.options.API.ID)
	b = appendString(b, `,"deploymentId":`, g.deploymentID)
	b = appendString(b, `,"httpMethod":`, q.Method)
	b = appendString(b, `,"path":`, q.fullPath)
	b = appendString(b, `,"protocol":`, q.Proto)
	b = appendString(b, `,"requestId":`, q.ids.request)
	b = appendString(b, `,"extendedRequestId":`, q.ids.extended)
	b = append(b, `,"requestTime":"`...)
	b = q.received.AppendFormat(b, requestTimeLayout)
	b = append(b, `","requestTimeEpoch":`...)
	b = strconv.AppendInt(b, q.received.UnixMilli(), 10)
	b = appendString(b, `,"domainName":`, g.options.DomainName(q.Host))
	b = appendString(b, `,"domainPrefix":`, domainPrefix(q.Host))
	b = append(b, `,"identity":{"cognitoIdentityPoolId":null,"accountId":null,"cognitoIdentityId":null,"caller":null,`...)
	b = appendString(b, `"sourceIp":`, q.sourceIP)
	b = append(b, `,"principalOrgId":null,"accessKey":null,"cognitoAuthenticationType":null,`...)
	b = append(b, `"cognitoAuthenticationProvider":null,"userArn":null,"userAgent":`...)
	if agent := q.UserAgent(); agent != "" {
		b = quote(b, headerText(agent))
	} else {
		b = append(b, `null`...)
	}
	return append(b, `,"user":null}}`...)
}

// domainPrefix returns the first label of host, without its port.
func domainPrefix(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.Contains(host, ":") {
		return host // an IPv6 address has no labels
	}
	label, _, _ := strings.Cut(host, ".")
	return label
}

func appendHeaders(b []byte, headers []parameter) []byte {
	b = append(b, `,"headers":`...)
	b = appendLast(b, headers)
	b = append(b, `,"multiValueHeaders":`...)
	return appendAll(b, headers)
}

func appendQuery(b []byte, query []parameter) []byte {
	if len(query) == 0 {
		return append(b, `,"queryStringParameters":null,"multiValueQueryStringParameters":null`...)
	}
	b = append(b, `,"queryStringParameters":`...)
	b = appendLast(b, query)
	b = append(b, `,"multiValueQueryStringParameters":`...)
	return appendAll(b, query)
}

// appendLast writes the last value of each parameter, as AWS does.
func appendLast(b []byte, parameters []parameter) []byte {
	for i, p := range parameters {
		b = append(b, separator(i))
		b = quote(b, p.name)
		b = append(b, ':')
		b = quote(b, p.values[len(p.values)-1])
	}
	return append(b, '}')
}

func appendAll(b []byte, parameters []parameter) []byte {
	for i, p := range parameters {
		b = append(b, separator(i))
		b = quote(b, p.name)
		b = append(b, ':', '[')
		for j, value := range p.values {
			if j > 0 {
				b = append(b, ',')
			}
			b = quote(b, value)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func separator(i int) byte {
	if i == 0 {
		return '{'
	}
	return ','
}

func appendPathParameters(b []byte, names, values []string) []byte {
	if len(names) == 0 {
		return append(b, `null`...)
	}
	for i, name := range names {
		b = append(b, separator(i))
		b = appendString(quote(b, name), `:`, values[i])
	}
	return append(b, '}')
}

func appendBody(b, body []byte, binary bool) []byte {
	switch {
	case len(body) == 0:
		return append(b, `,"body":null,"isBase64Encoded":false}`...)
	case binary || !utf8.Valid(body):
		b = append(b, `,"body":"`...)
		b = base64.StdEncoding.AppendEncode(b, body)
		return append(b, `","isBase64Encoded":true}`...)
	default:
		b = append(b, `,"body":`...)
		b = quote(b, body)
		return append(b, `,"isBase64Encoded":false}`...)
	}
}

func appendString(b []byte, before, value string) []byte {
	return quote(append(b, before...), value)
}

// quote appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func quote[Bytes ~[]byte | ~string](b []byte, s Bytes) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error only means that bytes were replaced
	return b
}
