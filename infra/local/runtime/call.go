package runtime

import (
	"bytes"
	"container/list"
	"io"
	"sync"
	"time"
)

// call is one invocation: queued, assigned to an instance, completed. The response can be complete before the
// invocation ends: the instance is busy until it calls /next again.
type call struct {
	Invocation
	rt     *Runtime
	arn    string
	queued time.Time
	result chan outcome

	// The following are guarded by the pool's mu.
	place    *list.Element // nil if the call is not in the queue
	throttle *time.Timer   // set while the call is in the queue

	mu      sync.Mutex
	begun   bool           // the response has begun
	settled bool           // the response is complete
	pipe    *io.PipeWriter // of a streamed response
}

type outcome struct {
	response *Response
	err      error
}

func newCall(rt *Runtime, inv Invocation, arn string) *call {
	return &call{Invocation: inv, rt: rt, arn: arn, queued: rt.opts.Now(), result: make(chan outcome, 1)}
}

// begin passes the beginning of the response to the caller. It returns false if the response has already begun. pipe is
// nil unless the response is streamed.
func (c *call) begin(o outcome, pipe *io.PipeWriter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun {
		return false
	}
	c.begun, c.pipe = true, pipe
	c.result <- o
	return true
}

// respond completes the call with a buffered response.
func (c *call) respond(contentType string, payload []byte, failure *FunctionError) {
	response := &Response{
		RequestID: c.RequestID, ContentType: contentType, Body: io.NopCloser(bytes.NewReader(payload)), Payload: payload,
		FunctionError: failure,
	}
	if c.begin(outcome{response: response}, nil) {
		c.settle()
	}
}

// stream begins a streamed response and returns its writer. Write returns io.ErrClosedPipe after the caller has closed
// the body.
func (c *call) stream(contentType string) *io.PipeWriter {
	reader, writer := io.Pipe()
	response := &Response{RequestID: c.RequestID, ContentType: contentType, Streaming: true, Body: reader}
	if !c.begin(outcome{response: response}, writer) {
		_ = reader.Close()
	}
	return writer
}

// fail completes the call with an error of the function or of its process. A stream that has begun breaks off.
func (c *call) fail(failure *FunctionError) {
	c.mu.Lock()
	pipe, settled := c.pipe, c.settled
	c.mu.Unlock()
	switch {
	case settled:
	case pipe != nil:
		_ = pipe.CloseWithError(failure)
		c.settle()
	default:
		c.respond("application/json", failure.Payload, failure)
	}
}

// refuse completes a call that no instance has received.
func (c *call) refuse(err error) {
	if c.begin(outcome{err: err}, nil) {
		c.settle()
	}
}

// settle counts the call as no longer in flight.
func (c *call) settle() {
	c.mu.Lock()
	again := c.settled
	c.settled = true
	c.mu.Unlock()
	if !again {
		c.rt.leave()
	}
}

// discard closes the response of a call whose caller has left.
func (c *call) discard() {
	if o := <-c.result; o.response != nil {
		_ = o.response.Body.Close()
	}
}
