package assistant

import (
	"time"

	"devplatform/shared/assistant/quota"
)

// Limits are the limits of users and of answers. Tests use lower limits than DefaultLimits.
type Limits struct {
	quota.Limits
	// Generation is the maximum duration of an answer. Silence is the maximum time during which its model sends nothing.
	Generation, Silence time.Duration
	// CancelPoll is the interval at which an answer in progress checks whether it was cancelled.
	CancelPoll time.Duration
	// SummaryWait is the maximum time that a complete answer waits for a summary that is still being generated.
	SummaryWait time.Duration
}

// DefaultLimits returns the limits that apply if the environment sets no others.
func DefaultLimits() Limits {
	return Limits{
		Limits: quota.Limits{
			CallsPerMinute: 20, InProgress: 3, MonthlyTokens: 2_000_000, GlobalMonthlyTokens: 100_000_000,
		},
		Generation: 2 * time.Minute, Silence: time.Minute, CancelPoll: time.Second, SummaryWait: 5 * time.Second,
	}
}
