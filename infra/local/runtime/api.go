package runtime

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"devplatform/infra/local/loopback"
)

// This file is the Lambda Runtime API of one process: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html.

const (
	apiPrefix       = "/2018-06-01/runtime/"
	headerErrorType = "Lambda-Runtime-Function-Error-Type"
	headerErrorBody = "Lambda-Runtime-Function-Error-Body"
)

// ServeHTTP handles the requests of the process.
func (i *instance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback.Accepts(r.Host) {
		writeRefusal(w, http.StatusForbidden, "Forbidden", "The Host header does not name this machine")
		return
	}
	method := http.MethodPost
	var serve http.HandlerFunc
	path, _ := strings.CutPrefix(r.URL.Path, apiPrefix)
	rest, _ := strings.CutPrefix(path, "invocation/")
	id, action, _ := strings.Cut(rest, "/")
	switch {
	case path == "invocation/next":
		serve, method = i.serveNext, http.MethodGet
	case path == "init/error":
		serve = i.serveInitError
	case path != rest && action == "response":
		serve = func(w http.ResponseWriter, r *http.Request) { i.serveResponse(w, r, id) }
	case path != rest && action == "error":
		serve = func(w http.ResponseWriter, r *http.Request) { i.serveError(w, r, id) }
	default:
		http.NotFound(w, r)
		return
	}
	if r.Method != method {
		w.Header().Set("Allow", method)
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	serve(w, r)
}

// serveNext waits for a call and sends its event.
func (i *instance) serveNext(w http.ResponseWriter, r *http.Request) {
	if from, ok := i.poll(); !ok {
		writeTransitionError(w, from, idle)
		return
	}
	var c *call
	select {
	case c = <-i.work:
	case <-r.Context().Done():
	case <-i.exited:
		return
	}
	if r.Context().Err() != nil {
		i.abort() // the process no longer waits. The end of the instance puts an assigned call into the queue again.
		return
	}
	if deadline, ok := i.take(c); ok {
		i.writeEvent(w, c, deadline)
	}
}

func (i *instance) writeEvent(w http.ResponseWriter, c *call, deadline time.Time) {
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(c.Payload))}
	h["Lambda-Runtime-Aws-Request-Id"] = []string{c.RequestID}
	h["Lambda-Runtime-Deadline-Ms"] = []string{strconv.FormatInt(deadline.UnixMilli(), 10)}
	h["Lambda-Runtime-Invoked-Function-Arn"] = []string{c.arn}
	h["Lambda-Runtime-Trace-Id"] = []string{c.TraceID}
	_, _ = w.Write(c.Payload) // if this fails, the process is about to end
}

// serveResponse reads the response of a call.
func (i *instance) serveResponse(w http.ResponseWriter, r *http.Request, id string) {
	c := i.claim(id)
	if c == nil {
		writeRefusal(w, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return
	}
	defer i.endResponse()
	read, limit := bufferedResponse, MaxResponse
	if c.Stream {
		read, limit = streamedResponse, MaxStreamedResponse
	}
	switch err := read(c, r); {
	case err == nil:
		writeAccepted(w)
	case errors.Is(err, errTooLarge):
		message := fmt.Sprintf("The response is larger than %d bytes", limit)
		c.fail(newFunctionError("Function.ResponseSizeTooLarge", "", message))
		writeRefusal(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", message)
	default:
		i.failTruncated(w, c)
	}
}

var errTooLarge = errors.New("response too large")

// bufferedResponse reads a response, which the function may have streamed, and completes the call with it.
func bufferedResponse(c *call, r *http.Request) error {
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxResponse+1))
	if err == nil && len(payload) > MaxResponse {
		if _, err = io.Copy(io.Discard, r.Body); err == nil {
			err = errTooLarge
		}
	}
	if err != nil {
		return fmt.Errorf("read the response: %w", err)
	}
	if failure := trailingError(r); failure != nil {
		c.fail(failure)
		return nil
	}
	c.respond(r.Header.Get("Content-Type"), payload, nil)
	return nil
}

var chunks = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// streamedResponse passes the chunks of a response to the caller. If the caller has left, the rest is discarded.
func streamedResponse(c *call, r *http.Request) error {
	to := c.stream(r.Header.Get("Content-Type"))
	chunk := chunks.Get().(*[32 << 10]byte)
	defer chunks.Put(chunk)
	for total := 0; ; {
		n, err := r.Body.Read(chunk[:])
		if total += n; total > MaxStreamedResponse {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return fmt.Errorf("read the response: %w", err)
			}
			return errTooLarge
		}
		if n > 0 {
			_, _ = to.Write(chunk[:n]) // fails if the caller has left
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the response: %w", err)
		}
	}
	if failure := trailingError(r); failure != nil {
		c.fail(failure)
		return nil
	}
	_ = to.Close() // never fails
	c.settle()
	return nil
}

// trailingError returns the error that a function reports after the beginning of its response, nil if there is none.
func trailingError(r *http.Request) *FunctionError {
	kind, body := r.Trailer.Get(headerErrorType), r.Trailer.Get(headerErrorBody)
	if kind == "" && body == "" {
		return nil
	}
	payload, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		payload = nil // the type is still known
	}
	return reportedError(kind, payload)
}

// failTruncated fails a call whose response broke off. Normally the process has crashed, and its end is known soon.
func (i *instance) failTruncated(w http.ResponseWriter, c *call) {
	select {
	case <-i.exited:
		c.fail(i.failure(c.RequestID))
	case <-time.After(closeGrace):
		c.fail(newFunctionError("Runtime.TruncatedResponse", c.RequestID, "The response was truncated"))
	}
	writeRefusal(w, http.StatusBadRequest, "TruncatedHTTPRequest", "HTTP request detected as truncated")
}

// serveError reads the error that the function reports for a call.
func (i *instance) serveError(w http.ResponseWriter, r *http.Request, id string) {
	c := i.claim(id)
	if c == nil {
		writeRefusal(w, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return
	}
	defer i.endResponse()
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxResponse))
	if err != nil {
		i.failTruncated(w, c)
		return
	}
	c.fail(reportedError(r.Header.Get(headerErrorType), payload))
	writeAccepted(w)
}

// serveInitError reads the error of a process that can't start. The process should end now.
func (i *instance) serveInitError(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxResponse))
	i.pool.mu.Lock()
	from := i.state
	ok := err == nil && i.move(initFailed)
	if ok {
		i.initErr = reportedError(r.Header.Get(headerErrorType), payload)
	}
	i.pool.mu.Unlock()
	if !ok {
		writeTransitionError(w, from, initFailed)
		return
	}
	writeAccepted(w)
	time.AfterFunc(stopGrace, i.abort)
}

func writeAccepted(w http.ResponseWriter) {
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, "{\"status\":\"OK\"}\n") // the process may have ended
}

func writeTransitionError(w http.ResponseWriter, from, to state) {
	message := fmt.Sprintf("State transition from %q to %q is not allowed", from, to)
	writeRefusal(w, http.StatusForbidden, "InvalidStateTransition", message)
}

func writeRefusal(w http.ResponseWriter, status int, kind, message string) {
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(errorDocument{Type: kind, Message: message}) // as above
}
