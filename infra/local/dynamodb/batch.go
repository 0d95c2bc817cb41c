package dynamodb

import (
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/values"
)

type keysAndAttributes struct {
	Keys           []values.Item
	ConsistentRead bool `json:",omitzero"`
	placeholders
	ProjectionExpression *string `json:",omitzero"`
}

type batchGetItemRequest struct {
	RequestItems           map[string]*keysAndAttributes
	ReturnConsumedCapacity string
}

func (in *batchGetItemRequest) check() error {
	err := first(checkCapacity(in.ReturnConsumedCapacity), length("RequestItems", len(in.RequestItems), 1, maxBatchGets))
	total := 0
	for name, get := range in.RequestItems {
		if get == nil {
			return required("Keys", false)
		}
		total += len(get.Keys)
		err = first(err, checkTable(name), length("Keys", len(get.Keys), 1, maxBatchGets),
			get.parse(expressionTexts{projection: get.ProjectionExpression}))
	}
	return first(err, length("RequestItems", total, 1, maxBatchGets))
}

type batchGetItemResponse struct {
	Responses        map[string][]values.Item
	UnprocessedKeys  map[string]*keysAndAttributes
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

type writeRequest struct {
	PutRequest    *struct{ Item values.Item }
	DeleteRequest *struct{ Key values.Item }
}

func (r *writeRequest) check() error {
	switch {
	case (r.PutRequest == nil) == (r.DeleteRequest == nil):
		return invalid("A write request must contain exactly one of PutRequest and DeleteRequest")
	case r.DeleteRequest != nil:
		return required("Key", r.DeleteRequest.Key != nil)
	}
	return first(required("Item", r.PutRequest.Item != nil), checkItemSize(r.PutRequest.Item))
}

type batchWriteItemRequest struct {
	RequestItems                map[string][]writeRequest
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

func (in *batchWriteItemRequest) check() error {
	err := first(checkCapacity(in.ReturnConsumedCapacity), checkMetrics(in.ReturnItemCollectionMetrics))
	total := 0
	for name, requests := range in.RequestItems {
		total += len(requests)
		err = first(err, checkTable(name), length("RequestItems", len(requests), 1, maxBatchWrites))
		for i := range requests {
			err = first(err, requests[i].check())
		}
	}
	return first(err, length("RequestItems", total, 1, maxBatchWrites))
}

// batchWriteItemResponse is the output of BatchWriteItem. The embedded DynamoDB processes all items.
type batchWriteItemResponse struct {
	UnprocessedItems map[string][]writeRequest
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

const maxBatchGetBytes = 16 << 20

var errDuplicateKeys = invalid("Provided list of item keys contains duplicates")

type keySet map[string]bool

// add adds a key. It returns false if the set has the key already.
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
			room -= item.Size()
			if room < 0 {
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
