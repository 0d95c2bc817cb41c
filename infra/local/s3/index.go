package s3

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/datafolder"
)

type content struct {
	File     string    `json:"file"`
	Size     int64     `json:"size"`
	ETag     string    `json:"etag"` // without quotes
	Modified time.Time `json:"modified"`
	Checksum checksum  `json:"checksum,omitzero"`
}

type object struct {
	content

	// Headers are the headers of the upload that a download returns, by their canonical names.
	Headers map[string]string `json:"headers,omitzero"`
}

// indexKey returns the key of a record. If the last name is incomplete, the result is a prefix of keys.
func indexKey(prefix byte, names ...string) []byte {
	return append([]byte{prefix}, strings.Join(names, "\x00")...)
}

func objectKey(bucket, key string) []byte { return indexKey(datafolder.SpaceObject, bucket, key) }

func decode(value []byte, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("damaged record: %w", err)
	}
	return nil
}

func (s *Store) read(key []byte, into any) (found bool, err error) {
	value, err := datafolder.Read(s.folder.DB, key)
	if err != nil || value == nil {
		return false, err
	}
	return true, decode(value, into)
}

// afterAll is a byte that never follows a prefix in a key. So a prefix with this byte is greater than every key that
// has the prefix.
const afterAll = "\xff"

// scan calls visit for the records whose keys begin with prefix, in the order of their keys, from the key prefix+from.
// rest is the key without the prefix. visit returns "" to continue with the next record, or the rest of the key at
// which the scan continues. If visit returns [fs.SkipAll], the scan ends without an error.
func scan[T any](
	s *Store, prefix []byte, from string, visit func(rest string, record T) (next string, err error),
) error {
	end := append(slices.Clip(prefix), afterAll...)
	iterator, err := s.folder.DB.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: end})
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	valid := iterator.SeekGE(append(slices.Clip(prefix), from...))
	for valid && err == nil {
		var record T
		var next string
		if err = decode(iterator.Value(), &record); err == nil {
			next, err = visit(string(iterator.Key()[len(prefix):]), record)
		}
		if next != "" {
			valid = iterator.SeekGE(append(slices.Clip(prefix), next...))
		} else {
			valid = iterator.Next()
		}
	}
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return errors.Join(err, iterator.Close())
}

// locks are the locks of index keys. Several keys can have the same lock.
type locks [256]sync.RWMutex

func (l *locks) number(key []byte) uint32 { return crc32.ChecksumIEEE(key) % uint32(len(l)) }

// change is a change of the index, and of the files that it refers to.
type change struct {
	batch  *pebble.Batch
	added  string   // the file that is removed if fill fails, "" for none
	unused []string // the files that are removed after the commit; "" is skipped
	err    error
}

func (c *change) set(key []byte, record any) {
	value, err := json.Marshal(record)
	c.err = errors.Join(c.err, err, c.batch.Set(key, value, nil))
}

func (c *change) remove(key []byte, file string) {
	c.err = errors.Join(c.err, c.batch.Delete(key, nil))
	c.unused = append(c.unused, file)
}

// commit locks keys, calls fill, and writes the change that fill has filled. If fill returns an error, commit returns
// the error and changes nothing. The change is durable before the keys are unlocked, so no response has data that a
// power cut could undo.
func (s *Store) commit(fill func(*change) error, keys ...[]byte) error {
	var wanted [len(s.locks)]bool
	for _, key := range keys {
		wanted[s.locks.number(key)] = true
	}
	for i := range wanted { // in the same order everywhere: no deadlocks
		if wanted[i] {
			s.locks[i].Lock()
			defer s.locks[i].Unlock()
		}
	}
	c := &change{}
	filled := false
	err := s.folder.Update(func(batch *pebble.Batch) error {
		c.batch = batch
		err := errors.Join(fill(c), c.err)
		filled = err == nil
		return err
	})
	switch {
	case !filled:
		s.files.remove(c.added)
	case err == nil:
		s.files.remove(c.unused...)
	}
	return err
}

// files stores contents in a folder. Each content is a file with a random name, which never changes.
type files struct {
	fs  vfs.FS
	dir string
}

// write creates a file and makes it durable. fill writes the content. If fill or the write fails, no file remains.
func (f files) write(fill func(io.Writer) error) (name string, err error) {
	name = rand.Text()
	return name, datafolder.CreateFile(f.fs, f.fs.PathJoin(f.dir, name), fill)
}

func (f files) open(name string) (vfs.File, error) {
	file, err := f.fs.Open(f.fs.PathJoin(f.dir, name))
	if err != nil {
		return nil, fmt.Errorf("open a content: %w", err)
	}
	return file, nil
}

// remove removes files to which the index no longer refers. A file that cannot be removed now is removed when the store
// is opened the next time. Empty names are skipped.
func (f files) remove(names ...string) {
	for _, name := range names {
		if name != "" {
			_ = f.fs.Remove(f.fs.PathJoin(f.dir, name))
		}
	}
}

// removeUnfinished creates the folder if it does not exist, and removes the files to which no object refers.
func (s *Store) removeUnfinished() error {
	f, unused := s.files, map[string]bool{}
	err := f.fs.MkdirAll(f.dir, 0o700)
	names, listErr := f.fs.List(f.dir)
	for _, name := range names {
		unused[name] = true
	}
	err = errors.Join(err, scan(s, indexKey(datafolder.SpaceObject), "", func(_ string, o object) (string, error) {
		delete(unused, o.File)
		return "", nil
	}))
	if err := errors.Join(err, listErr, datafolder.SyncDir(f.fs, f.fs.PathDir(f.dir))); err != nil {
		return err
	}
	f.remove(slices.Collect(maps.Keys(unused))...)
	return nil
}
