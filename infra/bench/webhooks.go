package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"devplatform/infra/hooktest"
)

const (
	// deliveriesAim is how many deliveries a second the whole local platform shall make on 2 cores, loneAim how soon after the
	// change the endpoint shall have a lone event.
	deliveriesAim = 500
	loneAim       = 150 * time.Millisecond
	// loneEvents are measured one by one, flood is how many deliveries are asked for at once.
	loneEvents = 40
	flood      = 6000
	// steady is how long changes come at an even pace, pace how far they are apart.
	steady = 20 * time.Second
	pace   = 100 * time.Millisecond
)

// webhooks measures deliveries through the platform as a process of its own, to a receiver in this process.
func (b *bench) webhooks(ctx context.Context) error {
	p, err := b.startPlatform(ctx, filepath.Join(b.scratch, "webhooks"))
	if err != nil {
		return err
	}
	defer p.stop()
	b.printf("\nWebhooks through the whole local platform, receiver on the same machine (aims: %d/s, lone event p50 %s)\n", deliveriesAim, ms(loneAim))
	b.printf("%-24s %12s %12s %14s %12s %12s\n", "", "lone: p50", "p99", "deliveries/s", "p50", "p99")
	for _, subscribers := range []int{1, 10, 20} {
		h, err := newHooked(ctx, p.url, subscribers)
		if err != nil {
			return err
		}
		lone, err := h.lone(ctx)
		if err != nil {
			return err
		}
		result, err := h.flood(ctx)
		if err != nil {
			return err
		}
		b.printf("%-24s %12s %12s %14.0f %12s %12s\n", plural(subscribers, "subscriber"), ms(lone.at(0.5)), ms(lone.at(0.99)),
			result.perSecond, ms(result.latency.at(0.5)), ms(result.latency.at(0.99)))
		h.close()
	}
	return b.isolation(ctx, p.url)
}

// hooked is a project whose events go to a receiver.
type hooked struct {
	*workshop
	receiver *hooktest.Receiver
	healthy  int // webhooks whose endpoints answer
	writers  []*workshop
	touched  bool // they have made their files
}

// hookURL is the path of the n-th healthy endpoint.
func hookURL(n int) string { return "/ok/" + strconv.Itoa(n) }

func newHooked(ctx context.Context, base string, subscribers int) (*hooked, error) {
	a, w, err := newWorkshop(ctx, base, writers)
	if err != nil {
		return nil, err
	}
	h := &hooked{workshop: w, receiver: hooktest.New(nil), healthy: subscribers}
	for _, project := range w.projects {
		c, err := a.dial(ctx)
		if err != nil {
			return nil, err
		}
		h.writers = append(h.writers, &workshop{connection: c, projects: []string{project}})
	}
	for n := range subscribers {
		if err := h.subscribe(hookURL(n)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *hooked) close() {
	h.receiver.Close()
	h.workshop.close()
	for _, w := range h.writers {
		w.close()
	}
}

func (h *hooked) subscribe(path string) error {
	_, err := h.create("/api/webhooks", map[string]any{"url": h.receiver.URL(path), "events": []string{"*"}})
	return err
}

// change makes one event.
func (h *hooked) change() error {
	return h.save(h.projects[0], "/changing.txt", 64)
}

const (
	// writers are the connections that make events together, each in a project of its own.
	writers = 4
	// batchEvents is how many events a request makes.
	batchEvents = 20
)

// touch makes so many events, as fast as all writers together can: each writes its files again and again.
func (h *hooked) touch(events int) error {
	op := "update"
	if !h.touched {
		op, h.touched = "create", true
	}
	var group errgroup.Group
	for i, w := range h.writers {
		group.Go(func() error {
			op := op
			for n := i * batchEvents; n < events; n += len(h.writers) * batchEvents {
				var operations []map[string]any
				for file := range batchEvents {
					operations = append(operations, map[string]any{"op": op, "path": "/touched/" + strconv.Itoa(file), "content": source(64)})
				}
				if err := w.batch(operations...); err != nil {
					return err
				}
				op = "update"
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("events: %w", err)
	}
	return nil
}

// await waits until every healthy endpoint has had that many requests since the last time.
func (h *hooked) await(ctx context.Context, events int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return h.receiver.Wait(ctx, func(r *hooktest.Receiver) bool { // after each request: count them one by one only if there are enough
		return r.Total() >= events*h.healthy && len(h.arrived()) >= events*h.healthy
	})
}

// arrived are the requests that healthy endpoints have had.
func (h *hooked) arrived() []hooktest.Request {
	all := h.receiver.Requests()
	healthy := make([]hooktest.Request, 0, len(all))
	for _, r := range all {
		if strings.HasPrefix(r.Path, "/ok/") {
			healthy = append(healthy, r)
		}
	}
	return healthy
}

// latencies are the times from the events, which are a little before their commits, to the requests.
func latencies(requests []hooktest.Request) (sample, error) {
	var all sample
	for _, r := range requests {
		id, err := ulid.ParseStrict(strings.TrimPrefix(r.ID(), "evt_"))
		if err != nil {
			return nil, fmt.Errorf("webhook-id %s: %w", r.ID(), err)
		}
		all = append(all, r.At.Sub(ulid.Time(id.Time())))
	}
	return all, nil
}

// lone makes events one by one, each after the one before has arrived everywhere.
func (h *hooked) lone(ctx context.Context) (sample, error) {
	if err := h.change(); err != nil { // the first starts the functions
		return nil, err
	}
	if err := h.await(ctx, 1); err != nil {
		return nil, err
	}
	h.receiver.Reset()
	for n := range loneEvents {
		if err := h.change(); err != nil {
			return nil, err
		}
		if err := h.await(ctx, n+1); err != nil {
			return nil, err
		}
		time.Sleep(pace)
	}
	defer h.receiver.Reset()
	return latencies(h.receiver.Requests())
}

// flood makes events as fast as they can be made, and waits for the last delivery.
func (h *hooked) flood(ctx context.Context) (load, error) {
	events := max(flood/h.healthy/batchEvents/writers, 1) * batchEvents * writers
	begin := time.Now()
	if err := h.touch(events); err != nil {
		return load{}, err
	}
	if err := h.await(ctx, events); err != nil {
		return load{}, err
	}
	arrived := h.receiver.Requests()
	took := arrived[len(arrived)-1].At.Sub(begin)
	all, err := latencies(arrived)
	return load{perSecond: float64(len(arrived)) / took.Seconds(), latency: all}, err
}

// isolation shows what one endpoint that hangs does to nine that don't: without it, until its breaker opens, and after.
func (b *bench) isolation(ctx context.Context, base string) error {
	h, err := newHooked(ctx, base, 9)
	if err != nil {
		return err
	}
	defer h.close()
	b.printf("\nChange to POST at nine healthy endpoints, %d changes/s, with one more that hangs\n", time.Second/pace)
	b.printf("%-36s %12s %12s %12s\n", "", "p50", "p99", "slowest")
	for _, phase := range []string{"without it", "with it, from its first event", "with it, the breaker open"} {
		if phase == "with it, from its first event" {
			if err := h.subscribe("/hang"); err != nil {
				return err
			}
		}
		h.receiver.Reset()
		events := 0
		for begin := time.Now(); time.Since(begin) < steady; events++ {
			if err := h.change(); err != nil {
				return err
			}
			time.Sleep(pace)
		}
		if err := h.await(ctx, events); err != nil {
			return err
		}
		all, err := latencies(h.arrived())
		if err != nil {
			return err
		}
		b.printf("%-36s %12s %12s %12s\n", phase, ms(all.at(0.5)), ms(all.at(0.99)), ms(all.at(1)))
	}
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
