package dynamodb

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

type createTableRequest struct {
	tableRef
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keySchemaElement
	BillingMode               string
	ProvisionedThroughput     *throughputSpec
	GlobalSecondaryIndexes    []indexSpec
	LocalSecondaryIndexes     refused
	StreamSpecification       *streamSpec
	SSESpecification          *sseSpec
	DeletionProtectionEnabled bool
	TableClass                string
	Tags                      []tag

	GlobalTableSettingsReplicationMode refused
	GlobalTableSourceArn               refused
	OnDemandThroughput                 refused
	ResourcePolicy                     refused
	VectorIndexes                      refused
	WarmThroughput                     refused
}

type tableResponse struct {
	TableDescription tableDescription
}

// createTable makes a table. It is ACTIVE at once; the answer says CREATING, as
// AWS's does, and the next description ACTIVE.
func (db *DB) createTable(in *createTableRequest) (*tableResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	db.catalog.Lock()
	defer db.catalog.Unlock()
	name := *in.TableName
	if _, exists := db.tables[name]; exists {
		return nil, &apiError{Type: typeInUse, Message: "Table already exists: " + name}
	}
	batch := db.folder.DB.NewBatch()
	defer discard(batch)
	id, err := db.newNumber(batch)
	if err != nil {
		return nil, err
	}
	record := tableRecord{
		ID: id, UUID: newUUID(), Name: name, Created: db.nowSeconds(),
		Attributes: in.AttributeDefinitions, Keys: in.KeySchema,
		Throughput: in.ProvisionedThroughput.value(), OnDemand: in.onDemand(),
		DeletionProtection: in.DeletionProtectionEnabled, TableClass: in.TableClass,
		Encrypted: in.SSESpecification != nil && in.SSESpecification.Enabled, Tags: in.Tags,
	}
	if record.OnDemand {
		record.OnDemandSince = record.Created
	}
	for _, spec := range in.GlobalSecondaryIndexes {
		x, err := db.newIndexRecord(batch, spec)
		if err != nil {
			return nil, err
		}
		record.Indexes = append(record.Indexes, x)
	}
	var streaming *streamChange
	if in.StreamSpecification.enabled() {
		if streaming, err = db.startStream(batch, &record, in.StreamSpecification.StreamViewType); err != nil {
			return nil, err
		}
	}
	t, err := db.saveTable(batch, record, streaming)
	if err != nil {
		return nil, err
	}
	description, err := db.describe(t, "CREATING", always("CREATING"))
	return &tableResponse{description}, err
}

func (db *DB) newIndexRecord(batch *pebble.Batch, spec indexSpec) (indexRecord, error) {
	id, err := db.newNumber(batch)
	return indexRecord{
		ID: id, Name: *spec.IndexName, Keys: spec.KeySchema,
		Projection: *spec.Projection, Throughput: spec.ProvisionedThroughput.value(),
	}, err
}

func (in *createTableRequest) onDemand() bool { return in.BillingMode == "PAY_PER_REQUEST" }

func (in *createTableRequest) check() error {
	if in.TableName == nil {
		return invalid("The parameter 'TableName' is required but was not present in the request")
	}
	var v violations
	v.name(in.TableName, "tableName", minNameBytes)
	v.required(in.AttributeDefinitions != nil, "attributeDefinitions")
	checkAttributes(&v, in.AttributeDefinitions)
	checkKeyElements(&v, in.KeySchema, "keySchema")
	v.enum(in.BillingMode, "billingMode", billingModes)
	v.enum(in.TableClass, "tableClass", tableClasses)
	in.ProvisionedThroughput.check(&v, "provisionedThroughput")
	in.StreamSpecification.checkMembers(&v)
	for i := range in.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes[i].check(&v, fmt.Sprintf("globalSecondaryIndexes.%d.member", i+1))
	}
	if err := v.err(); err != nil {
		return err
	}
	if err := in.checkBilling(); err != nil {
		return err
	}
	if err := checkKeySchema(in.KeySchema, in.AttributeDefinitions, false); err != nil {
		return err
	}
	if in.LocalSecondaryIndexes && len(in.KeySchema) == 1 {
		return invalidParameters("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	}
	if err := in.checkSupported(); err != nil {
		return err
	}
	return in.checkIndexes()
}

func (in *createTableRequest) checkBilling() error {
	if in.onDemand() && in.ProvisionedThroughput != nil {
		return invalidParameters("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	}
	if !in.onDemand() && in.ProvisionedThroughput == nil {
		return invalidParameters("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	return in.ProvisionedThroughput.checkBounds()
}

func (in *createTableRequest) checkSupported() error {
	if err := in.StreamSpecification.checkNew(); err != nil {
		return err
	}
	for _, spec := range in.GlobalSecondaryIndexes {
		if err := spec.checkSupported(); err != nil {
			return err
		}
	}
	return refuse(
		parameter{"LocalSecondaryIndexes", bool(in.LocalSecondaryIndexes)},
		parameter{"GlobalTableSettingsReplicationMode", bool(in.GlobalTableSettingsReplicationMode)},
		parameter{"GlobalTableSourceArn", bool(in.GlobalTableSourceArn)},
		parameter{"OnDemandThroughput", bool(in.OnDemandThroughput)},
		parameter{"ResourcePolicy", bool(in.ResourcePolicy)},
		parameter{"VectorIndexes", bool(in.VectorIndexes)},
		parameter{"WarmThroughput", bool(in.WarmThroughput)},
	)
}

func (s *indexSpec) checkSupported() error {
	return refuse(
		parameter{"GlobalSecondaryIndexes.OnDemandThroughput", bool(s.OnDemandThroughput)},
		parameter{"GlobalSecondaryIndexes.WarmThroughput", bool(s.WarmThroughput)},
	)
}

func (in *createTableRequest) checkIndexes() error {
	if in.GlobalSecondaryIndexes != nil && len(in.GlobalSecondaryIndexes) == 0 {
		return invalidParameters("List of GlobalSecondaryIndexes is empty")
	}
	var records []indexRecord
	for _, spec := range in.GlobalSecondaryIndexes {
		if err := spec.checkSchema(in.AttributeDefinitions, in.onDemand()); err != nil {
			return err
		}
		records = append(records, indexRecord{Name: *spec.IndexName, Keys: spec.KeySchema, Projection: *spec.Projection})
	}
	if err := checkIndexSet(records); err != nil {
		return err
	}
	return checkAllUsed(in.AttributeDefinitions, in.KeySchema, records)
}

// checkIndexSet checks what only all indexes of a table together can break.
func checkIndexSet(records []indexRecord) error {
	names := map[string]bool{}
	projected := 0
	for _, x := range records {
		if names[x.Name] {
			return invalidParameters("Duplicate index name: %s", x.Name)
		}
		names[x.Name] = true
		projected += len(x.Projection.NonKeyAttributes)
	}
	if len(records) > maxIndexes {
		return invalidParameters("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxIndexes)
	}
	if projected > maxNonKeyPerTable {
		return invalidParameters("Number of non-key attributes projected into all indexes exceeds the per-table limit of %d", maxNonKeyPerTable)
	}
	return nil
}

type tableRequest struct{ tableRef }

type describeTableResponse struct {
	Table tableDescription
}

// control checks a table reference of a table operation and finds the table.
func (db *DB) control(ref *tableRef) (*table, error) {
	if err := ref.checkControl(); err != nil {
		return nil, err
	}
	name := tableNameOf(*ref.TableName)
	t, ok := db.tables[name]
	if !ok {
		return nil, &apiError{Type: typeNotFound, Message: "Requested resource not found: Table: " + name + " not found"}
	}
	return t, nil
}

// checkControl checks the name of a table as operations on tables do.
func (r *tableRef) checkControl() error {
	if r.TableName == nil {
		return invalid("The parameter 'TableName' is required but was not present in the request")
	}
	var v violations
	if !strings.HasPrefix(*r.TableName, arnPrefix) {
		v.name(r.TableName, "tableName", minNameBytes)
	}
	return v.err()
}

func (db *DB) describeTable(in *tableRequest) (*describeTableResponse, error) {
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	t, err := db.control(&in.tableRef)
	if err != nil {
		return nil, err
	}
	description, err := db.describe(t, "ACTIVE", always("ACTIVE"))
	return &describeTableResponse{description}, err
}

type listTablesRequest struct {
	ExclusiveStartTableName *string
	Limit                   *int32
}

type listTablesResponse struct {
	TableNames             []string
	LastEvaluatedTableName string `json:",omitzero"`
}

const maxListed = 100

func (db *DB) listTables(in *listTablesRequest) (*listTablesResponse, error) {
	var v violations
	if in.ExclusiveStartTableName != nil {
		v.name(in.ExclusiveStartTableName, "exclusiveStartTableName", minNameBytes)
	}
	atLeast(&v, in.Limit, "limit", 1)
	atMost(&v, in.Limit, "limit", maxListed)
	if err := v.err(); err != nil {
		return nil, err
	}
	db.catalog.RLock()
	names := make([]string, 0, len(db.tables))
	for name := range db.tables {
		if in.ExclusiveStartTableName == nil || name > *in.ExclusiveStartTableName {
			names = append(names, name)
		}
	}
	db.catalog.RUnlock()
	slices.Sort(names)
	limit := maxListed
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	if len(names) <= limit {
		return &listTablesResponse{TableNames: names}, nil
	}
	return &listTablesResponse{TableNames: names[:limit], LastEvaluatedTableName: names[limit-1]}, nil
}

// deleteTable drops a table and everything of it with a few range deletions,
// whatever its size. Its stream ends, and stays for who has not read all of it.
func (db *DB) deleteTable(in *tableRequest) (*tableResponse, error) {
	db.catalog.Lock()
	defer db.catalog.Unlock()
	t, err := db.control(&in.tableRef)
	if err != nil {
		return nil, err
	}
	if t.DeletionProtection {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	description, err := db.describe(t, "DELETING", always("DELETING"))
	if err != nil {
		return nil, err
	}
	batch := db.folder.DB.NewBatch()
	defer discard(batch)
	err = errors.Join(
		batch.Delete(catalogKey(t.Name), nil),
		dropRange(batch, spaceKey(spaceItems, t.ID)),
		dropRange(batch, spaceKey(spaceExpiry, t.ID)),
		batch.Delete(spaceKey(spaceCounters, t.ID), nil),
	)
	for _, x := range t.indexes {
		err = errors.Join(err, dropIndex(batch, x.ID))
	}
	record := t.tableRecord
	streaming, endErr := db.endStream(batch, &record)
	if err = errors.Join(err, endErr, db.folder.CommitSync(batch)); err != nil {
		return nil, fmt.Errorf("deleting table %s: %w", t.Name, err)
	}
	delete(db.tables, t.Name)
	streaming.made(db)
	description.KeySchema, description.AttributeDefinitions = nil, nil
	return &tableResponse{description}, nil
}

func dropIndex(batch *pebble.Batch, number uint32) error {
	return errors.Join(
		dropRange(batch, spaceKey(spaceIndex, number)),
		batch.Delete(spaceKey(spaceCounters, number), nil),
	)
}

// nowSeconds is the time as DynamoDB's JSON has it: seconds with milliseconds.
func (db *DB) nowSeconds() float64 {
	const millisecond = 1000
	return float64(db.options.Now().UnixMilli()) / millisecond
}

// newUUID is a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
