package triggers

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
)

// partial is the answer of a function that names the records that failed.
type partial struct {
	Failures []*struct {
		ID *string `json:"itemIdentifier"`
	} `json:"batchItemFailures"`
}

// firstFailure reads a function's answer as ReportBatchItemFailures asks for it:
// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html. It returns the index of the first
// record that failed and the reason for the log, "" if none did. An answer that can't be understood, or that names
// no record of the batch, fails all of it.
func firstFailure(answer []byte, entries []*entry) (first int, reason string) {
	if len(bytes.TrimSpace(answer)) == 0 {
		return 0, ""
	}
	var p partial
	if err := json.Unmarshal(answer, &p); err != nil {
		return 0, "the function's answer is no batch response"
	}
	if len(p.Failures) == 0 {
		return 0, ""
	}
	index := make(map[string]int, len(entries))
	for i, e := range entries {
		index[e.sequence] = i
	}
	first = len(entries)
	for _, failure := range p.Failures {
		if failure == nil || failure.ID == nil || *failure.ID == "" {
			return 0, "the function's answer names a failure without an itemIdentifier"
		}
		i, found := index[*failure.ID]
		if !found {
			return 0, fmt.Sprintf("the function's answer names %q, which is no sequence number of the batch", *failure.ID)
		}
		first = min(first, i)
	}
	return first, fmt.Sprintf("the function named %d of its records as failed", len(p.Failures))
}
