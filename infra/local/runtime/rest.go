package runtime

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// This file is Lambda's REST API: https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html.

const headerTraceID = "X-Amzn-Trace-Id"

// ServeHTTP handles the operation Invoke. Other operations and invocation types are errors.
func (r *Runtime) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("X-Amzn-Requestid", uuid.NewString())
	path, isFunction := strings.CutPrefix(strings.TrimSuffix(req.URL.EscapedPath(), "/"), "/2015-03-31/functions/")
	segment, action, _ := strings.Cut(path, "/")
	if !isFunction || req.Method != http.MethodPost || action != "invocations" {
		writeError(w, &apiError{http.StatusBadRequest, "UnsupportedOperationException",
			fmt.Sprintf("%s %s is not an operation that the local platform supports", req.Method, req.URL.Path)})
		return
	}
	if err := r.serveInvoke(w, req, segment); err != nil {
		writeError(w, err)
	}
}

// serveInvoke invokes the function that a path segment names: its name or its ARN, with or without a qualifier.
func (r *Runtime) serveInvoke(w http.ResponseWriter, req *http.Request, segment string) error {
	if kind := req.Header.Get("X-Amz-Invocation-Type"); kind != "" && kind != "RequestResponse" {
		return invalid("the invocation type %s is not supported by the local platform: use RequestResponse", kind)
	}
	if kind := req.Header.Get("X-Amz-Log-Type"); kind != "" && kind != "None" {
		return invalid("the log type %s is not supported by the local platform: use None", kind)
	}
	payload, err := readEvent(req)
	if err != nil {
		return err
	}
	segment, err = url.PathUnescape(segment)
	if err != nil {
		return invalid("the name of the function is not valid: %v", err)
	}
	name, qualifier, _ := strings.Cut(strings.TrimPrefix(segment, r.arn("")), ":")
	h := w.Header()
	inv := Invocation{
		Function: name, Qualifier: cmp.Or(qualifier, req.URL.Query().Get("Qualifier")), RequestID: h.Get("X-Amzn-Requestid"),
		Payload: payload, TraceID: cmp.Or(req.Header.Get(headerTraceID), NewTraceID(r.opts.Now())),
	}
	response, err := r.Invoke(req.Context(), inv)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // a buffer
	h.Set(headerTraceID, inv.TraceID)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(response.Payload)))
	h.Set("X-Amz-Executed-Version", latest)
	if response.FunctionError != nil {
		h.Set("X-Amz-Function-Error", "Unhandled") // as for all custom runtimes
	}
	_, _ = w.Write(response.Payload) // the client may have left
	return nil
}

// readEvent reads the payload. An empty payload means an empty object, as on AWS.
func readEvent(req *http.Request) ([]byte, error) {
	payload, err := io.ReadAll(io.LimitReader(req.Body, MaxPayload+1))
	if err != nil {
		return nil, invalid("could not read the request body: %v", err)
	}
	if len(payload) > MaxPayload {
		_, _ = io.Copy(io.Discard, req.Body) // so that the client reads the response
		return payload, nil                  // which Invoke refuses
	}
	if len(payload) == 0 {
		return []byte("{}"), nil
	}
	var value json.RawMessage
	if err := json.Unmarshal(payload, &value); err != nil {
		return nil, &apiError{
			http.StatusBadRequest, "InvalidRequestContentException", "The payload is not valid JSON: " + err.Error(),
		}
	}
	return payload, nil
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

// writeError writes an error. AWS calls the message's member "Message" for some types of errors and "message" for
// others. The body has both, because clients look for one of them.
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
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(body) // the client may have left
}
