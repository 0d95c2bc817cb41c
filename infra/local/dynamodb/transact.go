package dynamodb

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/storage"
	"devplatform/infra/local/dynamodb/wire"
)

var errSameItem = wire.Invalid("Transaction request cannot include multiple operations on one item")

// asReason returns the cancellation reason for an error of an action, or an error that rejects the whole request.
func asReason(err error) (*wire.CancellationReason, error) {
	if reason := wire.AsReason(err); reason != nil && !errors.Is(err, catalog.ErrEmptyKey) {
		return reason, nil
	}
	return nil, err
}

// transactWriteItems executes all actions or none. It is serializable: all items are locked from reading to writing.
func (db *DB) transactWriteItems(in *wire.TransactWriteItemsRequest) (*wire.TransactWriteItemsResponse, error) {
	actions, err := in.Check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	changes := make([]storage.Change, len(actions))
	err = db.locateAll(len(actions), func(i int) (key []byte, err error) {
		a := actions[i]
		if a.Kind == wire.ActionPut {
			changes[i], err = db.locateItem(a.TableName, a.Item, a.Parsed)
		} else {
			changes[i], err = db.locate(a.TableName, a.Key, a.Parsed)
		}
		return changes[i].Key, err
	})
	if err != nil {
		return nil, err
	}
	decide := func() error { return decideAll(actions, changes) }
	kind := writeUnits
	if in.ClientRequestToken == "" {
		err = db.store.WriteAll(changes, decide, nil)
	} else {
		var replayed bool
		replayed, err = db.store.WriteOnce(in.ClientRequestToken, fingerprint(actions), changes, decide)
		if replayed {
			kind = readUnits
		}
	}
	if err != nil {
		return nil, err
	}
	return &wire.TransactWriteItemsResponse{
		ConsumedCapacity: reportWrites(changes, in.ReturnConsumedCapacity, transactionFactor, kind),
	}, nil
}

// locateAll locates the items of a transaction's actions, and rejects two actions on the same item.
func (db *DB) locateAll(actions int, locate func(i int) (key []byte, err error)) error {
	reasons := make([]*wire.CancellationReason, actions)
	seen, same := keySet{}, false
	for i := range actions {
		key, err := locate(i)
		if err != nil {
			if reasons[i], err = asReason(err); err != nil {
				return err
			}
			continue
		}
		same = !seen.add(key) || same
	}
	if err := wire.Canceled(reasons); err != nil {
		return err
	}
	if same {
		return errSameItem
	}
	return nil
}

// decideAll sets the new items of a transaction's changes.
func decideAll(actions []*wire.Action, changes []storage.Change) error {
	reasons := make([]*wire.CancellationReason, len(actions))
	for i, a := range actions {
		if err := decide(a, &changes[i]); err != nil {
			if reasons[i], err = asReason(err); err != nil {
				return err
			}
		}
	}
	return wire.Canceled(reasons)
}

func decide(a *wire.Action, c *storage.Change) (err error) {
	if err := a.Parsed.Require(c.Old, a.ReturnValuesOnConditionCheckFailure); err != nil {
		return err
	}
	switch a.Kind {
	case wire.ActionPut:
		c.New = a.Item
	case wire.ActionDelete:
		c.New = nil
	case wire.ActionCheck:
		c.New = c.Old
	case wire.ActionUpdate:
		c.New, _, err = c.Table.Update(a.Parsed.Update, a.Key, c.Old)
	}
	return err
}

// fingerprint returns a digest of the content of actions. It does not depend on the order of map members in a request.
func fingerprint(actions []*wire.Action) storage.Fingerprint {
	digest := sha256.New()
	for _, a := range actions {
		writePart(digest, []byte(a.Kind))
		writePart(digest, []byte(wire.TableName(a.TableName)))
		writePart(digest, a.Item.AppendJSON(nil))
		writePart(digest, a.Key.AppendJSON(nil))
		for _, expression := range []*string{a.ConditionExpression, a.UpdateExpression} {
			if expression == nil {
				writePart(digest, nil)
				continue
			}
			writePart(digest, []byte(*expression))
		}
		for _, name := range slices.Sorted(maps.Keys(a.ExpressionAttributeNames)) {
			writePart(digest, []byte(name))
			writePart(digest, []byte(a.ExpressionAttributeNames[name]))
		}
		writePart(digest, a.ExpressionAttributeValues.AppendJSON(nil))
		writePart(digest, []byte(a.ReturnValuesOnConditionCheckFailure))
	}
	return storage.Fingerprint(digest.Sum(nil))
}

// writePart adds a part with its length, so that no two lists of parts have the same digest.
func writePart(digest hash.Hash, part []byte) {
	_, _ = digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	_, _ = digest.Write(part)
}

// transactGetItems reads all items as of one moment.
func (db *DB) transactGetItems(in *wire.TransactGetItemsRequest) (*wire.TransactGetItemsResponse, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	tables := make([]*catalog.Table, len(in.TransactItems))
	keys := make([][]byte, len(in.TransactItems))
	err := db.locateAll(len(keys), func(i int) ([]byte, error) {
		get := in.TransactItems[i].Get
		c, err := db.locate(get.TableName, get.Key, get.Parsed)
		tables[i], keys[i] = c.Table, c.Key
		return c.Key, err
	})
	if err != nil {
		return nil, err
	}
	items, err := db.store.GetAll(keys)
	if err != nil {
		return nil, err
	}
	response := &wire.TransactGetItemsResponse{Responses: make([]wire.GetItemResponse, len(items))}
	var used consumedByTable
	size := 0
	for i, item := range items {
		n := item.Size()
		size += n
		used.of(tables[i]).table += storage.ReadUnits(n) * transactionFactor
		response.Responses[i].Item = in.TransactItems[i].Get.Parsed.Project(item)
	}
	response.ConsumedCapacity = used.report(in.ReturnConsumedCapacity, readUnits)
	return response, wire.CheckTransactionSize(size)
}
