package dynamodb

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// nowSeconds returns the time in seconds since 1970, with milliseconds.
func (db *DB) nowSeconds() float64 {
	const milliseconds = 1000
	return float64(db.options.Now().UnixMilli()) / milliseconds
}

// save writes a table's record and the writes of fill, and then uses the record. fill can change the record, and
// returns the change of the table's stream, if there is one.
func (db *DB) save(record *tableRecord, fill func(*pebble.Batch) (*streamInfo, error)) (*table, error) {
	var stream *streamInfo
	err := db.store.Update(func(batch *pebble.Batch) (err error) {
		if stream, err = fill(batch); err != nil {
			return err
		}
		return saveTable(batch, record)
	})
	if err != nil {
		return nil, err
	}
	db.useStream(stream)
	return db.use(*record), nil
}

// respond returns the response with a table's description. The status is also the status of the table's indexes.
func (db *DB) respond(t *table, status string) *tableResponse {
	return &tableResponse{TableDescription: t.describe(db.account, status)}
}

// createTable creates a table. It is active immediately. As on AWS, the status in the response is CREATING, and in the
// next description ACTIVE.
func (db *DB) createTable(in *createTableRequest) (*tableResponse, error) {
	if _, exists := db.tables[in.TableName]; exists {
		return nil, errorOf(typeInUse, "Table already exists: %s", in.TableName)
	}
	record := tableRecord{
		Name: in.TableName, Created: db.nowSeconds(),
		Attributes: in.AttributeDefinitions, Keys: in.KeySchema,
	}
	if err := record.apply(&in.tableSettings); err != nil {
		return nil, err
	}
	t, err := db.save(&record, func(batch *pebble.Batch) (_ *streamInfo, err error) {
		if record.ID, err = db.store.newNumber(batch); err != nil {
			return nil, err
		}
		for i := range in.GlobalSecondaryIndexes {
			if err := db.addIndex(batch, &record, &in.GlobalSecondaryIndexes[i]); err != nil {
				return nil, err
			}
		}
		if err := record.check(); err != nil || in.StreamSpecification == nil || !in.StreamSpecification.StreamEnabled {
			return nil, err
		}
		return db.startStream(batch, &record, in.StreamSpecification.StreamViewType)
	})
	if err != nil {
		return nil, err
	}
	return db.respond(t, "CREATING"), nil
}

func (db *DB) addIndex(batch *pebble.Batch, record *tableRecord, spec *indexSpec) error {
	id, err := db.store.newNumber(batch)
	if err != nil {
		return err
	}
	x, err := record.newIndexRecord(id, spec)
	record.Indexes = append(slices.Clip(record.Indexes), x)
	return err
}

func (db *DB) describeTable(in *tableRequest) (*describeTableResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	return &describeTableResponse{Table: t.describe(db.account, "ACTIVE")}, nil
}

func (db *DB) listTables(in *listTablesRequest) (*listTablesResponse, error) {
	names := slices.Sorted(maps.Keys(db.tables))
	names = slices.DeleteFunc(names, func(name string) bool { return name <= in.ExclusiveStartTableName })
	response := &listTablesResponse{TableNames: names}
	if limit := limitOr(in.Limit, maxListed); len(names) > limit {
		response.TableNames, response.LastEvaluatedTableName = names[:limit], names[limit-1]
	}
	return response, nil
}

// deleteTable deletes a table, which takes the same time for all sizes. Its stream ends, and readers can read the rest.
func (db *DB) deleteTable(in *tableRequest) (*tableResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	response := db.respond(t, "DELETING")
	response.TableDescription.KeySchema, response.TableDescription.AttributeDefinitions = nil, nil
	record := t.tableRecord
	var stream *streamInfo
	err = db.store.Update(func(batch *pebble.Batch) (err error) {
		stream, err = db.endStream(batch, &record)
		return errors.Join(err, dropTable(batch, t))
	})
	if err != nil {
		return nil, fmt.Errorf("deleting table %s: %w", t.Name, err)
	}
	delete(db.tables, t.Name)
	db.useStream(stream)
	return response, nil
}

// updateTable changes a table immediately. As on AWS, the status in the response is UPDATING, and in the next
// description ACTIVE.
func (db *DB) updateTable(in *updateTableRequest) (*tableResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	record := t.tableRecord
	if p := in.ProvisionedThroughput; p != nil && *p == record.Throughput && len(in.GlobalSecondaryIndexUpdates) == 0 {
		return nil, invalid("The provisioned throughput for the table will not change")
	}
	if err := record.apply(&in.tableSettings); err != nil {
		return nil, err
	}
	t, err = db.save(&record, func(batch *pebble.Batch) (*streamInfo, error) {
		for i := range in.GlobalSecondaryIndexUpdates {
			if err := db.changeIndex(batch, &record, in.AttributeDefinitions, &in.GlobalSecondaryIndexUpdates[i]); err != nil {
				return nil, err
			}
		}
		return db.switchStream(batch, &record, in.StreamSpecification)
	})
	if err != nil {
		return nil, err
	}
	return db.respond(t, "UPDATING"), nil
}

// changeIndex creates, changes or deletes an index.
func (db *DB) changeIndex(
	batch *pebble.Batch, record *tableRecord, definitions []attributeDefinition, update *indexUpdate,
) error {
	name := update.name()
	at := record.index(name)
	switch {
	case update.Create != nil:
		err := errors.Join(record.define(definitions), db.addIndex(batch, record, update.Create), record.check())
		if err != nil {
			return err
		}
		filled := newTable(*record)
		if err := db.store.fillIndex(batch, filled, filled.findIndex(name)); err != nil {
			return fmt.Errorf("filling index %s: %w", name, err)
		}
		return nil
	case at < 0:
		return errorOf(typeNotFound, "Requested resource not found: Index: %s not found", name)
	case update.Delete != nil:
		number := record.Indexes[at].ID
		record.removeIndex(at)
		return dropIndex(batch, number)
	case record.OnDemand:
		return invalid("Index %s cannot have a ProvisionedThroughput when BillingMode is PAY_PER_REQUEST", name)
	}
	record.Indexes = slices.Clone(record.Indexes)
	record.Indexes[at].Throughput = *update.Update.ProvisionedThroughput
	return nil
}

func (db *DB) updateTimeToLive(in *updateTTLRequest) (*updateTTLResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	spec := in.TimeToLiveSpecification
	switch {
	case t.TTLAttribute != "" && t.TTLAttribute != spec.AttributeName:
		return nil, invalid("TimeToLive is active on a different AttributeName: "+
			"current AttributeName is %s", t.TTLAttribute)
	case spec.Enabled && t.TTLAttribute != "":
		return nil, invalid("TimeToLive is already enabled")
	case !spec.Enabled && t.TTLAttribute == "":
		return nil, invalid("TimeToLive is already disabled")
	}
	record := t.tableRecord
	_, err = db.save(&record, func(batch *pebble.Batch) (*streamInfo, error) {
		if spec.Enabled {
			record.TTLAttribute = spec.AttributeName
			return nil, db.store.addExpiry(batch, t, spec.AttributeName)
		}
		record.TTLAttribute = ""
		return nil, dropExpiry(batch, t)
	})
	return &updateTTLResponse{TimeToLiveSpecification: spec}, err
}

func (db *DB) describeTimeToLive(in *tableRequest) (*describeTTLResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	response := &describeTTLResponse{}
	d := &response.TimeToLiveDescription
	d.TimeToLiveStatus, d.AttributeName = "DISABLED", t.TTLAttribute
	if t.TTLAttribute != "" {
		d.TimeToLiveStatus = "ENABLED"
	}
	return response, nil
}
