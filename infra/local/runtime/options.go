package runtime

import (
	"log/slog"
	"time"
)

// Function is a Lambda function as configured.
type Function struct {
	// Name is 1 to 64 letters, digits, hyphens and underscores.
	Name string
	// Bootstrap is the path of the executable.
	Bootstrap string
	// Handler is what the function sees as _HANDLER.
	Handler     string
	Description string
	// RuntimeName is Lambda's, such as "provided.al2023" (the default).
	RuntimeName string
	// Architecture is "arm64" or "x86_64" (the default). It is reported, not enforced.
	Architecture string
	// MemoryMB is reported, not enforced; 0 means Lambda's default of 128. It buys a share of the processor, as on
	// Lambda: a Go function gets GOMAXPROCS of one for each 1,769 MB begun, unless Env sets it.
	MemoryMB int
	// Timeout bounds an invocation; 0 means Lambda's default of 3 s.
	Timeout time.Duration
	// Env holds the function's own variables.
	Env map[string]string
	// LateEnv returns variables that are not known yet when the function is configured. It is called once, before the first
	// instance starts, and wins over Env. nil if there are none.
	LateEnv func() map[string]string
	// MaxConcurrency is the reserved concurrency of the function, 0 if there is none. There are never more instances than
	// Options.MaxConcurrency.
	MaxConcurrency int
}

// Options configure a Runtime. Zero values mean what the comments say.
type Options struct {
	Functions []Function
	// MaxConcurrency caps each function's instances (default 16).
	MaxConcurrency int
	// Patience is how long a request waits for an instance that is busy before another is started for it: by
	// default 5 ms, about what a start takes. Where there is no instance yet, one starts at once.
	Patience time.Duration
	// MaxWait bounds the wait for an instance, a start under way not counted; then ErrThrottled
	// (default 10 s).
	MaxWait time.Duration
	// IdleTimeout ends an instance that had no request for so long (default 15 min).
	IdleTimeout time.Duration
	// InitTimeout bounds the time from exec to the first /next (default 10 s, as AWS).
	InitTimeout time.Duration
	// RetryDelay is the wait before the first retry of a failed event, doubled before the second
	// (default 1 min, as AWS).
	RetryDelay time.Duration
	// Now is the clock (required).
	Now func() time.Time
	// Logger takes the platform's own messages and, unless Lines is set, the functions' output
	// with the attributes function and requestId. Nil discards both.
	Logger *slog.Logger
	// Lines takes the functions' output in place of Logger.
	Lines LineSink
	// Observe is called once an invocation, when its answer is complete. It must be quick.
	Observe func(Stats)
	// Region and Account make the ARNs (defaults us-east-1 and 000000000000).
	Region, Account string
	// AccessKeyID, SecretKey and SessionToken are the credentials the functions get.
	AccessKeyID, SecretKey, SessionToken string
	// ExtraEnv is set for every function and wins over Function.Env, e.g. AWS_ENDPOINT_URL.
	ExtraEnv map[string]string
}
