package runtime

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// This file is Lambda's REST API: https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html.

const (
	headerInvocationType = "X-Amz-Invocation-Type"
	headerLogType        = "X-Amz-Log-Type"
	headerTraceID        = "X-Amzn-Trace-Id"
)

// functionReference is a name, a partial ARN or an ARN, each with or without a qualifier.
var functionReference = regexp.MustCompile(`^(?:arn:aws[a-z-]*:lambda:)?(?:([a-z]{2}(?:-[a-z]+)+-\d):)?(?:(\d{12}):)?` +
	`(?:function:)?([a-zA-Z0-9-_]+)(?::(\$LATEST|[a-zA-Z0-9-_]+))?$`)

// reference is a function as a client of the REST API names it.
type reference struct{ region, account, name, qualifier string }

// parseReference returns false if the text is not a reference.
func parseReference(text string) (reference, bool) {
	groups := functionReference.FindStringSubmatch(text)
	if groups == nil || len(text) > 170 {
		return reference{}, false
	}
	return reference{groups[1], groups[2], groups[3], groups[4]}, true
}

// ServeHTTP handles the operations Invoke, GetFunctionConfiguration and ListFunctions. Other operations fail with
// UnsupportedOperationException.
func (r *Runtime) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("X-Amzn-Requestid", uuid.NewString())
	if err := r.serve(w, req); err != nil {
		writeError(w, err)
	}
}

func (r *Runtime) serve(w http.ResponseWriter, req *http.Request) error {
	path, _ := strings.CutPrefix(strings.TrimSuffix(req.URL.EscapedPath(), "/"), "/2015-03-31/functions")
	segment, action, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	serve := r.serveInvoke
	switch {
	case req.Method == http.MethodGet && path == "":
		r.serveList(w)
		return nil
	case req.Method == http.MethodPost && action == "invocations":
	case req.Method == http.MethodGet && action == "configuration":
		serve = r.serveConfiguration
	default:
		return &apiError{http.StatusBadRequest, "UnsupportedOperationException",
			fmt.Sprintf("%s %s is not an operation that the local platform supports", req.Method, req.URL.Path)}
	}
	f, err := r.resolve(segment, req.URL.Query().Get("Qualifier"))
	if err != nil {
		return err
	}
	return serve(w, req, f)
}

// resolve returns the function that a request names.
func (r *Runtime) resolve(segment, qualifier string) (reference, error) {
	text, err := url.PathUnescape(segment)
	if err != nil {
		text = segment
	}
	f, ok := parseReference(text)
	if !ok {
		return f, invalid("%q is not the name or the ARN of a function", text)
	}
	if f.qualifier != "" && qualifier != "" && f.qualifier != qualifier {
		return f, invalid("The qualifier in the function name does not match the parameter Qualifier")
	}
	f.qualifier = cmp.Or(f.qualifier, qualifier)
	f.region, f.account = cmp.Or(f.region, r.opts.Region), cmp.Or(f.account, r.opts.Account)
	if f.region != r.opts.Region || f.account != r.opts.Account {
		return f, fmt.Errorf("%w: arn:aws:lambda:%s:%s:function:%s", ErrFunctionNotFound, f.region, f.account, f.name)
	}
	_, err = r.find(f.name, f.qualifier)
	return f, err
}

func (r *Runtime) serveInvoke(w http.ResponseWriter, req *http.Request, f reference) error {
	kind := cmp.Or(req.Header.Get(headerInvocationType), "RequestResponse")
	limit := map[string]int{"RequestResponse": MaxPayload, "Event": MaxEventPayload}[kind]
	if limit == 0 {
		return invalid("%s must be RequestResponse or Event on the local platform", headerInvocationType)
	}
	payload, err := readEvent(req, kind, limit)
	if err != nil {
		return err
	}
	inv := Invocation{
		Function: f.name, Qualifier: f.qualifier, RequestID: w.Header().Get("X-Amzn-Requestid"), Payload: payload,
		TraceID: cmp.Or(req.Header.Get(headerTraceID), newTraceID(r.opts.Now())),
	}
	h := w.Header()
	h.Set(headerTraceID, inv.TraceID)
	if kind == "Event" {
		if err := r.events.add(inv); err != nil {
			return err
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	inv.LogTail = req.Header.Get(headerLogType) == "Tail"
	response, err := r.Invoke(req.Context(), inv)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // a buffer
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(response.Payload)))
	h.Set("X-Amz-Executed-Version", latest)
	if response.FunctionError != nil {
		h.Set("X-Amz-Function-Error", "Unhandled") // as for all custom runtimes
	}
	if inv.LogTail {
		h.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(response.LogTail))
	}
	_, _ = w.Write(response.Payload) // the client may have left
	return nil
}

// readEvent reads the payload. An empty one is an empty object, as on AWS.
func readEvent(req *http.Request, kind string, limit int) ([]byte, error) {
	payload, err := io.ReadAll(io.LimitReader(req.Body, int64(limit)+1))
	if err != nil {
		return nil, invalidContent("Could not read the request body: " + err.Error())
	}
	if len(payload) > limit {
		rest, err := io.Copy(io.Discard, req.Body)
		if err != nil {
			rest = 0 // the client has left
		}
		return nil, tooLarge(len(payload)+int(rest), kind, limit)
	}
	if len(payload) == 0 {
		return []byte("{}"), nil
	}
	var value json.RawMessage
	if err := json.Unmarshal(payload, &value); err != nil {
		return nil, invalidContent("The payload is not valid JSON: " + err.Error())
	}
	return payload, nil
}

func invalidContent(message string) *apiError {
	return &apiError{http.StatusBadRequest, "InvalidRequestContentException", message}
}

// apiError is an error of the REST API.
type apiError struct {
	status        int
	kind, message string
}

func (e *apiError) Error() string { return e.kind + ": " + e.message }

func invalid(format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "InvalidParameterValueException", fmt.Sprintf(format, args...)}
}

// writeError writes an error. AWS calls the message's member "Message" for some types and "message" for others, and
// clients look for the one of their type: the body has both.
func writeError(w http.ResponseWriter, err error) {
	e := &apiError{http.StatusInternalServerError, "ServiceException", err.Error()}
	body := map[string]string{"Type": "User"}
	switch {
	case errors.As(err, &e):
	case errors.Is(err, ErrThrottled):
		e.status, e.kind = http.StatusTooManyRequests, "TooManyRequestsException"
		body["Reason"] = "ReservedFunctionConcurrentInvocationLimitExceeded"
	case errors.Is(err, ErrPayloadTooLarge):
		e.status, e.kind = http.StatusRequestEntityTooLarge, "RequestTooLargeException"
	case errors.Is(err, ErrFunctionNotFound):
		e.status, e.kind = http.StatusNotFound, "ResourceNotFoundException"
	default:
		body["Type"] = "Service"
	}
	body["message"], body["Message"] = e.message, e.message
	w.Header().Set("X-Amzn-Errortype", e.kind)
	writeJSON(w, e.status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil { // structs and maps of strings and numbers can always be encoded
		status, text = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have left
}

// configuration is AWS's FunctionConfiguration, without the members that have no meaning here.
type configuration struct {
	FunctionName, FunctionArn, Runtime, Role, Handler, Description, LastModified, Version string
	State, LastUpdateStatus, PackageType                                                  string

	Timeout, MemorySize int
	Environment         struct{ Variables map[string]string }
	Architectures       []string
	LoggingConfig       map[string]string
}

// describe returns the configuration of a function.
func (r *Runtime) describe(f reference) configuration {
	p := r.pools[f.name]
	c := configuration{
		FunctionName: f.name, FunctionArn: qualified(p.arn, f.qualifier), Runtime: p.function.RuntimeName,
		Role: "arn:aws:iam::" + r.opts.Account + ":role/" + f.name, Handler: p.function.Handler,
		Description: p.function.Description, Version: latest,
		LastModified: r.began.UTC().Format("2006-01-02T15:04:05.000-0700"),
		State:        "Active", LastUpdateStatus: "Successful", PackageType: "Zip",
		Timeout: int(p.function.Timeout.Seconds()), MemorySize: p.function.MemoryMB,
		Architectures: []string{p.function.Architecture},
		LoggingConfig: map[string]string{"LogFormat": "Text", "LogGroup": p.logGroup()},
	}
	c.Environment.Variables = p.function.Env
	return c
}

func (r *Runtime) serveConfiguration(w http.ResponseWriter, _ *http.Request, f reference) error {
	writeJSON(w, http.StatusOK, r.describe(f))
	return nil
}

// serveList is ListFunctions. There is one page.
func (r *Runtime) serveList(w http.ResponseWriter) {
	page := struct{ Functions []configuration }{Functions: []configuration{}}
	for _, name := range slices.Sorted(maps.Keys(r.pools)) {
		page.Functions = append(page.Functions, r.describe(reference{name: name}))
	}
	writeJSON(w, http.StatusOK, page)
}
