package runtime

import (
	"errors"
	"io"
	"time"
)

// Limits of Lambda, in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html.
const (
	// MaxPayload bounds the payload of a synchronous invocation.
	MaxPayload = 6 << 20
	// MaxEventPayload bounds the payload of an asynchronous one.
	MaxEventPayload = 1 << 20
	// MaxResponse bounds a buffered response: 6 MB and 100 bytes for the envelope.
	MaxResponse = 6<<20 + 100
	// MaxStreamedResponse bounds a streamed one.
	MaxStreamedResponse = 200 << 20
)

// Why Invoke did not run the function. A failure of the function itself is no error of Invoke:
// see Response.FunctionError.
var (
	// ErrFunctionNotFound tells that no function has this name.
	ErrFunctionNotFound = errors.New("function not found")
	// ErrThrottled tells that no instance came free within Options.MaxWait.
	ErrThrottled = errors.New("rate exceeded: all instances of the function are busy")
	// ErrPayloadTooLarge tells that the payload exceeds MaxPayload (MaxEventPayload for events).
	ErrPayloadTooLarge = errors.New("payload too large")
	// ErrClosed tells that the runtime takes no more requests.
	ErrClosed = errors.New("the runtime is shut down")
)

// Invocation is a request to run a function once.
type Invocation struct {
	// Function is the function's name.
	Function string
	// Qualifier is "" or "$LATEST"; it only shows in the ARN that the function sees.
	Qualifier string
	// RequestID is the function's request id; "" makes a new one.
	RequestID string
	// Payload is the event, normally JSON, at most MaxPayload bytes. Invoke reads it until the
	// function has it, also after its context has ended: the caller must not change it.
	Payload []byte
	// Stream asks for the answer as the function produces it, at most MaxStreamedResponse bytes
	// (InvokeWithResponseStream on AWS). Without it the answer is collected, at most MaxResponse
	// bytes (Invoke on AWS), whichever way the function produces it.
	Stream bool
	// ClientContext and CognitoIdentity are JSON documents for the function, or "".
	ClientContext, CognitoIdentity string
	// TraceID is an X-Ray tracing header such as "Root=1-…;Parent=…;Sampled=0"; "" makes a new one.
	TraceID string
	// LogTail asks for Response.LogTail. The answer then waits for the invocation's end.
	LogTail bool
}

// Response is a function's answer, a failure included.
type Response struct {
	RequestID string
	// ContentType is the function's own, "application/json" for an error.
	ContentType string
	// Streaming tells that Body holds the bytes as they come: Stream was asked for and the function
	// did not fail before its first byte.
	Streaming bool
	// Body is the answer and never nil. The caller closes it; closing early never disturbs the
	// function, whose remaining output is drained. A stream that is cut (crash, time-out, the
	// function's own error after its first byte) ends with a *FunctionError in place of io.EOF.
	Body io.ReadCloser
	// Payload is the answer when it is not Streaming, valid until Body is closed.
	Payload []byte
	// FunctionError is set when the function failed; Payload then is the error's JSON document.
	FunctionError *FunctionError
	// ExecutedVersion is "$LATEST".
	ExecutedVersion string
	// LogTail holds the last 4 KB of the invocation's log when asked for; of a Streaming answer
	// it is set once Body has ended.
	LogTail []byte
}

// FunctionError is a failure of the function or of its process.
type FunctionError struct {
	// Type is AWS's, such as "Runtime.ExitError", "Sandbox.Timedout", or the function's own.
	Type string
	// Message is the document's errorMessage.
	Message string
	// Payload is the JSON document {"errorType","errorMessage",…} as the client of Invoke gets it.
	Payload []byte
}

// Error returns type and message.
func (e *FunctionError) Error() string {
	if e.Message == "" {
		return e.Type
	}
	return e.Type + ": " + e.Message
}

// Stats are the times of one invocation, given to Options.Observe when its answer is complete.
type Stats struct {
	Function, RequestID string
	// Wait is the time in the queue, Init the part of it that a cold start of the serving instance
	// took (0 when warm), Duration the function's own time.
	Wait, Init, Duration time.Duration
	Failed               bool
}

// State is where an instance is in its life.
type State string

// The states of an instance.
const (
	Starting State = "starting" // the process runs, its first /next has not come
	Idle     State = "idle"     // waits for a request
	Busy     State = "busy"     // holds a request
	Stopping State = "stopping" // was told to end
)

// Instance describes an execution environment for tests and measurements.
type Instance struct {
	Function string
	PID      int
	State    State
	// Init is the time from exec to the first /next, 0 before it.
	Init time.Duration
	// Invocations counts the requests it was given.
	Invocations int
}

// LineSink takes one line of a function's output, without its line end. requestID is "" while the
// function starts or idles. It is called by several goroutines.
type LineSink func(function, requestID, line string)
