package dynamodb

import (
	"cmp"
)

type attributeDefinition struct {
	AttributeName string
	AttributeType string
}

// keySchemaElement is an attribute of a key. KeyType is HASH or RANGE.
type keySchemaElement struct {
	AttributeName string
	KeyType       string
}

type indexProjection struct {
	ProjectionType   string   `json:",omitzero"`
	NonKeyAttributes []string `json:",omitzero"`
}

type throughput struct {
	ReadCapacityUnits  int64
	WriteCapacityUnits int64
}

// check returns an error if a request has invalid provisioned capacity. A nil Throughput is valid.
func (t *throughput) check() error {
	const most = 1_000_000_000_000
	if t == nil {
		return nil
	}
	return first(
		between("ReadCapacityUnits", &t.ReadCapacityUnits, 1, most),
		between("WriteCapacityUnits", &t.WriteCapacityUnits, 1, most),
	)
}

type indexSpec struct {
	IndexName             string
	KeySchema             []keySchemaElement
	Projection            indexProjection
	ProvisionedThroughput *throughput
}

type streamSpec struct {
	StreamEnabled  bool
	StreamViewType string `json:",omitzero"`
}

// Views of a stream: the parts of an item that its records contain.
const (
	viewKeys = "KEYS_ONLY"
	viewNew  = "NEW_IMAGE"
	viewOld  = "OLD_IMAGE"
	viewBoth = "NEW_AND_OLD_IMAGES"
)

func (s *streamSpec) check() error {
	switch {
	case s == nil:
		return nil
	case s.StreamEnabled != (s.StreamViewType != ""):
		return invalid("A stream that is enabled must have a StreamViewType, and one that is disabled must not")
	}
	return oneOf("StreamViewType", s.StreamViewType, viewNew, viewOld, viewBoth, viewKeys)
}

// tableSettings are the settings that CreateTable and UpdateTable share.
type tableSettings struct {
	TableName             string
	AttributeDefinitions  []attributeDefinition
	BillingMode           string
	ProvisionedThroughput *throughput
	StreamSpecification   *streamSpec
}

func (s *tableSettings) check() error {
	return first(
		checkTable(s.TableName),
		oneOf("BillingMode", s.BillingMode, "PROVISIONED", "PAY_PER_REQUEST"),
		s.ProvisionedThroughput.check(),
		s.StreamSpecification.check(),
	)
}

type createTableRequest struct {
	tableSettings
	KeySchema              []keySchemaElement
	GlobalSecondaryIndexes []indexSpec
}

func (in *createTableRequest) check() error {
	err := in.tableSettings.check()
	if in.GlobalSecondaryIndexes != nil {
		err = first(err, required("GlobalSecondaryIndexes", len(in.GlobalSecondaryIndexes) > 0))
	}
	return err
}

type indexUpdate struct{ Create, Update, Delete *indexSpec }

// name returns the name of the index. It is empty if the request has no name.
func (u *indexUpdate) name() string {
	if spec := cmp.Or(u.Create, u.Update, u.Delete); spec != nil {
		return spec.IndexName
	}
	return ""
}

type updateTableRequest struct {
	tableSettings
	GlobalSecondaryIndexUpdates []indexUpdate
}

func (in *updateTableRequest) check() error {
	err := in.tableSettings.check()
	if in.ProvisionedThroughput == nil && in.BillingMode == "" && len(in.GlobalSecondaryIndexUpdates) == 0 &&
		in.StreamSpecification == nil {
		err = first(err, invalid("At least one change of the table is required"))
	}
	seen := map[string]bool{}
	changed := 0
	for _, update := range in.GlobalSecondaryIndexUpdates {
		name := update.name()
		err = first(err, checkIndexName(name))
		if update.Update != nil {
			throughput := update.Update.ProvisionedThroughput
			err = first(err, required("ProvisionedThroughput", throughput != nil), throughput.check())
		} else {
			changed++
		}
		if seen[name] {
			err = first(err, invalid("Only one update of an index is allowed. Index: %s", name))
		}
		seen[name] = true
	}
	switch {
	case err != nil:
		return err
	case changed > 1:
		return errorOf(typeLimitExceeded, "Only 1 index can be created or deleted simultaneously per table")
	case in.StreamSpecification != nil && (changed > 0 || in.ProvisionedThroughput != nil):
		return invalid("The stream, the throughput and the indexes of a table cannot be changed in the same request")
	}
	return nil
}

type tableRequest struct{ TableName string }

func (in *tableRequest) check() error { return checkTable(in.TableName) }

type billingSummary struct{ BillingMode string }

type indexDescription struct {
	IndexName             string
	KeySchema             []keySchemaElement
	Projection            indexProjection
	IndexStatus           string
	ProvisionedThroughput throughput
	IndexSizeBytes        int64
	ItemCount             int64
	IndexArn              string
}

type tableDescription struct {
	AttributeDefinitions   []attributeDefinition `json:",omitzero"`
	TableName              string
	KeySchema              []keySchemaElement `json:",omitzero"`
	TableStatus            string
	CreationDateTime       float64
	ProvisionedThroughput  throughput
	TableSizeBytes         int64
	ItemCount              int64
	TableArn               string
	BillingModeSummary     *billingSummary    `json:",omitzero"`
	GlobalSecondaryIndexes []indexDescription `json:",omitzero"`
	StreamSpecification    *streamSpec        `json:",omitzero"`
	LatestStreamLabel      string             `json:",omitzero"`
	LatestStreamArn        string             `json:",omitzero"`
}

type tableResponse struct{ TableDescription tableDescription }

type describeTableResponse struct{ Table tableDescription }

// maxListed is the maximum number of names in a list of tables.
const maxListed = 100

type listTablesRequest struct {
	ExclusiveStartTableName string
	Limit                   *int32
}

func (in *listTablesRequest) check() error { return between("Limit", in.Limit, 1, maxListed) }

type listTablesResponse struct {
	TableNames             []string
	LastEvaluatedTableName string `json:",omitzero"`
}

type updateTTLRequest struct {
	TableName               string
	TimeToLiveSpecification ttlSpec
}

type ttlSpec struct {
	AttributeName string
	Enabled       bool
}

func (in *updateTTLRequest) check() error {
	return first(
		checkTable(in.TableName), length("AttributeName", len(in.TimeToLiveSpecification.AttributeName), 1, maxNameBytes),
	)
}

type updateTTLResponse struct{ TimeToLiveSpecification ttlSpec }

type describeTTLResponse struct {
	TimeToLiveDescription struct {
		TimeToLiveStatus string
		AttributeName    string `json:",omitzero"`
	}
}

// account is the place of tables: an account in a region.
type account struct{ Region, ID string }

func (a account) tableARN(name string) string {
	return arnPrefix + a.Region + ":" + a.ID + ":table/" + name
}

func (a account) streamARN(table, label string) string {
	return a.tableARN("") + pathOf(table, label)
}

// describe returns a table's description. The status is also the status of the indexes. The numbers of items and bytes,
// which AWS updates every six hours, are always 0.
func (t *table) describe(account account, status string) tableDescription {
	d := tableDescription{
		AttributeDefinitions:  t.Attributes,
		TableName:             t.Name,
		KeySchema:             t.Keys,
		TableStatus:           status,
		CreationDateTime:      t.Created,
		ProvisionedThroughput: t.Throughput,
		TableArn:              account.tableARN(t.Name),
	}
	if t.OnDemand {
		d.BillingModeSummary = &billingSummary{BillingMode: "PAY_PER_REQUEST"}
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
			ProvisionedThroughput: x.Throughput,
			IndexArn:              d.TableArn + "/index/" + x.Name,
		})
	}
	return d
}
