package main

import (
	"context"
	"fmt"
	"path/filepath"

	"devplatform/infra/bench/rig"
)

// startRuns is how often the platform is started, each time on a fresh folder and once more on the same.
const startRuns = 5

// platformStart measures `make run` with built binaries: to the ready line with and without data, and the memory of
// the platform and of one function instance after a request.
func (b *bench) platformStart(ctx context.Context) error {
	var fresh, again, stop rig.Sample
	var memory, function int64
	for i := range startRuns {
		dir := filepath.Join(b.scratch, fmt.Sprintf("start-%d", i))
		p, err := rig.Start(ctx, b.binaries, dir)
		if err != nil {
			return err
		}
		fresh = append(fresh, p.Took)
		w, err := rig.NewWorkshop(ctx, p.URL, 0)
		if err == nil {
			err = w.Me()
		}
		if err != nil {
			p.Stop()
			return err
		}
		w.Close()
		memory, function = p.Resident()
		stop = append(stop, p.Stop())
		if p, err = rig.Start(ctx, b.binaries, dir); err != nil {
			return err
		}
		again = append(again, p.Took)
		p.Stop()
	}
	b.section(fmt.Sprintf("THE LOCAL PLATFORM with built binaries (median of %d)", startRuns), "value")
	b.row("start to ready, fresh folder", fresh.At(0.5))
	b.row("start to ready, existing data", again.At(0.5))
	b.row("SIGTERM to exit", stop.At(0.5))
	b.row("memory, platform, after the first requests", mb(memory))
	b.row("memory, largest function, after a login", mb(function))
	return nil
}
