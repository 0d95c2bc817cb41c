package triggers

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// partial is the answer of a function that names the records that failed.
type partial struct {
	Failures []*struct {
		ID *string `json:"itemIdentifier"`
	} `json:"batchItemFailures"`
}

// firstFailure returns the index of the first record of a stream that failed and the reason for the log, "" if none did.
// An answer that is not one fails all of the batch.
func firstFailure(answer []byte, entries []*entry) (first int, reason string) {
	index := make(map[string]int, len(entries))
	for i, e := range entries {
		index[e.sequence] = i
	}
	named, err := readPartial(answer, index, "sequence number")
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
	return first, fmt.Sprintf("the function named %d of its records as failed", len(named))
}

// readPartial reads a function's answer as ReportBatchItemFailures asks for it, and returns the indexes of what failed:
// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html, and for queues
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html. The error is that the answer can't be
// understood, or names something that is not in the batch: then all of it has failed.
func readPartial(answer []byte, index map[string]int, identifier string) (failed map[int]bool, err error) {
	if len(bytes.TrimSpace(answer)) == 0 {
		return nil, nil
	}
	var p partial
	if err := json.Unmarshal(answer, &p); err != nil {
		return nil, errors.New("the function's answer is no batch response")
	}
	failed = make(map[int]bool, len(p.Failures))
	for _, failure := range p.Failures {
		if failure == nil || failure.ID == nil || *failure.ID == "" {
			return nil, errors.New("the function's answer names a failure without an itemIdentifier")
		}
		i, found := index[*failure.ID]
		if !found {
			return nil, fmt.Errorf("the function's answer names %q, which is no %s of the batch", *failure.ID, identifier)
		}
		failed[i] = true
	}
	return failed, nil
}
