package runtime

import (
	"container/list"
	"errors"
	"io"
	"sync"
	"time"
)

// call is one invocation on its way: queued, held by an instance, answered, ended. Its answer can
// come before its end (the function's next /next), which is when the instance is free again.
type call struct {
	Invocation
	rt  *Runtime
	arn string

	// Set by the pool and the instance that holds the call, in that order, before anyone reads them.
	queued, delivered time.Time
	wait, init        time.Duration

	// The pool's, under its lock, while the call is in the queue.
	place    *list.Element // nil if the call is not in the queue
	throttle *time.Timer

	result chan outcome
	tail   *tail         // nil unless LogTail
	ended  chan struct{} // nil unless LogTail

	mu        sync.Mutex
	settled   bool           // the answer is complete
	answered  bool           // the answer has begun: the caller has it, or it waits in pending
	abandoned bool           // nobody waits for the answer any more
	pending   *Response      // with LogTail: kept until the end
	pipe      *io.PipeWriter // of a streamed answer
	over      bool           // the invocation has ended
}

type outcome struct {
	response *Response
	err      error
}

func newCall(rt *Runtime, inv Invocation, arn string) *call {
	c := &call{Invocation: inv, rt: rt, arn: arn, queued: rt.now(), result: make(chan outcome, 1)}
	if inv.LogTail {
		c.tail, c.ended = new(tail), make(chan struct{})
	}
	return c
}

// answer gives a whole answer to the caller.
func (c *call) answer(contentType string, body *buffer, failure *FunctionError) {
	response := &Response{
		RequestID: c.RequestID, ContentType: contentType, Body: body, Payload: body.bytes(),
		FunctionError: failure, ExecutedVersion: latest,
	}
	c.mu.Lock()
	if c.answered {
		c.mu.Unlock()
		_ = body.Close()
		return
	}
	c.answered = true
	if c.tail != nil && !c.over {
		c.pending = response
	} else {
		c.deliver(outcome{response: response})
	}
	c.mu.Unlock()
	c.settle(failure != nil)
}

// fail answers with an error of the function or of its process, or cuts the stream that has begun.
func (c *call) fail(failure *FunctionError) {
	c.mu.Lock()
	pipe, settled := c.pipe, c.settled
	c.mu.Unlock()
	switch {
	case settled:
	case pipe != nil:
		_ = pipe.CloseWithError(failure)
		c.settle(true)
	default:
		c.answer("application/json", wrap(failure.Payload), failure)
	}
}

// refuse ends a call that no instance has seen.
func (c *call) refuse(err error) {
	c.mu.Lock()
	if !c.answered {
		c.answered = true
		c.deliver(outcome{err: err})
	}
	c.mu.Unlock()
	c.settle(true)
}

// stream begins a streamed answer and returns where its bytes go. Writing fails with
// io.ErrClosedPipe once the caller has closed the body.
func (c *call) stream(contentType string) *io.PipeWriter {
	reader, writer := io.Pipe()
	response := &Response{RequestID: c.RequestID, ContentType: contentType, Streaming: true, Body: reader, ExecutedVersion: latest}
	if c.tail != nil {
		response.Body = &tailedBody{PipeReader: reader, call: c, response: response}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered { // timed out just before
		_ = reader.Close()
		return writer
	}
	c.answered, c.pipe = true, writer
	c.deliver(outcome{response: response})
	return writer
}

// deliver hands the outcome over. The caller holds mu and has set answered.
func (c *call) deliver(o outcome) {
	if c.abandoned {
		if o.response != nil {
			_ = o.response.Body.Close()
		}
		return
	}
	c.result <- o
}

// abandon tells that nobody waits any more.
func (c *call) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abandoned = true
	select {
	case o := <-c.result:
		if o.response != nil {
			_ = o.response.Body.Close()
		}
	default:
	}
}

// settle counts the call out of those in flight, once.
func (c *call) settle(failed bool) {
	c.mu.Lock()
	done := c.settled
	c.settled = true
	c.mu.Unlock()
	if done {
		return
	}
	if observe := c.rt.opts.Observe; observe != nil {
		stats := Stats{Function: c.Function, RequestID: c.RequestID, Wait: c.wait, Init: c.init, Failed: failed}
		if !c.delivered.IsZero() {
			stats.Duration = c.rt.now().Sub(c.delivered)
		}
		observe(stats)
	}
	c.rt.leave()
}

// end marks the invocation's end: the log is complete, an answer that waited for it goes out.
func (c *call) end(report func() string) {
	if c.tail == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over = true
	c.tail.line("END RequestId: " + c.RequestID)
	c.tail.line(report())
	close(c.ended)
	if c.pending != nil {
		c.pending.LogTail = c.tail.bytes()
		c.deliver(outcome{response: c.pending})
		c.pending = nil
	}
}

// tailedBody sets the response's LogTail when the body ends.
type tailedBody struct {
	*io.PipeReader
	call     *call
	response *Response
}

func (b *tailedBody) Read(p []byte) (int, error) {
	n, err := b.PipeReader.Read(p)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		<-b.call.ended
		b.response.LogTail = b.call.tail.bytes()
	}
	return n, err //nolint:wrapcheck // io.EOF must stay io.EOF
}
