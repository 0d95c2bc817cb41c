package triggers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

const (
	// refresh is the interval at which a stream is searched for new shards. If none is read, one should appear: then the
	// first quickRefreshes searches are at the interval quickRefresh.
	refresh        = 10 * time.Second
	quickRefresh   = time.Second
	quickRefreshes = 10
	// drainTime is how long a stream that was replaced is still read. Normally its shards are closed, and end before.
	drainTime = time.Minute

	trimHorizon = string(types.ShardIteratorTypeTrimHorizon)
	latest      = string(types.ShardIteratorTypeLatest)
)

// source is a table's stream.
type source struct {
	arn          string
	partitionKey string // name of the table's partition key
}

// streamMapping is a mapping of the stream of a table.
type streamMapping struct {
	mapping
	tables    tableAPI
	streams   streamAPI
	link      *link // to tables and streams
	positions *positionFile
	discard   discardFunc
}

// newStreamMapping returns a mapping of a stream and reads its positions.
func newStreamMapping(common mapping, c clients) (*streamMapping, error) {
	o, spec := common.options, common.spec
	m := &streamMapping{
		mapping: common, tables: c.tables, streams: c.streams,
		link: newLink(o, common.logger.With("table", spec.Table),
			"the stream can't be read: retrying until it can", "the stream can be read again"),
	}
	m.discard = func(_ context.Context, d discarded) error {
		d.log(m.logger)
		return nil
	}
	if spec.OnFailureQueue != "" {
		m.discard = newDestination(common, c.queues).send
	}
	var err error
	m.positions, err = openPositions(o.Dir, spec.Name, common.logger)
	return m, err
}

func (m *streamMapping) close() error { return m.positions.close() }

// run reads the table's stream, and the next one if the stream is replaced.
func (m *streamMapping) run() {
	for {
		found, err := m.locate(m.stopping)
		if err != nil {
			return
		}
		m.follow(found)
	}
}

// locate returns the table's stream. It waits until there is one.
func (m *streamMapping) locate(ctx context.Context) (found source, err error) {
	err = m.link.persist(ctx, "table", func(ctx context.Context) error {
		out, err := m.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &m.spec.Table})
		if err != nil {
			return fmt.Errorf("describe table %s: %w", m.spec.Table, err)
		}
		found.arn = aws.ToString(out.Table.LatestStreamArn)
		for _, part := range out.Table.KeySchema {
			if part.KeyType == dynamodbtypes.KeyTypeHash {
				found.partitionKey = aws.ToString(part.AttributeName)
			}
		}
		if found.arn == "" {
			return fmt.Errorf("table %s has no stream", m.spec.Table)
		}
		return nil
	}, never)
	return found, err
}

func gone(err error) bool {
	var notFound *types.ResourceNotFoundException
	return errors.As(err, &notFound)
}

// follow reads a stream until it is replaced, or the platform stops.
func (m *streamMapping) follow(from source) {
	ctx, cancel := context.WithCancel(m.stopping)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	f := &follower{streamMapping: m, source: from, running: map[string]bool{}, ended: make(chan string)}
	for first := true; ; first = false {
		shards, err := m.describe(ctx, from.arn)
		if err == nil {
			err = f.prepare(ctx, shards)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			for _, id := range f.ready(shards) {
				f.running[id] = true
				readers.Go(func() { f.read(ctx, id) })
			}
		case first:
			m.logger.Warn("the stream is gone", "stream", from.arn, "error", err)
		}
		if f.wait(ctx); ctx.Err() != nil {
			return
		}
		if now, err := m.locate(ctx); err != nil || now != from {
			f.drain(ctx)
			return
		}
	}
}

// describe returns a stream's shards.
func (m *streamMapping) describe(ctx context.Context, arn string) (shards []types.Shard, err error) {
	err = m.link.persist(ctx, "stream", func(ctx context.Context) error {
		shards = nil
		for in := (&dynamodbstreams.DescribeStreamInput{StreamArn: &arn}); ; {
			out, err := m.streams.DescribeStream(ctx, in)
			if err != nil {
				return fmt.Errorf("describe the stream: %w", err)
			}
			shards = append(shards, out.StreamDescription.Shards...)
			in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId
			if in.ExclusiveStartShardId == nil {
				return nil
			}
		}
	}, gone)
	return shards, err
}

// follower reads the shards of one stream. Its fields belong to the goroutine of streamMapping.follow.
type follower struct {
	*streamMapping
	source  source
	running map[string]bool
	ended   chan string // receives the ids of shards whose readers have returned
	idle    int         // searches since a shard was read
}

// prepare sets the starting positions of a new stream. If the stream was read before, prepare deletes the positions of
// shards that have expired.
func (f *follower) prepare(ctx context.Context, shards []types.Shard) error {
	known := ids(shards)
	before := f.positions.stream()
	if before == f.source.arn {
		f.positions.keep(func(shard string) bool { return known[shard] || f.running[shard] })
		return nil
	}
	begin := map[string]position{}
	if f.spec.StartingPosition == latest {
		var err error
		if begin, err = f.tips(ctx, f.source.arn, shards); err != nil {
			return err
		}
	}
	if before != "" {
		f.logger.Warn("the table has a new stream, which is read from the starting position; "+
			"the rest of the stream before is lost",
			"stream", f.source.arn, "before", before)
	}
	f.positions.reset(f.source.arn, begin)
	f.positions.sync()
	f.logger.Debug("reading the stream", "stream", f.source.arn, "from", f.spec.StartingPosition)
	return nil
}

func ids(shards []types.Shard) map[string]bool {
	known := map[string]bool{}
	for _, s := range shards {
		known[aws.ToString(s.ShardId)] = true
	}
	return known
}

// ready returns the shards that can be read now: they are not done, but their parents are.
func (f *follower) ready(shards []types.Shard) []string {
	known := ids(shards)
	var ready []string
	for _, s := range shards {
		id, parent := aws.ToString(s.ShardId), aws.ToString(s.ParentShardId)
		if !f.running[id] && !f.done(id) && (!known[parent] || f.done(parent)) {
			ready = append(ready, id)
		}
	}
	return ready
}

func (f *follower) done(shard string) bool {
	return f.positions.of(shard).Kind == positionEnd
}

func (f *follower) read(ctx context.Context, id string) {
	newShard(ctx, f.streamMapping, f.source, id).run()
	select {
	case f.ended <- id:
	case <-ctx.Done():
	}
}

// wait returns when the stream must be searched for shards again: after an interval, or when a shard is done, so that
// its children can be read.
func (f *follower) wait(ctx context.Context) {
	interval := refresh
	if f.idle++; len(f.running) > 0 {
		f.idle = 0
	} else if f.idle <= quickRefreshes {
		interval = quickRefresh
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case id := <-f.ended:
			delete(f.running, id)
			if f.done(id) {
				return
			}
			timer.Reset(quickRefresh)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// drain waits until the readers of a replaced stream have reached its end.
func (f *follower) drain(ctx context.Context) {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for len(f.running) > 0 {
		select {
		case id := <-f.ended:
			delete(f.running, id)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
