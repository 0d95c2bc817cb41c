package dynamodb

import (
	"slices"
	"time"
)

// Limits of the stream operations.
const (
	maxStreams = 100
	minShardID = 28
	maxShardID = 65
)

type listStreamsRequest struct {
	TableName               *string
	Limit                   *int32
	ExclusiveStartStreamArn *string
}

type listedStream struct {
	StreamArn   string
	TableName   string
	StreamLabel string
}

type listStreamsResponse struct {
	Streams                []listedStream
	LastEvaluatedStreamArn string `json:",omitzero"`
}

func (in *listStreamsRequest) check() error {
	var v violations
	if in.TableName != nil {
		v.name(in.TableName, "tableName", minNameBytes)
	}
	checkLimit(&v, in.Limit, maxStreams)
	v.optionalText(in.ExclusiveStartStreamArn, "exclusiveStartStreamArn", minStreamARN, maxStreamARN)
	return v.err()
}

func checkLimit(v *violations, limit *int32, most int32) {
	atLeast(v, limit, "limit", 1)
	atMost(v, limit, "limit", most)
}

// limited is a request's limit, or the most that there is.
func limited(limit *int32, most int) int {
	if limit == nil {
		return most
	}
	return int(*limit)
}

// listStreams lists streams by table and label, the ended ones with the others
// until they are forgotten.
func (db *DB) listStreams(in *listStreamsRequest) (*listStreamsResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	after := ""
	if in.ExclusiveStartStreamArn != nil {
		path, err := parseStreamARN(*in.ExclusiveStartStreamArn)
		if err != nil {
			return nil, err
		}
		after = path
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	now := db.options.Now()
	var streams []*stream
	for path, s := range db.streams {
		if path > after && (in.TableName == nil || s.Table == *in.TableName) && !s.forgotten(now) {
			streams = append(streams, s)
		}
	}
	slices.SortFunc(streams, byPath)
	response := &listStreamsResponse{Streams: []listedStream{}}
	for i, s := range streams {
		if i == limited(in.Limit, maxStreams) {
			response.LastEvaluatedStreamArn = response.Streams[i-1].StreamArn
			break
		}
		response.Streams = append(response.Streams, listedStream{db.streamARN(s.Table, s.Label), s.Table, s.Label})
	}
	return response, nil
}

type shardFilter struct {
	Type    *string
	ShardID *string `json:"ShardId"`
}

type describeStreamRequest struct {
	StreamArn             *string
	Limit                 *int32
	ExclusiveStartShardID *string `json:"ExclusiveStartShardId"`
	ShardFilter           *shardFilter
}

type sequenceRange struct {
	StartingSequenceNumber string
	EndingSequenceNumber   string `json:",omitzero"`
}

type shardDescription struct {
	ShardID             string `json:"ShardId"`
	SequenceNumberRange sequenceRange
}

type streamDescription struct {
	StreamArn               string
	StreamLabel             string
	StreamStatus            string
	StreamViewType          string
	CreationRequestDateTime float64
	TableName               string
	KeySchema               []keySchemaElement
	Shards                  []shardDescription
}

type describeStreamResponse struct {
	StreamDescription streamDescription
}

func (in *describeStreamRequest) check() error {
	var v violations
	v.text(in.StreamArn, "streamArn", minStreamARN, maxStreamARN)
	checkLimit(&v, in.Limit, maxStreams)
	v.optionalText(in.ExclusiveStartShardID, "exclusiveStartShardId", minShardID, maxShardID)
	if in.ShardFilter != nil {
		v.choice(in.ShardFilter.Type, "shardFilter.type", []string{"CHILD_SHARDS"})
		v.text(in.ShardFilter.ShardID, "shardFilter.shardId", minShardID, maxShardID)
	}
	return v.err()
}

// describeStream describes a stream with its one shard, which has no parent and
// no child.
func (db *DB) describeStream(in *describeStreamRequest) (*describeStreamResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	now := db.options.Now()
	s, err := db.findStream(*in.StreamArn, now)
	if err != nil {
		return nil, err
	}
	d := streamDescription{
		StreamArn: *in.StreamArn, StreamLabel: s.Label, StreamStatus: s.status(), StreamViewType: s.View,
		CreationRequestDateTime: s.Created, TableName: s.Table, KeySchema: s.Keys, Shards: []shardDescription{},
	}
	if in.ShardFilter != nil || in.ExclusiveStartShardID != nil && *in.ExclusiveStartShardID >= s.Shard {
		return &describeStreamResponse{d}, nil
	}
	shard, err := db.describeShard(s, now)
	d.Shards = append(d.Shards, shard)
	return &describeStreamResponse{d}, err
}

func (r *streamRecord) status() string {
	if r.Disabled != 0 {
		return "DISABLED"
	}
	return "ENABLED"
}

// describeShard names the numbers of a shard. It starts at the number before the
// oldest record, so that a reader can start there, too, while there is none.
func (db *DB) describeShard(s *stream, now time.Time) (shardDescription, error) {
	horizon, err := db.horizon(s, now)
	if err != nil {
		return shardDescription{}, err
	}
	numbers := sequenceRange{StartingSequenceNumber: sequenceText(horizon)}
	if s.Disabled != 0 {
		numbers.EndingSequenceNumber = sequenceText(s.durable.Load())
	}
	return shardDescription{ShardID: s.Shard, SequenceNumberRange: numbers}, nil
}
