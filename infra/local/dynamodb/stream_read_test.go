package dynamodb

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
)

// at sets the sequence number of a requested iterator.
func at(sequence string) func(*dynamodbstreams.GetShardIteratorInput) {
	return func(in *dynamodbstreams.GetShardIteratorInput) { in.SequenceNumber = &sequence }
}

const (
	trimHorizon   = streamtypes.ShardIteratorTypeTrimHorizon
	latest        = streamtypes.ShardIteratorTypeLatest
	atSequence    = streamtypes.ShardIteratorTypeAtSequenceNumber
	afterSequence = streamtypes.ShardIteratorTypeAfterSequenceNumber
)

func sequence(n int) string { return fmt.Sprintf("1%020d", n) }

func TestShardIterators(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn := s.create(t, "things", types.StreamViewTypeKeysOnly)
	beginnings := []string{ // in a stream without records
		s.iterator(t, arn, trimHorizon, nil), s.iterator(t, arn, latest, nil),
		s.iterator(t, arn, atSequence, at(sequence(0))), s.iterator(t, arn, afterSequence, at(sequence(0))),
	}
	for _, key := range []string{"a", "b", "c"} { // at 0, 1.5 and 3 seconds
		s.put(t, "things", sdkItem{"pk": str(key)})
		s.clock.advance(1500 * time.Millisecond)
	}
	for i, iterator := range beginnings {
		if records, _ := s.get(t, iterator, 0); brief(records) != "INSERT a, INSERT b, INSERT c" {
			t.Errorf("beginning %d: %s", i, brief(records))
		}
	}
	for _, test := range []struct {
		kind   streamtypes.ShardIteratorType
		change func(*dynamodbstreams.GetShardIteratorInput)
		want   string
	}{
		{trimHorizon, nil, "INSERT a, INSERT b, INSERT c"},
		{latest, nil, ""},
		{atSequence, at(sequence(0)), "INSERT a, INSERT b, INSERT c"},
		{afterSequence, at(sequence(0)), "INSERT a, INSERT b, INSERT c"},
		{atSequence, at(sequence(1)), "INSERT a, INSERT b, INSERT c"},
		{afterSequence, at(sequence(1)), "INSERT b, INSERT c"},
		{atSequence, at(sequence(2)), "INSERT b, INSERT c"},
		{afterSequence, at(sequence(3)), ""},
	} {
		var in dynamodbstreams.GetShardIteratorInput
		if test.change != nil {
			test.change(&in)
		}
		name := fmt.Sprint(test.kind, aws.ToString(in.SequenceNumber), aws.ToTime(in.Timestamp))
		records, next := s.get(t, s.iterator(t, arn, test.kind, test.change), 0)
		if got := brief(records); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if again, _ := s.get(t, next, 0); len(again) > 0 {
			t.Errorf("%s: then %s", name, brief(again))
		}
	}
}

func TestRecordPages(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn := s.create(t, "things", types.StreamViewTypeNewImage)
	const total = 1003
	for first := 0; first < total; first += maxBatchWrites {
		var puts []string
		for n := first; n < min(total, first+maxBatchWrites); n++ {
			puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%d"}}}}`, n))
		}
		must(t, s.db, "BatchWriteItem", `{"RequestItems":{"things":[`+strings.Join(puts, ",")+`]}}`)
	}
	iterator := s.iterator(t, arn, trimHorizon, nil)
	var sizes []int
	seen := 0
	for _, limit := range []int32{1, 1000, 0, 5} {
		var records []streamtypes.Record
		records, iterator = s.get(t, iterator, limit)
		sizes = append(sizes, len(records))
		for _, record := range records {
			if seen++; *record.Dynamodb.SequenceNumber != sequence(seen) {
				t.Fatalf("record %d is %s", seen, *record.Dynamodb.SequenceNumber)
			}
		}
	}
	if diff := cmp.Diff([]int{1, 1000, 2, 0}, sizes); diff != "" {
		t.Error(diff)
	}
	for _, key := range []string{"a", "b", "c", "d"} { // 390 KB each: two fit
		s.put(t, "things", sdkItem{"pk": str(key), "v": str(strings.Repeat("x", 390<<10))})
	}
	records, next := s.get(t, iterator, 0)
	rest, _ := s.get(t, next, 0)
	if brief(records) != "INSERT a, INSERT b" || brief(rest) != "INSERT c, INSERT d" {
		t.Errorf("got %s, then %s", brief(records), brief(rest))
	}
	if got := *records[0].Dynamodb.SizeBytes; got != 2*3+1+390<<10 {
		t.Errorf("size %d", got)
	}
}

// TestIteratorsLast checks that iterators are valid for 15 minutes, also after a restart.
func TestIteratorsLast(t *testing.T) {
	t.Parallel()
	files := vfs.NewCrashableMem()
	s := openStreaming(t, onDisk(t, files))
	arn := s.create(t, "things", types.StreamViewTypeKeysOnly)
	s.put(t, "things", sdkItem{"pk": str("a")})
	iterator := s.iterator(t, arn, trimHorizon, nil)
	again := openStreaming(t, onDisk(t, files.CrashClone(vfs.CrashCloneCfg{})))
	again.clock.advance(15 * time.Minute)
	records, next := again.get(t, iterator, 0)
	if brief(records) != "INSERT a" {
		t.Errorf("got %s", brief(records))
	}
	again.clock.advance(time.Second)
	_, err := again.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator})
	var expired *streamtypes.ExpiredIteratorException
	if !errors.As(err, &expired) {
		t.Errorf("after 15 minutes: %v", err)
	}
	if records, _ := again.get(t, next, 0); len(records) > 0 {
		t.Errorf("then got %s", brief(records))
	}
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn := s.create(t, "things", types.StreamViewTypeKeysOnly)
	s.put(t, "things", sdkItem{"pk": str("a")})
	shard := *s.describe(t, arn).Shards[0].ShardId
	iterator := s.iterator(t, arn, latest, nil)
	position, _ := base64.StdEncoding.DecodeString(iterator[strings.LastIndex(iterator, "|")+1:])
	position[7]++
	forged := iterator[:strings.LastIndex(iterator, "|")+1] + base64.StdEncoding.EncodeToString(position)
	path, _ := streamPath(arn)
	ahead := s.db.streams[path].iterator(arn, 2, s.clock.Now())
	const (
		missing = "arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/2020-01-01T00:00:00.000"
		foreign = "arn:aws:dynamodb:eu-west-1:000000000000:table/things/stream/2026-11-20T12:00:00.000"
	)
	noArn := strings.Repeat("x", 40)
	place := func(more string) string { return fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q%s}`, arn, shard, more) }
	for want, requests := range map[string][][2]string{
		"ValidationException": {
			{"ListStreams", `{"Limit":1}`},
			{"DescribeStream", `{}`},
			{"DescribeStream", `{"StreamArn":"` + noArn + `"}`},
			{"GetShardIterator", `{}`},
			{"GetShardIterator", place(`,"ShardIteratorType":""`)},
			{"GetShardIterator", place(`,"ShardIteratorType":"LATEST","SequenceNumber":"` + sequence(1) + `"`)},
			{"GetShardIterator", place(`,"ShardIteratorType":"AT_SEQUENCE_NUMBER"`)},
			{"GetShardIterator", place(`,"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"1"`)},
			{"GetShardIterator", place(`,"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"` + strings.Repeat("x", 21) + `"`)},
			{"GetShardIterator", place(`,"ShardIteratorType":"AFTER_SEQUENCE_NUMBER","SequenceNumber":"` + sequence(2) + `"`)},
			{"GetShardIterator", place(`,"ShardIteratorType":"AT_TIMESTAMP"`)},
			{"GetShardIterator", place(`,"ShardIteratorType":"LATEST","Timestamp":1`)},
			{"GetRecords", `{}`},
			{"GetRecords", `{"ShardIterator":""}`},
			{"GetRecords", `{"ShardIterator":"` + noArn + `"}`},
			{"GetRecords", `{"ShardIterator":"` + iterator[:len(iterator)-1] + `"}`},
			{"GetRecords", `{"ShardIterator":"` + forged + `"}`},
			{"GetRecords", `{"ShardIterator":"` + ahead + `"}`},
			{"GetRecords", `{"ShardIterator":"` + iterator + `","Limit":0}`},
			{"GetRecords", `{"ShardIterator":"` + iterator + `","Limit":1001}`},
		},
		"SerializationException": {
			{"ListStreams", `{"TableName":1}`},
		},
		"ResourceNotFoundException": {
			{"DescribeStream", `{"StreamArn":"` + missing + `"}`},
			{"DescribeStream", `{"StreamArn":"` + foreign + `"}`},
			{"GetShardIterator", `{"StreamArn":"` + arn + `","ShardId":"` + noArn + `","ShardIteratorType":"LATEST"}`},
			{"GetShardIterator", `{"StreamArn":"` + missing + `","ShardId":"` + shard + `","ShardIteratorType":"LATEST"}`},
			{"GetRecords", `{"ShardIterator":"` + strings.Replace(iterator, arn, missing, 1) + `"}`},
		},
		"UnknownOperationException": {
			{"PutItem", `{}`},
		},
	} {
		for _, request := range requests {
			if got := callStream(t, s.db, request[0], request[1]); got.errorType() != want {
				t.Errorf("%s %s: got %s, want %s", request[0], request[1], got.raw, want)
			}
		}
	}
	if got := call(t, s.db, "GetRecords", `{}`).errorType(); got != "UnknownOperationException" {
		t.Errorf("got %s", got)
	}
}
