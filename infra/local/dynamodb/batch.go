package dynamodb

import (
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/storage"
	"devplatform/infra/local/dynamodb/values"
	"devplatform/infra/local/dynamodb/wire"
)

const maxBatchGetBytes = 16 << 20

var errDuplicateKeys = wire.Invalid("Provided list of item keys contains duplicates")

// keySet detects items that a request names twice.
type keySet map[string]bool

// add reports whether the key is new.
func (s keySet) add(key []byte) bool {
	if s[string(key)] {
		return false
	}
	s[string(key)] = true
	return true
}

func (db *DB) batchGetItem(in *wire.BatchGetItemRequest) (*wire.BatchGetItemResponse, error) {
	response := &wire.BatchGetItemResponse{
		Responses: map[string][]values.Item{}, UnprocessedKeys: map[string]*wire.KeysAndAttributes{},
	}
	used := usage{mode: in.ReturnConsumedCapacity}
	room := maxBatchGetBytes
	seen := keySet{}
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		get := in.RequestItems[name]
		items := make([]values.Item, 0, len(get.Keys))
		for i, key := range get.Keys {
			c, err := db.locate(name, key, &get.Parsed)
			if err != nil {
				return nil, err
			}
			if !seen.add(c.Key) {
				return nil, errDuplicateKeys
			}
			if response.UnprocessedKeys[name] != nil {
				continue // the key is only checked
			}
			item, err := db.store.Get(c.Key)
			if err != nil {
				return nil, err
			}
			if room -= item.Size(); room < 0 {
				rest := *get
				rest.Keys = get.Keys[i:]
				response.UnprocessedKeys[name] = &rest
				continue
			}
			used.of(c.Table).table += storage.ReadUnits(item.Size()) * consistency(get.ConsistentRead)
			if item != nil {
				items = append(items, get.Parsed.Projection.Apply(item))
			}
		}
		response.Responses[name] = items
	}
	response.ConsumedCapacity = used.report()
	return response, nil
}

// batchWriteItem writes all of the batch or nothing, which is more than AWS guarantees.
func (db *DB) batchWriteItem(in *wire.BatchWriteItemRequest) (*wire.BatchWriteItemResponse, error) {
	var changes []storage.Change
	seen := keySet{}
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, request := range in.RequestItems[name] {
			var c storage.Change
			var err error
			if request.DeleteRequest != nil {
				c, err = db.locate(name, request.DeleteRequest.Key, &wire.Expressions{})
			} else {
				c, err = db.locateItem(name, request.PutRequest.Item, &wire.Expressions{})
			}
			switch {
			case err != nil:
				return nil, err
			case !seen.add(c.Key):
				return nil, errDuplicateKeys
			}
			changes = append(changes, c)
		}
	}
	if err := db.store.Write(changes, nil, nil); err != nil {
		return nil, err
	}
	used := usage{mode: in.ReturnConsumedCapacity}
	used.addWrites(changes, 1)
	return &wire.BatchWriteItemResponse{
		UnprocessedItems: map[string][]wire.WriteRequest{}, ConsumedCapacity: used.report(),
	}, nil
}
