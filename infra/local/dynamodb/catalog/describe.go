package catalog

import (
	"devplatform/infra/local/dynamodb/streams"
	"devplatform/infra/local/dynamodb/wire"
)

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

// Describe returns a table's description. The status is also the status of the indexes. The numbers of items and bytes,
// which AWS updates every six hours, are always 0.
func (t *Table) Describe(account Account, status string) wire.TableDescription {
	d := wire.TableDescription{
		AttributeDefinitions:      t.Attributes,
		TableName:                 t.Name,
		KeySchema:                 t.Keys,
		TableStatus:               status,
		CreationDateTime:          t.Created,
		ProvisionedThroughput:     wire.ThroughputDescription{Throughput: t.Throughput},
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
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, wire.IndexDescription{
			IndexName:             x.Name,
			KeySchema:             x.Keys,
			Projection:            x.Projection,
			IndexStatus:           status,
			ProvisionedThroughput: wire.ThroughputDescription{Throughput: x.Throughput},
			IndexArn:              d.TableArn + "/index/" + x.Name,
		})
	}
	return d
}
