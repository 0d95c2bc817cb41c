package catalog

import (
	"devplatform/infra/local/dynamodb/streams"
	"devplatform/infra/local/dynamodb/wire"
)

// Counters are the number of items of a table or index, and the sum of their sizes in bytes.
type Counters struct{ Items, Bytes int64 }

// Account is the place of tables: an account in a region.
type Account struct{ Region, ID string }

// TableARN returns the ARN of a table.
func (a Account) TableARN(name string) string {
	return wire.ARNPrefix + a.Region + ":" + a.ID + ":table/" + name
}

// StreamARN returns the ARN of a table's stream.
func (a Account) StreamARN(table, label string) string {
	return a.TableARN("") + streams.Path(table, label)
}

// Describe returns a table's description. The status is also the status of the indexes. count returns the counters of a
// table or index by its number.
func (t *Table) Describe(
	account Account, status string, count func(uint32) (Counters, error),
) (wire.TableDescription, error) {
	c, err := count(t.ID)
	d := wire.TableDescription{
		AttributeDefinitions:      t.Attributes,
		TableName:                 t.Name,
		KeySchema:                 t.Keys,
		TableStatus:               status,
		CreationDateTime:          t.Created,
		ProvisionedThroughput:     wire.ThroughputDescription{Throughput: t.Throughput},
		TableSizeBytes:            c.Bytes,
		ItemCount:                 c.Items,
		TableArn:                  account.TableARN(t.Name),
		TableID:                   t.UUID,
		DeletionProtectionEnabled: t.DeletionProtection,
	}
	if t.OnDemand || t.OnDemandSince != 0 {
		d.BillingModeSummary = &wire.BillingSummary{
			BillingMode: "PROVISIONED", LastUpdateToPayPerRequestDateTime: t.OnDemandSince,
		}
	}
	if t.OnDemand {
		d.BillingModeSummary.BillingMode = "PAY_PER_REQUEST"
	}
	if t.StreamView != "" {
		d.StreamSpecification = &wire.StreamSpec{StreamEnabled: true, StreamViewType: t.StreamView}
	}
	if t.StreamLabel != "" { // also after the stream has ended
		d.LatestStreamLabel, d.LatestStreamArn = t.StreamLabel, account.StreamARN(t.Name, t.StreamLabel)
	}
	for _, x := range t.Indexes {
		if err != nil {
			return d, err
		}
		c, err = count(x.ID)
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, wire.IndexDescription{
			IndexName:             x.Name,
			KeySchema:             x.Keys,
			Projection:            x.Projection,
			IndexStatus:           status,
			ProvisionedThroughput: wire.ThroughputDescription{Throughput: x.Throughput},
			IndexSizeBytes:        c.Bytes,
			ItemCount:             c.Items,
			IndexArn:              d.TableArn + "/index/" + x.Name,
		})
	}
	return d, err
}
