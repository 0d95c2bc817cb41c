package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Limits of Lambda, in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html.
const (
	// MaxPayload is the maximum size of the payload of an invocation.
	MaxPayload = 6 << 20
	// MaxResponse is the maximum size of a buffered response: 6 MB, and 100 bytes for the envelope.
	MaxResponse = 6<<20 + 100
	// MaxStreamedResponse is the maximum size of a streamed response.
	MaxStreamedResponse = 200 << 20
)

// Errors of Invoke. The function did not run. If the function itself fails, Invoke returns no error: see
// Response.FunctionError.
var (
	// ErrFunctionNotFound means that there is no such function, version or alias.
	ErrFunctionNotFound = errors.New("function not found")
	// ErrThrottled means that no instance was available within Options.MaxWait.
	ErrThrottled = errors.New("rate exceeded: all instances of the function are busy")
	// ErrPayloadTooLarge means that the payload is larger than MaxPayload.
	ErrPayloadTooLarge = errors.New("payload too large")
	// ErrClosed means that the runtime accepts no more calls.
	ErrClosed = errors.New("the runtime is shut down")
)

// Invocation is a request to run a function once.
type Invocation struct {
	// Function is the function's name.
	Function string
	// Qualifier is "", "$LATEST", "1", or the function's alias. The function sees it in its ARN.
	Qualifier string
	// RequestID is the function's request id. If it is "", Invoke makes one.
	RequestID string
	// Payload is the event, normally JSON, at most MaxPayload bytes. The caller must not change it, even after the context
	// of Invoke has ended.
	Payload []byte
	// Stream requests the response as the function sends it, at most MaxStreamedResponse bytes (InvokeWithResponseStream
	// on AWS). Without it, the response is buffered, at most MaxResponse bytes (Invoke on AWS), even if the function
	// streams it.
	Stream bool
	// TraceID is an X-Ray tracing header such as "Root=1-…;Parent=…;Sampled=0". If it is "", Invoke makes one.
	TraceID string
}

// Response is the response of a function, which may be an error of the function.
type Response struct {
	RequestID string
	// ContentType is the content type that the function sent, or "application/json" for an error.
	ContentType string
	// Streaming reports whether Body is the response as the function sends it: the invocation has Stream set and the
	// function did not fail before its first byte.
	Streaming bool
	// Body is the response. It is never nil. The caller closes it, which does not disturb the function: the rest of its
	// response is discarded. If a stream breaks off (a crash, a time-out, an error of the function), Read returns a
	// *FunctionError in place of io.EOF.
	Body io.ReadCloser
	// Payload is the response if it is not Streaming.
	Payload []byte
	// FunctionError is set if the function failed. Payload is then the error's JSON document.
	FunctionError *FunctionError
}

// FunctionError is a failure of the function or of its process.
type FunctionError struct {
	// Type is AWS's, such as "Runtime.ExitError" or "Sandbox.Timedout", or the function's own.
	Type string
	// Message is the document's errorMessage.
	Message string
	// Payload is the JSON document {"errorType","errorMessage",…}, which is the response of Invoke.
	Payload []byte
}

// Error returns type and message.
func (e *FunctionError) Error() string {
	if e.Message == "" {
		return e.Type
	}
	return e.Type + ": " + e.Message
}

// errorDocument is the JSON document of an error. Lambda's own errors have these two members.
type errorDocument struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// newFunctionError returns one of Lambda's own errors. The message begins with the request's id, unless it is "".
func newFunctionError(kind, requestID, message string) *FunctionError {
	if requestID != "" {
		message = "RequestId: " + requestID + " Error: " + message
	}
	payload, err := json.Marshal(errorDocument{Type: kind, Message: message})
	if err != nil { // two strings can always be encoded
		payload = []byte(`{}`)
	}
	return &FunctionError{Type: kind, Message: message, Payload: payload}
}

// reportedError returns an error that the function reported: the type in the header, if any, and the document. Without
// a document, it makes one from the type.
func reportedError(header string, payload []byte) *FunctionError {
	if len(payload) == 0 {
		if header == "" {
			header = "Runtime.Unknown"
		}
		return newFunctionError(header, "", "")
	}
	var doc errorDocument
	_ = json.Unmarshal(payload, &doc) // any document is passed on as it is
	if header == "" {
		header = doc.Type
	}
	return &FunctionError{Type: header, Message: doc.Message, Payload: payload}
}

// timeoutError returns the error for an invocation or a start that exceeded its time limit.
func timeoutError(requestID string, limit time.Duration) *FunctionError {
	message := fmt.Sprintf("Task timed out after %.2f seconds", limit.Seconds())
	return newFunctionError("Sandbox.Timedout", requestID, message)
}
