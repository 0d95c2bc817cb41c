package dynamodb

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/cockroachdb/pebble/v2/vfs"

	"devplatform/infra/local/datafolder"
)

// TestTrim checks that a sweep deletes the records that are a day old, that readers of them get an error, and that
// their numbers are not used again.
func TestTrim(t *testing.T) {
	t.Parallel()
	files := vfs.NewCrashableMem()
	s := openStreaming(t, onDisk(t, files))
	arn := s.create(t, "things", types.StreamViewTypeNewImage)
	for n := range 40 { // one per hour
		s.put(t, "things", sdkItem{"pk": str("a"), "n": num(n)})
		s.clock.advance(time.Hour)
	}
	if got := s.db.countKeys(t, datafolder.SpaceStreamRecord); got != 40 {
		t.Errorf("%d records stored before a sweep", got)
	}
	s.sweep(t)
	old := s.iterator(t, arn, trimHorizon, nil)
	if got := s.all(t, arn); len(got) != 23 || *got[0].Dynamodb.SequenceNumber != sequence(18) {
		t.Fatalf("got %v", sequences(got))
	}
	if got := *s.describe(t, arn).Shards[0].SequenceNumberRange.StartingSequenceNumber; got != sequence(17) {
		t.Errorf("starts at %s", got)
	}
	s.rejectsTrimmed(t, arn, sequence(16))
	if records, _ := s.get(t, s.iterator(t, arn, atSequence, at(sequence(17))), 1); len(records) != 1 {
		t.Error("nothing at the start")
	}
	if got := s.db.countKeys(t, datafolder.SpaceStreamRecord); got != 23 {
		t.Errorf("%d records stored after a sweep", got)
	}

	s.clock.advance(time.Minute)
	if records, next := s.get(t, old, 2); *records[0].Dynamodb.SequenceNumber != sequence(18) || next == "" {
		t.Errorf("got %v", sequences(records))
	}
	s.clock.advance(time.Hour - 2*time.Minute)
	waiting := s.iterator(t, arn, trimHorizon, nil)
	idle := s.iterator(t, arn, latest, nil)
	s.clock.advance(2 * time.Minute)
	s.sweep(t)
	var trimmed *streamtypes.TrimmedDataAccessException
	if _, err := s.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &waiting}); !errors.As(err, &trimmed) {
		t.Errorf("an iterator of trimmed records: %v", err)
	}
	if records, _ := s.get(t, idle, 0); len(records) > 0 {
		t.Errorf("got %v", sequences(records))
	}

	s.clock.advance(24 * time.Hour)
	s.sweep(t)
	if got := s.all(t, arn); len(got) > 0 {
		t.Errorf("a day later: %v", sequences(got))
	}
	if got := s.db.countKeys(t, datafolder.SpaceStreamRecord); got != 0 {
		t.Errorf("%d records stored a day later", got)
	}
	again := openStreaming(t, onDisk(t, files.CrashClone(vfs.CrashCloneCfg{})))
	again.put(t, "things", sdkItem{"pk": str("b")})
	if got := again.all(t, arn); len(got) != 1 || *got[0].Dynamodb.SequenceNumber != sequence(41) {
		t.Errorf("then: %v", sequences(got))
	}
}

func (s *streaming) sweep(t *testing.T) {
	t.Helper()
	if err := s.db.sweep(); err != nil {
		t.Fatal(err)
	}
}

func (s *streaming) rejectsTrimmed(t *testing.T, arn, number string) {
	t.Helper()
	shard := s.describe(t, arn).Shards[0].ShardId
	for _, kind := range []streamtypes.ShardIteratorType{atSequence, afterSequence} {
		_, err := s.streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &arn, ShardId: shard, ShardIteratorType: kind, SequenceNumber: aws.String(number),
		})
		var trimmed *streamtypes.TrimmedDataAccessException
		if !errors.As(err, &trimmed) {
			t.Errorf("%s %s: %v", kind, number, err)
		}
	}
}

// TestStreamWithClockGoingBack checks the order and the retention of records if the clock is set back. Events have the
// time of the clock.
func TestStreamWithClockGoingBack(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn := s.create(t, "things", types.StreamViewTypeKeysOnly)
	var clock []time.Time
	for _, step := range []time.Duration{0, -time.Second, -20 * time.Minute, 2 * time.Hour} {
		s.clock.advance(step)
		clock = append(clock, s.clock.Now().Truncate(time.Second))
		s.put(t, "things", sdkItem{"pk": str(step.String())})
	}
	for i, record := range s.all(t, arn) {
		if when := *record.Dynamodb.ApproximateCreationDateTime; !when.Equal(clock[i]) {
			t.Errorf("%d: %v, written at %v", i, when, clock[i])
		}
	}
	s.clock.advance(23 * time.Hour)
	s.sweep(t)
	if got := brief(s.all(t, arn)); got != "INSERT 2h0m0s" {
		t.Errorf("a day later: %s", got)
	}
}
