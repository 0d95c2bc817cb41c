package wire

import (
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/values"
)

// Limits of the operations of DynamoDB Streams.
const (
	MaxRecords       = 1000
	maxIteratorBytes = 2048
)

// Types of shard iterators.
const (
	TrimHorizon   = "TRIM_HORIZON"
	Latest        = "LATEST"
	AtSequence    = "AT_SEQUENCE_NUMBER"
	AfterSequence = "AFTER_SEQUENCE_NUMBER"
	AtTimestamp   = "AT_TIMESTAMP"
)

var iteratorTypes = []string{TrimHorizon, Latest, AtSequence, AfterSequence, AtTimestamp}

// LimitOr returns a request's limit, or the maximum if the request has none.
func LimitOr(limit *int32, most int) int {
	if limit == nil {
		return most
	}
	return int(*limit)
}

// ListStreamsRequest is the input of ListStreams.
type ListStreamsRequest struct {
	TableName               string
	Limit                   *int32
	ExclusiveStartStreamArn string
}

// Check checks the request.
func (in *ListStreamsRequest) Check() error { return between("Limit", in.Limit, 1, MaxListed) }

// ListedStream is a stream in the output of ListStreams.
type ListedStream struct {
	StreamArn   string
	TableName   string
	StreamLabel string
}

// ListStreamsResponse is the output of ListStreams.
type ListStreamsResponse struct {
	Streams                []ListedStream
	LastEvaluatedStreamArn string `json:",omitzero"`
}

// DescribeStreamRequest is the input of DescribeStream.
type DescribeStreamRequest struct {
	StreamArn             string
	Limit                 *int32
	ExclusiveStartShardID string `json:"ExclusiveStartShardId"`
}

// Check checks the request.
func (in *DescribeStreamRequest) Check() error {
	return first(required("StreamArn", in.StreamArn != ""), between("Limit", in.Limit, 1, MaxListed))
}

// SequenceRange are the first and, if the shard is closed, the last sequence number of a shard.
type SequenceRange struct {
	StartingSequenceNumber string
	EndingSequenceNumber   string `json:",omitzero"`
}

// ShardDescription describes a shard.
type ShardDescription struct {
	ShardID             string `json:"ShardId"`
	SequenceNumberRange SequenceRange
}

// StreamDescription describes a stream.
type StreamDescription struct {
	StreamArn               string
	StreamLabel             string
	StreamStatus            string
	StreamViewType          string
	CreationRequestDateTime float64
	TableName               string
	KeySchema               []KeySchemaElement
	Shards                  []ShardDescription
}

// DescribeStreamResponse is the output of DescribeStream.
type DescribeStreamResponse struct{ StreamDescription StreamDescription }

// GetShardIteratorRequest is the input of GetShardIterator. Timestamp is in seconds since 1970.
type GetShardIteratorRequest struct {
	StreamArn         string
	ShardID           string `json:"ShardId"`
	ShardIteratorType string
	SequenceNumber    string
	Timestamp         *float64
}

// Check checks the request.
func (in *GetShardIteratorRequest) Check() error {
	bySequence := strings.HasSuffix(in.ShardIteratorType, "_SEQUENCE_NUMBER")
	switch {
	case in.StreamArn == "" || in.ShardID == "":
		return Invalid("StreamArn and ShardId are required")
	case !slices.Contains(iteratorTypes, in.ShardIteratorType):
		return Invalid("ShardIteratorType must be one of %s", strings.Join(iteratorTypes, ", "))
	case bySequence != (in.SequenceNumber != ""):
		return Invalid("SequenceNumber is required for the types with SEQUENCE_NUMBER, and not allowed otherwise")
	case (in.ShardIteratorType == AtTimestamp) != (in.Timestamp != nil):
		return Invalid("Timestamp is required for AT_TIMESTAMP, and not allowed otherwise")
	}
	return nil
}

// GetShardIteratorResponse is the output of GetShardIterator.
type GetShardIteratorResponse struct{ ShardIterator string }

// GetRecordsRequest is the input of GetRecords.
type GetRecordsRequest struct {
	ShardIterator string
	Limit         *int32
}

// Check checks the request.
func (in *GetRecordsRequest) Check() error {
	return first(
		length("ShardIterator", len(in.ShardIterator), 1, maxIteratorBytes), between("Limit", in.Limit, 1, MaxRecords),
	)
}

// GetRecordsResponse is the output of GetRecords.
type GetRecordsResponse struct {
	Records           []StreamRecord
	NextShardIterator string `json:",omitzero"`
}

// StreamRecord is a change of an item.
type StreamRecord struct {
	EventID      string        `json:"eventID"`
	EventName    string        `json:"eventName"`
	EventVersion string        `json:"eventVersion"`
	EventSource  string        `json:"eventSource"`
	AWSRegion    string        `json:"awsRegion"`
	DynamoDB     StreamChange  `json:"dynamodb"`
	UserIdentity *UserIdentity `json:"userIdentity,omitzero"`
}

// StreamChange contains the item before and after a change. ApproximateCreationDateTime is in seconds since 1970.
type StreamChange struct {
	ApproximateCreationDateTime int64
	Keys                        values.Item
	NewImage                    values.Item `json:",omitzero"`
	OldImage                    values.Item `json:",omitzero"`
	SequenceNumber              string
	SizeBytes                   int
	StreamViewType              string
}

// UserIdentity is the identity that changed an item, if it was not the application.
type UserIdentity struct {
	PrincipalID string `json:"PrincipalId"`
	Type        string
}
