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
	err := first(checkTable(in.TableName), checkCapacity(in.ReturnConsumedCapacity), required("Key", in.Key != nil))
	if err != nil {
		return err
	}
	return in.parse(sources{projection: in.ProjectionExpression})
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

func (in *ItemWrite) check(returnValues ...string) error {
	return first(
		checkTable(in.TableName),
		checkCapacity(in.ReturnConsumedCapacity),
		checkMetrics(in.ReturnItemCollectionMetrics),
		oneOf("ReturnValues", in.ReturnValues, returnValues...),
		checkFailureReturn(in.ReturnValuesOnConditionCheckFailure),
	)
}

// PutItemRequest is the input of PutItem.
type PutItemRequest struct {
	ItemWrite
	Item values.Item
}

// Check checks the request and parses its expressions.
func (in *PutItemRequest) Check() error {
	if err := first(in.check("NONE", "ALL_OLD"), required("Item", in.Item != nil), CheckItemSize(in.Item)); err != nil {
		return err
	}
	return in.parse(sources{condition: in.ConditionExpression})
}

// DeleteItemRequest is the input of DeleteItem.
type DeleteItemRequest struct {
	ItemWrite
	Key values.Item
}

// Check checks the request and parses its expressions.
func (in *DeleteItemRequest) Check() error {
	if err := first(in.check("NONE", "ALL_OLD"), required("Key", in.Key != nil)); err != nil {
		return err
	}
	return in.parse(sources{condition: in.ConditionExpression})
}

// UpdateItemRequest is the input of UpdateItem.
type UpdateItemRequest struct {
	ItemWrite
	Key              values.Item
	UpdateExpression *string
}

// Check checks the request and parses its expressions.
func (in *UpdateItemRequest) Check() error {
	err := first(
		in.check("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"), required("Key", in.Key != nil),
	)
	if err != nil {
		return err
	}
	return in.parse(sources{condition: in.ConditionExpression, update: in.UpdateExpression})
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

func (in *PageRequest) check() error {
	err := first(
		checkTable(in.TableName),
		between("Limit", in.Limit, 1, 1<<31-1),
		checkCapacity(in.ReturnConsumedCapacity),
		oneOf("Select", in.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
	)
	switch {
	case err != nil:
		return err
	case in.Select == "SPECIFIC_ATTRIBUTES" && in.ProjectionExpression == nil:
		return Invalid("Select SPECIFIC_ATTRIBUTES requires a ProjectionExpression")
	case in.ProjectionExpression != nil && in.Select != "" && in.Select != "SPECIFIC_ATTRIBUTES":
		return Invalid("Cannot specify the ProjectionExpression when choosing to get %s", in.Select)
	case in.Select == "ALL_PROJECTED_ATTRIBUTES" && in.IndexName == "":
		return Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

// QueryRequest is the input of Query.
type QueryRequest struct {
	PageRequest
	KeyConditionExpression *string
	ScanIndexForward       *bool
}

// Check checks the request and parses its expressions.
func (in *QueryRequest) Check() error {
	if err := first(in.check(), required("KeyConditionExpression", in.KeyConditionExpression != nil)); err != nil {
		return err
	}
	return in.parse(sources{
		key: in.KeyConditionExpression, filter: in.FilterExpression, projection: in.ProjectionExpression,
	})
}

// ScanRequest is the input of Scan.
type ScanRequest struct {
	PageRequest
	Segment       *int32
	TotalSegments *int32
}

// Check checks the request and parses its expressions.
func (in *ScanRequest) Check() error {
	err := first(
		in.check(),
		between("TotalSegments", in.TotalSegments, 1, maxSegments),
		between("Segment", in.Segment, 0, maxSegments-1),
	)
	switch {
	case err != nil:
		return err
	case (in.Segment == nil) != (in.TotalSegments == nil):
		return Invalid("Segment and TotalSegments must be specified together")
	case in.Segment != nil && *in.Segment >= *in.TotalSegments:
		return Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments")
	}
	return in.parse(sources{filter: in.FilterExpression, projection: in.ProjectionExpression})
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
