package dynamodb

import (
	"devplatform/infra/local/dynamodb/storage"

	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func openDir(t testing.TB, dir string) *DB {
	t.Helper()
	return openTest(t, func(o *Options) { o.Dir = dir })
}

func reopened(t *testing.T, dir string, first func(*DB)) *DB {
	t.Helper()
	db, err := Open(Options{Dir: dir, Now: newTestClock().Now, SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	first(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return openDir(t, dir)
}

func TestReopen(t *testing.T) {
	t.Parallel()
	const transaction = `{"ClientRequestToken":"t","TransactItems":[{"Update":{"TableName":"indexed","Key":{"pk":{"S":"c"},"sk":{"S":"s"}},"UpdateExpression":"ADD v :n","ExpressionAttributeValues":{":n":{"N":"1"}}}}]}`
	db := reopened(t, filepath.Join(t.TempDir(), "data"), func(db *DB) {
		must(t, db, "CreateTable", indexedTable)
		must(t, db, "UpdateTimeToLive", `{"TableName":"indexed","TimeToLiveSpecification":{"AttributeName":"e","Enabled":true}}`)
		must(t, db, "PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"a"},"sk":{"S":"s"},"g":{"S":"g"},"e":{"N":"1"}}}`)
		must(t, db, "TransactWriteItems", transaction)
	})
	must(t, db, "TransactWriteItems", transaction) // a replay: tokens survive a restart
	if got := must(t, db, "Query", `{"TableName":"indexed","IndexName":"keys","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"g"}}}`); got.body["Count"] != 1.0 {
		t.Errorf("got %s", got.raw)
	}
	if got := must(t, db, "GetItem", `{"TableName":"indexed","Key":{"pk":{"S":"c"},"sk":{"S":"s"}},"ProjectionExpression":"v"}`).raw; got != `{"Item":{"v":{"N":"1"}}}` {
		t.Errorf("got %s", got)
	}
	described := must(t, db, "DescribeTable", `{"TableName":"indexed"}`)
	if !strings.Contains(described.raw, `"ItemCount":2,"TableArn"`) {
		t.Errorf("got %s", described.raw)
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
		db, err := Open(Options{Dir: "/data", Now: newTestClock().Now, SweepInterval: -1, fs: files})
		if err != nil {
			t.Fatal(err)
		}
		must(t, db, "CreateTable", hashTable)
		crashed, acknowledged := crashWhileWriting(t, db, files, seed)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		again := openTest(t, func(o *Options) { o.Dir, o.fs = "/data", crashed })
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
		described := must(t, again, "DescribeTable", `{"TableName":"hash"}`).body["Table"].(map[string]any)
		if described["ItemCount"] != count {
			t.Errorf("seed %d: ItemCount %v, want %v", seed, described["ItemCount"], count)
		}
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

// TestManyLives checks that all acknowledged writes are there after stops and power cuts in any order, with many or few
// writes between them.
func TestManyLives(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			files, written := vfs.NewCrashableMem(), 0
			for life := 1; life <= 30; life++ {
				db, err := Open(Options{Dir: "/data", Now: newTestClock().Now, SweepInterval: -1, fs: files})
				if err != nil {
					t.Fatalf("life %d: %v", life, err)
				}
				if life == 1 {
					must(t, db, "CreateTable", hashTable)
				}
				if got := must(t, db, "Scan", `{"TableName":"hash","Select":"COUNT"}`); got.body["Count"] != float64(written) {
					t.Fatalf("life %d: %v items of %d", life, got.body["Count"], written)
				}
				for range []int{0, 0, 1, 2, 60}[random.IntN(5)] {
					must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"pk":{"S":"%d"},"v":{"S":"%0500d"}}}`, written, life))
					written++
				}
				after := files
				if cut := random.IntN(2) == 0; cut {
					after = files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random})
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				files = after
			}
		})
	}
}

// TestFormat checks what identifies the format of a folder.
func TestFormat(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	reopened(t, dir, func(db *DB) { must(t, db, "CreateTable", hashTable) })
	for pattern, want := range map[string]string{
		"FORMAT":          "embedded-dynamodb 1\n",
		"store/OPTIONS-*": "\n  merger=embedded-dynamodb.counter\n",
	} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(paths) == 0 {
			t.Fatalf("no %s", pattern)
		}
		for _, path := range paths {
			if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: %v\n%s", path, err, text)
			}
		}
	}
	if _, err := Open(Options{Dir: dir, Now: newTestClock().Now}); err == nil || !strings.HasPrefix(err.Error(), "dynamodb: the data in "+dir+" is in use by another process: ") {
		t.Errorf("opened twice: %v", err)
	}
}

// TestRejectedFolders checks that Open rejects a folder of another version or with damaged records, with an error of one
// line that names the folder.
func TestRejectedFolders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		damage func(*DB) error
		want   string
	}{
		"another version": {func(db *DB) error {
			return os.WriteFile(filepath.Join(db.options.Dir, "FORMAT"), []byte("embedded-dynamodb 2\n"), 0o600)
		}, `dynamodb: DIR/FORMAT has the format "embedded-dynamodb 2", this program reads "embedded-dynamodb 1": choose another folder`},
		"a table": {func(db *DB) error {
			return db.store.DB.Set(storage.TableKey("hash"), []byte("{"), nil)
		}, "dynamodb: the data in DIR is damaged and was not changed: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := Options{Dir: filepath.Join(t.TempDir(), "data"), Now: newTestClock().Now, SweepInterval: -1}
			db, err := Open(options)
			if err != nil {
				t.Fatal(err)
			}
			must(t, db, "CreateTable", hashTable)
			if err := errors.Join(test.damage(db), db.Close()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first attempt must not change or lock the folder
				refused, err := Open(options)
				if err == nil {
					_ = refused.Close()
					t.Fatal("opened")
				}
				if !strings.HasPrefix(err.Error(), strings.Replace(test.want, "DIR", options.Dir, 1)) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %q", err)
				}
			}
		})
	}
}
