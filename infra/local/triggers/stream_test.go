package triggers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/resources"
)

// fakeSlow is the fake time that a slow invocation takes.
const fakeSlow = 15 * time.Second

func TestLatestIsResolvedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.StartingPosition = latest }))
		r.fake.put("before", "before")
		r.Start()
		after(time.Second)
		r.close(t)
		r.fake.put("while it is down") // a new LATEST would skip it
		r.open(t)
		r.fake.put("after")
		r.Start()
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"102 103"})
		r.close(t)
	})
}

func TestLatestOfAnEmptyStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.StartingPosition = latest }))
		r.Start()
		after(time.Second)
		r.close(t)
		r.fake.put("a")
		r.open(t)
		r.Start()
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"100"})
	})
}

// A shard may return pages without records before others.
func TestLatestBehindEmptyPages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, func(r *rig) {
			r.spec.StartingPosition = latest
			r.fake.empty = maxEmptyPages - 1
		})
		r.fake.put("before", "before")
		r.Start()
		after(5 * time.Second)
		equal(t, "position", r.position(t, "shard-1"), position{positionAfter, "101"})
		r.fake.put("after")
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"102"})
	})
}

// The search for LATEST ends while records are written all the time.
func TestLatestOfABusyStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.StartingPosition = latest }))
		r.fake.put("before")
		r.Start()
		for range 100 {
			after(100 * time.Millisecond)
			r.fake.put("meanwhile")
		}
		after(time.Second)
		first, _, _ := strings.Cut(strings.Join(r.function.seen(), " "), " ")
		equal(t, "first", first, "101")
		equal(t, "position", r.position(t, "shard-1"), position{positionAfter, "200"})
	})
}

// Records that are written while LATEST is resolved are delivered.
func TestLatestWithWritesMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.StartingPosition = latest }))
		r.fake.put("before")
		r.fake.fault = func(op string) error {
			if op == "GetShardIterator" && r.fake.count(op) == 2 { // the tip is known, the records before it are not yet
				r.fake.put("meanwhile")
			}
			return nil
		}
		r.Start()
		after(time.Second)
		r.fake.put("after")
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"101", "102"})
	})
}

func TestLatestSkipsClosedShards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, with(func(s *resources.EventSourceMapping) { s.StartingPosition = latest }))
		r.fake.put("old")
		r.fake.shards[0].closed = true
		r.fake.shards = append(r.fake.shards, &fakeShard{id: "shard-2", parent: "shard-1"})
		r.fake.put("old")
		r.Start()
		after(time.Second)
		r.fake.put("new")
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"102"})
		equal(t, "closed shard", r.position(t, "shard-1"), position{Kind: positionEnd})
	})
}

// Parents are done before their children begin, new shards are found, and the positions of expired shards are deleted.
func TestShards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.function.handle = func(_ context.Context, batch []string) (string, error) {
			if batch[0] == "100" && len(r.function.seen()) < 4 {
				return "", errFunction
			}
			return "", nil
		}
		r.fake.put("a")
		r.fake.shards[0].closed = true
		r.fake.shards = append(r.fake.shards, &fakeShard{id: "shard-2", parent: "shard-1"}, &fakeShard{id: "shard-3", parent: "shard-1"},
			&fakeShard{id: "shard-4", parent: "shard-gone"})
		r.fake.putTo(1, "b")
		r.fake.putTo(3, "c")
		r.Start()
		after(200 * time.Millisecond)
		if got := r.function.seen(); strings.Contains(strings.Join(got, " "), "101") || !strings.Contains(strings.Join(got, " "), "102") {
			t.Errorf("while the parent is not done: %q", got)
		}
		after(5 * time.Second)
		if got := r.function.seen(); got[len(got)-1] != "101" {
			t.Errorf("when the parent is done: %q", got)
		}
		described := r.fake.count("DescribeStream") / len(r.fake.shards)
		r.fake.change(func() {
			r.fake.shards[2].closed = true
			r.fake.shards = append(r.fake.shards[1:], &fakeShard{id: "shard-5", parent: "shard-3"})
		})
		r.fake.put("d")
		after(time.Second)
		if got := r.function.seen(); got[len(got)-1] != "103" {
			t.Errorf("child of a shard that was closed: %q", got)
		}
		if n := r.fake.count("DescribeStream") / len(r.fake.shards); n > described+2 {
			t.Errorf("%d descriptions for one new shard", n-described)
		}
		r.close(t)
		equal(t, "forgotten shard", r.position(t, "shard-1"), position{})
		equal(t, "done shard", r.position(t, "shard-3"), position{Kind: positionEnd})
	})
}

func TestTrimmedPosition(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a")
		r.Start()
		after(time.Second)
		r.close(t)
		r.fake.put("b", "c", "d")
		r.fake.shards[0].trimmed = 2
		r.open(t)
		r.Start()
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"100", "102 103"})
		equal(t, "warnings", r.logs.count("WARN the position has expired"), 1)
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
		r.fake.shards[0].records = r.fake.shards[0].records[:1]
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

func TestStreamCreatedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a", "b")
		r.Start()
		after(time.Second)
		r.fake.change(func() {
			r.fake.arn += "-2"
			r.fake.shards = []*fakeShard{{id: "shard-1"}} // even by the same name
		})
		r.fake.put("c")
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100 101", "102"})
		received, _ := r.function.received()
		equal(t, "arn", received[1].Records[0].EventSourceArn, fakeARN+"-2")
		equal(t, "warnings", r.logs.count("WARN the table has a new stream"), 1)
	})
}

// A stream that was replaced is read to its end, for a minute at most.
func TestReplacedStreamIsReadToItsEnd(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprint("left open: ", open), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, with(func(s *resources.EventSourceMapping) { s.BatchSize = 1 }))
				r.function.handle = func(context.Context, []string) (string, error) {
					time.Sleep(fakeSlow)
					return "", nil
				}
				r.fake.put("a", "b", "c")
				r.Start()
				after(time.Second)
				r.fake.change(func() {
					r.fake.shards[0].closed = !open
					r.fake.before = map[string][]*fakeShard{r.fake.arn: r.fake.shards}
					r.fake.arn += "-2"
					r.fake.shards = []*fakeShard{{id: "shard-1"}}
				})
				r.fake.put("d")
				after(3 * time.Minute)
				equal(t, "batches", r.function.seen(), []string{"100", "101", "102", "103"})
			})
		})
	}
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
			calls := r.fake.count("GetShardIterator")
			after(time.Hour)
			if n := r.fake.count("GetShardIterator") - calls; n < 1000 || n > 4000 { // the longest backoff of the rig is a second
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

// Each reason of an outage is logged once, independently of request ids and operations.
func TestReasonsOfAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		refuse := func(code string) {
			r.fake.change(func() {
				r.fake.fault = func(op string) error {
					return fmt.Errorf("%s, RequestID: %d: %w", op, r.fake.count(op), &smithy.GenericAPIError{Code: code, Message: "no"})
				}
			})
			after(time.Minute)
		}
		r.Start()
		after(time.Second)
		refuse("ServiceUnavailable")
		equal(t, "warnings of one reason", r.logs.count("WARN the stream can't be read"), 1)
		refuse("UnrecognizedClientException")
		refuse("ServiceUnavailable")
		equal(t, "warnings of two reasons", r.logs.count("WARN the stream can't be read"), 2)
		r.fake.change(func() { r.fake.fault = nil })
		after(time.Minute)
		refuse("ServiceUnavailable")
		equal(t, "warnings of the next outage", r.logs.count("WARN the stream can't be read"), 3)
	})
}

// A shard that does not exist after an outage is not reported as readable.
func TestGoneAfterAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.fault = func(op string) error {
			switch {
			case op != "GetShardIterator":
				return nil
			case r.fake.count(op) < 5:
				return errors.New("connection refused")
			}
			return &types.ResourceNotFoundException{}
		}
		r.Start()
		after(time.Minute)
		if r.logs.count("WARN the shard is gone") == 0 || r.logs.count("INFO the stream can be read again") > 0 {
			t.Errorf("%q", *r.logs.lines)
		}
	})
}

// Throttled reads slow down, and are not logged.
func TestThrottledReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a")
		r.fake.fault = func(op string) error {
			if op == "GetRecords" && r.fake.count(op)%2 == 1 {
				return &types.LimitExceededException{}
			}
			return nil
		}
		r.Start()
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100"})
		equal(t, "log", r.logs.count("WARN"), 0)
	})
}

// A stream that was disabled is read to its end, and then rarely searched for shards.
func TestDisabledStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fake.put("a")
		r.fake.shards[0].closed = true
		r.Start()
		after(time.Minute)
		equal(t, "batches", r.function.seen(), []string{"100"})
		equal(t, "position", r.position(t, "shard-1"), position{Kind: positionEnd})
		described := r.fake.count("DescribeStream")
		after(time.Minute)
		if n := r.fake.count("DescribeStream") - described; n > 6 {
			t.Errorf("%d DescribeStream a minute", n)
		}
	})
}

func TestIdleCost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.Start()
		after(time.Minute)
		if n := r.fake.count("GetRecords"); n < 1100 || n > 1210 { // every 50 ms
			t.Errorf("%d GetRecords a minute", n)
		}
		if n := r.fake.count("DescribeStream"); n > 7 {
			t.Errorf("%d DescribeStream a minute", n)
		}
	})
}
