package triggers

import (
	"time"

	"devplatform/infra/local/resources"
)

// retention is how long a stream keeps a record. A batch that fails is retried for so long, unless the mapping sets an
// age.
const retention = 24 * time.Hour

// batch is a batch of records for one invocation.
type batch struct {
	entries []*entry
	// retries are limited by MaximumRetryAttempts, invokes are invocations, failures are those in a row.
	retries, invokes, failures int
	last                       result // of the last invocation
	refused                    bool   // the function could not be invoked at the last attempt
}

// outcome is how an invocation ended.
type outcome int

const (
	succeeded   outcome = iota
	failed              // the function, or the part of the batch from result.first on
	unavailable         // the function was not invoked
	tooLarge            // the function was not invoked because the batch is too large
)

// result is the result of an invocation.
type result struct {
	outcome       outcome
	first         int // the first record that failed, 0 unless the function returned one
	requestID     string
	functionError string // "Unhandled", or "" if the function returned
	reason        string // for the log
}

// verdict is the decision about a batch after an invocation.
type verdict struct {
	done  int     // number of records at the beginning that are done
	next  []batch // the next batches, in this order
	pause bool    // wait before the next batch
	// discard is the reason why the records after those that are done are discarded, "" if they are not.
	discard condition
}

// condition is the reason why records were discarded.
type condition string

const (
	retriesExhausted condition = "RetryAttemptsExhausted"
	ageExceeded      condition = "RecordAgeExceeded"
	payloadTooLarge  condition = "PayloadTooLarge" // not on AWS, where any record fits into an invocation
)

// decide is the failure policy, as documented in
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html and
// …/services-ddb-batchfailurereporting.html:
//
//   - If the function could not be invoked, the batch is retried. This does not count as a retry.
//   - A batch that is too large for an invocation is split. This does not count as a retry. A single record is
//     discarded.
//   - If the function returned the records that failed, those before the first of them are done.
//   - With BisectOnError, the records that failed are split: at the record that the function returned, else in the
//     middle. This does not count as a retry, and the halves are separate batches from then on. A single record is
//     retried.
//   - Retries are counted, including retries of the rest after records that are done. After the last retry, the batch
//     is discarded.
//
// tooOld checks the age before each invocation.
func decide(spec *resources.EventSourceMapping, b batch, r result) verdict {
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

// tooOld returns the number of records at the beginning of a batch that have exceeded the maximum age.
func tooOld(spec *resources.EventSourceMapping, b batch, now time.Time) int {
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
