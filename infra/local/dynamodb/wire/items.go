package wire

import "devplatform/infra/local/dynamodb/values"

// GetItemRequest is the input of GetItem.
type GetItemRequest struct {
	TableName string
	Placeholders
	ProjectionExpression   *string
	Key                    values.Item
	ConsistentRead         bool
	ReturnConsumedCapacity string
}

// Check checks the request and parses its expressions.
func (in *GetItemRequest) Check() error {
	return first(
		checkTable(in.TableName), checkCapacity(in.ReturnConsumedCapacity), required("Key", in.Key != nil),
		in.parse(sources{projection: in.ProjectionExpression}),
	)
}

// GetItemResponse is the output of GetItem, and one response of TransactGetItems.
type GetItemResponse struct {
	Item             values.Item       `json:",omitzero"`
	ConsumedCapacity *ConsumedCapacity `json:",omitzero"`
}

// ItemWrite are the parameters of PutItem, UpdateItem and DeleteItem.
type ItemWrite struct {
	TableName string
	Placeholders
	ConditionExpression                 *string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string // there are no item collections, so there are no metrics
	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
}

// check checks a request with an Item or a Key, and parses its expressions.
func (in *ItemWrite) check(member string, item values.Item, update *string, returnValues ...string) error {
	return first(
		checkTable(in.TableName),
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
		oneOf("ReturnValues", in.ReturnValues, append(returnValues, "NONE", "ALL_OLD")...),
		checkFailureReturn(in.ReturnValuesOnConditionCheckFailure),
		required(member, item != nil),
		CheckItemSize(item),
		in.parse(sources{condition: in.ConditionExpression, update: update}),
	)
}

// PutItemRequest is the input of PutItem.
type PutItemRequest struct {
	ItemWrite
	Item values.Item
}

// Check checks the request and parses its expressions.
func (in *PutItemRequest) Check() error { return in.check("Item", in.Item, nil) }

// DeleteItemRequest is the input of DeleteItem.
type DeleteItemRequest struct {
	ItemWrite
	Key values.Item
}

// Check checks the request and parses its expressions.
func (in *DeleteItemRequest) Check() error { return in.check("Key", in.Key, nil) }

// UpdateItemRequest is the input of UpdateItem.
type UpdateItemRequest struct {
	ItemWrite
	Key              values.Item
	UpdateExpression *string
}

// Check checks the request and parses its expressions.
func (in *UpdateItemRequest) Check() error {
	return in.check("Key", in.Key, in.UpdateExpression, "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")
}

// ItemWriteResponse is the output of PutItem, UpdateItem and DeleteItem.
type ItemWriteResponse struct {
	Attributes       values.Item       `json:",omitzero"`
	ConsumedCapacity *ConsumedCapacity `json:",omitzero"`
}

// PageRequest are the parameters of Query and Scan.
type PageRequest struct {
	TableName string
	IndexName string
	Placeholders
	FilterExpression       *string
	ProjectionExpression   *string
	ConsistentRead         bool
	ExclusiveStartKey      values.Item
	Limit                  *int32
	ReturnConsumedCapacity string
	Select                 string
}

// check checks the request and parses its expressions. key is a KeyConditionExpression, or nil.
func (in *PageRequest) check(key *string) error {
	selected := in.Select == "SPECIFIC_ATTRIBUTES"
	switch {
	case selected && in.ProjectionExpression == nil, !selected && in.Select != "" && in.ProjectionExpression != nil:
		return Invalid("Select SPECIFIC_ATTRIBUTES requires a ProjectionExpression, and other values do not allow one")
	case in.Select == "ALL_PROJECTED_ATTRIBUTES" && in.IndexName == "":
		return Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return first(
		checkTable(in.TableName),
		between("Limit", in.Limit, 1, 1<<31-1),
		checkCapacity(in.ReturnConsumedCapacity),
		oneOf("Select", in.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
		in.parse(sources{key: key, filter: in.FilterExpression, projection: in.ProjectionExpression}),
	)
}

// QueryRequest is the input of Query.
type QueryRequest struct {
	PageRequest
	KeyConditionExpression *string
	ScanIndexForward       *bool
}

// Check checks the request and parses its expressions.
func (in *QueryRequest) Check() error {
	return first(required("KeyConditionExpression", in.KeyConditionExpression != nil), in.check(in.KeyConditionExpression))
}

// ScanRequest is the input of Scan.
type ScanRequest struct {
	PageRequest
	Segment       *int32
	TotalSegments *int32
}

// Check checks the request and parses its expressions.
func (in *ScanRequest) Check() error {
	if (in.Segment == nil) != (in.TotalSegments == nil) {
		return Invalid("Segment and TotalSegments must be specified together")
	}
	if in.Segment != nil && *in.Segment >= *in.TotalSegments {
		return Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments")
	}
	return first(
		in.check(nil),
		between("TotalSegments", in.TotalSegments, 1, maxSegments),
		between("Segment", in.Segment, 0, maxSegments-1),
	)
}

// PageResponse is the output of Query and Scan.
type PageResponse struct {
	Items            *[]values.Item `json:",omitzero"`
	Count            int
	ScannedCount     int
	LastEvaluatedKey values.Item       `json:",omitzero"`
	ConsumedCapacity *ConsumedCapacity `json:",omitzero"`
}

// CapacityUnits are the units of a table or an index. Transactions also report them as units for reading or writing.
type CapacityUnits struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64 `json:",omitzero"`
	WriteCapacityUnits float64 `json:",omitzero"`
}

// ConsumedCapacity is the capacity that a request consumed of a table.
type ConsumedCapacity struct {
	TableName string
	CapacityUnits
	Table                  *CapacityUnits           `json:",omitzero"`
	GlobalSecondaryIndexes map[string]CapacityUnits `json:",omitempty"`
}
