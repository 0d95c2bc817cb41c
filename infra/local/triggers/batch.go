package triggers

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
)

// batch is a batch of records for one invocation.
type batch struct {
	entries           []*entry
	invokes, failures int    // invocations, and failures in a row
	last              result // of the last invocation
	refused           bool   // the function could not be invoked at the last attempt
}

// outcome is how an invocation ended.
type outcome int

const (
	succeeded   outcome = iota
	failed              // the function, or the part of the batch from result.first on
	unavailable         // the function was not invoked
)

// result is the result of an invocation.
type result struct {
	outcome       outcome
	first         int // index of the first record that failed, 0 unless the function returned it
	requestID     string
	functionError string // "Unhandled", or "" if the function returned
	reason        string // for the log
}

// verdict is the decision about a batch after an invocation.
type verdict struct {
	done  int     // number of records at the beginning that are done
	next  []batch // the next batches, in this order
	pause bool    // wait before the next batch
}

// decide is the failure policy, as documented in
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html and
// …/services-ddb-batchfailurereporting.html:
//
//   - If the function could not be invoked, the batch is retried.
//   - If the function returned a failed record that is not the first of the batch, the records before it are done, and
//     the rest is retried.
//   - Otherwise, the batch is split in the middle. The halves are separate batches from then on. A single record is
//     retried.
//
// The caller has discarded the records that are tooOld.
func decide(b batch, r result) verdict {
	switch r.outcome {
	case succeeded:
		return verdict{done: len(b.entries)}
	case unavailable:
		b.failures++
		b.refused = true
		return verdict{next: []batch{b}, pause: true}
	}
	rest := b
	rest.last, rest.refused = r, false
	rest.entries = b.entries[r.first:]
	rest.failures++
	if n := len(rest.entries); n > 1 && r.first == 0 {
		left, right := rest, rest
		left.entries, right.entries = rest.entries[:n/2], rest.entries[n/2:]
		left.failures, right.failures = 0, 0
		return verdict{next: []batch{left, right}}
	}
	return verdict{done: r.first, next: []batch{rest}, pause: true}
}

// tooOld returns the number of records at the beginning of a batch that have exceeded the maximum age.
func tooOld(b batch, limit time.Duration, now time.Time) int {
	n := 0
	for n < len(b.entries) && now.Sub(b.entries[n].created) > limit {
		n++
	}
	return n
}

// partial is the response of a function with ReportBatchItemFailures.
type partial struct {
	Failures []*struct {
		ID *string `json:"itemIdentifier"`
	} `json:"batchItemFailures"`
}

// firstFailure returns the index of the first record of a stream that failed, and the reason for the log, "" if none
// failed. If the response is not valid, the whole batch has failed.
func firstFailure(response []byte, entries []*entry) (first int, reason string) {
	index := make(map[string]int, len(entries))
	for i, e := range entries {
		index[e.sequence] = i
	}
	named, err := readPartial(response, index, "sequence number")
	switch {
	case err != nil:
		return 0, err.Error()
	case len(named) == 0:
		return 0, ""
	}
	first = len(entries)
	for i := range named {
		first = min(first, i)
	}
	return first, fmt.Sprintf("the function returned %d failed records", len(named))
}

// readPartial returns the indexes of the items that failed:
// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html, and for queues
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html. An error means that the response is not
// valid, or contains an item that is not in the batch: then the whole batch has failed.
func readPartial(response []byte, index map[string]int, identifier string) (failed map[int]bool, err error) {
	if len(bytes.TrimSpace(response)) == 0 {
		return nil, nil
	}
	var p partial
	if err := json.Unmarshal(response, &p); err != nil {
		return nil, errors.New("the function's response is not a batch response")
	}
	failed = make(map[int]bool, len(p.Failures))
	for _, failure := range p.Failures {
		if failure == nil || failure.ID == nil || *failure.ID == "" {
			return nil, errors.New("the function's response has a failure without an itemIdentifier")
		}
		i, found := index[*failure.ID]
		if !found {
			return nil, fmt.Errorf("the function's response has %q, which is not a %s of the batch", *failure.ID, identifier)
		}
		failed[i] = true
	}
	return failed, nil
}
