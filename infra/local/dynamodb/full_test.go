package dynamodb

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/local/datafolder/disktest"
)

// noise returns text that does not compress well.
func noise(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[rand.IntN(len(letters))]
	}
	return string(text)
}

// TestFullDisk fills the disk under the log, and under the flushed tables. Writes must fail with a retryable error,
// reads must continue, and after there is room again, no acknowledged write may be lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{".log", ".sst"} {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(1<<30, ending)
			var log strings.Builder
			options := Options{
				Dir: "/data", Now: newTestClock().Now, SweepInterval: 10 * time.Millisecond, fs: disk,
				Logger: slog.New(slog.NewTextHandler(&log, nil)), Failed: func(err error) { t.Error(err) },
			}
			db, err := Open(options)
			if err != nil {
				t.Fatal(err)
			}
			must(t, db, "CreateTable", hashTable)
			must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"before"},"v":{"S":"1"}}}`)
			disk.Fill()
			var mu sync.Mutex
			acknowledged := []string{"before"}
			var filled atomic.Bool
			var writers sync.WaitGroup // writes in flight on the full disk finish when there is room
			for w := range 4 {
				writers.Go(func() {
					for n := 0; !filled.Load(); n++ {
						key := fmt.Sprintf("%d-%d", w, n)
						if call(t, db, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"pk":{"S":%q},"v":{"S":%q}}}`, key, noise(100_000))).status == 200 {
							mu.Lock()
							acknowledged = append(acknowledged, key)
							mu.Unlock()
						}
					}
				})
			}
			disktest.Await(t, "a full disk", func() bool { return db.store.Room() != nil })
			filled.Store(true)
			for operation, body := range map[string]string{
				"PutItem":            `{"TableName":"hash","Item":{"pk":{"S":"during"}}}`,
				"UpdateItem":         `{"TableName":"hash","Key":{"pk":{"S":"during"}}}`,
				"DeleteItem":         `{"TableName":"hash","Key":{"pk":{"S":"before"}}}`,
				"BatchWriteItem":     `{"RequestItems":{"hash":[{"PutRequest":{"Item":{"pk":{"S":"during"}}}}]}}`,
				"TransactWriteItems": `{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"during"}}}}]}`,
			} {
				if got := call(t, db, operation, body); got.status != 500 || !strings.Contains(got.raw, "InternalServerError") {
					t.Errorf("%s: %d %s", operation, got.status, got.raw)
				}
			}
			if got := must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"before"}}}`); !strings.Contains(got.raw, `"1"`) {
				t.Errorf("read %s", got.raw)
			}
			must(t, db, "Query", `{"TableName":"hash","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"before"}}}`)
			disk.AddRoom(1 << 30)
			disktest.Await(t, "room", func() bool { return db.store.Room() == nil })
			writers.Wait()
			must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"after"}}}`)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if db, err = Open(options); err != nil {
				t.Fatal(err)
			}
			for _, key := range append(acknowledged, "after") {
				if got := must(t, db, "GetItem", fmt.Sprintf(`{"TableName":"hash","Key":{"pk":{"S":%q}}}`, key)); !strings.Contains(got.raw, "Item") {
					t.Errorf("%s is lost", key)
				}
			}
			if got := must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"during"}}}`); strings.Contains(got.raw, "Item") {
				t.Error("a rejected write was stored")
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(log.String(), "\n"); got != 2 || !strings.Contains(log.String(), "the disk is full") {
				t.Errorf("got the log:\n%s", log.String())
			}
		})
	}
}
