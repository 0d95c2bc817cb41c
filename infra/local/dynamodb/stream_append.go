package dynamodb

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2"
)

// pendingRecord is a change for a stream, from [stream.encode].
type pendingRecord struct {
	Stream *stream
	Record []byte
}

// streamAppends are the changes of one batch. The streams are locked until publish is called.
type streamAppends []appended

type appended struct {
	stream *stream
	last   uint64
}

// index returns the index of a stream, or -1.
func (a streamAppends) index(s *stream) int {
	return slices.IndexFunc(a, func(a appended) bool { return a.stream == s })
}

// appendRecords numbers changes in their order and adds them to the batch. If it returns no error, the caller must commit the
// batch and then call publish.
func appendRecords(batch *pebble.Batch, now time.Time, pending []pendingRecord) (streamAppends, error) {
	var appends streamAppends
	for _, p := range pending {
		if appends.index(p.Stream) < 0 {
			appends = append(appends, appended{stream: p.Stream})
		}
	}
	// All batches lock streams in the same order, so that they cannot deadlock.
	slices.SortFunc(appends, func(a, b appended) int { return cmp.Compare(a.stream.ID, b.stream.ID) })
	for i, a := range appends {
		a.stream.order.Lock()
		appends[i].last = a.stream.last
	}
	for _, p := range pending {
		a := &appends[appends.index(p.Stream)]
		a.last++
		binary.BigEndian.PutUint64(p.Record, uint64(now.UnixMilli()))
		if err := batch.Set(sequenceKey(datafolder.SpaceStreamRecord, a.stream.ID, a.last), p.Record, nil); err != nil {
			appends.publish(false)
			return nil, fmt.Errorf("writing to a stream: %w", err)
		}
	}
	return appends, nil
}

// publish unlocks the streams. If the batch was not committed, its numbers are used again.
func (a streamAppends) publish(committed bool) {
	for _, a := range a {
		if committed {
			a.stream.last = a.last
		}
		a.stream.order.Unlock()
	}
}

// acknowledge lets readers see the changes, and all changes before them. The batch must be durable. The log of the
// store has no gaps, so all earlier batches are durable too.
func (a streamAppends) acknowledge() {
	for _, a := range a {
		for seen := a.stream.durable.Load(); seen < a.last; seen = a.stream.durable.Load() {
			if a.stream.durable.CompareAndSwap(seen, a.last) {
				break
			}
		}
		a.stream.wake()
	}
}
