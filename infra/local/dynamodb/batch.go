package dynamodb

import (
	"maps"
	"slices"

	"devplatform/infra/local/dynamodb/attr"
)

const (
	maxBatchGets     = 100
	maxBatchWrites   = 25
	maxBatchGetBytes = 16 << 20
)

var errDuplicateKeys = invalid("Provided list of item keys contains duplicates")

type keysAndAttributes struct {
	Keys                     []attr.Item
	ConsistentRead           bool              `json:",omitzero"`
	ProjectionExpression     *string           `json:",omitzero"`
	ExpressionAttributeNames map[string]string `json:",omitzero"`
	AttributesToGet          refused           `json:",omitzero"`
}

type batchGetRequest struct {
	RequestItems           map[string]*keysAndAttributes
	ReturnConsumedCapacity string
}

type batchGetResponse struct {
	Responses        map[string][]attr.Item
	UnprocessedKeys  map[string]*keysAndAttributes
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

// tableGets is what a BatchGetItem reads from one table.
type tableGets struct {
	name    string
	request *keysAndAttributes
	parsed  *parsed
	table   *table
	places  [][]byte
}

func (in *batchGetRequest) check() ([]tableGets, error) {
	if in.RequestItems != nil && len(in.RequestItems) == 0 {
		return nil, invalid("%sValue at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1", oneError)
	}
	var v violations
	v.required(in.RequestItems != nil, "requestItems")
	names := slices.Sorted(maps.Keys(in.RequestItems))
	checkTableNames(&v, names, in.show)
	v.enum(in.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	total := 0
	for _, name := range names {
		request := in.RequestItems[name]
		if request == nil || request.Keys == nil {
			v.required(false, "requestItems."+name+".member.keys")
			continue
		}
		total += len(request.Keys)
		const badLength = oneError + "Value at 'RequestItems.%s.member.Keys' failed to satisfy constraint: Member must have length %s than or equal to %d"
		switch {
		case len(request.Keys) == 0:
			return nil, invalid(badLength, name, "greater", 1)
		case len(request.Keys) > maxBatchGets:
			return nil, invalid(badLength, name, "less", maxBatchGets)
		}
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if total > maxBatchGets {
		return nil, invalid("Too many items requested for the BatchGetItem call")
	}
	return in.parse(names)
}

func (in *batchGetRequest) parse(names []string) ([]tableGets, error) {
	gets := make([]tableGets, len(names))
	for i, name := range names {
		request := in.RequestItems[name]
		e := expressions{ProjectionExpression: request.ProjectionExpression, ExpressionAttributeNames: request.ExpressionAttributeNames}
		if err := refuseLegacy([]parameter{{"AttributesToGet", bool(request.AttributesToGet)}}, e.given()); err != nil {
			return nil, err
		}
		if err := e.checkPlaceholders(""); err != nil {
			return nil, err
		}
		for _, key := range request.Keys {
			if err := key.Validate(); err != nil {
				return nil, err
			}
		}
		p, err := e.parse()
		if err != nil {
			return nil, err
		}
		gets[i] = tableGets{name: name, request: request, parsed: p}
	}
	return gets, nil
}

// locate finds tables and places, and refuses a key that stands there twice.
func (g *tableGets) locate(db *DB, seen map[string]bool) (err error) {
	if g.table, err = db.table(g.name); err != nil {
		return err
	}
	if err := g.table.checkScalars(g.parsed); err != nil {
		return err
	}
	for _, key := range g.request.Keys {
		if err := g.table.checkKey(key); err != nil {
			return err
		}
		place := g.table.itemKey(key)
		if seen[string(place)] {
			return errDuplicateKeys
		}
		seen[string(place)] = true
		g.places = append(g.places, place)
	}
	return nil
}

func (db *DB) batchGetItem(in *batchGetRequest) (*batchGetResponse, error) {
	gets, err := in.check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	seen := map[string]bool{}
	for i := range gets {
		if err := gets[i].locate(db, seen); err != nil {
			return nil, err
		}
	}
	response := &batchGetResponse{Responses: map[string][]attr.Item{}, UnprocessedKeys: map[string]*keysAndAttributes{}}
	room := maxBatchGetBytes
	for i := range gets {
		used, err := gets[i].read(db, response, &room)
		if err != nil {
			return nil, err
		}
		if report := used.report(in.ReturnConsumedCapacity, gets[i].table.Name, plainUnits); report != nil {
			response.ConsumedCapacity = append(response.ConsumedCapacity, report)
		}
	}
	return response, nil
}

// read reads a table's items until the answer is full; the rest of the keys are
// unprocessed.
func (g *tableGets) read(db *DB, response *batchGetResponse, room *int) (consumed, error) {
	var used consumed
	items := []attr.Item{}
	for i, place := range g.places {
		item, err := load(db.folder.DB, place)
		if err != nil {
			return used, err
		}
		size := item.Size()
		if size > *room {
			rest := *g.request
			rest.Keys = g.request.Keys[i:]
			response.UnprocessedKeys[g.name] = &rest
			break
		}
		*room -= size
		used.table += unitsOf(size, readUnitBytes) * consistency(g.request.ConsistentRead)
		if item != nil {
			items = append(items, project(g.parsed.projection, item))
		}
	}
	response.Responses[g.name] = items
	return used, nil
}

type putRequest struct{ Item attr.Item }

type deleteRequest struct{ Key attr.Item }

type writeRequest struct {
	PutRequest    *putRequest
	DeleteRequest *deleteRequest
}

type batchWriteRequest struct {
	RequestItems                map[string][]writeRequest
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

type batchWriteResponse struct {
	UnprocessedItems map[string][]writeRequest
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

func (in *batchWriteRequest) check() ([]string, error) {
	if in.RequestItems != nil && len(in.RequestItems) == 0 {
		return nil, invalid("The requestItems parameter is required for BatchWriteItem")
	}
	var v violations
	v.enum(in.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	v.enum(in.ReturnItemCollectionMetrics, "returnItemCollectionMetrics", metricsModes)
	if err := v.err(); err != nil {
		return nil, err
	}
	v.required(in.RequestItems != nil, "requestItems")
	names := slices.Sorted(maps.Keys(in.RequestItems))
	checkTableNames(&v, names, in.show)
	total := 0
	for _, name := range names {
		n := len(in.RequestItems[name])
		total += n
		if n < 1 || n > maxBatchWrites {
			v.add("'"+in.show(names)+"'", "requestItems",
				"Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]")
			break
		}
	}
	for _, name := range names {
		for i, request := range in.RequestItems[name] {
			member := memberName("requestItems."+name+".member", i)
			v.required(request.PutRequest == nil || request.PutRequest.Item != nil, member+".putRequest.item")
			v.required(request.DeleteRequest == nil || request.DeleteRequest.Key != nil, member+".deleteRequest.key")
		}
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if total > maxBatchWrites {
		return nil, invalid("Too many items requested for the BatchWriteItem call")
	}
	return names, in.checkValues(names)
}

func (in *batchWriteRequest) checkValues(names []string) error {
	for _, name := range names {
		for _, request := range in.RequestItems[name] {
			if (request.PutRequest == nil) == (request.DeleteRequest == nil) {
				return invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
			}
			if request.DeleteRequest != nil {
				if err := request.DeleteRequest.Key.Validate(); err != nil {
					return inOlderWords(err)
				}
				continue
			}
			if err := request.PutRequest.Item.Validate(); err != nil {
				return inOlderWords(err)
			}
			if request.PutRequest.Item.Size() > maxItemBytes {
				return errItemTooLarge
			}
		}
	}
	return nil
}

// changes turns the request into changes without their old images.
func (in *batchWriteRequest) changes(db *DB, names []string) ([]change, error) {
	var changes []change
	seen := map[string]bool{}
	for _, name := range names {
		t, err := db.table(name)
		if err != nil {
			return nil, err
		}
		for _, request := range in.RequestItems[name] {
			c := change{table: t}
			if request.DeleteRequest != nil {
				if err := t.checkKey(request.DeleteRequest.Key); err != nil {
					return nil, err
				}
				c.key = t.itemKey(request.DeleteRequest.Key)
			} else {
				if err := t.checkBatchItem(request.PutRequest.Item); err != nil {
					return nil, err
				}
				c.new = request.PutRequest.Item
				c.key = t.itemKey(c.new)
			}
			if seen[string(c.key)] {
				return nil, errDuplicateKeys
			}
			seen[string(c.key)] = true
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// checkBatchItem is checkItemKeys in the words of a batch: the table's keys
// first, as if they were a Key.
func (t *table) checkBatchItem(item attr.Item) error {
	for _, k := range t.keys {
		if value, ok := item[k.Name]; !ok || value.Kind != k.Kind {
			return invalid(errKeyMismatch)
		}
	}
	return t.checkItemKeys(item)
}

// batchWriteItem does all or nothing of the batch, which is more than AWS
// promises, with one synced write.
func (db *DB) batchWriteItem(in *batchWriteRequest) (*batchWriteResponse, error) {
	names, err := in.check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	changes, err := in.changes(db, names)
	if err != nil {
		return nil, err
	}
	err = db.writeAll(changes, nil, nil)
	if err != nil {
		return nil, err
	}
	return &batchWriteResponse{
		UnprocessedItems: map[string][]writeRequest{},
		ConsumedCapacity: reportWrites(changes, in.ReturnConsumedCapacity, 1, plainUnits),
	}, nil
}

// reportWrites adds up what changes consumed, by table in order of appearance.
func reportWrites(changes []change, mode string, factor float64, kind capacityKind) []*consumedCapacity {
	used := map[*table]*consumed{}
	var tables []*table
	for _, c := range changes {
		if used[c.table] == nil {
			used[c.table] = &consumed{}
			tables = append(tables, c.table)
		}
		used[c.table].addWrite(c.table, c.units, factor)
	}
	return reportAll(tables, used, mode, kind)
}

func reportAll(tables []*table, used map[*table]*consumed, mode string, kind capacityKind) []*consumedCapacity {
	var reports []*consumedCapacity
	for _, t := range tables {
		if report := used[t].report(mode, t.Name, kind); report != nil {
			reports = append(reports, report)
		}
	}
	return reports
}
