package main

import (
	"context"
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"devplatform/infra/bench/rig"
)

// addressPairs is the number of pairs: an address that an account has, and an address that no account has.
const addressPairs = 400

// mailLimits are settings without the limits of requests for mails.
var mailLimits = []string{
	"LIMIT_MAIL_MINUTE=1000000", "LIMIT_MAIL_HOUR=1000000", "LIMIT_MAIL_DAY=1000000", "LIMIT_MAIL_ADDRESS=1000000",
	"LIMIT_MAIL_IP=1000000",
}

// addresses compares requests about addresses that accounts have with requests about addresses that no account has. The
// durations must not reveal who has an account.
func (b *bench) addresses(ctx context.Context) error {
	p, err := b.platform(ctx, "addresses", mailLimits...)
	if err != nil {
		return err
	}
	defer p.Stop()
	account, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return err
	}
	pairs := make([][2]string, addressPairs)
	for i := range pairs {
		known, unknown := rig.NewUser(), rig.NewUser()
		if err := account.Post("/api/auth/signup", known); err != nil {
			return err
		}
		pairs[i] = [2]string{known["email"].(string), unknown["email"].(string)}
	}
	// A change needs a fresh login.
	login := rig.Object{"email": account.Email, "password": account.Password}
	if err := account.Post("/api/auth/login", login); err != nil {
		return err
	}
	section(fmt.Sprintf("ADDRESSES THAT AN ACCOUNT HAS, OR NONE, %d pairs in turns (goal: 0.90x to 1.10x)", addressPairs),
		"known: p50", "p99", "unknown: p50", "p99", "ratio of p50")
	forgot := func(email string) ([]time.Duration, error) {
		return timed(func() error { return account.Post("/api/auth/password/forgot", rig.Object{"email": email}) })
	}
	change := func(email string) ([]time.Duration, error) {
		return timed(func() error {
			_, err := account.Do("PUT", "/api/auth/email", rig.Object{"email": email})
			return err
		}, func() error { return account.Post("/api/auth/email/resend", nil) })
	}
	if err := compare(pairs, forgot, "forgot"); err != nil {
		return err
	}
	return compare(pairs, change, "change of the address", "resend")
}

// timed returns the durations of requests.
func timed(requests ...func() error) (took []time.Duration, _ error) {
	for _, do := range requests {
		begin := time.Now()
		if err := do(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
	}
	return took, nil
}

// compare measures requests about both addresses of each pair, and prints a row for each of the requests. Every other
// pair is measured in the other order: so each address follows an address of each kind equally often, and the work that
// the platform does after a response delays both equally.
func compare(pairs [][2]string, do func(email string) ([]time.Duration, error), names ...string) error {
	var times [2][]*hdr.Histogram
	for kind := range times {
		for range names {
			times[kind] = append(times[kind], newTimes())
		}
	}
	for i, pair := range pairs {
		for turn := range pair {
			kind := (i + turn) % 2
			took, err := do(pair[kind])
			if err != nil {
				return err
			}
			for request, duration := range took {
				record(times[kind][request], duration)
			}
		}
	}
	for request, name := range names {
		known, unknown := times[0][request], times[1][request]
		row(name, at(known, 50), at(known, 99), at(unknown, 50), at(unknown, 99), ratio(at(known, 50), at(unknown, 50)))
	}
	return nil
}
