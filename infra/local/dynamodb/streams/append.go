package streams

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"devplatform/infra/local/dynamodb/keyspace"

	"github.com/cockroachdb/pebble/v2"
)

// maxAhead is how far, in milliseconds, changes can be ahead of the clock and still be in the order of time. If the
// clock goes back further, it was wrong before. Without this limit, all later changes would be kept too long.
const maxAhead = int64(time.Hour / time.Millisecond)

// Pending is a change for a stream, from [Stream.Encode].
type Pending struct {
	Stream *Stream
	Record []byte
}

// Appends are the changes of one batch. The streams are locked until Publish is called.
type Appends []appended

type appended struct {
	stream *Stream
	last   uint64
	time   int64
	step   uint64 // the first change of the batch if it is older than the one before, else 0
}

// begin sets the time of the batch's changes.
func (a *appended) begin(now int64) {
	a.last, a.time = a.stream.last, max(now, a.stream.lastTime)
	if a.time-now > maxAhead {
		a.time, a.step = now, a.last+1
	}
}

// Append numbers changes in their order and adds them to the batch. If it returns no error, the caller must commit the
// batch and then call Publish.
func Append(batch *pebble.Batch, clock time.Time, pending []Pending) (Appends, error) {
	var appends Appends
	for _, p := range pending {
		if !slices.ContainsFunc(appends, func(a appended) bool { return a.stream == p.Stream }) {
			appends = append(appends, appended{stream: p.Stream})
		}
	}
	// All batches lock streams in the same order, so that they cannot deadlock.
	slices.SortFunc(appends, func(a, b appended) int { return cmp.Compare(a.stream.ID, b.stream.ID) })
	for _, a := range appends {
		a.stream.order.Lock()
	}
	now := clock.UnixMilli()
	for i := range appends {
		appends[i].begin(now)
		if err := appends[i].add(batch, now, pending); err != nil {
			appends.Publish(false)
			return nil, fmt.Errorf("writing to a stream: %w", err)
		}
	}
	return appends, nil
}

func (a *appended) add(batch *pebble.Batch, now int64, pending []Pending) error {
	if a.step != 0 {
		if err := batch.Set(keyspace.SequenceKey(keyspace.Step, a.stream.ID, a.step), nil, nil); err != nil {
			return err //nolint:wrapcheck // Append wraps it
		}
	}
	for _, p := range pending {
		if p.Stream != a.stream {
			continue
		}
		a.last++
		binary.BigEndian.PutUint64(p.Record, uint64(a.time)) //nolint:gosec // after 1970
		if a.time != now {
			p.Record = binary.BigEndian.AppendUint64(p.Record, uint64(now)) //nolint:gosec // after 1970
		}
		if err := batch.Set(keyspace.SequenceKey(keyspace.Record, a.stream.ID, a.last), p.Record, nil); err != nil {
			return err //nolint:wrapcheck // Append wraps it
		}
	}
	return nil
}

// Publish unlocks the streams. If the batch was not committed, its numbers are used again.
func (a Appends) Publish(committed bool) {
	for _, a := range a {
		if committed {
			a.stream.last, a.stream.lastTime = a.last, a.time
		}
		a.stream.order.Unlock()
	}
}

// Acknowledge lets readers see the changes, and all changes before them. The batch must be durable. The log of the
// store has no gaps, so all earlier batches are durable too.
func (a Appends) Acknowledge() {
	for _, a := range a {
		for seen := a.stream.durable.Load(); seen < a.last; seen = a.stream.durable.Load() {
			if a.stream.durable.CompareAndSwap(seen, a.last) {
				break
			}
		}
		if a.step != 0 {
			a.stream.addStep(a.step)
		}
		a.stream.Wake()
	}
}

// addStep records that a change is older than the one before. The known time of the oldest change is no longer valid.
func (s *Stream) addStep(number uint64) {
	s.trim.Lock()
	defer s.trim.Unlock()
	at, _ := slices.BinarySearch(s.steps, number)
	s.steps = slices.Insert(s.steps, at, number)
	s.oldest = 0
}
