package triggers

import (
	"time"

	"devplatform/infra/local/stack"
)

// retention is how long a stream keeps a record: where no age is set, a batch that fails is tried for so long.
const retention = 24 * time.Hour

// batch is what one invocation gets.
type batch struct {
	entries []*entry
	// retries counts against MaximumRetryAttempts, invokes counts invocations, failures is how many came in a row.
	retries, invokes, failures int
	last                       result // of the last invocation
	refused                    bool   // the last attempt was none
}

// outcome is how an invocation ended.
type outcome int

const (
	succeeded   outcome = iota
	failed              // the function, or the part of the batch from result.first on
	unavailable         // it was not invoked
	tooLarge            // nor was it, and never will be with all of this
)

// result is the outcome of an invocation and what is told about it.
type result struct {
	outcome       outcome
	first         int // the first record that failed, where the function named one; else 0
	requestID     string
	functionError string // AWS's word, "" where the function ran to its end
	reason        string // for the log
}

// verdict says what happens to a batch.
type verdict struct {
	done  int     // so many records at its beginning are done
	next  []batch // these follow, in this order
	pause bool    // after a wait
	// discard is why the records behind those that are done are given up, "" if they aren't.
	discard condition
}

// condition is why records were given up, in AWS's words.
type condition string

const (
	retriesExhausted condition = "RetryAttemptsExhausted"
	ageExceeded      condition = "RecordAgeExceeded"
	payloadTooLarge  condition = "PayloadTooLarge" // ours: AWS's payloads take any record
)

// decide is the failure policy, as documented in
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html and …/services-ddb-batchfailurereporting.html:
//
//   - A function that could not be invoked is tried again, which counts as nothing.
//   - A batch that is too large for an invocation is split, which counts as nothing, down to a record that is given up.
//   - Where the function named the records that failed, those before the first of them are done.
//   - With bisecting, what failed is split: at the record that the function named, else in the middle. That is no retry,
//     and the halves are on their own from then on. A single record is retried.
//   - A retry is counted, also one of the rest behind records that are done; after the last one, the batch is given up.
//
// Age is looked at before each invocation: see tooOld.
func decide(spec *stack.EventSourceMapping, b batch, r result) verdict {
	switch r.outcome {
	case succeeded:
		return verdict{done: len(b.entries)}
	case unavailable:
		b.failures++
		b.refused = true
		return verdict{next: []batch{b}, pause: true}
	case tooLarge:
		if n := len(b.entries); n > 1 {
			left, right := b, b
			left.entries, right.entries = b.entries[:n/2], b.entries[n/2:]
			return verdict{next: []batch{left, right}}
		}
		return verdict{next: []batch{b}, discard: payloadTooLarge}
	}
	rest := b
	rest.last, rest.refused = r, false
	rest.entries = b.entries[r.first:]
	rest.failures++
	switch n := len(rest.entries); {
	case spec.BisectOnError && r.first > 0:
		return verdict{done: r.first, next: []batch{rest}, pause: true}
	case spec.BisectOnError && n > 1:
		left, right := rest, rest
		left.entries, right.entries = rest.entries[:n/2], rest.entries[n/2:]
		left.failures, right.failures = 0, 0
		return verdict{next: []batch{left, right}}
	case spec.MaximumRetryAttempts >= 0 && rest.retries >= spec.MaximumRetryAttempts:
		return verdict{done: r.first, next: []batch{rest}, discard: retriesExhausted}
	}
	rest.retries++
	return verdict{done: r.first, next: []batch{rest}, pause: true}
}

// tooOld counts the records at a batch's beginning that are older than a function may get.
func tooOld(spec *stack.EventSourceMapping, b batch, now time.Time) int {
	limit := spec.MaximumRecordAge
	if limit <= 0 {
		if b.failures == 0 {
			return 0
		}
		limit = retention
	}
	n := 0
	for n < len(b.entries) && now.Sub(b.entries[n].created) > limit {
		n++
	}
	return n
}
