package dynamodb

import (
	"devplatform/infra/local/dynamodb/catalog"
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

// tableGets is the part of a BatchGetItem that reads one table.
type tableGets struct {
	*wire.KeysAndAttributes
	name   string
	parsed *wire.Expressions
	table  *catalog.Table
	places [][]byte
}

func (db *DB) batchGetItem(in *wire.BatchGetItemRequest) (*wire.BatchGetItemResponse, error) {
	names, err := in.Check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	gets := make([]tableGets, len(names))
	seen := keySet{}
	for i, name := range names {
		gets[i] = tableGets{KeysAndAttributes: in.RequestItems[name], name: name}
		if err := gets[i].locate(db, seen); err != nil {
			return nil, err
		}
	}
	response := &wire.BatchGetItemResponse{
		Responses: map[string][]values.Item{}, UnprocessedKeys: map[string]*wire.KeysAndAttributes{},
	}
	var used consumedByTable
	room := maxBatchGetBytes
	for i := range gets {
		g := &gets[i]
		if err := g.read(db, response, used.of(g.table), &room); err != nil {
			return nil, err
		}
	}
	response.ConsumedCapacity = used.report(in.ReturnConsumedCapacity, plainUnits)
	return response, nil
}

// locate finds the table and the keys.
func (g *tableGets) locate(db *DB, seen keySet) (err error) {
	if g.parsed, err = g.Parse(); err != nil {
		return err
	}
	for _, key := range g.Keys {
		c, err := db.locate(g.name, key, g.parsed)
		if err != nil {
			return err
		}
		if !seen.add(c.Key) {
			return errDuplicateKeys
		}
		g.table = c.Table
		g.places = append(g.places, c.Key)
	}
	return nil
}

// read reads a table's items until the response is full. The rest of the keys are unprocessed.
func (g *tableGets) read(db *DB, response *wire.BatchGetItemResponse, used *consumed, room *int) error {
	items := []values.Item{}
	for i, place := range g.places {
		item, err := db.store.Get(place)
		if err != nil {
			return err
		}
		size := item.Size()
		if size > *room {
			rest := *g.KeysAndAttributes
			rest.Keys = g.Keys[i:]
			response.UnprocessedKeys[g.name] = &rest
			break
		}
		*room -= size
		used.table += storage.ReadUnits(size) * consistency(g.ConsistentRead)
		if item != nil {
			items = append(items, g.parsed.Project(item))
		}
	}
	response.Responses[g.name] = items
	return nil
}

// batchWriteItem writes all of the batch or nothing, which is more than AWS guarantees.
func (db *DB) batchWriteItem(in *wire.BatchWriteItemRequest) (*wire.BatchWriteItemResponse, error) {
	names, err := in.Check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	var changes []storage.Change
	seen := keySet{}
	for _, name := range names {
		for _, request := range in.RequestItems[name] {
			var c storage.Change
			if request.DeleteRequest != nil {
				c, err = db.locate(name, request.DeleteRequest.Key, &wire.Expressions{})
			} else {
				c, err = db.locateItem(name, request.PutRequest.Item, &wire.Expressions{})
				c.New = request.PutRequest.Item
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
	if err := db.store.WriteAll(changes, nil, nil); err != nil {
		return nil, err
	}
	return &wire.BatchWriteItemResponse{
		UnprocessedItems: map[string][]wire.WriteRequest{},
		ConsumedCapacity: reportWrites(changes, in.ReturnConsumedCapacity, 1, plainUnits),
	}, nil
}
