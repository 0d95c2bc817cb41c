package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/oklog/ulid/v2"

	"devplatform/infra/bench/rig"
	"devplatform/infra/hooktest"
)

// subscriber is an account whose webhooks send all events to a receiver in this process.
type subscriber struct {
	*rig.Client
	receiver *hooktest.Receiver
	webhooks int
	projects []string      // one for each writer
	writers  []*rig.Client // connections that make changes in parallel
}

// newSubscriber creates an account, projects and webhooks. The first deliveries start the functions.
func newSubscriber(ctx context.Context, base string, webhooks int) (*subscriber, error) {
	c, err := rig.SignUp(ctx, base)
	if err != nil {
		return nil, err
	}
	s := &subscriber{Client: c, receiver: hooktest.New(nil), webhooks: webhooks}
	if s.projects, err = c.Projects(clients); err != nil {
		return nil, err
	}
	if s.writers, err = dial(ctx, c, clients); err != nil {
		return nil, err
	}
	for n := range webhooks {
		url := s.receiver.URL("/ok/" + strconv.Itoa(n))
		if err := c.Post("/api/webhooks", rig.Object{"url": url, "events": []string{"*"}}); err != nil {
			return nil, err
		}
	}
	for i := range s.writers {
		if err := s.writers[i].Batch(s.projects[i], "create", 64, changedFiles...); err != nil {
			return nil, err
		}
	}
	if err := s.await(ctx, len(s.writers)*len(changedFiles)); err != nil {
		return nil, err
	}
	return s, nil
}

// changedFiles are the files that the writers change.
var changedFiles = func() (paths []string) {
	for n := range rig.MaxBatch {
		paths = append(paths, fmt.Sprintf("/changed/%d.txt", n))
	}
	return paths
}()

// await waits until that number of events has arrived at every endpoint since the last reset.
func (s *subscriber) await(ctx context.Context, events int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	want := events * s.webhooks
	return s.receiver.Wait(ctx, func(r *hooktest.Receiver) bool {
		return r.Total() >= want && len(s.arrived()) >= want // Total is fast
	})
}

// arrived returns the first request of each delivery since the last reset.
func (s *subscriber) arrived() (first []hooktest.Request) {
	for _, r := range s.receiver.Requests() {
		if r.Attempt == 1 {
			first = append(first, r)
		}
	}
	return first
}

// latencies returns the times from the events to the first requests of their deliveries, since the last reset.
func (s *subscriber) latencies() (*hdr.Histogram, error) {
	times := newTimes()
	for _, r := range s.arrived() {
		id, err := ulid.ParseStrict(strings.TrimPrefix(r.ID(), "evt_"))
		if err != nil {
			return times, fmt.Errorf("webhook-id %s: %w", r.ID(), err)
		}
		record(times, r.At.Sub(ulid.Time(id.Time())))
	}
	return times, nil
}

// changeOneByOne makes lone events, and returns their latencies. Each event is made after the previous one has arrived
// everywhere and a random pause: fixed pauses would lock onto the polling interval of the platform. If ctx ends first,
// the events that have not arrived are missing. Each counts with the time for which the last one was awaited.
func (s *subscriber) changeOneByOne(ctx context.Context, events int) (times *hdr.Histogram, missing int, err error) {
	s.receiver.Reset()
	for n := range events {
		begin := time.Now()
		if err := s.Save(s.projects[0], changedFiles[0], 64); err != nil {
			return nil, 0, err
		}
		if err := s.await(ctx, n+1); err != nil && ctx.Err() == nil {
			return nil, 0, err
		} else if err != nil {
			times, err := s.latencies()
			for range events - n {
				record(times, time.Since(begin))
			}
			return times, events - n, err
		}
		pauseBriefly()
	}
	times, err = s.latencies()
	return times, 0, err
}

// changeInParallel makes events as fast as it can, batch of them in each request, until all have arrived. It returns
// the deliveries per second and their latencies.
func (s *subscriber) changeInParallel(ctx context.Context, events, batch int) (load, error) {
	s.receiver.Reset()
	requests := events / batch / len(s.writers)
	begin := time.Now()
	if _, err := parallel(len(s.writers), func(i int) (struct{}, error) {
		for n := range requests {
			var err error
			if batch == 1 {
				err = s.writers[i].Save(s.projects[i], changedFiles[n%len(changedFiles)], 64)
			} else {
				err = s.writers[i].Batch(s.projects[i], "update", 64, changedFiles[:batch]...)
			}
			if err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	}); err != nil {
		return load{}, err
	}
	if err := s.await(ctx, requests*batch*len(s.writers)); err != nil {
		return load{}, err
	}
	arrived := s.arrived()
	took := arrived[len(arrived)-1].At.Sub(begin)
	times, err := s.latencies()
	return load{float64(len(arrived)) / took.Seconds(), times}, err
}
