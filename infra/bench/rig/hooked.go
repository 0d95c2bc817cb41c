package rig

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"devplatform/infra/hooktest"
)

// writers is the number of connections that make events in parallel, each in its own projects.
const writers = 4

// Hooked is an account whose webhooks send all events to a receiver in this process.
type Hooked struct {
	*Workshop
	Receiver *hooktest.Receiver

	subscribers int // the number of webhooks
	writers     []*Connection
	touched     bool // whether the writers have created their files
}

// NewHooked signs up, and creates projects and that number of webhooks for all events.
func NewHooked(ctx context.Context, base string, subscribers int) (*Hooked, error) {
	w, err := NewWorkshop(ctx, base, writers)
	if err != nil {
		return nil, err
	}
	h := &Hooked{Workshop: w, Receiver: hooktest.New(nil), subscribers: subscribers}
	for range w.Projects {
		c, err := w.Account.Dial(ctx)
		if err != nil {
			return nil, err
		}
		h.writers = append(h.writers, c)
	}
	for n := range subscribers {
		webhook := map[string]any{"url": h.Receiver.URL("/ok/" + strconv.Itoa(n)), "events": []string{"*"}}
		if err := h.Post("/api/webhooks", webhook); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Close closes the connections and the receiver.
func (h *Hooked) Close() {
	h.Receiver.Close()
	h.Workshop.Close()
	for _, w := range h.writers {
		w.Close()
	}
}

// Change makes one event.
func (h *Hooked) Change() error { return h.Save(h.Projects[0], "/changing.txt", 64) }

// Touch makes that number of events as fast as possible. All writers write their files in parallel, again and again.
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
					path := "/touched/" + strconv.Itoa(file)
					operations = append(operations, map[string]any{"op": op, "path": path, "content": Source(64)})
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

// Await waits until every endpoint has received that number of events since the last reset.
func (h *Hooked) Await(ctx context.Context, events int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	want := events * h.subscribers
	return h.Receiver.Wait(ctx, func(r *hooktest.Receiver) bool {
		return r.Total() >= want && len(h.Arrived()) >= want // Total is fast
	})
}

// Arrived returns the first request of each delivery since the last reset.
func (h *Hooked) Arrived() []hooktest.Request {
	all := h.Receiver.Requests()
	first := make([]hooktest.Request, 0, len(all))
	for _, r := range all {
		if r.Attempt == 1 {
			first = append(first, r)
		}
	}
	return first
}

// Lone resets the receiver, makes events one by one, and returns the latencies of their deliveries. The next event is
// made when the previous one has arrived everywhere, after a random pause: fixed pauses would lock onto the polling
// interval of the platform. If an event does not arrive before ctx is done, Lone returns an error, the latencies of the
// previous ones, and the time for which it waited for this one.
func (h *Hooked) Lone(ctx context.Context, events int) (Sample, error) {
	h.Receiver.Reset()
	for n := 1; n <= events; n++ {
		begin := time.Now()
		if err := h.Change(); err != nil {
			return nil, err
		}
		if err := h.Await(ctx, n); err != nil {
			latencies, _ := Latencies(h.Arrived())
			return append(latencies, time.Since(begin)), err
		}
		time.Sleep(50*time.Millisecond + rand.N(100*time.Millisecond))
	}
	return Latencies(h.Arrived())
}

// Flood makes at least that number of deliveries, as fast as events can be made, and waits for the last one.
func (h *Hooked) Flood(ctx context.Context, deliveries int) (Load, error) {
	events := max(deliveries/h.subscribers/MaxBatch/writers, 1) * MaxBatch * writers
	begin := time.Now()
	if err := h.Touch(events); err != nil {
		return Load{}, err
	}
	if err := h.Await(ctx, events); err != nil {
		return Load{}, err
	}
	arrived := h.Arrived()
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
