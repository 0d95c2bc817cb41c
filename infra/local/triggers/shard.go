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

// How far a shard is read ahead of what is done, so that one stuck lane stops neither the others at once nor memory
// from being bounded: twice what all lanes can have in flight.
const (
	aheadRecords = 10_000 // at least
	aheadBytes   = 2 * runtime.MaxPayload
)

// entry is a record on its way.
type entry struct {
	sequence      string
	payload       []byte // nil once it is done
	created, read time.Time
	done          bool
}

// shard reads one shard, hands its records to lanes, and knows what is done.
type shard struct {
	*streamMapping
	ctx    context.Context //nolint:containedctx // the life of the stream's reader
	source source
	id     string
	lanes  []*lane
	room   chan struct{} // something has become done

	mu     sync.Mutex
	ledger []*entry // in the stream's order, from the first that is not done; one stands for those done before it
	bytes  int      // of the payloads in it
	ended  bool     // nothing comes any more
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

// read gets records until the shard's end, and tells whether that was reached.
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
			s.logger.Warn("the stream does not know the position: going on with the oldest record that is there", "shard", s.id, "error", err)
			at = position{}
			continue
		case gone(err):
			s.logger.Warn("the shard is gone", "shard", s.id, "error", err)
			return false
		case err != nil: // trimmed
			s.logger.Warn("the position is older than what the stream keeps: going on with the oldest record that is there", "shard", s.id, "error", err)
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
			pause(s.ctx, busyPoll)
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

// page gets the next records and the iterator behind them, "" at the shard's end. An iterator that has expired or is not
// understood any more is made anew. Errors are that the records, or the shard, are gone.
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

// errRefused is that a stream never had the record of a position, as when one of them was restored without the other.
var errRefused = errors.New("the position was refused")

// begin makes an iterator at a position.
func (s *shard) begin(ctx context.Context, at position) (string, error) {
	kind := types.ShardIteratorTypeTrimHorizon
	switch at.Kind {
	case positionAt:
		kind = types.ShardIteratorTypeAtSequenceNumber
	case positionAfter:
		kind = types.ShardIteratorTypeAfterSequenceNumber
	}
	iterator, err := s.iterator(ctx, s.source.arn, s.id, kind, at.Sequence)
	var answer smithy.APIError
	if at.Sequence != "" && (gone(err) || errors.As(err, &answer) && answer.ErrorCode() == "ValidationException") {
		err = fmt.Errorf("%w: %w", errRefused, err)
	}
	return iterator, err
}

// awaitRoom waits until there is room for more records, and tells whether there will be.
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

// add takes records over: those that no filter wants are done at once.
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
			s.ledger[n-1] = e // which stands for the one before: runs of what is done take no room
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
	if e.created.IsZero() { // its age can't be known
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

// finish marks entries as done, and returns when the position that follows from it is safe.
func (s *shard) finish(entries []*entry) {
	if len(entries) == 0 {
		return
	}
	s.mu.Lock()
	for _, e := range entries {
		s.bytes -= len(e.payload)
		e.done, e.payload = true, nil
	}
	moved := s.advance()
	s.mu.Unlock()
	notify(s.room)
	if moved {
		s.positions.sync()
	}
}

// advance moves the position to the last record before which all are done. The caller holds mu.
func (s *shard) advance() (moved bool) {
	n := 0
	for n < len(s.ledger) && s.ledger[n].done {
		n++
	}
	if n == 0 {
		return false
	}
	s.positions.set(s.id, position{positionAfter, s.ledger[n-1].sequence})
	clear(s.ledger[:n])
	s.ledger = s.ledger[n:]
	return true
}

// notify wakes whoever waits on a channel with room for one.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
