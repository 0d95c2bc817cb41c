package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"devplatform/infra/bench/rig"
)

const (
	// deliveriesAim is the target for deliveries per second of the whole local platform on 2 cores. loneAim is the
	// target for the time from a change to the request, if no other event occurs.
	deliveriesAim = 500
	loneAim       = 150 * time.Millisecond
	// loneEvents is the number of events that are made one by one, flood the number of deliveries that are made together.
	loneEvents = 20
	flood      = 3000
)

// webhooks measures deliveries of the platform, which is a separate process, to a receiver in this process.
func (b *bench) webhooks(ctx context.Context) error {
	p, err := rig.Start(ctx, b.binaries, filepath.Join(b.scratch, "webhooks"))
	if err != nil {
		return err
	}
	defer p.Stop()
	b.section("WEBHOOKS through the whole local platform, receiver on the same machine: "+
		"events one by one, and as fast as possible", "lone: p50", "p99", "deliveries/s", "p50", "p99")
	for _, subscribers := range []int{1, 10, 20} {
		if err := b.subscribed(ctx, p.URL, subscribers); err != nil {
			return err
		}
	}
	b.row("aim", loneAim, "", fmt.Sprintf("%d", deliveriesAim))
	return nil
}

// subscribed measures with that number of subscribers.
func (b *bench) subscribed(ctx context.Context, url string, subscribers int) error {
	h, err := rig.NewHooked(ctx, url, subscribers)
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Lone(ctx, 1); err != nil { // the first one starts the functions
		return err
	}
	lone, err := h.Lone(ctx, loneEvents)
	if err != nil {
		return err
	}
	h.Receiver.Reset()
	result, err := h.Flood(ctx, flood)
	if err != nil {
		return err
	}
	b.row(plural(subscribers, "subscriber"), lone.At(0.5), lone.At(0.99),
		result.PerSecond, result.Latency.At(0.5), result.Latency.At(0.99))
	return nil
}
