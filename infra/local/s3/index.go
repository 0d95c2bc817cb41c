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

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
)

// The first byte of a key in the index is the type of the record.
const (
	bucketPrefix = 'b' // bucket name → bucket
	objectPrefix = 'o' // bucket name, 0, object key → object
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

func objectKey(bucket, key string) []byte { return indexKey(objectPrefix, bucket, key) }

func decode(value []byte, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("damaged record: %w", err)
	}
	return nil
}

// read reads a record and reports whether it exists.
func (s *Store) read(key []byte, into any) (found bool, err error) {
	value, closer, err := s.folder.DB.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the index: %w", err)
	}
	return true, errors.Join(decode(value, into), closer.Close())
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
	c := &change{batch: s.folder.DB.NewBatch()}
	defer func() { _ = c.batch.Close() }() // it was committed, or is discarded
	if err := errors.Join(fill(c), c.err, s.folder.Room()); err != nil {
		s.files.remove(c.added)
		return err
	}
	if err := s.folder.CommitSync(c.batch); err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	s.files.remove(c.unused...)
	return nil
}
