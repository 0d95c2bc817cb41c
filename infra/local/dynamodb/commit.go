package dynamodb

import (
	"bytes"
	"errors"
	"fmt"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/attr"

	"github.com/cockroachdb/pebble/v2"
)

// change is what a write does to one item: its old image and its new one, nil
// where the item does not exist. Every write of every operation becomes changes
// and passes through apply; nothing else writes items.
type change struct {
	table    *table
	key      []byte // where the item lies
	old, new attr.Item
	expired  bool       // the item's time was over; nobody asked for the change
	units    writeUnits // filled in by apply
	record   []byte     // for the table's stream, if it has one; filled in by apply
}

// pendingWrite is a batch that is visible but perhaps not yet durable.
type pendingWrite struct {
	write   datafolder.Write
	streams []appended // what readers of streams may see when the write is durable
}

// wait returns when the write is durable, which is when it may be acknowledged.
func (p *pendingWrite) wait() error {
	if err := p.write.Wait(); err != nil {
		return err
	}
	acknowledge(p.streams)
	return nil
}

// apply writes changes, and what also adds, as one atomic batch. The locks of
// the items must be held; they can be released once apply has returned, before
// the wait: whoever then builds on this write is behind it in the log and can't
// become durable without it.
func (db *DB) apply(changes []change, also func(*pebble.Batch) error) (*pendingWrite, error) {
	batch := db.folder.DB.NewBatch()
	for i := range changes {
		if err := changes[i].addTo(batch); err != nil {
			return nil, errors.Join(fmt.Errorf("writing: %w", err), batch.Close())
		}
	}
	if also != nil {
		if err := also(batch); err != nil {
			return nil, errors.Join(fmt.Errorf("writing: %w", err), batch.Close())
		}
	}
	streams, err := db.appendRecords(batch, changes)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing: %w", err), batch.Close())
	}
	write, err := db.folder.Commit(batch)
	publish(streams, err == nil)
	if err != nil {
		return nil, err
	}
	return &pendingWrite{write, streams}, nil
}

// addTo adds everything that the change means to a batch: the item, its index
// entries, its expiry and the counters. A write that changes nothing adds
// nothing. The record for a stream is only made, as it has no number yet.
func (c *change) addTo(batch *pebble.Batch) error {
	oldSize, newSize := c.old.Size(), c.new.Size()
	c.units = writeUnits{table: unitsOf(max(oldSize, newSize), writeUnitBytes), indexes: make([]float64, len(c.table.indexes))}
	if c.old.Equal(c.new) && (c.old == nil) == (c.new == nil) {
		return nil
	}
	var encoded []byte
	var err error
	if c.new == nil {
		err = batch.Delete(c.key, nil)
	} else {
		encoded = attr.AppendItem(make([]byte, 0, newSize+newSize/4+32), c.new)
		err = batch.Set(c.key, encoded, nil)
	}
	if err != nil {
		return err //nolint:wrapcheck // apply names it
	}
	if c.table.stream != nil {
		c.record = c.table.stream.encodeRecord(c, encoded)
	}
	for i, x := range c.table.indexes {
		if c.units.indexes[i], err = x.update(batch, c); err != nil {
			return err
		}
	}
	if err := c.updateExpiry(batch); err != nil {
		return err
	}
	return count(batch, c.table.ID, c.old, c.new, oldSize, newSize)
}

// updateExpiry keeps the order in which items expire.
func (c *change) updateExpiry(batch *pebble.Batch) error {
	if c.table.TTLAttribute == "" {
		return nil
	}
	before, hadExpiry := expiryOf(c.old, c.table.TTLAttribute)
	after, hasExpiry := expiryOf(c.new, c.table.TTLAttribute)
	if hadExpiry == hasExpiry && before == after {
		return nil
	}
	var err error
	if hadExpiry {
		err = batch.Delete(c.table.expiryKey(before, c.key), nil)
	}
	if hasExpiry {
		err = errors.Join(err, batch.Set(c.table.expiryKey(after, c.key), nil, nil))
	}
	return err
}

// count adds the difference that a change makes to the counters of a table or index.
func count(batch *pebble.Batch, number uint32, before, after attr.Item, oldSize, newSize int) error {
	delta := counters{bytes: int64(newSize - oldSize)}
	if before == nil {
		delta.items++
	}
	if after == nil {
		delta.items--
	}
	if delta == (counters{}) {
		return nil
	}
	return batch.Merge(spaceKey(spaceCounters, number), delta.encode(), nil) //nolint:wrapcheck // apply names it
}

// entry is an item's projection into the index; nil when the item is not in it.
func (x *index) entry(item attr.Item) attr.Item {
	if item == nil || !x.keys.covers(item) {
		return nil
	}
	if x.included == nil {
		return item
	}
	projected := make(attr.Item, len(x.included))
	for name := range x.included {
		if value, ok := item[name]; ok {
			projected[name] = value
		}
	}
	return projected
}

// update adds what a change means for the index and returns its write units:
// an entry that moves is a deletion and a put.
func (x *index) update(batch *pebble.Batch, c *change) (float64, error) {
	before, after := x.entry(c.old), x.entry(c.new)
	if before == nil && after == nil {
		return 0, nil
	}
	oldSize, newSize := before.Size(), after.Size()
	var oldKey, newKey []byte
	if before != nil {
		oldKey = x.key(c.table, before)
	}
	if after != nil {
		newKey = x.key(c.table, after)
	}
	moves := before != nil && after != nil && !bytes.Equal(oldKey, newKey)
	if before != nil && after != nil && !moves && before.Equal(after) {
		return 0, nil
	}
	if before != nil && (after == nil || moves) {
		if err := batch.Delete(oldKey, nil); err != nil {
			return 0, err //nolint:wrapcheck // apply names it
		}
	}
	if after != nil {
		if err := batch.Set(newKey, attr.AppendItem(nil, after), nil); err != nil {
			return 0, err //nolint:wrapcheck // apply names it
		}
	}
	units := unitsOf(max(oldSize, newSize), writeUnitBytes)
	if moves {
		units = unitsOf(oldSize, writeUnitBytes) + unitsOf(newSize, writeUnitBytes)
	}
	return units, count(batch, x.ID, before, after, oldSize, newSize)
}

// load reads an item; nil when it does not exist.
func load(reader pebble.Reader, key []byte) (attr.Item, error) {
	value, closer, err := reader.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading an item: %w", err)
	}
	item, err := attr.DecodeStoredItem(value)
	if err = errors.Join(err, closer.Close()); err != nil {
		return nil, fmt.Errorf("reading an item: %w", err)
	}
	return item, nil
}

// write changes one item. decide sees the item as it is, nil when absent, and
// returns what it shall be, nil for nothing; no other write of the item comes
// between. write returns when the change is durable.
func (db *DB) write(t *table, key []byte, decide func(old attr.Item) (attr.Item, error)) (change, error) {
	c := change{table: t, key: key}
	if err := db.folder.Room(); err != nil {
		return c, err
	}
	unlock := db.locks.lock(key)
	pending, err := func() (*pendingWrite, error) {
		defer unlock()
		var err error
		if c.old, err = load(db.folder.DB, key); err != nil {
			return nil, err
		}
		if c.new, err = decide(c.old); err != nil {
			return nil, err
		}
		changes := []change{c}
		pending, err := db.apply(changes, nil)
		c = changes[0]
		return pending, err
	}()
	if err != nil {
		return c, err
	}
	return c, pending.wait()
}

// writeAll makes several changes in one atomic, serialisable write. Their old
// images are filled in under the locks of all the items; decide, if any, then
// sees all of them and sets what the items shall be, or fails. writeAll returns
// when the changes are durable.
func (db *DB) writeAll(changes []change, decide func() error, also func(*pebble.Batch) error) error {
	if err := db.folder.Room(); err != nil {
		return err
	}
	keys := make([][]byte, len(changes))
	for i := range changes {
		keys[i] = changes[i].key
	}
	unlock := db.locks.lockAll(keys)
	pending, err := func() (*pendingWrite, error) {
		defer unlock()
		for i := range changes {
			var err error
			if changes[i].old, err = load(db.folder.DB, changes[i].key); err != nil {
				return nil, err
			}
		}
		if decide != nil {
			if err := decide(); err != nil {
				return nil, err
			}
		}
		return db.apply(changes, also)
	}()
	if err != nil {
		return err
	}
	return pending.wait()
}
