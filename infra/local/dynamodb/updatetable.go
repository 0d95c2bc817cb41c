package dynamodb

import (
	"errors"
	"fmt"
	"slices"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/cockroachdb/pebble/v2"
)

type indexUpdate struct {
	Create *indexSpec
	Update *indexThroughput
	Delete *indexName
}

type indexThroughput struct {
	IndexName             *string
	ProvisionedThroughput *throughputSpec
	OnDemandThroughput    refused
	WarmThroughput        refused
}

type indexName struct{ IndexName *string }

type updateTableRequest struct {
	tableRef
	AttributeDefinitions        []attributeDefinition
	BillingMode                 string
	ProvisionedThroughput       *throughputSpec
	GlobalSecondaryIndexUpdates []indexUpdate
	StreamSpecification         *streamSpec
	SSESpecification            *sseSpec
	DeletionProtectionEnabled   *bool
	TableClass                  string

	DisassociationProtectionEnabled    refused
	GlobalTableSettingsReplicationMode refused
	GlobalTableWitnessUpdates          refused
	MultiRegionConsistency             refused
	OnDemandThroughput                 refused
	ReplicaUpdates                     refused
	VectorIndexUpdates                 refused
	WarmThroughput                     refused
}

func (in *updateTableRequest) check() error {
	var v violations
	checkAttributes(&v, in.AttributeDefinitions)
	v.enum(in.BillingMode, "billingMode", billingModes)
	v.enum(in.TableClass, "tableClass", tableClasses)
	in.ProvisionedThroughput.check(&v, "provisionedThroughput")
	in.StreamSpecification.checkMembers(&v)
	for i := range in.GlobalSecondaryIndexUpdates {
		in.GlobalSecondaryIndexUpdates[i].check(&v, fmt.Sprintf("globalSecondaryIndexUpdates.%d.member", i+1))
	}
	if err := v.err(); err != nil {
		return err
	}
	if err := in.checkSupported(); err != nil {
		return err
	}
	if !in.changesAnything() {
		return invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	}
	return in.ProvisionedThroughput.checkBounds()
}

func (in *updateTableRequest) changesAnything() bool {
	return in.ProvisionedThroughput != nil || in.BillingMode != "" || len(in.GlobalSecondaryIndexUpdates) > 0 ||
		in.SSESpecification != nil || in.DeletionProtectionEnabled != nil || in.TableClass != "" || in.StreamSpecification != nil
}

func (u *indexUpdate) check(v *violations, member string) {
	if u.Create != nil {
		u.Create.check(v, member+".create")
	}
	if u.Update != nil {
		v.name(u.Update.IndexName, member+".update.indexName", minNameBytes)
		v.required(u.Update.ProvisionedThroughput != nil, member+".update.provisionedThroughput")
		u.Update.ProvisionedThroughput.check(v, member+".update.provisionedThroughput")
	}
	if u.Delete != nil {
		v.name(u.Delete.IndexName, member+".delete.indexName", minNameBytes)
	}
}

func (in *updateTableRequest) checkSupported() error {
	if err := in.checkStream(); err != nil {
		return err
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if u.Create == nil {
			continue
		}
		if err := u.Create.checkSupported(); err != nil {
			return err
		}
	}
	return refuse(
		parameter{"DisassociationProtectionEnabled", bool(in.DisassociationProtectionEnabled)},
		parameter{"GlobalTableSettingsReplicationMode", bool(in.GlobalTableSettingsReplicationMode)},
		parameter{"GlobalTableWitnessUpdates", bool(in.GlobalTableWitnessUpdates)},
		parameter{"MultiRegionConsistency", bool(in.MultiRegionConsistency)},
		parameter{"OnDemandThroughput", bool(in.OnDemandThroughput)},
		parameter{"ReplicaUpdates", bool(in.ReplicaUpdates)},
		parameter{"VectorIndexUpdates", bool(in.VectorIndexUpdates)},
		parameter{"WarmThroughput", bool(in.WarmThroughput)},
	)
}

// updateTable changes a table at once; the answer says UPDATING, as AWS's does,
// and the next description ACTIVE.
func (db *DB) updateTable(in *updateTableRequest) (*tableResponse, error) {
	if err := in.checkControl(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	db.catalog.Lock()
	defer db.catalog.Unlock()
	t, err := db.control(&in.tableRef)
	if err != nil {
		return nil, err
	}
	record := t.tableRecord
	if err := db.updateSettings(in, &record); err != nil {
		return nil, err
	}
	update := &indexUpdates{db: db, table: t, record: &record, batch: db.folder.DB.NewBatch(), status: map[string]string{}}
	defer discard(update.batch)
	if err := update.run(in); err != nil {
		return nil, err
	}
	streaming, err := db.switchStream(update.batch, &record, in.StreamSpecification)
	if err != nil {
		return nil, err
	}
	before := t
	if t, err = db.saveTable(update.batch, record, streaming); err != nil {
		return nil, err
	}
	if update.dropped() {
		t = before // a deleted index is still shown, as DELETING
	}
	description, err := db.describe(t, "UPDATING", func(name string) string {
		if status := update.status[name]; status != "" {
			return status
		}
		return "ACTIVE"
	})
	return &tableResponse{description}, err
}

// updateSettings changes everything but indexes.
func (db *DB) updateSettings(in *updateTableRequest, record *tableRecord) error {
	onDemand := in.BillingMode == "PAY_PER_REQUEST" || in.BillingMode == "" && record.OnDemand
	switch {
	case onDemand && in.ProvisionedThroughput != nil:
		return invalidParameters("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case !onDemand && record.OnDemand && in.ProvisionedThroughput == nil:
		return invalidParameters("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case onDemand && !record.OnDemand:
		record.OnDemandSince = db.nowSeconds()
		record.Throughput = throughput{}
	}
	record.OnDemand = onDemand
	if in.ProvisionedThroughput != nil {
		if next := in.ProvisionedThroughput.value(); len(in.GlobalSecondaryIndexUpdates) == 0 && next == record.Throughput {
			return invalid("The provisioned throughput for the table will not change. The requested value equals the current value. "+
				"Current ReadCapacityUnits provisioned for the table: %d. Requested ReadCapacityUnits: %d. "+
				"Current WriteCapacityUnits provisioned for the table: %d. Requested WriteCapacityUnits: %d. "+
				"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
				record.Throughput.ReadCapacityUnits, next.ReadCapacityUnits, record.Throughput.WriteCapacityUnits, next.WriteCapacityUnits)
		}
		record.Throughput = in.ProvisionedThroughput.value()
	}
	if in.DeletionProtectionEnabled != nil {
		record.DeletionProtection = *in.DeletionProtectionEnabled
	}
	if in.TableClass != "" {
		record.TableClass = in.TableClass
	}
	if in.SSESpecification != nil {
		record.Encrypted = in.SSESpecification.Enabled
	}
	return nil
}

// indexUpdates is the part of an UpdateTable that is about indexes.
type indexUpdates struct {
	db     *DB
	table  *table // as it was
	record *tableRecord
	batch  *pebble.Batch
	status map[string]string
}

func (u *indexUpdates) dropped() bool {
	for _, status := range u.status {
		if status == "DELETING" {
			return true
		}
	}
	return false
}

func (u *indexUpdates) run(in *updateTableRequest) error {
	u.record.Indexes = slices.Clone(u.record.Indexes)
	u.record.Attributes = slices.Clone(u.record.Attributes)
	seen := map[string]bool{}
	moves := 0
	for _, update := range in.GlobalSecondaryIndexUpdates {
		name := update.name()
		if name == nil {
			return invalidParameters("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null")
		}
		if seen[*name] {
			return invalidParameters("Only one global secondary index update per index is allowed simultaneously. Index: %s", *name)
		}
		seen[*name] = true
		if update.Create != nil || update.Delete != nil {
			moves++
		}
	}
	if moves > 1 {
		return &apiError{Type: typeLimitExceeded, Message: "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"}
	}
	for _, update := range in.GlobalSecondaryIndexUpdates {
		if err := u.runOne(in, update); err != nil {
			return err
		}
	}
	return nil
}

func (u *indexUpdate) name() *string {
	switch {
	case u.Create != nil:
		return u.Create.IndexName
	case u.Update != nil:
		return u.Update.IndexName
	case u.Delete != nil:
		return u.Delete.IndexName
	}
	return nil
}

func (u *indexUpdates) runOne(in *updateTableRequest, update indexUpdate) error {
	name := *update.name()
	at := slices.IndexFunc(u.record.Indexes, func(x indexRecord) bool { return x.Name == name })
	if update.Create != nil {
		if at >= 0 {
			return invalidParameters("Attempting to create an index which already exists: %s", name)
		}
		u.status[name] = "CREATING"
		return u.create(in, *update.Create)
	}
	if at < 0 {
		return &apiError{Type: typeNotFound, Message: "Requested resource not found"}
	}
	if update.Delete != nil {
		u.status[name] = "DELETING"
		dropped := u.record.Indexes[at]
		u.record.Indexes = slices.Delete(u.record.Indexes, at, at+1)
		u.record.Attributes = usedAttributes(u.record)
		return dropIndex(u.batch, dropped.ID)
	}
	if u.record.OnDemand {
		return invalidParameters("ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", name)
	}
	u.status[name] = "UPDATING"
	u.record.Indexes[at].Throughput = update.Update.ProvisionedThroughput.value()
	return nil
}

// usedAttributes are the definitions that keys still use.
func usedAttributes(record *tableRecord) []attributeDefinition {
	used := map[string]bool{}
	for _, key := range record.Keys {
		used[key.AttributeName] = true
	}
	for _, x := range record.Indexes {
		for _, key := range x.Keys {
			used[key.AttributeName] = true
		}
	}
	return slices.DeleteFunc(record.Attributes, func(a attributeDefinition) bool { return !used[a.AttributeName] })
}

// create adds an index and fills it from the items there are. Items whose
// attributes have other types than the index's keys stay out, as on AWS.
func (u *indexUpdates) create(in *updateTableRequest, spec indexSpec) error {
	if err := u.define(in.AttributeDefinitions); err != nil {
		return err
	}
	if err := spec.checkSchema(u.record.Attributes, u.record.OnDemand); err != nil {
		return err
	}
	x, err := u.db.newIndexRecord(u.batch, spec)
	if err != nil {
		return err
	}
	u.record.Indexes = append(u.record.Indexes, x)
	if err := errors.Join(checkIndexSet(u.record.Indexes), checkAllUsed(u.record.Attributes, u.record.Keys, u.record.Indexes)); err != nil {
		return err
	}
	filled := newTable(*u.record)
	return u.fill(filled, filled.index(x.Name))
}

// define merges the definitions of a request into those of the table.
func (u *indexUpdates) define(definitions []attributeDefinition) error {
	for _, definition := range definitions {
		at := slices.IndexFunc(u.record.Attributes, func(a attributeDefinition) bool { return a.AttributeName == definition.AttributeName })
		switch {
		case at < 0:
			u.record.Attributes = append(u.record.Attributes, definition)
		case u.record.Attributes[at] != definition:
			return invalidParameters("Attribute %s is defined with type %s, the table has it as %s",
				definition.AttributeName, definition.AttributeType, u.record.Attributes[at].AttributeType)
		}
	}
	return nil
}

func (u *indexUpdates) fill(t *table, x *index) error {
	err := u.db.each(spaceKey(spaceItems, t.ID), func(key, value []byte) error {
		item, err := attr.DecodeStoredItem(value)
		if err != nil {
			return err
		}
		_, err = x.update(u.batch, &change{table: t, key: key, new: item})
		return err
	})
	if err != nil {
		return fmt.Errorf("filling index %s: %w", x.Name, err)
	}
	return nil
}
