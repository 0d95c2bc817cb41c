package triggers

import (
	"errors"
	"strings"
	"time"

	"devplatform/infra/local/stack"
)

// Limits of AWS on mappings: https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html.
const (
	maxBatch       = 10_000
	maxWindow      = 5 * time.Minute
	maxFilters     = 10
	maxConcurrency = 1000
)

// rule is a condition that AWS refuses a mapping for.
type rule struct {
	broken bool
	says   string
}

// check refuses what AWS refuses.
func check(s stack.EventSourceMapping) error {
	rules := []rule{
		{s.Name == "" || s.Function == "" || (s.Table == "") == (s.Queue == ""), "name, function and one of table and queue are required"},
		{s.BatchSize < 1 || s.BatchSize > maxBatch, "the batch size must be 1 to 10,000"},
		{s.BatchingWindow < 0 || s.BatchingWindow > maxWindow, "the batching window must be 0 to 5 minutes"},
		{len(s.Filters) > maxFilters, "there may be at most 10 filters"},
	}
	if s.Queue != "" {
		rules = append(rules, queueRules(s)...)
	} else {
		rules = append(rules, streamRules(s)...)
	}
	for _, r := range rules {
		if r.broken {
			return errors.New(r.says)
		}
	}
	return nil
}

func streamRules(s stack.EventSourceMapping) []rule {
	return []rule{
		{s.StartingPosition != trimHorizon && s.StartingPosition != latest, "the starting position must be TRIM_HORIZON or LATEST"},
		{s.ParallelizationFactor < 1 || s.ParallelizationFactor > 10, "the parallelization factor must be 1 to 10"},
		{s.MaximumRetryAttempts < -1 || s.MaximumRetryAttempts > 10_000, "the maximum of retries must be -1 to 10,000"},
	}
}

func queueRules(s stack.EventSourceMapping) []rule {
	return []rule{
		{strings.HasSuffix(s.Queue, ".fifo"), "queues that keep an order (FIFO) are not read here"},
		{s.BatchSize > pageOfQueue && s.BatchingWindow < time.Second, "a batch size above 10 needs a batching window of 1 second at least"},
		{s.MaximumConcurrency != 0 && (s.MaximumConcurrency < 2 || s.MaximumConcurrency > maxConcurrency), "the maximum concurrency must be 2 to 1,000"},
		{s.OnFailureQueue != "", "a queue has no on-failure destination, but a dead-letter queue"},
	}
}
