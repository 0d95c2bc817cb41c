package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/runtime"
	"devplatform/infra/local/triggers/pattern"
)

const (
	// relocatePause is the wait after the end of a stream, until the table is asked for its stream again.
	relocatePause = time.Second
	// idlePoll is how often an idle stream that reports its changes is read, in case a change was not reported.
	idlePoll = 10 * time.Second
	// After a read of a stream that reports its changes, the next read waits for pausePerRecord for each record, but at
	// most maxPause. So a few records delay the next read only a little, and many records in a row form batches.
	pausePerRecord = 10 * time.Millisecond
	maxPause       = 50 * time.Millisecond
	// pageSize is the maximum number of records that GetRecords returns.
	pageSize = 1000

	// How far a stream is read ahead of its position: twice what all lanes can have in flight. This limits the memory, and
	// the other lanes continue for a while if one is blocked.
	aheadRecords = 10_000 // at least
	aheadBytes   = 2 * runtime.MaxPayload
)

// tableAPI and streamAPI are the parts of the SDK's clients that this package uses.
type tableAPI interface {
	DescribeTable(
		context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options),
	) (*dynamodb.DescribeTableOutput, error)
}

type streamAPI interface {
	DescribeStream(
		context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(
		context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(
		context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.GetRecordsOutput, error)
}

// streamMapping is a mapping of the stream of a table.
type streamMapping struct {
	mapping
	tables   tableAPI
	streams  streamAPI
	filters  []*pattern.Pattern
	link     link // to tables and streams
	position *progress
	failures *destination
}

// newStreamMapping returns a mapping of a stream and reads its position.
func newStreamMapping(m mapping, tables tableAPI, streams streamAPI, queues queueAPI) (*streamMapping, error) {
	s := &streamMapping{
		mapping: m, tables: tables, streams: streams, failures: newDestination(m, queues),
		link: link{m.logger.With("table", m.spec.Table), m.options.Backoff,
			"the stream can't be read: retrying until it can", "the stream can be read again"},
	}
	for _, text := range m.spec.Filters {
		filter, err := pattern.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%w, in %s", err, text)
		}
		s.filters = append(s.filters, filter)
	}
	var err error
	s.position, err = openProgress(m.options.Positions, m.spec.Name, m.logger)
	return s, err
}

// source is a table's stream and its only shard.
type source struct {
	arn, shard   string
	partitionKey string // name of the table's partition key
}

// run reads the table's stream, and the next one if the stream is replaced.
func (m *streamMapping) run() {
	for {
		from, err := m.locate()
		if err != nil {
			return
		}
		if before := m.position.begin(from.arn); before != "" && before != from.arn {
			m.logger.Warn("the table has a new stream, which is read from its beginning; "+
				"the rest of the stream before is lost", "stream", from.arn, "before", before)
		}
		r := &reader{streamMapping: m, source: from, room: make(chan struct{}, 1)}
		for range m.spec.ParallelizationFactor {
			r.lanes = append(r.lanes, &lane{reader: r, wake: make(chan struct{}, 1)})
		}
		r.run()
		if !pause(m.stopping, relocatePause) {
			return
		}
	}
}

// locate returns the table's stream. It waits until there is one.
func (m *streamMapping) locate() (found source, err error) {
	err = m.link.persist(m.stopping, func(ctx context.Context) error {
		table, err := m.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &m.spec.Table})
		if err != nil {
			return fmt.Errorf("describe table %s: %w", m.spec.Table, err)
		}
		found.arn = aws.ToString(table.Table.LatestStreamArn)
		for _, part := range table.Table.KeySchema {
			if part.KeyType == dynamodbtypes.KeyTypeHash {
				found.partitionKey = aws.ToString(part.AttributeName)
			}
		}
		if found.arn == "" {
			return fmt.Errorf("table %s has no stream", m.spec.Table)
		}
		stream, err := m.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &found.arn})
		if err != nil {
			return fmt.Errorf("describe the stream: %w", err)
		}
		if len(stream.StreamDescription.Shards) != 1 {
			return fmt.Errorf("stream %s does not have one shard: the endpoint must be a local platform", found.arn)
		}
		found.shard = aws.ToString(stream.StreamDescription.Shards[0].ShardId)
		return nil
	}, nil)
	return found, err
}

// entry is a record in the ledger.
type entry struct {
	sequence      string
	payload       []byte // nil once it is done
	created, read time.Time
	done          bool
}

// reader reads a stream, passes its records to lanes, and tracks which records are done.
type reader struct {
	*streamMapping
	source source
	lanes  []*lane
	room   chan struct{} // receives when entries are done

	mu sync.Mutex
	// ledger is in the stream's order, from the first entry that is not done. Of successive done entries, the last
	// remains.
	ledger []*entry
	bytes  int  // of the payloads in the ledger
	ended  bool // there will be no more records
}

// run returns when all records of the stream are done, the stream is gone, or no new batch may begin.
func (r *reader) run() {
	var lanes sync.WaitGroup
	for _, l := range r.lanes {
		lanes.Go(l.run)
	}
	r.read()
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	for _, l := range r.lanes {
		notify(l.wake)
	}
	lanes.Wait()
}

// read reads records until the end of the stream.
func (r *reader) read() {
	iterator, after := "", r.position.sequence()
	for r.awaitRoom() {
		var changed <-chan struct{} // before the stream is read, so that no change is missed
		if r.options.StreamChanged != nil {
			changed = r.options.StreamChanged(r.source.arn)
		}
		page, err := r.page(iterator, after)
		switch {
		case r.isStopped():
			return
		case isA[*types.ExpiredIteratorException](err):
			iterator = ""
			continue
		case isA[*types.TrimmedDataAccessException](err), errors.Is(err, errRefused):
			r.logger.Warn("the stream does not have the position: continuing with its oldest record", "error", err)
			iterator, after = "", ""
			pause(r.stopping, r.options.Backoff(1))
			continue
		case err != nil:
			r.logger.Warn("the stream is gone", "stream", r.source.arn, "error", err)
			return
		}
		n := len(page.Records)
		if n > 0 {
			r.add(page.Records)
			after = sequence(page.Records[n-1])
		}
		if iterator = aws.ToString(page.NextShardIterator); iterator == "" {
			return
		}
		switch {
		case n == 0:
			r.awaitChange(changed)
		case n < pageSize && changed != nil:
			pause(r.stopping, min(time.Duration(n)*pausePerRecord, maxPause))
		}
	}
}

// awaitChange waits until changed is closed, for at most idlePoll. If changed is nil, it waits for the poll interval.
func (r *reader) awaitChange(changed <-chan struct{}) {
	wait := r.options.PollInterval
	if changed != nil {
		wait = idlePoll
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-r.stopping.Done():
	}
}

func isA[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// errRefused means that a stream never had the record of a position, for example because only the stream was restored.
var errRefused = errors.New("the position was refused")

// page returns the next records: of an iterator, or after a sequence number if there is no iterator. An error means
// that the iterator has expired, or that the records or the stream no longer exist.
func (r *reader) page(iterator, after string) (page *dynamodbstreams.GetRecordsOutput, err error) {
	isFinal := func(err error) bool {
		return isA[*types.ExpiredIteratorException](err) || isA[*types.TrimmedDataAccessException](err) ||
			isA[*types.ResourceNotFoundException](err) || errors.Is(err, errRefused)
	}
	err = r.link.persist(r.stopping, func(ctx context.Context) (err error) {
		if iterator == "" {
			if iterator, err = r.iterator(ctx, after); err != nil {
				return err
			}
		}
		page, err = r.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
			ShardIterator: &iterator, Limit: aws.Int32(pageSize),
		})
		return err
	}, isFinal)
	return page, err
}

// iterator returns an iterator after a sequence number, or at the oldest record.
func (r *reader) iterator(ctx context.Context, after string) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &r.source.arn, ShardId: &r.source.shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if after != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &after
	}
	out, err := r.streams.GetShardIterator(ctx, in)
	if failure, ok := errors.AsType[smithy.APIError](err); ok && failure.ErrorCode() == "ValidationException" {
		return "", fmt.Errorf("%w: %w", errRefused, err)
	}
	if err != nil {
		return "", fmt.Errorf("get an iterator: %w", err)
	}
	return aws.ToString(out.ShardIterator), nil
}

// awaitRoom waits until there is room for more records. It returns false if no new batch may begin.
func (r *reader) awaitRoom() bool {
	records := max(aheadRecords, 2*r.spec.BatchSize*len(r.lanes))
	for !r.isStopped() {
		r.mu.Lock()
		full := len(r.ledger) >= records || r.bytes >= aheadBytes*len(r.lanes)
		r.mu.Unlock()
		if !full {
			return true
		}
		select {
		case <-r.room:
		case <-r.stopping.Done():
		}
	}
	return false
}

// add adds records to the ledger, and to the queues of their lanes. Records that no filter matches are done.
func (r *reader) add(records []types.Record) {
	now := r.options.Now()
	entries := make([]*entry, len(records))
	for i, record := range records {
		e := &entry{sequence: sequence(record), created: aws.ToTime(record.Dynamodb.ApproximateCreationDateTime), read: now}
		event := recordEvent(record, r.source.arn)
		matches := func(filter *pattern.Pattern) bool { return filter.Match(event) }
		if e.done = len(r.filters) > 0 && !slices.ContainsFunc(r.filters, matches); !e.done {
			e.payload = encode(event)
		}
		entries[i] = e
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range entries {
		if n := len(r.ledger); e.done && n > 0 && r.ledger[n-1].done {
			r.ledger[n-1] = e
			continue
		}
		r.ledger = append(r.ledger, e)
		r.bytes += len(e.payload)
		if !e.done {
			l := r.lanes[laneOf(records[i], r.source.partitionKey, len(r.lanes))]
			l.queue = append(l.queue, e)
			notify(l.wake)
		}
	}
	r.advance()
}

// finish marks entries as done.
func (r *reader) finish(entries []*entry) {
	if len(entries) == 0 {
		return
	}
	r.mu.Lock()
	for _, e := range entries {
		r.bytes -= len(e.payload)
		e.done, e.payload = true, nil
	}
	r.advance()
	r.mu.Unlock()
	notify(r.room)
}

// advance moves the position past the entries at the beginning of the ledger that are done. The caller holds mu.
func (r *reader) advance() {
	n := 0
	for n < len(r.ledger) && r.ledger[n].done {
		n++
	}
	if n == 0 {
		return
	}
	r.position.set(r.ledger[n-1].sequence)
	clear(r.ledger[:n])
	r.ledger = r.ledger[n:]
}

// notify sends to a channel with a buffer of one.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
