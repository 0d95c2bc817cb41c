package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"devplatform/infra/bench/rig"
)

const (
	// deliveriesAim is how many deliveries a second the whole local platform shall make on 2 cores, loneAim how soon after the
	// change the endpoint shall have a lone event.
	deliveriesAim = 500
	loneAim       = 150 * time.Millisecond
	// loneEvents are measured one by one, flood is how many deliveries are asked for at once.
	loneEvents = 20
	flood      = 3000
	// pace is how far changes are apart that come evenly.
	pace = 100 * time.Millisecond
)

// webhooks measures deliveries through the platform as a process of its own, to a receiver in this process.
func (b *bench) webhooks(ctx context.Context) error {
	p, err := rig.Start(ctx, b.binaries, filepath.Join(b.scratch, "webhooks"))
	if err != nil {
		return err
	}
	defer p.Stop()
	b.section("WEBHOOKS through the whole local platform, receiver on the same machine: events one by one, and as many as can be made",
		"lone: p50", "p99", "deliveries/s", "p50", "p99")
	for _, subscribers := range []int{1, 10, 20} {
		if err := b.subscribed(ctx, p.URL, subscribers); err != nil {
			return err
		}
	}
	b.row("aim", loneAim, "", fmt.Sprintf("%d", deliveriesAim))
	return b.isolation(ctx, p.URL)
}

// subscribed measures with so many subscribers.
func (b *bench) subscribed(ctx context.Context, url string, subscribers int) error {
	h, err := rig.NewHooked(ctx, url, subscribers)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Lone(ctx, 1, 0); err != nil { // the first starts the functions
		return err
	}
	h.Receiver.Reset()
	if err := h.Lone(ctx, loneEvents, pace); err != nil {
		return err
	}
	lone, err := rig.Latencies(h.Receiver.Requests())
	if err != nil {
		return err
	}
	h.Receiver.Reset()
	result, err := h.Flood(ctx, flood)
	if err != nil {
		return err
	}
	b.row(plural(subscribers, "subscriber"), lone.At(0.5), lone.At(0.99), result.PerSecond, result.Latency.At(0.5), result.Latency.At(0.99))
	return nil
}

// isolation shows what one endpoint that hangs does to nine that don't: without it, until its breaker opens, and after.
func (b *bench) isolation(ctx context.Context, url string) error {
	h, err := rig.NewHooked(ctx, url, 9)
	if err != nil {
		return err
	}
	defer h.Close()
	b.section(fmt.Sprintf("ISOLATION: change to POST at nine healthy endpoints, %d changes/s, with one more that hangs", time.Second/pace), "p50", "p99", "slowest")
	for _, phase := range []struct {
		name  string
		hangs bool // from here on
		lasts time.Duration
	}{
		{"without it", false, 8 * time.Second},
		{"with it, from its first event", true, 12 * time.Second}, // its attempts time out and its breaker opens
		{"with it, the breaker open", false, 8 * time.Second},
	} {
		if phase.hangs {
			if err := h.Subscribe("/hang"); err != nil {
				return err
			}
		}
		h.Receiver.Reset()
		events := 0
		for begin := time.Now(); time.Since(begin) < phase.lasts; events++ {
			if err := h.Change(); err != nil {
				return err
			}
			time.Sleep(pace)
		}
		if err := h.Await(ctx, events); err != nil {
			return err
		}
		all, err := rig.Latencies(h.Arrived())
		if err != nil {
			return err
		}
		b.row(phase.name, all.At(0.5), all.At(0.99), all.At(1))
	}
	return nil
}
