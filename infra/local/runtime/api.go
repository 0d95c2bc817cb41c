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

// This file is the Lambda Runtime API, as one process sees it:
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html.

const (
	apiPrefix        = "/2018-06-01/"
	headerErrorType  = "Lambda-Runtime-Function-Error-Type"
	headerErrorBody  = "Lambda-Runtime-Function-Error-Body"
	headerAnswerMode = "Lambda-Runtime-Function-Response-Mode"
)

// brokenGrace is how long a broken connection waits for its process to be found dead.
const brokenGrace = time.Second

// transitionError is a call of the API out of order.
type transitionError struct{ from, to phase }

func (e *transitionError) Error() string {
	return fmt.Sprintf("State transition from %s to %s failed for runtime. Error: State transition is not allowed", e.from, e.to)
}

// ServeHTTP answers the process.
func (i *instance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback.Accepts(r.Host) {
		refuse(w, http.StatusForbidden, "Forbidden", "The Host header does not name this machine")
		return
	}
	path, known := strings.CutPrefix(r.URL.Path, apiPrefix)
	if !known {
		http.NotFound(w, r)
		return
	}
	handle, method := i.route(path)
	switch {
	case handle == nil:
		http.NotFound(w, r)
	case r.Method != method:
		w.Header().Set("Allow", method)
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	default:
		handle(w, r)
	}
}

func (i *instance) route(path string) (handle http.HandlerFunc, method string) {
	switch path {
	case "runtime/invocation/next":
		return i.serveNext, http.MethodGet
	case "runtime/init/error":
		return i.serveInitError, http.MethodPost
	case "ping":
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pong") }, http.MethodGet
	}
	rest, found := strings.CutPrefix(path, "runtime/invocation/")
	id, action, both := strings.Cut(rest, "/")
	switch {
	case found && both && action == "response":
		return func(w http.ResponseWriter, r *http.Request) { i.serveResponse(w, r, id) }, http.MethodPost
	case found && both && action == "error":
		return func(w http.ResponseWriter, r *http.Request) { i.serveError(w, r, id) }, http.MethodPost
	}
	return nil, ""
}

// serveNext waits for work.
func (i *instance) serveNext(w http.ResponseWriter, r *http.Request) {
	if err := i.free(); err != nil {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", err.Error())
		return
	}
	select {
	case c := <-i.work:
		if !i.hold(c) {
			i.pool.returned(c)
			return
		}
		i.hand(w, c)
	case <-r.Context().Done():
		i.lost()
	case <-i.gone:
	}
}

// hand writes the event.
func (i *instance) hand(w http.ResponseWriter, c *call) {
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(c.Payload))}
	h["Lambda-Runtime-Aws-Request-Id"] = []string{c.RequestID}
	h["Lambda-Runtime-Deadline-Ms"] = []string{strconv.FormatInt(c.delivered.Add(i.pool.function.Timeout).UnixMilli(), 10)}
	h["Lambda-Runtime-Invoked-Function-Arn"] = []string{c.arn}
	h["Lambda-Runtime-Trace-Id"] = []string{c.TraceID}
	if c.ClientContext != "" {
		h["Lambda-Runtime-Client-Context"] = []string{c.ClientContext}
	}
	if c.CognitoIdentity != "" {
		h["Lambda-Runtime-Cognito-Identity"] = []string{c.CognitoIdentity}
	}
	_, _ = w.Write(c.Payload) // a connection that breaks here belongs to a dying process
}

// serveResponse takes the answer.
func (i *instance) serveResponse(w http.ResponseWriter, r *http.Request, id string) {
	c := i.take(id, phaseResponse)
	if c == nil {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return
	}
	defer i.sent(c)
	if mode := r.Header.Get(headerAnswerMode); mode != "" && mode != "streaming" {
		c.fail(plainFailure("Runtime.InvalidResponseModeHeader", ""))
		refuse(w, http.StatusBadRequest, "InvalidFunctionResponseMode", "Invalid function response mode")
		return
	}
	var err error
	if c.Stream {
		err = i.streamAnswer(c, r)
	} else {
		err = i.wholeAnswer(c, r)
	}
	switch {
	case err == nil:
		accept(w)
	case errors.Is(err, errTooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			fmt.Sprintf("Exceeded maximum allowed payload size (%s bytes).", limitOf(c)))
	default:
		i.broken(c)
		refuse(w, http.StatusBadRequest, "TruncatedHTTPRequest", "HTTP request detected as truncated")
	}
}

var errTooLarge = errors.New("response too large")

func limitOf(c *call) string {
	if c.Stream {
		return strconv.Itoa(MaxStreamedResponse)
	}
	return strconv.Itoa(MaxResponse)
}

// wholeAnswer collects the body, however it was sent.
func (i *instance) wholeAnswer(c *call, r *http.Request) error {
	body, ok, err := collect(r.Body, MaxResponse)
	switch {
	case err != nil:
		return err
	case !ok:
		c.fail(responseTooLarge(limitOf(c)))
		return errTooLarge
	}
	if failure := trailing(r); failure != nil {
		_ = body.Close()
		c.fail(failure)
		return nil
	}
	c.answer(r.Header.Get("Content-Type"), body, nil)
	return nil
}

var chunks = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// streamAnswer passes the body on as it comes. When the caller has gone, the rest is drained: the
// function must not notice.
func (i *instance) streamAnswer(c *call, r *http.Request) error {
	to := c.stream(r.Header.Get("Content-Type"))
	chunk := chunks.Get().(*[32 << 10]byte)
	defer chunks.Put(chunk)
	for total := 0; ; {
		n, err := r.Body.Read(chunk[:])
		if total += n; total > MaxStreamedResponse {
			c.fail(responseTooLarge(limitOf(c)))
			_, err = io.Copy(io.Discard, r.Body)
			return errors.Join(errTooLarge, err)
		}
		if n > 0 {
			_, _ = to.Write(chunk[:n]) // see above
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the response: %w", err)
		}
	}
	if failure := trailing(r); failure != nil {
		c.fail(failure)
		return nil
	}
	_ = to.Close() // never fails
	c.settle(false)
	return nil
}

// trailing is the error that a function reports after it has begun to answer.
func trailing(r *http.Request) *FunctionError {
	kind, body := r.Trailer.Get(headerErrorType), r.Trailer.Get(headerErrorBody)
	if kind == "" && body == "" {
		return nil
	}
	payload, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		payload = nil // the type is still known
	}
	return reported(kind, payload)
}

// broken fails a call whose answer was cut: normally because the process died, which is known in a
// moment.
func (i *instance) broken(c *call) {
	select {
	case <-i.gone:
		c.fail(i.cause(c.RequestID))
	case <-time.After(brokenGrace):
		c.fail(failure("Runtime.TruncatedResponse", c.RequestID, "The response was truncated"))
	}
}

// serveError takes the function's own error.
func (i *instance) serveError(w http.ResponseWriter, r *http.Request, id string) {
	c := i.take(id, phaseError)
	if c == nil {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return
	}
	defer i.sent(c)
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxResponse))
	if err != nil {
		i.broken(c)
		refuse(w, http.StatusBadRequest, "TruncatedHTTPRequest", "HTTP request detected as truncated")
		return
	}
	c.fail(reported(r.Header.Get(headerErrorType), payload))
	accept(w)
}

// serveInitError takes the error of a function that can't start; the process is expected to end.
func (i *instance) serveInitError(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(io.LimitReader(r.Body, MaxResponse))
	i.mu.Lock()
	from := i.phase
	if from == phaseStarted && err == nil {
		i.phase, i.initErr = phaseInitError, reported(r.Header.Get(headerErrorType), payload)
	}
	i.mu.Unlock()
	if from != phaseStarted || err != nil {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", (&transitionError{from, phaseInitError}).Error())
		return
	}
	accept(w)
	i.giveUp()
}

func accept(w http.ResponseWriter) {
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, "{\"status\":\"OK\"}\n") // a client that has gone needs none
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // as above
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	}{message, kind})
}
