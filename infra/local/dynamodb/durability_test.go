package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/datafolder/disktest"
)

// shut closes a database and its folder.
func shut(t *testing.T, db *DB) {
	t.Helper()
	if err := errors.Join(db.Close(), db.options.Folder.Close()); err != nil {
		t.Fatal(err)
	}
}

func openIn(t *testing.T, dir string, files vfs.FS) *DB {
	t.Helper()
	db, err := open(Options{Folder: disktest.Open(t, dir, files), Now: newTestClock().Now}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestReopen(t *testing.T) {
	t.Parallel()
	const transaction = `{"ClientRequestToken":"t","TransactItems":[{"Update":{"TableName":"indexed","Key":{"pk":{"S":"c"},"sk":{"S":"s"}},"UpdateExpression":"ADD v :n","ExpressionAttributeValues":{":n":{"N":"1"}}}}]}`
	dir := filepath.Join(t.TempDir(), "data")
	db := openIn(t, dir, nil)
	must(t, db, "CreateTable", indexedTable)
	must(t, db, "UpdateTimeToLive", `{"TableName":"indexed","TimeToLiveSpecification":{"AttributeName":"e","Enabled":true}}`)
	must(t, db, "PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"s"},"g":{"S":"g"},"e":{"N":"1"}}}`)
	must(t, db, "TransactWriteItems", transaction)
	shut(t, db)
	db = openIn(t, dir, nil)
	defer shut(t, db)
	must(t, db, "TransactWriteItems", transaction) // a replay: tokens survive a restart
	if got := must(t, db, "Query", `{"TableName":"indexed","IndexName":"keys","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"g"}}}`); got.body["Count"] != 1.0 {
		t.Errorf("got %s", got.raw)
	}
	if got := must(t, db, "GetItem", `{"TableName":"indexed","Key":{"pk":{"S":"c"},"sk":{"S":"s"}},"ProjectionExpression":"v"}`).raw; got != `{"Item":{"v":{"N":"1"}}}` {
		t.Errorf("got %s", got)
	}
	if got := must(t, db, "DescribeTimeToLive", `{"TableName":"indexed"}`).raw; !strings.Contains(got, "ENABLED") {
		t.Errorf("got %s", got)
	}
	must(t, db, "CreateTable", hashTable) // it gets a number that was never used
	if got := must(t, db, "Scan", `{"TableName":"hash"}`); got.body["Count"] != 0.0 {
		t.Errorf("got %s", got.raw)
	}
}

// TestPowerCut checks that after a power cut, which loses random parts of unsynced data, all acknowledged writes are
// there, and transactions are complete.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		files := vfs.NewCrashableMem()
		db := openIn(t, "/data", files)
		must(t, db, "CreateTable", hashTable)
		crashed, acknowledged := crashWhileWriting(t, db, files, seed)
		shut(t, db)
		again := openIn(t, "/data", crashed)
		for _, n := range acknowledged {
			for _, half := range []string{"a", "b"} {
				if got := must(t, again, "GetItem", fmt.Sprintf(`{"TableName":"hash","Key":{"pk":{"S":"%s%d"}}}`, half, n)); got.body["Item"] == nil {
					t.Errorf("seed %d: %s%d was acknowledged and is gone", seed, half, n)
				}
			}
		}
		count := must(t, again, "Scan", `{"TableName":"hash","Select":"COUNT"}`).body["Count"].(float64)
		if int(count)%2 != 0 {
			t.Errorf("seed %d: half a transaction is there", seed)
		}
		shut(t, again)
	}
}

// crashWhileWriting copies the files during writes, and returns the writes that were acknowledged before the copy.
func crashWhileWriting(t *testing.T, db *DB, files *vfs.MemFS, seed uint64) (crashed *vfs.MemFS, acknowledged []int) {
	t.Helper()
	var mutex sync.Mutex
	var done []int
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for worker := range 4 {
		group.Go(func() {
			for n := worker; ctx.Err() == nil; n += 4 {
				must(t, db, "TransactWriteItems", fmt.Sprintf(`{"TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a%d"}}}},{"Put":{"TableName":"hash","Item":{"pk":{"S":"b%d"}}}}]}`, n, n))
				mutex.Lock()
				done = append(done, n)
				mutex.Unlock()
			}
		})
	}
	for {
		mutex.Lock()
		enough := len(done) > 100+int(seed)*37
		if enough {
			acknowledged = append([]int(nil), done...)
		}
		mutex.Unlock()
		if enough {
			break
		}
		time.Sleep(time.Millisecond)
	}
	crashed = files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, seed))})
	stop()
	group.Wait()
	return crashed, acknowledged
}

// TestDamagedTable checks that a damaged record is an error of one line that names the folder.
func TestDamagedTable(t *testing.T) {
	t.Parallel()
	db := openIn(t, filepath.Join(t.TempDir(), "data"), nil)
	defer shut(t, db)
	if err := db.store.DB.Set(tableKey("hash"), []byte("{"), nil); err != nil {
		t.Fatal(err)
	}
	_, err := Open(db.options)
	if err == nil || !strings.HasPrefix(err.Error(), "the data in "+db.options.Folder.Dir+" is damaged: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	put := func(db *DB) int {
		return call(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"during"}}}`).status
	}
	disktest.TestFull(t, func(folder *datafolder.Folder) (*DB, error) {
		return open(Options{Folder: folder, Now: newTestClock().Now}, 0)
	}, func(db *DB) {
		must(t, db, "CreateTable", hashTable)
		must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"before"}}}`)
	}, put, func(db *DB) {
		if got := must(t, db, "Scan", `{"TableName":"hash"}`); got.body["Count"] != 1.0 {
			t.Errorf("got %s", got.raw)
		}
		must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"after"}}}`)
	})
}
