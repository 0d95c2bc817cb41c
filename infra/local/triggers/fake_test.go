package triggers

import (
	"context"
	"fmt"
	"maps"
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

// fake is a table with a stream that can fail in ways that the engine can't. Other tests run on the engine. Sequence numbers
// count the stream's records from 100.
type fake struct {
	mu      sync.Mutex
	arn     string // "": the table has no stream
	shards  []*fakeShard
	written int
	era     int                     // of iterators
	fault   func(op string) error   // before an operation
	empty   int                     // pages without records at a shard's beginning
	page    int                     // records of a page, 0: as many as requested
	before  map[string][]*fakeShard // streams that the table had before, by ARN
	calls   map[string]int
}

type fakeShard struct {
	id, parent string
	records    []types.Record
	trimmed    int // number of records that have expired
	closed     bool
}

const fakeARN = "arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/2026-11-21T00:00:00.000"

func newFake() *fake {
	return &fake{arn: fakeARN, shards: []*fakeShard{{id: "shard-1"}}, calls: map[string]int{}, written: 99}
}

// put writes records with these partition keys to the last shard, and returns their sequence numbers.
func (f *fake) put(keys ...string) []string { return f.putTo(len(f.shards)-1, keys...) }

func (f *fake) putTo(shard int, keys ...string) (sequences []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		f.written++
		sequences = append(sequences, strconv.Itoa(f.written))
		id := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: key}}
		f.shards[shard].records = append(f.shards[shard].records, types.Record{
			EventID: aws.String("event-" + strconv.Itoa(f.written)), EventName: types.OperationTypeInsert,
			EventVersion: aws.String("1.1"), EventSource: aws.String("aws:dynamodb"), AwsRegion: aws.String("us-east-1"),
			Dynamodb: &types.StreamRecord{
				ApproximateCreationDateTime: aws.Time(time.Now().Truncate(time.Second)), Keys: id, NewImage: maps.Clone(id), SizeBytes: aws.Int64(4),
				SequenceNumber: aws.String(strconv.Itoa(f.written)), StreamViewType: types.StreamViewTypeNewImage,
			},
		})
	}
	return sequences
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

// enter locks the fake until the returned function is called.
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

// DescribeStream returns one shard on each page.
func (f *fake) DescribeStream(_ context.Context, in *dynamodbstreams.DescribeStreamInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	leave, err := f.enter("DescribeStream")
	if err != nil {
		return nil, err
	}
	defer leave()
	if *in.StreamArn != f.arn {
		return nil, &types.ResourceNotFoundException{Message: aws.String("no such stream")}
	}
	out := &types.StreamDescription{StreamArn: in.StreamArn}
	for i, s := range f.shards {
		if in.ExclusiveStartShardId != nil && s.id <= *in.ExclusiveStartShardId {
			continue
		}
		shard := types.Shard{ShardId: &s.id, SequenceNumberRange: &types.SequenceNumberRange{}}
		if s.parent != "" {
			shard.ParentShardId = &s.parent
		}
		if s.closed {
			shard.SequenceNumberRange.EndingSequenceNumber = aws.String("1")
		}
		out.Shards = []types.Shard{shard}
		if i+1 < len(f.shards) {
			out.LastEvaluatedShardId = &s.id
		}
		break
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: out}, nil
}

func (f *fake) shard(arn, id string) *fakeShard {
	shards := f.before[arn]
	if arn == f.arn {
		shards = f.shards
	}
	for _, s := range shards {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (f *fake) GetShardIterator(_ context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	leave, err := f.enter("GetShardIterator")
	if err != nil {
		return nil, err
	}
	defer leave()
	s := f.shard(*in.StreamArn, *in.ShardId)
	if s == nil {
		return nil, &types.ResourceNotFoundException{Message: aws.String("no such shard")}
	}
	at := 0
	switch in.ShardIteratorType {
	case types.ShardIteratorTypeTrimHorizon:
		at = s.trimmed
	case types.ShardIteratorTypeLatest:
		at = len(s.records)
	default:
		for at < len(s.records) && sequence(s.records[at]) != *in.SequenceNumber {
			at++
		}
		if at == len(s.records) {
			return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "Invalid SequenceNumber"}
		}
		if at < s.trimmed {
			return nil, &types.TrimmedDataAccessException{Message: aws.String("trimmed")}
		}
		if in.ShardIteratorType == types.ShardIteratorTypeAfterSequenceNumber {
			at++
		}
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(fmt.Sprintf("%d|%s|%d|%s", f.era, s.id, at, *in.StreamArn))}, nil
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
	s := f.shard(parts[3], parts[1])
	if s == nil {
		return nil, &types.ResourceNotFoundException{Message: aws.String("no such shard")}
	}
	at, _ := strconv.Atoi(parts[2])
	if at < s.trimmed {
		return nil, &types.TrimmedDataAccessException{Message: aws.String("trimmed")}
	}
	limit := int(*in.Limit)
	if f.page > 0 {
		limit = f.page
	}
	if f.empty > 0 && at == 0 && len(s.records) > 0 {
		f.empty--
		limit = 0
	}
	page := s.records[at:min(at+limit, len(s.records))]
	out := &dynamodbstreams.GetRecordsOutput{Records: page}
	if at += len(page); !s.closed || at < len(s.records) {
		out.NextShardIterator = aws.String(fmt.Sprintf("%d|%s|%d|%s", f.era, s.id, at, parts[3]))
	}
	return out, nil
}
