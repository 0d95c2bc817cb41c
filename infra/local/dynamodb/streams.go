package dynamodb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/streams"
	"devplatform/infra/local/dynamodb/wire"

	"github.com/cockroachdb/pebble/v2"
)

// useStream sets the state of a stream after the stream has begun or ended. The change must be durable, and the catalog
// must be locked for writing. A nil state changes nothing.
func (db *DB) useStream(info *streams.Info) {
	if info == nil {
		return
	}
	s := db.streams[info.Path()]
	if s == nil {
		s = &streams.Stream{}
		db.streams[info.Path()] = s
	}
	s.Info = *info
	s.Wake()
}

// switchStream starts or ends a table's stream, and returns its new state.
func (db *DB) switchStream(batch *pebble.Batch, t *catalog.Record, spec *wire.StreamSpec) (*streams.Info, error) {
	switch {
	case spec == nil:
		return nil, nil
	case spec.StreamEnabled && t.StreamView != "":
		return nil, wire.Invalid("Table already has an enabled stream: TableName: %s", t.Name)
	case spec.StreamEnabled:
		return db.startStream(batch, t, spec.StreamViewType)
	case t.StreamView == "":
		return nil, wire.Invalid("Table has no stream to disable: TableName: %s", t.Name)
	}
	return db.endStream(batch, t)
}

// startStream starts a stream for a table without one.
func (db *DB) startStream(batch *pebble.Batch, t *catalog.Record, view string) (*streams.Info, error) {
	id, err := db.store.NewNumber(batch)
	if err != nil {
		return nil, err
	}
	now, label := db.options.Now().UTC(), ""
	for at := now; label == "" || db.streams[streams.Path(t.Name, label)] != nil; at = at.Add(time.Millisecond) {
		label = at.Format("2006-01-02T15:04:05.000")
	}
	info := streams.NewInfo(id, t.Name, label, view, t.Keys, now)
	t.StreamView, t.StreamLabel = view, label
	return &info, info.Save(batch)
}

// endStream closes a table's stream, if it has one. No write is in flight while the catalog is locked for writing.
func (db *DB) endStream(batch *pebble.Batch, t *catalog.Record) (*streams.Info, error) {
	if t.StreamView == "" {
		return nil, nil
	}
	info := db.streams[streams.Path(t.Name, t.StreamLabel)].Info
	info.Disabled = db.options.Now().UnixMilli()
	t.StreamView = ""
	return &info, info.Save(batch)
}

// streamPath returns the path in a stream's ARN.
func streamPath(arn string) (string, error) {
	_, path, _ := strings.Cut(arn, ":table/")
	table, label, _ := strings.Cut(path, "/stream/")
	if !strings.HasPrefix(arn, wire.ARNPrefix) || table == "" || label == "" {
		return "", wire.Invalid("Invalid StreamArn")
	}
	return path, nil
}

// stream returns the stream with an ARN.
func (db *DB) stream(arn string, now time.Time) (*streams.Stream, error) {
	path, err := streamPath(arn)
	if err != nil {
		return nil, err
	}
	s := db.streams[path]
	if s == nil || db.account.StreamARN(s.Table, s.Label) != arn || s.IsExpired(now) {
		return nil, wire.Errorf(wire.TypeNotFound, "Requested resource not found: Stream: %s not found", arn)
	}
	return s, nil
}

// StreamChanged returns a channel that is closed when the stream with this ARN has new records or has ended. It returns
// nil if there is no such stream. A reader that gets the channel before it reads the stream misses no record.
func (db *DB) StreamChanged(arn string) <-chan struct{} {
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	s, err := db.stream(arn, db.options.Now())
	if err != nil {
		return nil
	}
	return s.Changed()
}

// listStreams lists streams by table and label. Ended streams are listed until they expire.
func (db *DB) listStreams(in *wire.ListStreamsRequest) (*wire.ListStreamsResponse, error) {
	after := ""
	if in.ExclusiveStartStreamArn != "" {
		var err error
		if after, err = streamPath(in.ExclusiveStartStreamArn); err != nil {
			return nil, err
		}
	}
	now := db.options.Now()
	response := &wire.ListStreamsResponse{Streams: []wire.ListedStream{}}
	for _, path := range slices.Sorted(maps.Keys(db.streams)) {
		s := db.streams[path]
		if path <= after || in.TableName != "" && s.Table != in.TableName || s.IsExpired(now) {
			continue
		}
		if n := len(response.Streams); n == wire.LimitOr(in.Limit, wire.MaxListed) {
			response.LastEvaluatedStreamArn = response.Streams[n-1].StreamArn
			break
		}
		response.Streams = append(response.Streams, wire.ListedStream{
			StreamArn: db.account.StreamARN(s.Table, s.Label), TableName: s.Table, StreamLabel: s.Label,
		})
	}
	return response, nil
}

// describeStream describes a stream with its only shard, which has no parent and no children.
func (db *DB) describeStream(in *wire.DescribeStreamRequest) (*wire.DescribeStreamResponse, error) {
	now := db.options.Now()
	s, err := db.stream(in.StreamArn, now)
	if err != nil {
		return nil, err
	}
	d := wire.StreamDescription{
		StreamArn: in.StreamArn, StreamLabel: s.Label, StreamStatus: s.Status(), StreamViewType: s.View,
		CreationRequestDateTime: s.Created, TableName: s.Table, KeySchema: s.Keys, Shards: []wire.ShardDescription{},
	}
	if in.ExclusiveStartShardID < s.Shard {
		// The shard begins before its oldest record, so that readers can start there even if there are no records.
		horizon, err := s.TrimHorizon(db.store.DB, now)
		if err != nil {
			return nil, err
		}
		numbers := wire.SequenceRange{StartingSequenceNumber: streams.SequenceNumber(horizon)}
		if s.Disabled != 0 {
			numbers.EndingSequenceNumber = streams.SequenceNumber(s.Durable())
		}
		d.Shards = append(d.Shards, wire.ShardDescription{ShardID: s.Shard, SequenceNumberRange: numbers})
	}
	return &wire.DescribeStreamResponse{StreamDescription: d}, nil
}

func (db *DB) getShardIterator(in *wire.GetShardIteratorRequest) (*wire.GetShardIteratorResponse, error) {
	now := db.options.Now()
	s, err := db.stream(in.StreamArn, now)
	if err != nil {
		return nil, err
	}
	if in.ShardID != s.Shard {
		return nil, wire.Errorf(wire.TypeNotFound, "Requested resource not found: Shard: %s not found", in.ShardID)
	}
	after, err := s.Start(db.store.DB, in, now)
	if err != nil {
		return nil, err
	}
	return &wire.GetShardIteratorResponse{ShardIterator: s.Iterator(in.StreamArn, after, now)}, nil
}

// getRecords reads the records after an iterator. For a reader that has all records it does not read the store.
func (db *DB) getRecords(in *wire.GetRecordsRequest) (*wire.GetRecordsResponse, error) {
	arn, position, err := streams.SplitIterator(in.ShardIterator)
	if err != nil {
		return nil, err
	}
	now := db.options.Now()
	s, err := db.stream(arn, now)
	if err != nil {
		return nil, err
	}
	after, err := s.Position(position, now)
	if err != nil {
		return nil, err
	}
	last := s.Durable()
	horizon, err := s.TrimHorizon(db.store.DB, now)
	switch {
	case err != nil:
		return nil, err
	case after > last:
		return nil, streams.ErrInvalidIterator
	case after < horizon:
		return nil, streams.ErrTrimmed
	}
	records, after, err := s.Read(db.store.DB, after, last, wire.LimitOr(in.Limit, wire.MaxRecords))
	if err != nil {
		return nil, err
	}
	for i := range records {
		records[i].AWSRegion = db.options.Region
	}
	response := &wire.GetRecordsResponse{Records: records}
	if s.Disabled == 0 || after < last {
		response.NextShardIterator = s.Iterator(arn, after, now)
	}
	return response, nil
}

// sweepStreams deletes expired records, and streams that ended before the retention.
func (db *DB) sweepStreams(now time.Time) error {
	db.catalog.RLock()
	expired := false
	var errs []error
	for _, s := range db.streams {
		if s.IsExpired(now) {
			expired = true
			continue
		}
		errs = append(errs, s.Trim(db.store.Folder, now))
	}
	db.catalog.RUnlock()
	if expired {
		errs = append(errs, db.dropStreams(now))
	}
	return errors.Join(errs...)
}

func (db *DB) dropStreams(now time.Time) error {
	db.catalog.Lock()
	defer db.catalog.Unlock()
	isExpired := func(_ string, s *streams.Stream) bool { return s.IsExpired(now) }
	err := db.store.Update(func(batch *pebble.Batch) (err error) {
		for path, s := range db.streams {
			if isExpired(path, s) {
				err = errors.Join(err, s.Drop(batch))
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting ended streams: %w", err)
	}
	maps.DeleteFunc(db.streams, isExpired)
	return nil
}
