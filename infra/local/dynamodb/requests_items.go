package dynamodb

import "devplatform/infra/local/dynamodb/values"

type getItemRequest struct {
	TableName string
	placeholders
	ProjectionExpression   *string
	Key                    values.Item
	ConsistentRead         bool
	ReturnConsumedCapacity string
}

func (in *getItemRequest) check() error {
	return first(
		checkTable(in.TableName), checkCapacity(in.ReturnConsumedCapacity), required("Key", in.Key != nil),
		in.parse(sources{projection: in.ProjectionExpression}),
	)
}

// getItemResponse is the output of GetItem, and one response of TransactGetItems.
type getItemResponse struct {
	Item             values.Item       `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

type itemWrite struct {
	TableName string
	placeholders
	ConditionExpression                 *string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string // there are no item collections, so there are no metrics
	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
}

// check checks a request with an Item or a Key, and parses its expressions.
func (in *itemWrite) check(member string, item values.Item, update *string, returnValues ...string) error {
	return first(
		checkTable(in.TableName),
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
		oneOf("ReturnValues", in.ReturnValues, append(returnValues, "NONE", "ALL_OLD")...),
		checkFailureReturn(in.ReturnValuesOnConditionCheckFailure),
		required(member, item != nil),
		checkItemSize(item),
		in.parse(sources{condition: in.ConditionExpression, update: update}),
	)
}

type putItemRequest struct {
	itemWrite
	Item values.Item
}

func (in *putItemRequest) check() error { return in.itemWrite.check("Item", in.Item, nil) }

type deleteItemRequest struct {
	itemWrite
	Key values.Item
}

func (in *deleteItemRequest) check() error { return in.itemWrite.check("Key", in.Key, nil) }

type updateItemRequest struct {
	itemWrite
	Key              values.Item
	UpdateExpression *string
}

func (in *updateItemRequest) check() error {
	return in.itemWrite.check("Key", in.Key, in.UpdateExpression, "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")
}

type itemWriteResponse struct {
	Attributes       values.Item       `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

type pageRequest struct {
	TableName string
	IndexName string
	placeholders
	FilterExpression       *string
	ProjectionExpression   *string
	ConsistentRead         bool
	ExclusiveStartKey      values.Item
	Limit                  *int32
	ReturnConsumedCapacity string
	Select                 string
}

// check checks the request and parses its expressions. key is a KeyConditionExpression, or nil.
func (in *pageRequest) check(key *string) error {
	selected := in.Select == "SPECIFIC_ATTRIBUTES"
	switch {
	case selected && in.ProjectionExpression == nil, !selected && in.Select != "" && in.ProjectionExpression != nil:
		return invalid("Select SPECIFIC_ATTRIBUTES requires a ProjectionExpression, and other values do not allow one")
	case in.Select == "ALL_PROJECTED_ATTRIBUTES" && in.IndexName == "":
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return first(
		checkTable(in.TableName),
		between("Limit", in.Limit, 1, 1<<31-1),
		checkCapacity(in.ReturnConsumedCapacity),
		oneOf("Select", in.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
		in.parse(sources{key: key, filter: in.FilterExpression, projection: in.ProjectionExpression}),
	)
}

type queryRequest struct {
	pageRequest
	KeyConditionExpression *string
	ScanIndexForward       *bool
}

func (in *queryRequest) check() error {
	return first(
		required("KeyConditionExpression", in.KeyConditionExpression != nil), in.pageRequest.check(in.KeyConditionExpression),
	)
}

type scanRequest struct {
	pageRequest
	Segment       *int32
	TotalSegments *int32
}

func (in *scanRequest) check() error {
	if (in.Segment == nil) != (in.TotalSegments == nil) {
		return invalid("Segment and TotalSegments must be specified together")
	}
	if in.Segment != nil && *in.Segment >= *in.TotalSegments {
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments")
	}
	return first(
		in.pageRequest.check(nil),
		between("TotalSegments", in.TotalSegments, 1, maxSegments),
		between("Segment", in.Segment, 0, maxSegments-1),
	)
}

type pageResponse struct {
	Items            *[]values.Item `json:",omitzero"`
	Count            int
	ScannedCount     int
	LastEvaluatedKey values.Item       `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

// capacityUnits are the units of a table or an index. Transactions also report them as units for reading or writing.
type capacityUnits struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64 `json:",omitzero"`
	WriteCapacityUnits float64 `json:",omitzero"`
}

// consumedCapacity is the capacity that a request consumed of a table.
type consumedCapacity struct {
	TableName string
	capacityUnits
	Table                  *capacityUnits           `json:",omitzero"`
	GlobalSecondaryIndexes map[string]capacityUnits `json:",omitempty"`
}
