package dynamodb

import (
	"errors"
	"strings"

	"devplatform/infra/local/dynamodb/attr"
)

// get is one read of a TransactGetItems.
type get struct {
	tableRef
	Key                      attr.Item
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string

	parsed *parsed
	table  *table
	place  []byte
}

type transactGetItem struct{ Get *get }

type transactGetRequest struct {
	TransactItems          []transactGetItem
	ReturnConsumedCapacity string
}

type itemResponse struct {
	Item attr.Item `json:",omitzero"`
}

type transactGetResponse struct {
	Responses        []itemResponse
	ConsumedCapacity []*consumedCapacity `json:",omitzero"`
}

func (in *transactGetRequest) check() error {
	var v violations
	v.required(in.TransactItems != nil, "transactItems")
	if in.TransactItems != nil {
		v.length(len(in.TransactItems), showItems(len(in.TransactItems), "TransactGetItem"), "transactItems", maxTransactItems)
	}
	v.enum(in.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	if err := v.err(); err != nil {
		return err
	}
	for i, item := range in.TransactItems {
		member := memberName("transactItems", i) + ".get"
		v.required(item.Get != nil, member)
		if item.Get == nil {
			continue
		}
		v.required(item.Get.Key != nil, member+".key")
		if item.Get.TableName == nil || !strings.HasPrefix(*item.Get.TableName, arnPrefix) {
			v.name(item.Get.TableName, member+".tableName", 1)
		}
	}
	if err := v.err(); err != nil {
		return err
	}
	for _, item := range in.TransactItems {
		if err := item.Get.parse(); err != nil {
			return err
		}
	}
	return nil
}

func (g *get) parse() (err error) {
	e := expressions{ProjectionExpression: g.ProjectionExpression, ExpressionAttributeNames: g.ExpressionAttributeNames}
	if err := e.checkPlaceholders(""); err != nil {
		return err
	}
	if err := g.Key.Validate(); err != nil {
		return inOlderWords(err)
	}
	g.parsed, err = e.parse()
	return err
}

func (g *get) locate(db *DB) (err error) {
	if g.table, err = db.table(*g.TableName); err != nil {
		return err
	}
	if err := errors.Join(g.table.checkKey(g.Key), g.table.checkScalars(g.parsed)); err != nil {
		return err
	}
	g.place = g.table.itemKey(g.Key)
	return nil
}

// transactGetItems reads all items as of one moment.
func (db *DB) transactGetItems(in *transactGetRequest) (*transactGetResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	reasons := make([]*cancellationReason, len(in.TransactItems))
	seen := map[string]bool{}
	for i, item := range in.TransactItems {
		if err := item.Get.locate(db); err != nil {
			if reasons[i], err = asReason(err); err != nil {
				return nil, err
			}
			continue
		}
		if seen[string(item.Get.place)] {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[string(item.Get.place)] = true
	}
	if err := cancelled(reasons); err != nil {
		return nil, err
	}
	return db.readTogether(in)
}

func (db *DB) readTogether(in *transactGetRequest) (response *transactGetResponse, err error) {
	snapshot := db.folder.DB.NewSnapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	response = &transactGetResponse{}
	used := map[*table]*consumed{}
	var tables []*table
	size := 0
	for _, item := range in.TransactItems {
		g := item.Get
		found, err := load(snapshot, g.place)
		if err != nil {
			return nil, err
		}
		size += found.Size()
		if used[g.table] == nil {
			used[g.table] = &consumed{}
			tables = append(tables, g.table)
		}
		used[g.table].table += unitsOf(found.Size(), readUnitBytes) * transaction
		response.Responses = append(response.Responses, itemResponse{project(g.parsed.projection, found)})
	}
	if size > maxTransactBytes {
		return nil, invalid("The aggregate size of the items in the transaction exceeds the limit of 4 MB")
	}
	response.ConsumedCapacity = reportAll(tables, used, in.ReturnConsumedCapacity, readUnits)
	return response, nil
}
