package runtime

import (
	"cmp"
	"log/slog"
	"time"

	"devplatform/infra/local/processors"
)

// Function is the configuration of a Lambda function.
type Function struct {
	Name string
	// Alias is the name of the function's alias, such as "live". "" if it has none.
	Alias string
	// Bootstrap is the absolute path of the executable.
	Bootstrap string
	// Handler is the value of the variable _HANDLER.
	Handler string
	// MemoryMB is reported, not enforced; 0 means Lambda's default of 128. As on Lambda, it determines the share of the
	// processor: GOMAXPROCS is one for each 1,769 MB or part of it, unless Env sets it.
	MemoryMB int
	// Timeout limits an invocation; 0 means Lambda's default of 3 s.
	Timeout time.Duration
	// Env holds the function's own variables.
	Env map[string]string
	// MaxConcurrency is the reserved concurrency of the function, 0 if there is none. There are never more instances than
	// Options.MaxConcurrency.
	MaxConcurrency int
}

// Options configure a Runtime.
type Options struct {
	Functions []Function
	// MaxConcurrency limits the instances of each function (default 16).
	MaxConcurrency int
	// Patience is how long a call waits for a busy instance before another instance is started for it. The default is
	// 5 ms, about the time of a start. If there is no instance yet, one is started at once.
	Patience time.Duration
	// Busy reports whether the processors are busy, so that more instances would not help. The default reads /proc/stat.
	// On systems that do not have it, it reports false.
	Busy func() bool
	// MaxWait limits the time that a call waits for an instance (default 10 s). Then the call fails with ErrThrottled.
	// While an instance is starting, the call waits for it.
	MaxWait time.Duration
	// IdleTimeout is the time after which an instance without a call is stopped (default 15 min).
	IdleTimeout time.Duration
	// InitTimeout limits the time from the start of a process to its first /next (default 10 s, as on AWS).
	InitTimeout time.Duration
	// Now is the clock (required).
	Now func() time.Time
	// Logger receives the messages of this package. Nil discards them.
	Logger *slog.Logger
	// Lines receives each line of the functions' output, without the line end. It is called concurrently. Nil discards the
	// output.
	Lines func(function, line string)
	// Region and Account are the region and the account in ARNs (defaults us-east-1 and 000000000000).
	Region, Account string
	// AccessKeyID, SecretKey and SessionToken are the credentials that the functions get.
	AccessKeyID, SecretKey, SessionToken string
	// ExtraEnv is set for every function and takes precedence over Function.Env, e.g. AWS_ENDPOINT_URL.
	ExtraEnv map[string]string
}

func (o *Options) setDefaults() {
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, 16)
	o.MaxWait = cmp.Or(o.MaxWait, 10*time.Second)
	o.Patience = cmp.Or(o.Patience, 5*time.Millisecond)
	if o.Busy == nil {
		o.Busy = processors.NewMeter(o.Now).Busy
	}
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 15*time.Minute)
	o.InitTimeout = cmp.Or(o.InitTimeout, 10*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
	if o.Lines == nil {
		o.Lines = func(string, string) {}
	}
}

func (f *Function) setDefaults() {
	f.MemoryMB = cmp.Or(f.MemoryMB, 128)
	f.Timeout = cmp.Or(f.Timeout, 3*time.Second)
}

// maxInstances returns the maximum number of instances of a function.
func (f *Function) maxInstances(o *Options) int {
	if f.MaxConcurrency > 0 {
		return min(f.MaxConcurrency, o.MaxConcurrency)
	}
	return o.MaxConcurrency
}
