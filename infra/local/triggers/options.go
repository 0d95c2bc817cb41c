package triggers

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"time"
)

const (
	localPoll  = 50 * time.Millisecond
	remotePoll = 250 * time.Millisecond

	// How often a stream that reports its changes is read: while it is idle, in case a change was not reported, and
	// while it has records. Without a pause between reads, many writes in a row would cost two reads each.
	idlePoll = 10 * time.Second
	busyPoll = 20 * time.Millisecond

	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 10 * time.Second
)

func setDefaults(o *Options) {
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.AccessKeyID == "" {
		o.AccessKeyID, o.SecretKey = "local", "local"
	}
	if o.PollInterval <= 0 {
		o.PollInterval = remotePoll
		if loopback(o.Endpoint) {
			o.PollInterval = localPoll
		}
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
}

// loopback tells whether an endpoint is on this machine, where asking often costs next to nothing.
func loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// backoff is exponential with a cap; half of it is random, so that lanes that failed together don't return together.
func backoff(failures int) time.Duration {
	wait := maxBackoff
	if shift := failures - 1; shift < 7 {
		wait = min(firstBackoff<<max(shift, 0), maxBackoff)
	}
	return wait/2 + rand.N(wait/2) //nolint:gosec // jitter needs no secret
}
