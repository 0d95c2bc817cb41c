package runtime

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

const (
	headerInvocationType = "X-Amz-Invocation-Type"
	headerLogType        = "X-Amz-Log-Type"
	headerClientContext  = "X-Amz-Client-Context"
	headerTraceID        = "X-Amzn-Trace-Id"
)

// unhandled is the kind of every function error: the one that Lambda reports for custom runtimes.
const unhandled = "Unhandled"

// serveInvoke is Invoke.
func (r *Runtime) serveInvoke(w http.ResponseWriter, req *http.Request, f reference) error {
	kind, err := oneOf(req, headerInvocationType, "invocationType", "RequestResponse", "Event", "DryRun")
	if err != nil {
		return err
	}
	limit := MaxPayload
	if kind == "Event" {
		limit = MaxEventPayload
	}
	inv, err := r.invocation(w, req, f, kind, limit)
	if err != nil {
		return err
	}
	switch kind {
	case "DryRun":
		w.WriteHeader(http.StatusNoContent)
		return nil
	case "Event":
		inv.LogTail, inv.ClientContext = false, "" // as on AWS: for synchronous invocations only
		if err := r.events.add(inv); err != nil {
			return err
		}
		w.Header().Set("X-Amzn-Trace-Id", inv.TraceID)
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	response, err := r.Invoke(req.Context(), inv)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // a buffer
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(response.Payload)))
	h.Set("X-Amz-Executed-Version", response.ExecutedVersion)
	h.Set("X-Amzn-Trace-Id", inv.TraceID)
	if response.FunctionError != nil {
		h.Set("X-Amz-Function-Error", unhandled)
	}
	if inv.LogTail {
		h.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(response.LogTail))
	}
	_, _ = w.Write(response.Payload) // a client that has gone needs none
	return nil
}

// invocation reads what the two invoking operations have in common.
func (r *Runtime) invocation(w http.ResponseWriter, req *http.Request, f reference, kind string, limit int) (Invocation, error) {
	inv := Invocation{
		Function: f.name, Qualifier: f.qualifier, RequestID: w.Header().Get("X-Amzn-Requestid"), TraceID: req.Header.Get(headerTraceID),
	}
	if inv.TraceID == "" {
		inv.TraceID = newTraceID(r.now())
	}
	for _, header := range []string{"X-Amz-Durable-Execution-Name", "X-Amz-Tenant-Id"} {
		if req.Header.Get(header) != "" {
			return inv, &apiError{
				status: http.StatusBadRequest, kind: "InvalidParameterValueException",
				message: header + " is not a parameter that the local platform supports",
			}
		}
	}
	logs, err := oneOf(req, headerLogType, "logType", "None", "Tail")
	if err != nil {
		return inv, err
	}
	inv.LogTail = logs == "Tail"
	if inv.ClientContext, err = clientContext(req.Header.Get(headerClientContext)); err != nil {
		return inv, err
	}
	inv.Payload, err = readEvent(req, kind, limit)
	return inv, err
}

// readEvent reads the payload; none at all is an empty object, as functions see it on AWS.
func readEvent(req *http.Request, kind string, limit int) ([]byte, error) {
	payload, err := io.ReadAll(io.LimitReader(req.Body, int64(limit)+1))
	if err != nil {
		return nil, &apiError{status: http.StatusBadRequest, kind: "InvalidRequestContentException", message: "Could not read the request body: " + err.Error()}
	}
	if len(payload) > limit {
		rest, err := io.Copy(io.Discard, req.Body)
		if err != nil {
			rest = 0 // the client has gone
		}
		return nil, tooLarge(len(payload)+int(rest), kind, limit)
	}
	if len(payload) == 0 {
		return []byte("{}"), nil
	}
	if !json.Valid(payload) {
		var into any
		return nil, &apiError{
			status: http.StatusBadRequest, kind: "InvalidRequestContentException",
			message: fmt.Sprintf("Could not parse request body into json: Could not parse payload into json: %v", json.Unmarshal(payload, &into)),
		}
	}
	return payload, nil
}

// clientContext decodes the header's base64-encoded JSON object.
func clientContext(header string) (string, error) {
	if header == "" {
		return "", nil
	}
	text, err := base64.StdEncoding.DecodeString(header)
	var object map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &object) != nil || object == nil {
		return "", &apiError{
			status: http.StatusBadRequest, kind: "InvalidRequestContentException",
			message: "Client context must be a valid Base64-encoded JSON object.",
		}
	}
	compact, err := json.Marshal(object) // a header holds one line
	if err != nil {
		return "", fmt.Errorf("encode the client context: %w", err)
	}
	return string(compact), nil
}

// oneOf reads an optional header with a fixed set of values; the first is the default.
func oneOf(req *http.Request, header, member string, values ...string) (string, error) {
	value := req.Header.Get(header)
	if value == "" {
		return values[0], nil
	}
	set := ""
	for n, known := range values {
		if known == value {
			return value, nil
		}
		if n > 0 {
			set += ", "
		}
		set += known
	}
	return "", invalid(member, value, "enum value set: ["+set+"]")
}
