package triggers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
)

// fake is a table with a stream that can fail in ways that the engine can't. Other tests run on the engine. Sequence
// numbers count the records from 100.
type fake struct {
	mu      sync.Mutex
	arn     string                 // "": the table has no stream
	streams map[string]*fakeStream // also streams that the table had before, by ARN
	written int
	era     int                   // iterators of earlier eras have expired
	fault   func(op string) error // before an operation
	page    int                   // records of a page, 0: as many as requested
	calls   map[string]int
}

type fakeStream struct {
	records []types.Record
	trimmed int // number of records that have expired
	closed  bool
}

const fakeARN = "arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/2026-11-21T00:00:00.000"

func newFake() *fake {
	f := &fake{streams: map[string]*fakeStream{}, calls: map[string]int{}, written: 99}
	f.replace(fakeARN)
	return f
}

// replace closes the stream of the table, and enables another one.
func (f *fake) replace(arn string) {
	if before := f.streams[f.arn]; before != nil {
		before.closed = true
	}
	f.arn, f.streams[arn] = arn, &fakeStream{}
}

// put writes records with these partition keys.
func (f *fake) put(keys ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stream := f.streams[cmp.Or(f.arn, fakeARN)]
	for _, key := range keys {
		f.written++
		id := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: key}}
		stream.records = append(stream.records, types.Record{
			EventID: aws.String("event-" + strconv.Itoa(f.written)), EventName: types.OperationTypeInsert,
			EventVersion: aws.String("1.1"), EventSource: aws.String("aws:dynamodb"), AwsRegion: aws.String("us-east-1"),
			Dynamodb: &types.StreamRecord{
				ApproximateCreationDateTime: aws.Time(time.Now().Truncate(time.Second)), Keys: id, NewImage: maps.Clone(id), SizeBytes: aws.Int64(4),
				SequenceNumber: aws.String(strconv.Itoa(f.written)), StreamViewType: types.StreamViewTypeNewImage,
			},
		})
	}
}

func (f *fake) change(c func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c()
}

// count returns the number of calls of an operation.
func (f *fake) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// enter counts a call, and locks the fake until the returned function is called. It returns the injected error.
func (f *fake) enter(op string) (func(), error) {
	f.mu.Lock()
	f.calls[op]++
	fault := f.fault
	f.mu.Unlock()
	if fault != nil {
		if err := fault(op); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	return f.mu.Unlock, nil
}

func (f *fake) DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	leave, err := f.enter("DescribeTable")
	if err != nil {
		return nil, err
	}
	defer leave()
	table := &dynamodbtypes.TableDescription{KeySchema: []dynamodbtypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: dynamodbtypes.KeyTypeHash}}}
	if f.arn != "" {
		table.LatestStreamArn = aws.String(f.arn)
	}
	return &dynamodb.DescribeTableOutput{Table: table}, nil
}

// find returns a stream, or the error that it does not exist.
func (f *fake) find(arn string) (*fakeStream, error) {
	if s := f.streams[arn]; s != nil {
		return s, nil
	}
	return nil, &types.ResourceNotFoundException{Message: aws.String("no such stream")}
}

func (f *fake) DescribeStream(_ context.Context, in *dynamodbstreams.DescribeStreamInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	leave, err := f.enter("DescribeStream")
	if err != nil {
		return nil, err
	}
	defer leave()
	if _, err := f.find(*in.StreamArn); err != nil {
		return nil, err
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: &types.StreamDescription{Shards: []types.Shard{{ShardId: aws.String("shard-1")}}}}, nil
}

func (f *fake) GetShardIterator(_ context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	leave, err := f.enter("GetShardIterator")
	if err != nil {
		return nil, err
	}
	defer leave()
	s, err := f.find(*in.StreamArn)
	if err != nil {
		return nil, err
	}
	at := s.trimmed
	if in.ShardIteratorType == types.ShardIteratorTypeAfterSequenceNumber {
		at = slices.IndexFunc(s.records, func(r types.Record) bool { return sequence(r) == *in.SequenceNumber })
		switch {
		case at < 0:
			return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "Invalid SequenceNumber"}
		case at < s.trimmed:
			return nil, &types.TrimmedDataAccessException{Message: aws.String("trimmed")}
		}
		at++
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(fmt.Sprintf("%d|%d|%s", f.era, at, *in.StreamArn))}, nil
}

func (f *fake) GetRecords(_ context.Context, in *dynamodbstreams.GetRecordsInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	leave, err := f.enter("GetRecords")
	if err != nil {
		return nil, err
	}
	defer leave()
	parts := strings.Split(*in.ShardIterator, "|")
	if parts[0] != strconv.Itoa(f.era) {
		return nil, &types.ExpiredIteratorException{Message: aws.String("expired")}
	}
	s, err := f.find(parts[2])
	if err != nil {
		return nil, err
	}
	at, _ := strconv.Atoi(parts[1])
	if at < s.trimmed {
		return nil, &types.TrimmedDataAccessException{Message: aws.String("trimmed")}
	}
	limit := int(*in.Limit)
	if f.page > 0 {
		limit = f.page
	}
	page := s.records[at:min(at+limit, len(s.records))]
	out := &dynamodbstreams.GetRecordsOutput{Records: page}
	if at += len(page); !s.closed || at < len(s.records) {
		out.NextShardIterator = aws.String(fmt.Sprintf("%d|%d|%s", f.era, at, parts[2]))
	}
	return out, nil
}
