package rig

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"devplatform/infra/hooktest"
)

// writers are the connections that make events together, each in a project of its own.
const writers = 4

// Hooked is a project whose events go to a receiver in this process.
type Hooked struct {
	*Workshop
	Receiver *hooktest.Receiver

	healthy int // webhooks whose endpoints answer
	writers []*Connection
	touched bool // they have made their files
}

// NewHooked signs up, and makes a project and so many webhooks whose endpoints answer.
func NewHooked(ctx context.Context, base string, subscribers int) (*Hooked, error) {
	w, err := NewWorkshop(ctx, base, writers)
	if err != nil {
		return nil, err
	}
	h := &Hooked{Workshop: w, Receiver: hooktest.New(nil), healthy: subscribers}
	for range w.Projects {
		c, err := w.Account.Dial(ctx)
		if err != nil {
			return nil, err
		}
		h.writers = append(h.writers, c)
	}
	for n := range subscribers {
		if err := h.Subscribe("/ok/" + strconv.Itoa(n)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Close ends the connections and the receiver.
func (h *Hooked) Close() {
	h.Receiver.Close()
	h.Workshop.Close()
	for _, w := range h.writers {
		w.Close()
	}
}

// Subscribe makes a webhook for all events to a path of the receiver.
func (h *Hooked) Subscribe(path string) error {
	return h.Post("/api/webhooks", map[string]any{"url": h.Receiver.URL(path), "events": []string{"*"}})
}

// Change makes one event.
func (h *Hooked) Change() error { return h.Save(h.Projects[0], "/changing.txt", 64) }

// Touch makes so many events, as fast as all writers together can: each writes its files again and again.
func (h *Hooked) Touch(events int) error {
	op := "update"
	if !h.touched {
		op, h.touched = "create", true
	}
	var group errgroup.Group
	for i, w := range h.writers {
		group.Go(func() error {
			op := op
			for n := i * MaxBatch; n < events; n += len(h.writers) * MaxBatch {
				var operations []map[string]any
				for file := range MaxBatch {
					operations = append(operations, map[string]any{"op": op, "path": "/touched/" + strconv.Itoa(file), "content": Source(64)})
				}
				if err := w.Batch(h.Projects[i], operations...); err != nil {
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

// Await waits until every healthy endpoint has had that many requests since the last time.
func (h *Hooked) Await(ctx context.Context, events int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return h.Receiver.Wait(ctx, func(r *hooktest.Receiver) bool { // after each request: count them one by one only if there are enough
		return r.Total() >= events*h.healthy && len(h.Arrived()) >= events*h.healthy
	})
}

// Arrived are the requests that healthy endpoints have had.
func (h *Hooked) Arrived() []hooktest.Request {
	all := h.Receiver.Requests()
	healthy := make([]hooktest.Request, 0, len(all))
	for _, r := range all {
		if strings.HasPrefix(r.Path, "/ok/") {
			healthy = append(healthy, r)
		}
	}
	return healthy
}

// Lone makes events one by one, each after the one before has arrived everywhere and a pause.
func (h *Hooked) Lone(ctx context.Context, events int, pause time.Duration) error {
	for n := 1; n <= events; n++ {
		if err := h.Change(); err != nil {
			return err
		}
		if err := h.Await(ctx, n); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// Flood makes at least so many deliveries, as fast as events can be made, and waits for the last.
func (h *Hooked) Flood(ctx context.Context, deliveries int) (Load, error) {
	events := max(deliveries/h.healthy/MaxBatch/writers, 1) * MaxBatch * writers
	begin := time.Now()
	if err := h.Touch(events); err != nil {
		return Load{}, err
	}
	if err := h.Await(ctx, events); err != nil {
		return Load{}, err
	}
	arrived := h.Receiver.Requests()
	took := arrived[len(arrived)-1].At.Sub(begin)
	all, err := Latencies(arrived)
	return Load{PerSecond: float64(len(arrived)) / took.Seconds(), Latency: all}, err
}

// Latencies are the times from the events, which are a little before their commits, to the requests.
func Latencies(requests []hooktest.Request) (Sample, error) {
	var all Sample
	for _, r := range requests {
		id, err := ulid.ParseStrict(strings.TrimPrefix(r.ID(), "evt_"))
		if err != nil {
			return nil, fmt.Errorf("webhook-id %s: %w", r.ID(), err)
		}
		all = append(all, r.At.Sub(ulid.Time(id.Time())))
	}
	return all, nil
}

// Sent is how many bytes requests had: bodies and header fields.
func Sent(requests []hooktest.Request) (bytes int) {
	for _, r := range requests {
		bytes += len(r.Method+r.Path) + len(r.Body)
		for name, values := range r.Header {
			for _, value := range values {
				bytes += len(name) + len(value) + len(": \r\n")
			}
		}
	}
	return bytes
}
