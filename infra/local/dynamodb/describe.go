package dynamodb

import (
	"fmt"
)

type throughputDescription struct {
	NumberOfDecreasesToday int64
	ReadCapacityUnits      int64
	WriteCapacityUnits     int64
}

func describeThroughput(t throughput) throughputDescription {
	return throughputDescription{ReadCapacityUnits: t.ReadCapacityUnits, WriteCapacityUnits: t.WriteCapacityUnits}
}

type billingSummary struct {
	BillingMode                       string
	LastUpdateToPayPerRequestDateTime float64 `json:",omitzero"`
}

type indexDescription struct {
	IndexName             string
	KeySchema             []keySchemaElement
	Projection            projection
	IndexStatus           string
	Backfilling           *bool `json:",omitzero"`
	ProvisionedThroughput throughputDescription
	IndexSizeBytes        int64
	ItemCount             int64
	IndexArn              string
}

type sseDescription struct {
	Status          string
	SSEType         string
	KMSMasterKeyArn string
}

type tableClassSummary struct {
	TableClass string
}

type tableDescription struct {
	AttributeDefinitions      []attributeDefinition `json:",omitzero"`
	TableName                 string
	KeySchema                 []keySchemaElement `json:",omitzero"`
	TableStatus               string
	CreationDateTime          float64
	ProvisionedThroughput     throughputDescription
	TableSizeBytes            int64
	ItemCount                 int64
	TableArn                  string
	TableID                   string             `json:"TableId"`
	BillingModeSummary        *billingSummary    `json:",omitzero"`
	GlobalSecondaryIndexes    []indexDescription `json:",omitzero"`
	SSEDescription            *sseDescription    `json:",omitzero"`
	TableClassSummary         *tableClassSummary `json:",omitzero"`
	StreamSpecification       *streamSummary     `json:",omitzero"`
	LatestStreamLabel         string             `json:",omitzero"`
	LatestStreamArn           string             `json:",omitzero"`
	DeletionProtectionEnabled bool
}

func (db *DB) tableARN(name string) string {
	return fmt.Sprintf("%s%s:%s:table/%s", arnPrefix, db.options.Region, db.options.Account, name)
}

// describe renders a table; indexStatus gives the status of each index.
func (db *DB) describe(t *table, status string, indexStatus func(name string) string) (tableDescription, error) {
	c, err := db.countersOf(t.ID)
	if err != nil {
		return tableDescription{}, err
	}
	d := tableDescription{
		AttributeDefinitions:      t.Attributes,
		TableName:                 t.Name,
		KeySchema:                 t.Keys,
		TableStatus:               status,
		CreationDateTime:          t.Created,
		ProvisionedThroughput:     describeThroughput(t.Throughput),
		TableSizeBytes:            c.bytes,
		ItemCount:                 c.items,
		TableArn:                  db.tableARN(t.Name),
		TableID:                   t.UUID,
		DeletionProtectionEnabled: t.DeletionProtection,
	}
	if t.OnDemand {
		d.BillingModeSummary = &billingSummary{BillingMode: "PAY_PER_REQUEST", LastUpdateToPayPerRequestDateTime: t.OnDemandSince}
	} else if t.OnDemandSince != 0 {
		d.BillingModeSummary = &billingSummary{BillingMode: "PROVISIONED", LastUpdateToPayPerRequestDateTime: t.OnDemandSince}
	}
	if t.Encrypted {
		d.SSEDescription = &sseDescription{
			Status: "ENABLED", SSEType: "KMS",
			KMSMasterKeyArn: "arn:aws:kms:" + db.options.Region + ":" + db.options.Account + ":alias/aws/dynamodb",
		}
	}
	if t.TableClass != "" {
		d.TableClassSummary = &tableClassSummary{t.TableClass}
	}
	db.describeStreamOf(t, &d)
	for _, x := range t.indexes {
		described, err := db.describeIndex(t, x, indexStatus(x.Name))
		if err != nil {
			return tableDescription{}, err
		}
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, described)
	}
	return d, nil
}

func (db *DB) describeIndex(t *table, x *index, status string) (indexDescription, error) {
	c, err := db.countersOf(x.ID)
	if err != nil {
		return indexDescription{}, err
	}
	d := indexDescription{
		IndexName:             x.Name,
		KeySchema:             x.Keys,
		Projection:            x.Projection,
		IndexStatus:           status,
		ProvisionedThroughput: describeThroughput(x.Throughput),
		IndexSizeBytes:        c.bytes,
		ItemCount:             c.items,
		IndexArn:              db.tableARN(t.Name) + "/index/" + x.Name,
	}
	return d, nil
}

// always is the same status for every index.
func always(status string) func(string) string { return func(string) string { return status } }
