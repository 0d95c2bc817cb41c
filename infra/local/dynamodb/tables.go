package dynamodb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/storage"
	"devplatform/infra/local/dynamodb/streams"
	"devplatform/infra/local/dynamodb/wire"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

const maxTags = 50

// nowSeconds returns the time in seconds since 1970, with milliseconds.
func (db *DB) nowSeconds() float64 {
	const milliseconds = 1000
	return float64(db.options.Now().UnixMilli()) / milliseconds
}

// save writes a table's record and the writes of fill, and makes it the current one. fill can change the record, and
// returns the change of the table's stream, if there is one.
func (db *DB) save(record *catalog.Record, fill func(*pebble.Batch) (*streams.Info, error)) (*catalog.Table, error) {
	var stream *streams.Info
	err := db.store.Update(func(batch *pebble.Batch) (err error) {
		if stream, err = fill(batch); err != nil {
			return err
		}
		return storage.SaveTable(batch, record)
	})
	if err != nil {
		return nil, err
	}
	db.useStream(stream)
	return db.use(*record), nil
}

// respond returns the response with a table's description. The status is also the status of the table's indexes.
func (db *DB) respond(t *catalog.Table, status string) *wire.TableResponse {
	return &wire.TableResponse{TableDescription: t.Describe(db.account, status)}
}

// createTable creates a table. It is active immediately. As on AWS, the status in the response is CREATING, and in the
// next description ACTIVE.
func (db *DB) createTable(in *wire.CreateTableRequest) (*wire.TableResponse, error) {
	if _, exists := db.tables[in.TableName]; exists {
		return nil, wire.Errorf(wire.TypeInUse, "Table already exists: %s", in.TableName)
	}
	record := catalog.Record{
		UUID: uuid.NewString(), Name: in.TableName, Created: db.nowSeconds(),
		Attributes: in.AttributeDefinitions, Keys: in.KeySchema, Tags: in.Tags,
	}
	if err := record.Apply(&in.TableSettings, record.Created); err != nil {
		return nil, err
	}
	t, err := db.save(&record, func(batch *pebble.Batch) (_ *streams.Info, err error) {
		if record.ID, err = db.store.NewNumber(batch); err != nil {
			return nil, err
		}
		for i := range in.GlobalSecondaryIndexes {
			if err := db.addIndex(batch, &record, &in.GlobalSecondaryIndexes[i]); err != nil {
				return nil, err
			}
		}
		if err := record.Check(); err != nil || in.StreamSpecification == nil || !in.StreamSpecification.StreamEnabled {
			return nil, err
		}
		return db.startStream(batch, &record, in.StreamSpecification.StreamViewType)
	})
	if err != nil {
		return nil, err
	}
	return db.respond(t, "CREATING"), nil
}

func (db *DB) addIndex(batch *pebble.Batch, record *catalog.Record, spec *wire.IndexSpec) error {
	id, err := db.store.NewNumber(batch)
	if err != nil {
		return err
	}
	x, err := record.NewIndexRecord(id, spec)
	record.Indexes = append(slices.Clip(record.Indexes), x)
	return err
}

func (db *DB) describeTable(in *wire.TableRequest) (*wire.DescribeTableResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	return &wire.DescribeTableResponse{Table: t.Describe(db.account, "ACTIVE")}, nil
}

func (db *DB) listTables(in *wire.ListTablesRequest) (*wire.ListTablesResponse, error) {
	names := slices.Sorted(maps.Keys(db.tables))
	names = slices.DeleteFunc(names, func(name string) bool { return name <= in.ExclusiveStartTableName })
	response := &wire.ListTablesResponse{TableNames: names}
	if limit := wire.LimitOr(in.Limit, wire.MaxListed); len(names) > limit {
		response.TableNames, response.LastEvaluatedTableName = names[:limit], names[limit-1]
	}
	return response, nil
}

// deleteTable deletes a table, which takes the same time for all sizes. Its stream ends, and readers can read the rest.
func (db *DB) deleteTable(in *wire.TableRequest) (*wire.TableResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	if t.DeletionProtection {
		return nil, wire.Invalid("Resource cannot be deleted as it is currently protected against deletion. " +
			"Disable deletion protection first.")
	}
	response := db.respond(t, "DELETING")
	response.TableDescription.KeySchema, response.TableDescription.AttributeDefinitions = nil, nil
	record := t.Record
	var stream *streams.Info
	err = db.store.Update(func(batch *pebble.Batch) (err error) {
		stream, err = db.endStream(batch, &record)
		return errors.Join(err, storage.DropTable(batch, t))
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
func (db *DB) updateTable(in *wire.UpdateTableRequest) (*wire.TableResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	record := t.Record
	if p := in.ProvisionedThroughput; p != nil && *p == record.Throughput && len(in.GlobalSecondaryIndexUpdates) == 0 {
		return nil, wire.Invalid("The provisioned throughput for the table will not change")
	}
	if err := record.Apply(&in.TableSettings, db.nowSeconds()); err != nil {
		return nil, err
	}
	t, err = db.save(&record, func(batch *pebble.Batch) (*streams.Info, error) {
		for i := range in.GlobalSecondaryIndexUpdates {
			if err := db.updateIndex(batch, &record, in.AttributeDefinitions, &in.GlobalSecondaryIndexUpdates[i]); err != nil {
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

// updateIndex creates, changes or deletes an index.
func (db *DB) updateIndex(
	batch *pebble.Batch, record *catalog.Record, definitions []wire.AttributeDefinition, update *wire.IndexUpdate,
) error {
	name := update.Name()
	at := record.Index(name)
	switch {
	case update.Create != nil:
		err := errors.Join(record.Define(definitions), db.addIndex(batch, record, update.Create), record.Check())
		if err != nil {
			return err
		}
		filled := catalog.NewTable(*record)
		if err := db.store.FillIndex(batch, filled, filled.FindIndex(name)); err != nil {
			return fmt.Errorf("filling index %s: %w", name, err)
		}
		return nil
	case at < 0:
		return wire.Errorf(wire.TypeNotFound, "Requested resource not found: Index: %s not found", name)
	case update.Delete != nil:
		number := record.Indexes[at].ID
		record.RemoveIndex(at)
		return storage.DropIndex(batch, number)
	case record.OnDemand:
		return wire.Invalid("Index %s cannot have a ProvisionedThroughput when BillingMode is PAY_PER_REQUEST", name)
	}
	record.Indexes = slices.Clone(record.Indexes)
	record.Indexes[at].Throughput = *update.Update.ProvisionedThroughput
	return nil
}

// updateTimeToLive enables or disables the expiry of items.
func (db *DB) updateTimeToLive(in *wire.UpdateTTLRequest) (*wire.UpdateTTLResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	spec := in.TimeToLiveSpecification
	switch {
	case t.TTLAttribute != "" && t.TTLAttribute != spec.AttributeName:
		return nil, wire.Invalid("TimeToLive is active on a different AttributeName: "+
			"current AttributeName is %s", t.TTLAttribute)
	case spec.Enabled && t.TTLAttribute != "":
		return nil, wire.Invalid("TimeToLive is already enabled")
	case !spec.Enabled && t.TTLAttribute == "":
		return nil, wire.Invalid("TimeToLive is already disabled")
	}
	record := t.Record
	_, err = db.save(&record, func(batch *pebble.Batch) (*streams.Info, error) {
		if spec.Enabled {
			record.TTLAttribute = spec.AttributeName
			return nil, db.store.AddExpiry(batch, t, spec.AttributeName)
		}
		record.TTLAttribute = ""
		return nil, storage.DropExpiry(batch, t)
	})
	return &wire.UpdateTTLResponse{TimeToLiveSpecification: spec}, err
}

func (db *DB) describeTimeToLive(in *wire.TableRequest) (*wire.DescribeTTLResponse, error) {
	t, err := db.table(in.TableName)
	if err != nil {
		return nil, err
	}
	response := &wire.DescribeTTLResponse{}
	d := &response.TimeToLiveDescription
	if d.TimeToLiveStatus, d.AttributeName = "DISABLED", t.TTLAttribute; t.TTLAttribute != "" {
		d.TimeToLiveStatus = "ENABLED"
	}
	return response, nil
}

// tagged returns the table with an ARN.
func (db *DB) tagged(arn string) (*catalog.Table, error) {
	switch name, ours := strings.CutPrefix(arn, db.account.TableARN("")); {
	case ours:
		return db.table(name)
	case strings.HasPrefix(arn, wire.ARNPrefix):
		return nil, wire.Errorf(wire.TypeAccessDenied, "The table is in another account or region: %s", arn)
	}
	return nil, wire.Invalid("Invalid ResourceArn: %s", arn)
}

// tagResource adds and removes tags.
func (db *DB) tagResource(in *wire.TagsRequest) (*wire.Empty, error) {
	t, err := db.tagged(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.Tags)+len(in.TagKeys) == 0 {
		return nil, wire.Invalid("At least one tag or tag key is required")
	}
	replaced := func(old wire.Tag) bool {
		return slices.Contains(in.TagKeys, old.Key) ||
			slices.ContainsFunc(in.Tags, func(added wire.Tag) bool { return added.Key == old.Key })
	}
	record := t.Record
	record.Tags = append(slices.DeleteFunc(slices.Clone(t.Tags), replaced), in.Tags...)
	if len(record.Tags) > maxTags {
		return nil, wire.Errorf(wire.TypeLimitExceeded, "There is a limit of %d tags per resource", maxTags)
	}
	_, err = db.save(&record, func(*pebble.Batch) (*streams.Info, error) { return nil, nil })
	return &wire.Empty{}, err
}

func (db *DB) listTags(in *wire.TagsRequest) (*wire.TagsResponse, error) {
	t, err := db.tagged(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	return &wire.TagsResponse{Tags: append([]wire.Tag{}, t.Tags...)}, nil
}
