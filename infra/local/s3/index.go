package s3

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
)

// content describes a file with the bytes of an object.
type content struct {
	File     string    `json:"file"`
	Size     int64     `json:"size"`
	ETag     string    `json:"etag"` // without quotes
	Modified time.Time `json:"modified"`
	Checksum checksum  `json:"checksum,omitzero"`
}

// object is the record of an object.
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

// read reads a record and reports whether it exists.
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
	added  string   // the file that is removed if the commit fails, "" for none
	unused []string // the files that are removed after the commit; "" is skipped
	err    error
}

func (c *change) set(key []byte, record any) {
	value, err := json.Marshal(record)
	c.err = errors.Join(c.err, err, c.batch.Set(key, value, nil))
}

// remove removes a record and the file that it refers to, "" for none.
func (c *change) remove(key []byte, file string) {
	c.err = errors.Join(c.err, c.batch.Delete(key, nil))
	c.unused = append(c.unused, file)
}

// commit locks keys, calls fill, and writes the change that fill has filled. If fill returns an error, commit returns
// it and changes nothing. The change is durable before the keys are unlocked, so no response has data that a power cut
// could undo.
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
