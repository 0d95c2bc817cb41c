package triggers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"devplatform/infra/local/resources"
)

func TestTrimmedPosition(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a")
		r.Start()
		after(time.Second)
		r.close(t)
		r.fake.put("b", "c", "d")
		r.fake.streams[fakeARN].trimmed = 2
		r.open(t)
		r.Start()
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"100", "102 103"})
		equal(t, "warnings", r.logs.count("WARN the stream does not have the position"), 1)
	})
}

// The positions do not exist in the stream, for example because only the tables were restored.
func TestRefusedPosition(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a", "b")
		r.Start()
		after(time.Second)
		r.close(t)
		r.fake.streams[fakeARN].records = r.fake.streams[fakeARN].records[:1]
		r.open(t)
		r.Start()
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100 101", "100"})
		equal(t, "warnings", []int{r.logs.count("WARN the stream does not have the position"), r.logs.count("WARN")}, []int{1, 1})
	})
}

func TestExpiredIterator(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a")
		r.Start()
		after(time.Second)
		r.fake.change(func() { r.fake.era++ })
		r.fake.put("b")
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"100", "101"})
		equal(t, "warnings", r.logs.count("WARN"), 0)
	})
}

func TestTableWithoutAStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, func(r *rig) { r.fake.arn = "" })
		r.fake.put("a")
		r.Start()
		after(time.Minute)
		r.fake.change(func() { r.fake.arn = fakeARN })
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100"})
		equal(t, "log", []int{r.logs.count("WARN the stream can't be read"), r.logs.count("INFO the stream can be read again")}, []int{1, 1})
	})
}

func TestEndpointAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a")
		r.Start()
		after(time.Second)
		for range 2 {
			r.fake.change(func() { r.fake.fault = func(string) error { return errors.New("connection refused") } })
			calls := r.fake.count("GetRecords")
			after(time.Hour)
			if n := r.fake.count("GetRecords") - calls; n < 1000 || n > 4000 { // the longest backoff of the rig is a second
				t.Errorf("%d tries in an hour", n)
			}
			r.fake.put("b")
			r.fake.change(func() { r.fake.fault = nil })
			after(time.Minute)
		}
		equal(t, "batches", r.function.seen(), []string{"100", "101", "102"})
		equal(t, "log", []int{r.logs.count("WARN the stream can't be read"), r.logs.count("INFO the stream can be read again")}, []int{2, 2})
	})
}

// A stream that was replaced is read to its end, and then the new one is read.
func TestReplacedStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.BatchSize = 1 }))
		r.function.handle = func(context.Context, []string) (string, error) {
			time.Sleep(15 * time.Second)
			return "", nil
		}
		r.fake.put("a", "b", "c")
		r.Start()
		after(time.Second)
		r.fake.change(func() { r.fake.replace(fakeARN + "-2") })
		r.fake.put("d")
		after(3 * time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100", "101", "102", "103"})
		received, _ := r.function.received()
		equal(t, "arn", received[3].Records[0].EventSourceArn, fakeARN+"-2")
		equal(t, "warnings", r.logs.count("WARN the table has a new stream"), 1)
		equal(t, "position", r.savedPosition(t), "103")
	})
}

// The stream of a deleted table is gone. The stream of a new table with the same name is read from its beginning.
func TestStreamOfAnotherTable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a")
		r.Start()
		after(time.Second)
		r.fake.change(func() {
			delete(r.fake.streams, fakeARN)
			r.fake.replace(fakeARN + "-2")
		})
		r.fake.put("b")
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100", "101"})
		equal(t, "warnings", r.logs.count("WARN the stream is gone"), 1)
	})
}

func TestTableWithTwoShards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		m := r.mappings[0].(*streamMapping)
		m.streams = twoShards{r.fake}
		r.Start()
		after(time.Minute)
		equal(t, "warnings", r.logs.count("WARN the stream can't be read"), 1)
	})
}

type twoShards struct{ *fake }

func (twoShards) DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: &types.StreamDescription{Shards: make([]types.Shard, 2)}}, nil
}
