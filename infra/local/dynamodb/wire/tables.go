package wire

import "cmp"

// AttributeDefinition is the type of a key attribute.
type AttributeDefinition struct {
	AttributeName string
	AttributeType string
}

// KeySchemaElement is an attribute of a key. KeyType is HASH or RANGE.
type KeySchemaElement struct {
	AttributeName string
	KeyType       string
}

// Projection determines the attributes that an index contains.
type Projection struct {
	ProjectionType   string   `json:",omitzero"`
	NonKeyAttributes []string `json:",omitzero"`
}

// Throughput is provisioned capacity.
type Throughput struct {
	ReadCapacityUnits  int64
	WriteCapacityUnits int64
}

// Check returns an error if a request has invalid provisioned capacity. A nil Throughput is valid.
func (t *Throughput) Check() error {
	const most = 1_000_000_000_000
	if t == nil {
		return nil
	}
	return first(
		between("ReadCapacityUnits", &t.ReadCapacityUnits, 1, most),
		between("WriteCapacityUnits", &t.WriteCapacityUnits, 1, most),
	)
}

// IndexSpec defines a global secondary index.
type IndexSpec struct {
	IndexName             string
	KeySchema             []KeySchemaElement
	Projection            Projection
	ProvisionedThroughput *Throughput
}

// StreamSpec enables or disables a table's stream.
type StreamSpec struct {
	StreamEnabled  bool
	StreamViewType string `json:",omitzero"`
}

// Views of a stream: the parts of an item that its records contain.
const (
	ViewKeys = "KEYS_ONLY"
	ViewNew  = "NEW_IMAGE"
	ViewOld  = "OLD_IMAGE"
	ViewBoth = "NEW_AND_OLD_IMAGES"
)

func (s *StreamSpec) check() error {
	switch {
	case s == nil:
		return nil
	case s.StreamEnabled != (s.StreamViewType != ""):
		return Invalid("A stream that is enabled must have a StreamViewType, and one that is disabled must not")
	}
	return oneOf("StreamViewType", s.StreamViewType, ViewNew, ViewOld, ViewBoth, ViewKeys)
}

// TableSettings are the settings that CreateTable and UpdateTable share.
type TableSettings struct {
	TableName                 string
	AttributeDefinitions      []AttributeDefinition
	BillingMode               string
	ProvisionedThroughput     *Throughput
	StreamSpecification       *StreamSpec
	DeletionProtectionEnabled *bool
}

func (s *TableSettings) check() error {
	return first(
		checkTable(s.TableName),
		oneOf("BillingMode", s.BillingMode, "PROVISIONED", "PAY_PER_REQUEST"),
		s.ProvisionedThroughput.Check(),
		s.StreamSpecification.check(),
	)
}

// CreateTableRequest is the input of CreateTable.
type CreateTableRequest struct {
	TableSettings
	KeySchema              []KeySchemaElement
	GlobalSecondaryIndexes []IndexSpec
	Tags                   []Tag
}

// Check checks everything but the keys and the indexes.
func (in *CreateTableRequest) Check() error {
	err := in.check()
	if in.GlobalSecondaryIndexes != nil {
		err = first(err, required("GlobalSecondaryIndexes", len(in.GlobalSecondaryIndexes) > 0))
	}
	return err
}

// IndexUpdate creates, changes or deletes an index.
type IndexUpdate struct{ Create, Update, Delete *IndexSpec }

// Name returns the name of the index. It is empty if the request has no name.
func (u *IndexUpdate) Name() string {
	if spec := cmp.Or(u.Create, u.Update, u.Delete); spec != nil {
		return spec.IndexName
	}
	return ""
}

// UpdateTableRequest is the input of UpdateTable.
type UpdateTableRequest struct {
	TableSettings
	GlobalSecondaryIndexUpdates []IndexUpdate
}

// Check checks everything that does not depend on the table.
func (in *UpdateTableRequest) Check() error {
	err := in.check()
	if in.ProvisionedThroughput == nil && in.BillingMode == "" && len(in.GlobalSecondaryIndexUpdates) == 0 &&
		in.DeletionProtectionEnabled == nil && in.StreamSpecification == nil {
		err = first(err, Invalid("At least one change of the table is required"))
	}
	seen := map[string]bool{}
	changed := 0
	for _, update := range in.GlobalSecondaryIndexUpdates {
		name := update.Name()
		err = first(err, CheckIndexName(name))
		if update.Update != nil {
			throughput := update.Update.ProvisionedThroughput
			err = first(err, required("ProvisionedThroughput", throughput != nil), throughput.Check())
		} else {
			changed++
		}
		if seen[name] {
			err = first(err, Invalid("Only one update of an index is allowed. Index: %s", name))
		}
		seen[name] = true
	}
	switch {
	case err != nil:
		return err
	case changed > 1:
		return Errorf(TypeLimitExceeded, "Only 1 index can be created or deleted simultaneously per table")
	case in.StreamSpecification != nil && (changed > 0 || in.ProvisionedThroughput != nil):
		return Invalid("The stream, the throughput and the indexes of a table cannot be changed in the same request")
	}
	return nil
}

// TableRequest is the input of DescribeTable, DeleteTable and DescribeTimeToLive.
type TableRequest struct{ TableName string }

// Check checks the request.
func (in *TableRequest) Check() error { return checkTable(in.TableName) }

// ThroughputDescription describes provisioned capacity.
type ThroughputDescription struct {
	NumberOfDecreasesToday int64
	Throughput
}

// BillingSummary describes the billing mode.
type BillingSummary struct {
	BillingMode                       string
	LastUpdateToPayPerRequestDateTime float64 `json:",omitzero"`
}

// IndexDescription describes a global secondary index.
type IndexDescription struct {
	IndexName             string
	KeySchema             []KeySchemaElement
	Projection            Projection
	IndexStatus           string
	ProvisionedThroughput ThroughputDescription
	IndexSizeBytes        int64
	ItemCount             int64
	IndexArn              string
}

// TableDescription describes a table.
type TableDescription struct {
	AttributeDefinitions      []AttributeDefinition `json:",omitzero"`
	TableName                 string
	KeySchema                 []KeySchemaElement `json:",omitzero"`
	TableStatus               string
	CreationDateTime          float64
	ProvisionedThroughput     ThroughputDescription
	TableSizeBytes            int64
	ItemCount                 int64
	TableArn                  string
	TableID                   string             `json:"TableId"`
	BillingModeSummary        *BillingSummary    `json:",omitzero"`
	GlobalSecondaryIndexes    []IndexDescription `json:",omitzero"`
	StreamSpecification       *StreamSpec        `json:",omitzero"`
	LatestStreamLabel         string             `json:",omitzero"`
	LatestStreamArn           string             `json:",omitzero"`
	DeletionProtectionEnabled bool
}

// TableResponse is the output of CreateTable, UpdateTable and DeleteTable.
type TableResponse struct{ TableDescription TableDescription }

// DescribeTableResponse is the output of DescribeTable.
type DescribeTableResponse struct{ Table TableDescription }

// MaxListed is the maximum number of names in a list of tables or streams.
const MaxListed = 100

// ListTablesRequest is the input of ListTables.
type ListTablesRequest struct {
	ExclusiveStartTableName string
	Limit                   *int32
}

// Check checks the request.
func (in *ListTablesRequest) Check() error { return between("Limit", in.Limit, 1, MaxListed) }

// ListTablesResponse is the output of ListTables.
type ListTablesResponse struct {
	TableNames             []string
	LastEvaluatedTableName string `json:",omitzero"`
}

// UpdateTTLRequest is the input of UpdateTimeToLive.
type UpdateTTLRequest struct {
	TableName               string
	TimeToLiveSpecification TTLSpec
}

// TTLSpec enables or disables the expiry of items.
type TTLSpec struct {
	AttributeName string
	Enabled       bool
}

// Check checks the request.
func (in *UpdateTTLRequest) Check() error {
	return first(
		checkTable(in.TableName), length("AttributeName", len(in.TimeToLiveSpecification.AttributeName), 1, maxNameBytes),
	)
}

// UpdateTTLResponse is the output of UpdateTimeToLive.
type UpdateTTLResponse struct{ TimeToLiveSpecification TTLSpec }

// DescribeTTLResponse is the output of DescribeTimeToLive.
type DescribeTTLResponse struct {
	TimeToLiveDescription struct {
		TimeToLiveStatus string
		AttributeName    string `json:",omitzero"`
	}
}

// Tag is a tag of a table.
type Tag struct {
	Key   string
	Value string
}

// TagsRequest is the input of TagResource, UntagResource and ListTagsOfResource.
type TagsRequest struct {
	ResourceArn string
	Tags        []Tag
	TagKeys     []string
	NextToken   string
}

// Check returns no error. The operations check the ARN.
func (in *TagsRequest) Check() error { return nil }

// TagsResponse is the output of ListTagsOfResource.
type TagsResponse struct{ Tags []Tag }

// Empty is the output of operations without a result.
type Empty struct{}
