package triggers

import "time"

// lane invokes the function with one batch after another.
type lane struct {
	*reader
	wake  chan struct{}
	queue []*entry // guarded by the reader's mu
}

func (l *lane) run() {
	for {
		entries := l.gather()
		if entries == nil || !l.process(batch{entries: entries}) {
			return
		}
	}
}

// gather waits until a batch is full, its batching window has ended, or the stream has ended. It returns nil after the
// last batch.
func (l *lane) gather() []*entry {
	var window <-chan time.Time
	over := l.spec.BatchingWindow == 0
	for !l.isStopped() {
		l.mu.Lock()
		n, full := l.fits()
		if n > 0 && (full || over || l.ended) {
			entries := l.queue[:n:n]
			l.queue = l.queue[n:]
			l.mu.Unlock()
			return entries
		}
		ended := l.ended
		if n > 0 && window == nil {
			timer := time.NewTimer(l.spec.BatchingWindow - l.options.Now().Sub(l.queue[0].read))
			defer timer.Stop()
			window = timer.C
		}
		l.mu.Unlock()
		if ended {
			return nil
		}
		select {
		case <-l.wake:
		case <-window:
			over = true
		case <-l.stopping.Done():
		}
	}
	return nil
}

// fits returns the number of records at the beginning of the queue that fit into one invocation. full means that no
// more would fit. The caller holds mu.
func (l *lane) fits() (n int, full bool) {
	size := 0
	for n < len(l.queue) && n < l.spec.BatchSize {
		size += len(l.queue[n].payload) + 1 // the comma
		if size > payloadRoom && n > 0 {
			return n, true
		}
		n++
	}
	return n, n == l.spec.BatchSize || size >= payloadRoom
}

// process delivers a batch. It returns false if it was stopped before all records were done.
func (l *lane) process(b batch) bool {
	for pending := []batch{b}; len(pending) > 0; {
		if l.isStopped() {
			return false
		}
		b = pending[0]
		pending = pending[1:]
		if n := tooOld(b, l.spec.MaximumRecordAge, l.options.Now()); n > 0 {
			old := b
			old.entries, b.entries = b.entries[:n], b.entries[n:]
			if !l.discard(old) {
				return false
			}
		}
		if len(b.entries) == 0 {
			continue
		}
		r := l.invoke(b)
		if r.outcome != unavailable {
			b.invokes++
		}
		v := decide(b, r)
		l.report(b, r, v)
		l.finish(b.entries[:v.done])
		pending = append(v.next, pending...)
		if v.pause && !pause(l.stopping, l.options.Backoff(v.next[0].failures)) {
			return false
		}
	}
	return true
}

// invoke runs the function with a batch.
func (l *lane) invoke(b batch) result {
	response, err := l.mapping.invoke(len(b.entries), func(i int) []byte { return b.entries[i].payload })
	if err != nil {
		return result{outcome: unavailable, reason: err.Error()}
	}
	defer func() { _ = response.Body.Close() }()
	r := result{requestID: response.RequestID}
	if failure := response.FunctionError; failure != nil {
		r.outcome, r.functionError, r.reason = failed, "Unhandled", failure.Error()
		return r
	}
	if first, reason := firstFailure(response.Payload, b.entries); reason != "" {
		r.outcome, r.first, r.reason = failed, first, reason
	}
	return r
}

// report logs the result of a batch that did not succeed. It logs once that the function can't be invoked.
func (l *lane) report(b batch, r result, v verdict) {
	message := "the batch failed: retrying"
	switch {
	case r.outcome == succeeded || l.isStopped():
		return
	case r.outcome == unavailable && b.refused:
		return
	case r.outcome == unavailable:
		message = "the function can't be invoked: retrying until it can"
	case len(v.next) > 1:
		message = "the batch failed: it is split"
	}
	l.logger.Warn(message, "records", len(b.entries), "start", b.entries[0].sequence,
		"end", b.entries[len(b.entries)-1].sequence, "failed", len(b.entries)-r.first, "invocations", b.invokes,
		"reason", r.reason)
}

// discard discards the records of a batch, which are too old. It returns false if it was stopped before the on-failure
// queue has the message: then the records are not done.
func (l *lane) discard(b batch) bool {
	if err := l.failures.send(l.newDiscarded(b)); err != nil {
		return false
	}
	l.finish(b.entries)
	return true
}
