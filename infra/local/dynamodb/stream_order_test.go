package dynamodb

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"devplatform/infra/local/datafolder/disktest"
	"devplatform/infra/local/dynamodb/values"
)

// onDisk stores the database on a file system in memory that syncs writes like a disk.
func onDisk(t *testing.T, files vfs.FS) func(*Options) {
	t.Helper()
	return func(o *Options) { o.Folder = disktest.Open(t, "/data", files) }
}

// TestStreamOrder checks that one reader of many writers gets each change once, the changes of an item in order, and
// ascending numbers.
func TestStreamOrder(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){"memory": nil, "disk": onDisk(t, vfs.NewMem())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStreaming(t, change)
			first := s.create(t, "first", types.StreamViewTypeNewImage)
			second := s.create(t, "second", types.StreamViewTypeNewImage)
			const workers, writes, items = 8, 60, 5
			var group sync.WaitGroup
			for worker := range workers {
				group.Go(func() {
					for n := range writes {
						key := (worker + n) % items
						add := func(table string) string {
							return fmt.Sprintf(`{"TableName":%q,"Key":{"pk":{"S":"%d"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`, table, key)
						}
						if n%3 > 0 {
							must(t, s.db, "UpdateItem", add("first"))
							continue
						}
						tables := []string{"first", "second"}
						if n%2 > 0 { // both orders, which must not deadlock
							slices.Reverse(tables)
						}
						must(t, s.db, "TransactWriteItems", `{"TransactItems":[{"Update":`+add(tables[0])+`},{"Update":`+add(tables[1])+`}]}`)
					}
				})
			}
			written := make(chan struct{})
			go func() { group.Wait(); close(written) }()
			for arn, total := range map[string]int{first: workers * writes, second: workers * writes / 3} {
				s.follow(t, arn, written, total)
			}
		})
	}
}

// follow reads a stream of counters until all writes are done and read.
func (s *streaming) follow(t *testing.T, arn string, written <-chan struct{}, total int) {
	t.Helper()
	iterator := s.iterator(t, arn, streamtypes.ShardIteratorTypeTrimHorizon, nil)
	counts, seen, last := map[string]int{}, 0, ""
	for done := false; ; {
		var records []streamtypes.Record
		records, iterator = s.get(t, iterator, 0)
		for _, record := range records {
			if number := *record.Dynamodb.SequenceNumber; number <= last {
				t.Fatalf("%s after %s", number, last)
			}
			last = *record.Dynamodb.SequenceNumber
			key := record.Dynamodb.Keys["pk"].(*streamtypes.AttributeValueMemberS).Value
			counts[key]++
			if n := record.Dynamodb.NewImage["n"].(*streamtypes.AttributeValueMemberN).Value; n != strconv.Itoa(counts[key]) {
				t.Fatalf("item %s: change %d shows %s", key, counts[key], n)
			}
		}
		if seen += len(records); len(records) > 0 {
			continue
		}
		if done {
			break
		}
		select {
		case <-written:
			done = true // read once more
		default:
		}
	}
	if seen != total {
		t.Errorf("%d records of %d", seen, total)
	}
}

// TestStreamHasNoHoles checks that changes become visible in the order of their numbers. It reads the store directly,
// to see more states than over HTTP.
func TestStreamHasNoHoles(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	path, _ := streamPath(s.create(t, "things", types.StreamViewTypeKeysOnly))
	log := s.db.streams[path]
	const workers, writes = 8, 2000
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for n := range writes {
				item := values.Item{
					{Name: "n", Value: values.FromInt(int64(n))},
					{Name: "pk", Value: values.Value{Kind: values.S, S: fmt.Sprint(worker)}},
				}
				things := s.db.tables["things"]
				one := change{Table: things, Key: itemKey(things, item), New: item}
				if err := s.db.store.write([]change{one}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for seen := uint64(0); seen < workers*writes; {
		last := log.durable.Load()
		records, _, err := log.read(s.db.store.DB, seen, last, workers*writes)
		if err != nil || uint64(len(records)) != last-seen {
			t.Errorf("between %d and %d: %d records, %v", seen, last, len(records), err)
			break
		}
		seen = last
	}
	group.Wait()
}

// TestStreamShowsWhatIsDurable checks that a record is not visible before its write is durable, although the item is.
func TestStreamShowsWhatIsDurable(t *testing.T) {
	t.Parallel()
	var gate sync.RWMutex
	s := openStreaming(t, onDisk(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		syncs := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if syncs && strings.HasSuffix(op.Path, ".log") {
			gate.RLock()
			defer gate.RUnlock()
		}
		return nil
	}))))
	arn := s.create(t, "things", types.StreamViewTypeKeysOnly)
	s.put(t, "things", sdkItem{"pk": str("before")})
	gate.Lock()
	written := make(chan struct{})
	go func() {
		defer close(written)
		must(t, s.db, "PutItem", `{"TableName":"things","Item":{"pk":{"S":"pending"}}}`)
	}()
	waitFor(t, func() bool {
		return must(t, s.db, "GetItem", `{"TableName":"things","Key":{"pk":{"S":"pending"}}}`).body["Item"] != nil
	})
	if got := brief(s.all(t, arn)); got != "INSERT before" {
		t.Errorf("before it is durable: %s", got)
	}
	latest := s.iterator(t, arn, streamtypes.ShardIteratorTypeLatest, nil)
	gate.Unlock()
	<-written
	if got := brief(s.all(t, arn)); got != "INSERT before, INSERT pending" {
		t.Errorf("then: %s", got)
	}
	if records, _ := s.get(t, latest, 0); brief(records) != "INSERT pending" {
		t.Errorf("after the latest durable one: %s", brief(records))
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition was not met in time")
		}
	}
}

// witness is a reader of a stream with all records that it has read, by number.
type witness struct {
	mutex    sync.Mutex
	iterator string
	seen     map[string]string // sequence number → event id and what happened
}

func (w *witness) read(t *testing.T, s *streaming) (more bool) {
	t.Helper()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	records, next := s.get(t, w.iterator, 100)
	for _, record := range records {
		number, what := *record.Dynamodb.SequenceNumber, *record.EventID+" "+brief([]streamtypes.Record{record})
		if before, given := w.seen[number]; given {
			t.Errorf("%s is returned twice: %s, %s", number, before, what)
		}
		w.seen[number] = what
	}
	w.iterator = next
	return len(records) > 0
}

// TestStreamAfterPowerCut checks that after a power cut during writes a reader can continue with its iterator: all
// records that it has read are unchanged, and each item has its record and each record its item.
func TestStreamAfterPowerCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			files := vfs.NewCrashableMem()
			s := openStreaming(t, onDisk(t, files))
			arn := s.create(t, "things", types.StreamViewTypeNewImage)
			w := &witness{iterator: s.iterator(t, arn, streamtypes.ShardIteratorTypeLatest, nil), seen: map[string]string{}}
			crashed, before := crashWhileStreaming(t, s, files, w, seed)

			again := openStreaming(t, onDisk(t, crashed))
			for more := true; more; {
				more = before.read(t, again)
			}
			before.compare(t, again, arn)
			again.put(t, "things", sdkItem{"pk": str("after")})
			highest := slices.Max(slices.Collect(maps.Keys(before.seen)))
			if records, _ := again.get(t, before.iterator, 10); brief(records) != "INSERT after" || *records[0].Dynamodb.SequenceNumber <= highest {
				t.Errorf("after %s: %s %v", highest, brief(records), sequences(records))
			}
		})
	}
}

// compare compares the records that the reader has read with the stream and the table after the crash.
func (w *witness) compare(t *testing.T, again *streaming, arn string) {
	t.Helper()
	records := again.all(t, arn)
	for i, record := range records {
		what := *record.EventID + " " + brief(records[i:i+1])
		if number := *record.Dynamodb.SequenceNumber; w.seen[number] != what {
			t.Fatalf("%s is %q, was returned as %q", number, what, w.seen[number])
		}
	}
	if len(records) != len(w.seen) {
		t.Errorf("%d records, %d given", len(records), len(w.seen))
	}
	if items := must(t, again.db, "Scan", `{"TableName":"things","Select":"COUNT"}`).body["Count"].(float64); int(items) != len(records) {
		t.Errorf("%v items, %d records", items, len(records))
	}
}

// crashWhileStreaming copies the files during writes, and the records that the reader had read just before.
func crashWhileStreaming(t *testing.T, s *streaming, files *vfs.MemFS, w *witness, seed uint64) (*vfs.MemFS, *witness) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for n := worker; ctx.Err() == nil; n += 4 {
				must(t, s.db, "PutItem", fmt.Sprintf(`{"TableName":"things","Item":{"pk":{"S":"%d"}}}`, n))
			}
		})
	}
	group.Go(func() {
		for ctx.Err() == nil {
			w.read(t, s)
		}
	})
	waitFor(t, func() bool {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		return len(w.seen) > 100+int(seed)*37
	})
	w.mutex.Lock()
	before := &witness{iterator: w.iterator, seen: maps.Clone(w.seen)}
	crashed := files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, seed))})
	w.mutex.Unlock()
	stop()
	group.Wait()
	return crashed, before
}
