package runtime

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// This file dispatches Lambda's REST API:
// https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html.

// operation is one of the API's operations on a function ("" in action: on the function itself).
type operation struct {
	version, method, action string
	serve                   func(*Runtime, http.ResponseWriter, *http.Request, reference) error
}

var operations = []operation{
	{"2015-03-31", http.MethodPost, "invocations", (*Runtime).serveInvoke},
	{"2021-11-15", http.MethodPost, "response-streaming-invocations", (*Runtime).serveInvokeStream},
	{"2015-03-31", http.MethodGet, "", (*Runtime).serveGetFunction},
	{"2015-03-31", http.MethodGet, "configuration", (*Runtime).serveGetConfiguration},
	{"2019-09-30", http.MethodGet, "concurrency", (*Runtime).serveGetConcurrency},
}

// ServeHTTP answers Lambda's REST API: Invoke, InvokeWithResponseStream, ListFunctions, GetFunction,
// GetFunctionConfiguration, GetFunctionConcurrency. Another operation is an UnsupportedOperationException.
func (r *Runtime) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	id := newRequestID()
	w.Header().Set("X-Amzn-Requestid", id)
	if err := r.serve(w, req); err != nil {
		writeError(w, err)
	}
}

func (r *Runtime) serve(w http.ResponseWriter, req *http.Request) error {
	unsupported := &apiError{
		status: http.StatusBadRequest, kind: "UnsupportedOperationException",
		message: fmt.Sprintf("%s %s is not an operation that the local platform supports", req.Method, req.URL.Path),
	}
	parts := strings.Split(strings.Trim(req.URL.EscapedPath(), "/"), "/")
	if len(parts) < 2 || len(parts) > 4 || parts[1] != "functions" {
		return unsupported
	}
	if len(parts) == 2 {
		if parts[0] != "2015-03-31" || req.Method != http.MethodGet {
			return unsupported
		}
		return r.serveList(w, req)
	}
	action := ""
	if len(parts) == 4 {
		action = parts[3]
	}
	at := slices.IndexFunc(operations, func(o operation) bool {
		return o.version == parts[0] && o.method == req.Method && o.action == action
	})
	if at < 0 {
		return unsupported
	}
	f, err := r.find(parts[2], req.URL.Query().Get("Qualifier"))
	if err != nil {
		return err
	}
	return operations[at].serve(r, w, req, f)
}

// find resolves the function that a request names.
func (r *Runtime) find(segment, qualifier string) (reference, error) {
	text, err := url.PathUnescape(segment)
	if err != nil {
		text = segment
	}
	f, ok := parseReference(text)
	if !ok {
		return f, invalid("functionName", text, "regular expression pattern: "+referencePattern)
	}
	switch {
	case qualifier == "":
	case !qualifierPattern.MatchString(qualifier):
		return f, invalid("qualifier", qualifier, `regular expression pattern: (|[a-zA-Z0-9$_-]+)`)
	case f.qualifier != "" && f.qualifier != qualifier:
		return f, &apiError{
			status: http.StatusBadRequest, kind: "InvalidParameterValueException",
			message: "The derived qualifier from the function name does not match the specified qualifier.",
		}
	default:
		f.qualifier = qualifier
	}
	f.region = cmp.Or(f.region, r.opts.Region)
	f.account = cmp.Or(f.account, r.opts.Account)
	foreign := f.region != r.opts.Region || f.account != r.opts.Account
	if foreign || r.pools[f.name] == nil || !isVersion(f.qualifier) {
		arn := "arn:aws:lambda:" + f.region + ":" + f.account + ":function:" + f.name
		if f.qualifier != "" {
			arn += ":" + f.qualifier
		}
		return f, notFound(arn)
	}
	return f, nil
}

// apiError is an error of the REST API. Its message's field is upper-case for some types: AWS's
// model says so, and clients look for it there.
type apiError struct {
	status                int
	kind, message, reason string
	upper                 bool
}

func (e *apiError) Error() string { return e.kind + ": " + e.message }

func notFound(arn string) *apiError {
	return &apiError{status: http.StatusNotFound, kind: "ResourceNotFoundException", message: "Function not found: " + arn, upper: true}
}

func invalid(member, value, constraint string) *apiError {
	return &apiError{
		status: http.StatusBadRequest, kind: "ValidationException",
		message: fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy %s", value, member, constraint),
	}
}

// toAPIError gives an error of Invoke its place in the REST API.
func toAPIError(err error) *apiError {
	var known *apiError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, ErrThrottled):
		return &apiError{
			status: http.StatusTooManyRequests, kind: "TooManyRequestsException", message: "Rate Exceeded.",
			reason: "ReservedFunctionConcurrentInvocationLimitExceeded",
		}
	case errors.Is(err, ErrPayloadTooLarge):
		return &apiError{
			status: http.StatusRequestEntityTooLarge, kind: "RequestTooLargeException",
			message: strings.TrimPrefix(err.Error(), ErrPayloadTooLarge.Error()+": "),
		}
	case errors.Is(err, ErrFunctionNotFound):
		return notFound(strings.TrimPrefix(err.Error(), ErrFunctionNotFound.Error()+": "))
	}
	return &apiError{status: http.StatusInternalServerError, kind: "ServiceException", message: err.Error(), upper: true}
}

func writeError(w http.ResponseWriter, err error) {
	e := toAPIError(err)
	body := struct {
		Reason  string `json:"Reason,omitempty"`
		Type    string `json:"Type"`
		Message string `json:"message,omitempty"`
		Upper   string `json:"Message,omitempty"`
	}{Reason: e.reason, Type: "User"}
	if e.status >= http.StatusInternalServerError {
		body.Type = "Service"
	}
	if e.upper {
		body.Upper = e.message
	} else {
		body.Message = e.message
	}
	w.Header().Set("X-Amzn-Errortype", e.kind)
	writeJSON(w, e.status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil { // our own structs of strings and numbers always marshal
		status, text = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that has gone needs none
}
