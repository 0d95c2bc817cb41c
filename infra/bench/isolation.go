package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"devplatform/infra/bench/rig"
)

// patience is the time after which a series of lone deliveries is given up.
const patience = 70 * time.Second

// noises are the cases of the section isolation.
var noises = []struct {
	name  string
	fails bool // whether the endpoints respond with 500 after their first event
	rig.Noise
}{
	{"400 endpoints hang, 300 changes at once", false, rig.Noise{
		Accounts: 4, Workspaces: 5, Webhooks: 20, Path: "/hang/%d", Events: 15, Batch: 15,
	}},
	{"1 endpoint takes 14 s, 20 changes/s", false, rig.Noise{
		Accounts: 1, Workspaces: 1, Webhooks: 1, Path: "/slow/%d?ms=14000",
		Events: int(20 * patience / time.Second), Batch: 1, Interval: time.Second / 20,
	}},
	{"20 endpoints fail at once, 5000 changes", true, rig.Noise{
		Accounts: 1, Workspaces: 20, Webhooks: 1, Path: "/ok/%d", Events: 250, Batch: rig.MaxBatch,
	}},
}

// isolation measures the lone deliveries of one tenant while another tenant makes noise, each case on its own platform.
func (b *bench) isolation(ctx context.Context) error {
	b.section(fmt.Sprintf("ISOLATION: %d lone deliveries of one tenant, from the first change of another tenant on",
		b.lone), "p50", "p99", "slowest", "missing")
	for i := range noises {
		if err := b.noise(ctx, i); err != nil {
			return fmt.Errorf("%s: %w", noises[i].name, err)
		}
	}
	b.line("(A series ends after %.0f s. A missing delivery counts with the time for which the last one was awaited.)",
		patience.Seconds())
	return nil
}

// noise measures one case: first while the webhooks of the noisy tenant are inactive, then while they are active.
func (b *bench) noise(ctx context.Context, i int) error {
	p, err := rig.Start(ctx, b.binaries, filepath.Join(b.scratch, fmt.Sprintf("isolation-%d", i)))
	if err != nil {
		return err
	}
	defer p.Stop()
	quiet, err := rig.NewHooked(ctx, p.URL, 1)
	if err != nil {
		return err
	}
	defer quiet.Close()
	noisy, err := rig.NewNoisy(ctx, p.URL, noises[i].Noise)
	if err != nil {
		return err
	}
	defer noisy.Close()
	if _, err := quiet.Lone(ctx, 1); err != nil { // the first one starts the functions
		return err
	}
	b.line("%s", noises[i].name)
	off, err := b.during(ctx, "  switched off", quiet, noisy)
	if err != nil {
		return err
	}
	if err := noisy.Activate(); err != nil {
		return err
	}
	if noises[i].fails {
		if err := noisy.Break(ctx); err != nil {
			return err
		}
	}
	on, err := b.during(ctx, "  noisy", quiet, noisy)
	if err != nil {
		return err
	}
	if noisy.Receiver.Total() == 0 {
		return errors.New("no delivery of the noisy tenant was attempted")
	}
	var ratios []any
	for _, q := range []float64{0.5, 0.99, 1} {
		ratios = append(ratios, times(float64(on.At(q)), float64(off.At(q))))
	}
	b.row("  ratio", ratios...)
	return nil
}

// during measures the lone deliveries of the quiet tenant during the noise, and prints a row.
func (b *bench) during(ctx context.Context, name string, quiet *rig.Hooked, noisy *rig.Noisy) (rig.Sample, error) {
	stop := noisy.Start(ctx)
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lone, err := quiet.Lone(patient, b.lone)
	missing := 0
	if errors.Is(err, context.DeadlineExceeded) && len(lone) > 0 {
		for missing = 1; len(lone) < b.lone; missing++ {
			lone = append(lone, lone[len(lone)-1])
		}
		err = nil
	}
	if err := errors.Join(err, stop()); err != nil {
		return nil, err
	}
	b.row(name, lone.At(0.5), lone.At(0.99), lone.At(1), missing)
	return lone, nil
}
