package triggers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/runtime"
)

// How far a shard is read ahead of its position: twice what all lanes can have in flight. This limits the memory, and
// the other lanes continue for a while if one is blocked.
const (
	aheadRecords = 10_000 // at least
	aheadBytes   = 2 * runtime.MaxPayload
)

// entry is a record in the ledger.
type entry struct {
	sequence      string
	payload       []byte // nil once it is done
	created, read time.Time
	done          bool
}

// shard reads a shard, passes its records to lanes, and tracks which are done.
type shard struct {
	*streamMapping
	ctx    context.Context // ends when the reader of the stream stops
	source source
	id     string
	lanes  []*lane
	room   chan struct{} // receives when entries are done

	mu sync.Mutex
	// ledger is in the stream's order, from the first entry that is not done. Of successive done entries, the last
	// remains.
	ledger []*entry
	bytes  int  // of the payloads in the ledger
	ended  bool // there will be no more records
}

func newShard(ctx context.Context, m *streamMapping, from source, id string) *shard {
	s := &shard{streamMapping: m, ctx: ctx, source: from, id: id, room: make(chan struct{}, 1)}
	for range m.spec.ParallelizationFactor {
		s.lanes = append(s.lanes, &lane{shard: s, wake: make(chan struct{}, 1)})
	}
	return s
}

// run returns when the shard is done, gone, or the context has ended.
func (s *shard) run() {
	var lanes sync.WaitGroup
	for _, l := range s.lanes {
		lanes.Go(l.run)
	}
	closed := s.read()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	for _, l := range s.lanes {
		notify(l.wake)
	}
	lanes.Wait()
	if closed && len(s.ledger) == 0 {
		s.positions.set(s.id, position{Kind: positionEnd})
		s.positions.sync()
	}
}

// read reads records until the end of the shard. It returns false if it stops before.
func (s *shard) read() (closed bool) {
	at := s.positions.of(s.id)
	iterator := ""
	for s.awaitRoom() {
		changed := s.changed() // before the stream is read, so that no change is missed
		page, err := s.page(&iterator, at)
		switch {
		case s.ctx.Err() != nil:
			return false
		case errors.Is(err, errRefused):
			s.logger.Warn("the stream does not have the position: continuing with its oldest record",
				"shard", s.id, "error", err)
			at = position{}
			continue
		case gone(err):
			s.logger.Warn("the shard is gone", "shard", s.id, "error", err)
			return false
		case err != nil: // trimmed
			s.logger.Warn("the position has expired: continuing with the oldest record", "shard", s.id, "error", err)
			at = position{}
			pause(s.ctx, s.options.Backoff(1))
			continue
		}
		if n := len(page.Records); n > 0 {
			s.add(page.Records)
			at = position{positionAfter, sequence(page.Records[n-1])}
		}
		if iterator == "" {
			return true
		}
		switch n := len(page.Records); {
		case n == 0:
			s.awaitChange(changed)
		case n < pageSize && changed != nil:
			pause(s.ctx, min(time.Duration(n)*pausePerRecord, maxPause))
		}
	}
	return false
}

// changed returns a channel that is closed when the stream changes. It returns nil if the stream must be polled.
func (s *shard) changed() <-chan struct{} {
	if s.options.StreamChanged == nil {
		return nil
	}
	return s.options.StreamChanged(s.source.arn)
}

// awaitChange waits until changed is closed, for at most idlePoll. If changed is nil, it waits for the poll interval.
func (s *shard) awaitChange(changed <-chan struct{}) {
	wait := s.options.PollInterval
	if changed != nil {
		wait = idlePoll
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// page reads the next records and sets the iterator of the records after them, "" at the end of the shard. It renews an
// iterator that has expired. An error means that the records or the shard no longer exist.
func (s *shard) page(iterator *string, at position) (page *dynamodbstreams.GetRecordsOutput, err error) {
	err = s.link.persist(s.ctx, s.id, func(ctx context.Context) (err error) {
		renewed := *iterator == ""
		for {
			if *iterator == "" {
				if *iterator, err = s.begin(ctx, at); err != nil {
					return err
				}
			}
			if page, err = s.records(ctx, *iterator); err == nil {
				break
			}
			*iterator = ""
			var expired *types.ExpiredIteratorException
			if renewed || !errors.As(err, &expired) {
				return err
			}
			renewed = true
		}
		*iterator = aws.ToString(page.NextShardIterator)
		return nil
	}, func(err error) bool { return gone(err) || trimmed(err) || errors.Is(err, errRefused) })
	return page, err
}

func trimmed(err error) bool {
	var trimmed *types.TrimmedDataAccessException
	return errors.As(err, &trimmed)
}

// errRefused means that a stream never had the record of a position, for example because only one of them was restored.
var errRefused = errors.New("the position was refused")

// begin returns an iterator at a position.
func (s *shard) begin(ctx context.Context, at position) (string, error) {
	kind := types.ShardIteratorTypeTrimHorizon
	switch at.Kind {
	case positionAt:
		kind = types.ShardIteratorTypeAtSequenceNumber
	case positionAfter:
		kind = types.ShardIteratorTypeAfterSequenceNumber
	}
	iterator, err := s.iterator(ctx, s.source.arn, s.id, kind, at.Sequence)
	var apiErr smithy.APIError
	if at.Sequence != "" && (gone(err) || errors.As(err, &apiErr) && apiErr.ErrorCode() == "ValidationException") {
		err = fmt.Errorf("%w: %w", errRefused, err)
	}
	return iterator, err
}

// awaitRoom waits until there is room for more records. It returns false if the context ends before.
func (s *shard) awaitRoom() bool {
	records := max(aheadRecords, 2*s.spec.BatchSize*len(s.lanes))
	for s.ctx.Err() == nil {
		s.mu.Lock()
		full := len(s.ledger) >= records || s.bytes >= aheadBytes*len(s.lanes)
		s.mu.Unlock()
		if !full {
			return true
		}
		select {
		case <-s.room:
		case <-s.ctx.Done():
		}
	}
	return false
}

// add adds records to the ledger. Those that no filter matches are done.
func (s *shard) add(records []types.Record) {
	now := s.options.Now()
	entries := make([]*entry, len(records))
	for i, r := range records {
		entries[i] = s.entry(r, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range entries {
		if n := len(s.ledger); e.done && n > 0 && s.ledger[n-1].done {
			s.ledger[n-1] = e
			continue
		}
		s.ledger = append(s.ledger, e)
		s.bytes += len(e.payload)
		if !e.done {
			l := s.lanes[laneOf(records[i], s.source.partitionKey, len(s.lanes))]
			l.queue = append(l.queue, e)
			notify(l.wake)
		}
	}
	s.advance()
}

func (s *shard) entry(r types.Record, now time.Time) *entry {
	e := &entry{sequence: sequence(r), created: created(r), read: now}
	if e.created.IsZero() { // its age is unknown
		e.created = now
	}
	event := recordEvent(r, s.source.arn)
	if !s.wants(event) {
		e.done = true
		return e
	}
	e.payload = encode(event)
	return e
}

// finish marks entries as done.
func (s *shard) finish(entries []*entry) {
	if len(entries) == 0 {
		return
	}
	s.mu.Lock()
	for _, e := range entries {
		s.bytes -= len(e.payload)
		e.done, e.payload = true, nil
	}
	s.advance()
	s.mu.Unlock()
	notify(s.room)
}

// advance sets the position to the last of the first records that are done. The caller holds mu.
func (s *shard) advance() {
	n := 0
	for n < len(s.ledger) && s.ledger[n].done {
		n++
	}
	if n == 0 {
		return
	}
	s.positions.set(s.id, position{positionAfter, s.ledger[n-1].sequence})
	clear(s.ledger[:n])
	s.ledger = s.ledger[n:]
}

// notify sends to a channel with a buffer of one.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
