package dynamodb

import (
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/values"
)

const maxBatchGetBytes = 16 << 20

var errDuplicateKeys = invalid("Provided list of item keys contains duplicates")

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

func (db *DB) batchGetItem(in *batchGetItemRequest) (*batchGetItemResponse, error) {
	response := &batchGetItemResponse{
		Responses: map[string][]values.Item{}, UnprocessedKeys: map[string]*keysAndAttributes{},
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
			item, err := db.store.get(c.Key)
			if err != nil {
				return nil, err
			}
			if room -= item.Size(); room < 0 {
				rest := *get
				rest.Keys = get.Keys[i:]
				response.UnprocessedKeys[name] = &rest
				continue
			}
			used.of(c.Table).table += readUnits(item.Size()) * consistency(get.ConsistentRead)
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
func (db *DB) batchWriteItem(in *batchWriteItemRequest) (*batchWriteItemResponse, error) {
	var changes []change
	seen := keySet{}
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, request := range in.RequestItems[name] {
			var c change
			var err error
			if request.DeleteRequest != nil {
				c, err = db.locate(name, request.DeleteRequest.Key, &parsedExpressions{})
			} else {
				c, err = db.locateItem(name, request.PutRequest.Item, &parsedExpressions{})
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
	if err := db.store.write(changes, nil); err != nil {
		return nil, err
	}
	used := usage{mode: in.ReturnConsumedCapacity}
	used.addWrites(changes, 1)
	return &batchWriteItemResponse{
		UnprocessedItems: map[string][]writeRequest{}, ConsumedCapacity: used.report(),
	}, nil
}
