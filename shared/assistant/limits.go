package assistant

import (
	"fmt"
	"time"

	"devplatform/shared/assistant/quota"
)

// Limits are the limits of users and of answers. Tests use lower limits than DefaultLimits.
type Limits struct {
	quota.Limits
	// Generation is the maximum duration of an answer. Silence is the maximum time during which its model sends nothing.
	// The environment does not set the durations.
	Generation time.Duration `envDefault:"2m"`
	Silence    time.Duration `envDefault:"1m"`
	// CancelPoll is the interval at which an answer in progress checks whether it was cancelled.
	CancelPoll time.Duration `envDefault:"1s"`
	// SummaryWait is the maximum time that a complete answer waits for a summary that is still being generated.
	SummaryWait time.Duration `envDefault:"5s"`
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

// Validate returns an error if a limit is less than its minimum. The error names the environment variable.
func (l Limits) Validate() error {
	for name, limit := range map[string]struct{ value, minimum int }{
		"LIMIT_AI_MINUTE": {l.CallsPerMinute, 1}, "LIMIT_AI_IN_PROGRESS": {l.InProgress, 1},
		"AI_MONTHLY_TOKENS": {l.MonthlyTokens, 1}, "AI_GLOBAL_MONTHLY_TOKENS": {l.GlobalMonthlyTokens, 0},
	} {
		if limit.value < limit.minimum {
			return fmt.Errorf("%s=%d: must be at least %d", name, limit.value, limit.minimum)
		}
	}
	return nil
}
