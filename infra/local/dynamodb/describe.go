package dynamodb

// account is the place of tables: an account in a region.
type account struct{ Region, ID string }

// tableARN returns the ARN of a table.
func (a account) tableARN(name string) string {
	return arnPrefix + a.Region + ":" + a.ID + ":table/" + name
}

// streamARN returns the ARN of a table's stream.
func (a account) streamARN(table, label string) string {
	return a.tableARN("") + pathOf(table, label)
}

// describe returns a table's description. The status is also the status of the indexes. The numbers of items and bytes,
// which AWS updates every six hours, are always 0.
func (t *table) describe(account account, status string) tableDescription {
	d := tableDescription{
		AttributeDefinitions:      t.Attributes,
		TableName:                 t.Name,
		KeySchema:                 t.Keys,
		TableStatus:               status,
		CreationDateTime:          t.Created,
		ProvisionedThroughput:     throughputDescription{throughput: t.Throughput},
		TableArn:                  account.tableARN(t.Name),
		TableID:                   t.UUID,
		DeletionProtectionEnabled: t.DeletionProtection,
	}
	if t.OnDemand || t.OnDemandSince != 0 {
		d.BillingModeSummary = &billingSummary{
			BillingMode: "PROVISIONED", LastUpdateToPayPerRequestDateTime: t.OnDemandSince,
		}
	}
	if t.OnDemand {
		d.BillingModeSummary.BillingMode = "PAY_PER_REQUEST"
	}
	if t.StreamView != "" {
		d.StreamSpecification = &streamSpec{StreamEnabled: true, StreamViewType: t.StreamView}
	}
	if t.StreamLabel != "" { // also after the stream has ended
		d.LatestStreamLabel, d.LatestStreamArn = t.StreamLabel, account.streamARN(t.Name, t.StreamLabel)
	}
	for _, x := range t.Indexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, indexDescription{
			IndexName:             x.Name,
			KeySchema:             x.Keys,
			Projection:            x.Projection,
			IndexStatus:           status,
			ProvisionedThroughput: throughputDescription{throughput: x.Throughput},
			IndexArn:              d.TableArn + "/index/" + x.Name,
		})
	}
	return d
}
