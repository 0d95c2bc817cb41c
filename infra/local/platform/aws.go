package platform

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/codehost"
	"devplatform/infra/local/loopback"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/s3"
)

// awsPort is the port of all AWS protocols. The X-Amz-Target header selects a JSON service, the signature selects S3 or
// SES, a path that begins with a date selects Lambda, and a path below codehost.Path selects the built-in code host.
type awsPort struct {
	dynamodb, sqs, secrets, s3, ses, codehost http.Handler
	lambda                                    atomic.Pointer[runtime.Runtime] // nil until the functions can start
	hosts                                     []string                        // also accepted in the Host header
	dynamodbLatency                           time.Duration                   // the least time of a call
}

// wrongHost is the response to a request whose Host header is not accepted.
const wrongHost = "The Host header does not name this machine or the host of APP_URL."

// lambdaPath matches the start of every path of Lambda's API: the date of an API version.
var lambdaPath = regexp.MustCompile(`^/20\d\d-\d\d-\d\d/`)

// handler returns the handler of the port. It keeps out web pages of other origins, because a page that a developer
// visits must not invoke functions. The code host and S3 are used by pages, so they decide themselves.
func (p *awsPort) handler() http.Handler {
	services := http.NewCrossOriginProtection().Handler(http.HandlerFunc(p.service))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !loopback.Accepts(r.Host, p.hosts...):
			http.Error(w, wrongHost, http.StatusForbidden)
		case p.codehost != nil && strings.HasPrefix(r.URL.Path, codehost.Path+"/"):
			p.codehost.ServeHTTP(w, r)
		case p.s3 != nil && isS3(r):
			p.s3.ServeHTTP(w, r)
		default:
			services.ServeHTTP(w, r)
		}
	})
}

// isS3 reports whether a request is for S3: it is signed for S3, or it is not signed and cannot be for another service.
func isS3(r *http.Request) bool {
	switch service := s3.SignedFor(r); {
	case r.Header.Get("X-Amz-Target") != "":
		return false
	case service != "":
		return service == "s3"
	case s3.IsPresigned(r.URL.Query()):
		return true
	default:
		return r.Method != http.MethodPost && !lambdaPath.MatchString(r.URL.Path)
	}
}

func (p *awsPort) service(w http.ResponseWriter, r *http.Request) {
	target := r.Header.Get("X-Amz-Target")
	var handler http.Handler
	switch service, _, _ := strings.Cut(target, "."); {
	case service == "DynamoDB_20120810":
		time.Sleep(p.dynamodbLatency) //nolint:forbidigo // a simulation of AWS
		handler = p.dynamodb
	case service == "DynamoDBStreams_20120810":
		handler = p.dynamodb
	case service == "AmazonSQS":
		handler = p.sqs
	case service == "secretsmanager":
		handler = p.secrets
	case target == "" && s3.SignedFor(r) == "ses":
		handler = p.ses
	case target == "" && lambdaPath.MatchString(r.URL.Path):
		if lambda := p.lambda.Load(); lambda != nil {
			handler = lambda
		}
	case target == "" && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-amz-json-1.0"):
		handler = p.dynamodb // which reports the missing header
	}
	if handler == nil {
		awsjson.RejectService(w, r, s3.SignedFor(r))
		return
	}
	handler.ServeHTTP(w, r)
}
