package dynamodb

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/values"
)

// change is a write of one item. All writes of items are changes.
type change struct {
	Table    *table
	Key      []byte      // from itemKey
	Old, New values.Item // nil if the item does not exist
	Units    units       // set by the write

	expired bool   // the item's time to live was over
	record  []byte // for the table's stream
}

func (c *change) event() changeEvent {
	switch {
	case c.Old == nil:
		return eventInsert
	case c.New != nil:
		return eventModify
	case c.expired:
		return eventExpire
	}
	return eventRemove
}

// write makes changes in one atomic, serializable write. It sets their Old items, which are nil if they do not exist.
// decide, if it is not nil, sets the New items. There is no other write of the items in between. write returns when the
// changes are durable.
func (s *store) write(changes []change, decide func() error) error {
	_, err := s.writeOnce(changes, decide, nil)
	return err
}

// writeOnce is like write, unless a transaction with the token was made before. Then it changes nothing, reports true,
// and sets the units to the units of reading the items. The token can be nil.
func (s *store) writeOnce(changes []change, decide func() error, token *requestToken) (replayed bool, err error) {
	write, appends, replayed, err := s.start(changes, decide, token)
	if err != nil {
		return false, err
	}
	if err := write.Wait(); err != nil {
		return false, err
	}
	appends.acknowledge()
	return replayed, nil
}

// start locks the items and the token until the write is visible. The write is not durable yet. But later writes of the
// items are behind it in the log, and cannot become durable without it.
func (s *store) start(
	changes []change, decide func() error, token *requestToken,
) (write datafolder.Write, appends streamAppends, replayed bool, err error) {
	keys := make([][]byte, len(changes), len(changes)+1)
	for i := range changes {
		keys[i] = changes[i].Key
	}
	if token != nil {
		keys = append(keys, tokenKey(token.token))
	}
	defer s.locks.lock(keys)()
	for i := range changes {
		if changes[i].Old, err = s.get(changes[i].Key); err != nil {
			return write, nil, false, err
		}
	}
	batch := s.DB.NewBatch()
	if token != nil {
		if replayed, err = s.isReplay(token); replayed {
			for i := range changes {
				changes[i].Units = units{Table: readUnits(changes[i].Old.Size())}
			}
			write, err = s.Commit(batch) // the first transaction may not be durable yet
			return write, nil, true, err
		}
	}
	if err == nil && decide != nil {
		err = decide()
	}
	if err == nil {
		appends, err = s.fill(batch, changes, token)
	}
	if err != nil {
		_ = batch.Close() // never written
		return write, nil, false, err
	}
	write, err = s.Commit(batch)
	appends.publish(err == nil)
	return write, appends, false, err
}

func (s *store) fill(batch *pebble.Batch, changes []change, token *requestToken) (streamAppends, error) {
	var records []pendingRecord
	for i := range changes {
		c := &changes[i]
		if err := c.addTo(batch); err != nil {
			return nil, err
		}
		if c.record != nil {
			records = append(records, pendingRecord{Stream: c.Table.Stream, Record: c.record})
		}
	}
	if token != nil {
		if err := token.addTo(batch, s.now()); err != nil {
			return nil, err
		}
	}
	if len(records) == 0 {
		return nil, nil
	}
	return appendRecords(batch, s.now(), records)
}

// addTo adds the item, its index entries and its expiry to a batch. A write that changes nothing adds nothing.
func (c *change) addTo(batch *pebble.Batch) (err error) {
	oldSize, newSize := c.Old.Size(), c.New.Size()
	c.Units = units{
		Table: unitsOf(max(oldSize, newSize), writeUnitBytes), Indexes: make([]float64, len(c.Table.Indexes)),
	}
	if c.Old.Equal(c.New) && (c.Old == nil) == (c.New == nil) {
		return nil
	}
	var encoded []byte
	present := c.New
	if c.New == nil {
		present, err = c.Old, batch.Delete(c.Key, nil)
	} else {
		encoded = values.AppendItem(make([]byte, 0, newSize+newSize/4+32), c.New)
		err = batch.Set(c.Key, encoded, nil)
	}
	if err != nil {
		return err
	}
	if c.Table.Stream != nil {
		c.record = c.Table.Stream.encode(c.event(), c.Table.Key.of(present), c.Old, encoded)
	}
	for i, x := range c.Table.Indexes {
		if c.Units.Indexes[i], err = updateIndex(batch, x, c); err != nil {
			return err
		}
	}
	return c.updateExpiry(batch)
}

// updateIndex adds the index entries of a change to a batch, and returns the consumed write units. Moving an entry is a
// deletion and a put.
func updateIndex(batch *pebble.Batch, x *index, c *change) (float64, error) {
	before, after := x.entry(c.Old), x.entry(c.New)
	if before == nil && after == nil {
		return 0, nil
	}
	oldSize, newSize := before.Size(), after.Size()
	units := unitsOf(max(oldSize, newSize), writeUnitBytes)
	var oldKey, newKey []byte
	if before != nil {
		oldKey = indexKey(c.Table, x, before)
	}
	if after != nil {
		newKey = indexKey(c.Table, x, after)
	}
	stays := bytes.Equal(oldKey, newKey)
	if stays && before.Equal(after) {
		return 0, nil
	}
	if before != nil && !stays {
		if err := batch.Delete(oldKey, nil); err != nil {
			return 0, err
		}
		if after != nil {
			units = unitsOf(oldSize, writeUnitBytes) + unitsOf(newSize, writeUnitBytes)
		}
	}
	if after != nil {
		if err := batch.Set(newKey, values.AppendItem(nil, after), nil); err != nil {
			return 0, err
		}
	}
	return units, nil
}

func (c *change) updateExpiry(batch *pebble.Batch) (err error) {
	if c.Table.TTLAttribute == "" {
		return nil
	}
	before, hadExpiry := expiryOf(c.Old, c.Table.TTLAttribute)
	after, hasExpiry := expiryOf(c.New, c.Table.TTLAttribute)
	if hadExpiry == hasExpiry && before == after {
		return nil
	}
	if hadExpiry {
		err = batch.Delete(expiryKey(c.Table, before, c.Key), nil)
	}
	if hasExpiry {
		err = errors.Join(err, batch.Set(expiryKey(c.Table, after, c.Key), nil, nil))
	}
	return err
}

// A write unit is 1 KB, and a read unit 4 KB.
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
)

// units are the capacity units that a change consumed: of the table, and of its indexes in their order.
type units struct {
	Table   float64
	Indexes []float64
}

// readUnits returns the units for a strongly consistent read of a size in bytes.
func readUnits(size int) float64 { return unitsOf(size, readUnitBytes) }

// unitsOf rounds a size up to units. The minimum is one unit.
func unitsOf(size, unitBytes int) float64 {
	return float64(max(1, (size+unitBytes-1)/unitBytes))
}

// lockTable serializes writes of the same item. Items share a fixed number of locks by the hash of their key. Writes of
// several items lock in ascending order, so that they cannot deadlock.
type lockTable struct {
	seed    maphash.Seed
	stripes [1024]sync.Mutex
}

func newLockTable() *lockTable { return &lockTable{seed: maphash.MakeSeed()} }

func (l *lockTable) lock(keys [][]byte) (unlock func()) {
	stripes := make([]int, len(keys))
	for i, key := range keys {
		stripes[i] = int(maphash.Bytes(l.seed, key) % uint64(len(l.stripes)))
	}
	slices.Sort(stripes)
	stripes = slices.Compact(stripes)
	for _, stripe := range stripes {
		l.stripes[stripe].Lock()
	}
	return func() {
		for _, stripe := range stripes {
			l.stripes[stripe].Unlock()
		}
	}
}

// tokenLifetime is how long a ClientRequestToken makes a transaction idempotent.
const tokenLifetime = 10 * time.Minute

// requestToken is a ClientRequestToken, and the hash of the content of its transaction. It is stored as the second at
// which it expires (8 bytes) and the hash. A second entry, by this second, lets the sweeper find it.
type requestToken struct {
	token       string
	fingerprint [sha256.Size]byte
}

func tokenKey(token string) []byte { return append([]byte{datafolder.SpaceToken}, token...) }

func tokenAgeKey(second uint64, token string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{datafolder.SpaceTokenAge}, second), token...)
}

// isReplay reports whether a transaction with the token was made within its lifetime. It returns an error if that
// transaction was different.
func (s *store) isReplay(t *requestToken) (bool, error) {
	stored, err := datafolder.Read(s.DB, tokenKey(t.token))
	if err != nil || len(stored) < 8 || s.now().Unix() >= int64(binary.BigEndian.Uint64(stored)) {
		return false, err
	}
	if string(stored[8:]) != string(t.fingerprint[:]) {
		return false, errorOf(typeIdempotentMismatch,
			"The provided client token %q was already used with other parameters", t.token)
	}
	return true, nil
}

func (t *requestToken) addTo(batch *pebble.Batch, now time.Time) error {
	until := uint64(now.Add(tokenLifetime).Unix())
	value := append(binary.BigEndian.AppendUint64(nil, until), t.fingerprint[:]...)
	return errors.Join(batch.Set(tokenKey(t.token), value, nil), batch.Set(tokenAgeKey(until, t.token), nil, nil))
}

// deleteTokens deletes expired tokens, unless a later transaction used them again.
func (s *store) deleteTokens(now time.Time) error {
	begin, end := []byte{datafolder.SpaceTokenAge}, tokenAgeKey(uint64(max(0, now.Unix())), "")
	return datafolder.Range(s.DB, begin, end, func(key, _ []byte) (bool, error) {
		token := tokenKey(string(key[9:]))
		defer s.locks.lock([][]byte{token})()
		stored, err := datafolder.Read(s.DB, token)
		if err != nil {
			return false, err
		}
		batch := s.DB.NewBatch()
		err = batch.Delete(key, nil)
		if len(stored) >= 8 && string(stored[:8]) == string(key[1:9]) {
			err = errors.Join(err, batch.Delete(token, nil))
		}
		return true, errors.Join(err, s.CommitLater(batch))
	})
}
