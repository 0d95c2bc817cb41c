package assistant

import (
	"sync"
	"time"

	"devplatform/shared/assistant/quota"
	"devplatform/shared/config"
)

// Limits are the limits of users and of answers. The environment does not set the durations. Tests use lower limits
// than DefaultLimits.
type Limits struct {
	quota.Limits
	// Generation is the maximum duration of an answer. Silence is the maximum time during which its model sends nothing.
	Generation time.Duration `envDefault:"2m"`
	Silence    time.Duration `envDefault:"1m"`
	// CancelPoll is the interval at which an answer in progress checks whether it was cancelled.
	CancelPoll time.Duration `envDefault:"1s"`
	// SummaryWait is the maximum time that a complete answer waits for a summary that is still being generated.
	SummaryWait time.Duration `envDefault:"5s"`
}

// DefaultLimits returns the limits that apply if the environment sets no others. They are read from the tags only once,
// because the descriptions of operations need them at the start of a function.
var DefaultLimits = sync.OnceValue(config.Defaults[Limits])
