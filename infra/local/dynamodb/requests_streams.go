package dynamodb

import (
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

// Limits of the operations of DynamoDB Streams.
const (
	maxRecords       = 1000
	maxIteratorBytes = 2048
)

// Types of shard iterators.
const (
	startTrimHorizon   = "TRIM_HORIZON"
	startLatest        = "LATEST"
	startAtSequence    = "AT_SEQUENCE_NUMBER"
	startAfterSequence = "AFTER_SEQUENCE_NUMBER"
)

var iteratorTypes = []string{startTrimHorizon, startLatest, startAtSequence, startAfterSequence}

// limitOr returns a request's limit, or the maximum if the request has none.
func limitOr(limit *int32, most int) int {
	if limit == nil {
		return most
	}
	return int(*limit)
}

type listStreamsRequest struct {
	TableName               string
	Limit                   *int32
	ExclusiveStartStreamArn string
}

func (in *listStreamsRequest) check() error { return between("Limit", in.Limit, 1, maxListed) }

// listedStream is a stream in the output of ListStreams.
type listedStream struct {
	StreamArn   string
	TableName   string
	StreamLabel string
}

type listStreamsResponse struct {
	Streams                []listedStream
	LastEvaluatedStreamArn string `json:",omitzero"`
}

type describeStreamRequest struct {
	StreamArn             string
	Limit                 *int32
	ExclusiveStartShardID string `json:"ExclusiveStartShardId"`
}

func (in *describeStreamRequest) check() error {
	return first(required("StreamArn", in.StreamArn != ""), between("Limit", in.Limit, 1, maxListed))
}

// sequenceRange are the first and, if the shard is closed, the last sequence number of a shard.
type sequenceRange struct {
	StartingSequenceNumber string
	EndingSequenceNumber   string `json:",omitzero"`
}

// shardDescription describes a shard.
type shardDescription struct {
	ShardID             string `json:"ShardId"`
	SequenceNumberRange sequenceRange
}

// streamDescription describes a stream.
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

type describeStreamResponse struct{ StreamDescription streamDescription }

// getShardIteratorRequest is the input of GetShardIterator.
type getShardIteratorRequest struct {
	StreamArn         string
	ShardID           string `json:"ShardId"`
	ShardIteratorType string
	SequenceNumber    string
}

func (in *getShardIteratorRequest) check() error {
	bySequence := strings.HasSuffix(in.ShardIteratorType, "_SEQUENCE_NUMBER")
	switch {
	case in.StreamArn == "" || in.ShardID == "":
		return invalid("StreamArn and ShardId are required")
	case !slices.Contains(iteratorTypes, in.ShardIteratorType):
		return invalid("ShardIteratorType must be one of %s", strings.Join(iteratorTypes, ", "))
	case bySequence != (in.SequenceNumber != ""):
		return invalid("SequenceNumber is required for the types with SEQUENCE_NUMBER, and not allowed otherwise")
	}
	return nil
}

type getShardIteratorResponse struct{ ShardIterator string }

type getRecordsRequest struct {
	ShardIterator string
	Limit         *int32
}

func (in *getRecordsRequest) check() error {
	return first(
		length("ShardIterator", len(in.ShardIterator), 1, maxIteratorBytes), between("Limit", in.Limit, 1, maxRecords),
	)
}

type getRecordsResponse struct {
	Records           []streamRecord
	NextShardIterator string `json:",omitzero"`
}

// streamRecord is a change of an item.
type streamRecord struct {
	EventID      string        `json:"eventID"`
	EventName    string        `json:"eventName"`
	EventVersion string        `json:"eventVersion"`
	EventSource  string        `json:"eventSource"`
	AWSRegion    string        `json:"awsRegion"`
	DynamoDB     streamChange  `json:"dynamodb"`
	UserIdentity *userIdentity `json:"userIdentity,omitzero"`
}

// streamChange contains the item before and after a change. ApproximateCreationDateTime is in seconds since 1970.
type streamChange struct {
	ApproximateCreationDateTime int64
	Keys                        values.Item
	NewImage                    values.Item `json:",omitzero"`
	OldImage                    values.Item `json:",omitzero"`
	SequenceNumber              string
	SizeBytes                   int
	StreamViewType              string
}

// userIdentity is the identity that changed an item, if it was not the application.
type userIdentity struct {
	PrincipalID string `json:"PrincipalId"`
	Type        string
}
