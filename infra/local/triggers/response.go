package triggers

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

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
