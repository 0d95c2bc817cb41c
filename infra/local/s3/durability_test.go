package s3

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/datafolder/disktest"
	"devplatform/infra/platformtest"
)

// TestMain makes the test binary the process that TestKill kills.
func TestMain(m *testing.M) {
	disktest.ServeChild(func(folder *datafolder.Folder) (http.Handler, error) {
		return Open(Options{Folder: folder, Now: time.Now})
	})
	os.Exit(m.Run())
}

// ledger has the acknowledged writes: the number of the last write of each key, negative after a deletion, and the
// number of a write whose result is not known.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]int
	pending      map[string]int
	writes       atomic.Int64
}

// contentOf returns what the write of a number stores: its length differs, and the number can be recognized.
func contentOf(key string, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, number))
	return fmt.Sprintf("%d %x ", number, sum) + strings.Repeat("x", number%7*30_000)
}

// work writes the keys of a worker until the service is gone.
func (l *ledger) work(t *testing.T, client *sdk.Client, worker int) {
	for number := 1; ; number++ {
		key := fmt.Sprintf("w%d/%d", worker, number%5)
		l.mu.Lock()
		l.pending[key] = number
		l.mu.Unlock()
		result, err := number, error(nil)
		switch number % 11 {
		case 3:
			_, err = client.DeleteObject(t.Context(), &sdk.DeleteObjectInput{Bucket: aws.String("bkt"), Key: &key})
			result = -number
		default:
			_, err = client.PutObject(t.Context(), &sdk.PutObjectInput{
				Bucket: aws.String("bkt"), Key: &key, Body: strings.NewReader(contentOf(key, number)),
			})
		}
		if err != nil {
			return
		}
		l.mu.Lock()
		l.acknowledged[key] = result
		delete(l.pending, key)
		l.mu.Unlock()
		l.writes.Add(1)
	}
}

// check compares the objects with the acknowledged writes.
func (l *ledger) check(t *testing.T, s *server) {
	t.Helper()
	for key, number := range l.acknowledged {
		got, err := s.get(key)
		if pending := l.pending[key]; pending != 0 && (got == contentOf(key, pending) || code(err) == "NoSuchKey" && pending%11 == 3) {
			continue // the write was made, and only its response was lost
		}
		if number < 0 {
			wantCode(t, err, "NoSuchKey")
		} else if got != contentOf(key, number) {
			t.Errorf("%s: write %d was acknowledged, got %.40q, %v", key, number, got, err)
		}
	}
}

// kill -9 in the middle of work loses no acknowledged object, and leaves no half object and no file of an unfinished
// one.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s3")
	l := &ledger{acknowledged: map[string]int{}, pending: map[string]int{}}
	for round := range 3 {
		process, url := disktest.StartChild(t, dir)
		client := client(url)
		if _, err := client.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: aws.String("bkt")}); err != nil {
			t.Fatal(err)
		}
		if _, err := datafolder.Open(datafolder.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("a second process got: %v", err)
		}
		l.writes.Store(0)
		var workers sync.WaitGroup
		for worker := range 4 {
			workers.Go(func() { l.work(t, client, 4*round+worker) })
		}
		platformtest.EventuallyWithin(t, patience, "writes", func() bool { return l.writes.Load() > 100 })
		_ = process.Process.Kill()
		workers.Wait()
		_ = process.Wait()
	}
	if err := os.WriteFile(filepath.Join(dir, "objects", "UNFINISHED"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Folder: disktest.Open(t, dir, nil)})
	l.check(t, s)
	referred := 0
	if err := scan(s.store, []byte{datafolder.SpaceObject}, "", func(string, object) (string, error) { referred++; return "", nil }); err != nil {
		t.Fatal(err)
	}
	s.wantFiles(referred)
}

// After a power cut, everything that was not synced is lost. Acknowledged objects and their folder were synced.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	disk := disktest.NewDisk()
	s := start(t, Options{Folder: disktest.Open(t, "/data", disk)})
	s.put("k", "old")
	s.put("k", "content")
	s.put("deleted", "x")
	if _, err := s.DeleteObject(t.Context(), &sdk.DeleteObjectInput{Bucket: aws.String("bkt"), Key: aws.String("deleted")}); err != nil {
		t.Fatal(err)
	}
	after := start(t, Options{Folder: disktest.Open(t, "/data", disk.AfterPowerCut())})
	after.wantContent("k", "content")
	_, err := after.get("deleted")
	wantCode(t, err, "NoSuchKey")
}

// On a full disk, an upload fails, and the stored objects stay.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := disktest.NewDisk()
	folder := disktest.Open(t, "/data", disk)
	ts := httptest.NewServer(open(t, Options{Folder: folder}))
	defer ts.Close()
	s := &server{t: t, Client: client(ts.URL)}
	if _, err := s.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: aws.String("bkt")}); err != nil {
		t.Fatal(err)
	}
	s.put("k", "content")
	disk.Fill()
	_, err := s.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: aws.String("bkt"), Key: aws.String("k"), Body: strings.NewReader("more")})
	wantCode(t, err, "ServiceUnavailable")
	s.wantContent("k", "content")
	again := start(t, Options{Folder: disktest.Open(t, "/data", disk.AfterPowerCut())})
	again.wantContent("k", "content")
	again.wantFiles(1)
}
