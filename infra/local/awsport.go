package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"devplatform/infra/local/runtime"
)

// awsPort is the one port of all AWS protocols: JSON services are told apart by X-Amz-Target, Lambda by its dated
// paths, and the built-in code host by its own path.
type awsPort struct {
	dynamodb, sqs, secrets, codehost http.Handler
	lambda                           atomic.Pointer[runtime.Runtime] // nil until the functions can start
}

// lambdaPath is how every path of Lambda's API starts: the date of an API version.
var lambdaPath = regexp.MustCompile(`^/20\d\d-\d\d-\d\d/`)

// handler keeps web pages of other origins out: a page that a developer visits must not invoke functions here.
// The code host is meant for browsers and looks after itself.
func (p *awsPort) handler() http.Handler {
	services := http.NewCrossOriginProtection().Handler(http.HandlerFunc(p.service))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.codehost != nil && strings.HasPrefix(r.URL.Path, codehostPath+"/") {
			p.codehost.ServeHTTP(w, r)
			return
		}
		services.ServeHTTP(w, r)
	})
}

func (p *awsPort) service(w http.ResponseWriter, r *http.Request) {
	target := r.Header.Get("X-Amz-Target")
	var handler http.Handler
	switch service, _, _ := strings.Cut(target, "."); {
	case service == "DynamoDB_20120810" || service == "DynamoDBStreams_20120810":
		handler = p.dynamodb
	case service == "AmazonSQS":
		handler = p.sqs
	case service == "secretsmanager":
		handler = p.secrets
	case target == "" && lambdaPath.MatchString(r.URL.Path):
		if lambda := p.lambda.Load(); lambda != nil {
			handler = lambda
		}
	case target == "" && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-amz-json-1.0"):
		handler = p.dynamodb // it has its own words for a missing target
	}
	if handler == nil {
		refuseService(w, target)
		return
	}
	handler.ServeHTTP(w, r)
}

// refuseService names what was asked for: nothing is ignored in silence.
func refuseService(w http.ResponseWriter, target string) {
	message := "The local platform has no such service or operation."
	if target != "" {
		message = "The local platform has no service for X-Amz-Target " + target + "."
	}
	body, err := json.Marshal(map[string]string{"__type": "UnknownOperationException", "message": message})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body)
}
