package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/cockroachdb/pebble/v2"
)

type ttlSpec struct {
	AttributeName *string
	Enabled       *bool
}

type updateTTLRequest struct {
	tableRef
	TimeToLiveSpecification *ttlSpec
}

type ttlSpecResponse struct {
	AttributeName string
	Enabled       bool
}

type updateTTLResponse struct {
	TimeToLiveSpecification ttlSpecResponse
}

type describeTTLResponse struct {
	TimeToLiveDescription ttlDescription
}

type ttlDescription struct {
	TimeToLiveStatus string
	AttributeName    string `json:",omitzero"`
}

func (in *updateTTLRequest) check() error {
	var v violations
	spec := in.TimeToLiveSpecification
	v.required(spec != nil, "timeToLiveSpecification")
	if spec != nil {
		v.required(spec.AttributeName != nil, "timeToLiveSpecification.attributeName")
		v.required(spec.Enabled != nil, "timeToLiveSpecification.enabled")
		if spec.AttributeName != nil && (*spec.AttributeName == "" || len(*spec.AttributeName) > maxNameBytes) {
			v.add("'"+*spec.AttributeName+"'", "timeToLiveSpecification.attributeName",
				fmt.Sprintf("Member must have length between 1 and %d", maxNameBytes))
		}
	}
	return v.err()
}

// updateTimeToLive switches expiry on, which orders the items there are by when
// they expire, or off, which forgets that order.
func (db *DB) updateTimeToLive(in *updateTTLRequest) (*updateTTLResponse, error) {
	db.catalog.Lock()
	defer db.catalog.Unlock()
	t, err := db.control(&in.tableRef)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	name, enabled := *in.TimeToLiveSpecification.AttributeName, *in.TimeToLiveSpecification.Enabled
	switch {
	case enabled && t.TTLAttribute == name:
		return nil, invalid("TimeToLive is already enabled")
	case enabled && t.TTLAttribute != "":
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTLAttribute)
	case !enabled && t.TTLAttribute == "":
		return nil, invalid("TimeToLive is already disabled")
	case !enabled && t.TTLAttribute != name:
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTLAttribute)
	}
	batch := db.folder.DB.NewBatch()
	defer discard(batch)
	record := t.tableRecord
	if enabled {
		record.TTLAttribute = name
		err = db.orderByExpiry(batch, t, name)
	} else {
		record.TTLAttribute = ""
		err = dropRange(batch, spaceKey(spaceExpiry, t.ID))
	}
	if err != nil {
		return nil, err
	}
	if _, err := db.saveTable(batch, record, nil); err != nil {
		return nil, err
	}
	return &updateTTLResponse{ttlSpecResponse{AttributeName: name, Enabled: enabled}}, nil
}

func (db *DB) orderByExpiry(batch *pebble.Batch, t *table, name string) error {
	return db.each(spaceKey(spaceItems, t.ID), func(key, value []byte) error {
		item, err := attr.DecodeStoredItem(value)
		if err != nil {
			return err
		}
		if second, ok := expiryOf(item, name); ok {
			return batch.Set(t.expiryKey(second, key), nil, nil)
		}
		return nil
	})
}

func (db *DB) describeTimeToLive(in *tableRequest) (*describeTTLResponse, error) {
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	t, err := db.control(&in.tableRef)
	if err != nil {
		return nil, err
	}
	if t.TTLAttribute == "" {
		return &describeTTLResponse{ttlDescription{TimeToLiveStatus: "DISABLED"}}, nil
	}
	return &describeTTLResponse{ttlDescription{TimeToLiveStatus: "ENABLED", AttributeName: t.TTLAttribute}}, nil
}

// expiryOf is the second since 1970 at which an item expires. Anything but a
// whole, positive number never does.
func expiryOf(item attr.Item, name string) (uint64, bool) {
	value, ok := item[name]
	if !ok || value.Kind != attr.N {
		return 0, false
	}
	second, ok := value.N.Int64()
	if !ok || second <= 0 {
		return 0, false
	}
	return uint64(second), true
}

const (
	// oldestExpiry guards, as AWS does, against attributes that are no expiry:
	// what expired more than five years ago stays.
	oldestExpiry = 5 * 365 * 24 * time.Hour
	// sweepBatch is how many items one step of a sweep deletes.
	sweepBatch = 256
)

func (db *DB) sweepLoop() {
	timer := time.NewTicker(db.options.SweepInterval)
	defer timer.Stop()
	for {
		select {
		case <-db.stop:
			return
		case <-timer.C:
			if db.folder.Room() != nil {
				continue // deleting takes room, too
			}
			if err := db.sweep(); err != nil {
				db.options.Logger.Error("dynamodb: sweeping expired items", slog.Any("error", err))
			}
		}
	}
}

// sweep deletes what has expired by now: items of tables with a TTL, request
// tokens, and records of streams. It reads nothing that has not expired.
func (db *DB) sweep() error {
	now := db.options.Now()
	db.catalog.RLock()
	ids := make(map[string]uint32, len(db.tables))
	for name, t := range db.tables {
		if t.TTLAttribute != "" {
			ids[name] = t.ID
		}
	}
	db.catalog.RUnlock()
	errs := []error{db.sweepTokens(now), db.sweepStreams(now)}
	for name, id := range ids {
		errs = append(errs, db.sweepTable(name, id, now))
	}
	return errors.Join(errs...)
}

// sweepTable deletes a table's expired items in steps, between which table
// operations can come.
func (db *DB) sweepTable(name string, id uint32, now time.Time) error {
	for {
		select {
		case <-db.stop:
			return nil
		default:
		}
		n, err := db.sweepStep(name, id, now)
		if err != nil || n < sweepBatch {
			return err
		}
	}
}

func (db *DB) sweepStep(name string, id uint32, now time.Time) (int, error) {
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	t := db.tables[name]
	if t == nil || t.ID != id || t.TTLAttribute == "" {
		return 0, nil
	}
	keys, err := db.expired(t, now)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	return len(keys), db.deleteExpired(t, keys, now)
}

// expired lists the keys of the next items to delete.
func (db *DB) expired(t *table, now time.Time) ([][]byte, error) {
	prefix := spaceKey(spaceExpiry, t.ID)
	bound := func(at time.Time) []byte {
		return binary.BigEndian.AppendUint64(append([]byte(nil), prefix...), uint64(max(0, at.Unix())))
	}
	iterator, err := db.folder.DB.NewIter(&pebble.IterOptions{LowerBound: bound(now.Add(-oldestExpiry)), UpperBound: bound(now)})
	if err != nil {
		return nil, fmt.Errorf("reading expired items: %w", err)
	}
	var keys [][]byte
	for valid := iterator.First(); valid && len(keys) < sweepBatch; valid = iterator.Next() {
		rest := iterator.Key()[len(prefix)+8:]
		keys = append(keys, append(spaceKey(spaceItems, t.ID), rest...))
	}
	return keys, errors.Join(iterator.Error(), iterator.Close())
}

// deleteExpired deletes items unless they have been given more time meanwhile.
func (db *DB) deleteExpired(t *table, keys [][]byte, now time.Time) error {
	unlock := db.locks.lockAll(keys)
	pending, err := func() (*pendingWrite, error) {
		defer unlock()
		var changes []change
		for _, key := range keys {
			item, err := load(db.folder.DB, key)
			if err != nil {
				return nil, err
			}
			if second, ok := expiryOf(item, t.TTLAttribute); ok && int64(second) < now.Unix() { //nolint:gosec // came from an int64
				changes = append(changes, change{table: t, key: key, old: item, expired: true})
			}
		}
		return db.apply(changes, nil)
	}()
	if err != nil {
		return err
	}
	return pending.wait()
}
