package db

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"
)

// jsonValue is an attribute value in DynamoDB's JSON: an object with one member, named by the type
// (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html).
type jsonValue struct {
	S    *string              `json:"S"`
	N    *string              `json:"N"`
	B    *[]byte              `json:"B"`
	BOOL *bool                `json:"BOOL"`
	NULL *bool                `json:"NULL"`
	L    *[]jsonValue         `json:"L"`
	M    map[string]jsonValue `json:"M"`
	SS   []string             `json:"SS"`
	NS   []string             `json:"NS"`
	BS   [][]byte             `json:"BS"`
}

var errAttribute = errors.New("db: an attribute does not have exactly one type")

// ItemFromJSON reads an item in DynamoDB's JSON, such as {"id":{"S":"evt_…"},"expiresAt":{"N":"1763640000"}}:
// the form of the images in a stream's records. Anything else is an error that quotes no value.
func ItemFromJSON(data []byte) (Item, error) {
	var values map[string]jsonValue
	if err := json.Unmarshal(data, &values, json.RejectUnknownMembers(true)); err != nil || values == nil {
		return nil, errors.New("db: not an item in DynamoDB's JSON") // the decoder's error may quote
	}
	return itemOf(values)
}

func itemOf(values map[string]jsonValue) (Item, error) {
	item := make(Item, len(values))
	for name, value := range values {
		attribute, err := value.attribute()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		item[name] = attribute
	}
	return item, nil
}

func (v jsonValue) attribute() (types.AttributeValue, error) {
	var found []types.AttributeValue
	var err error
	if v.S != nil {
		found = append(found, &types.AttributeValueMemberS{Value: *v.S})
	}
	if v.N != nil {
		found = append(found, &types.AttributeValueMemberN{Value: *v.N})
	}
	if v.B != nil {
		found = append(found, &types.AttributeValueMemberB{Value: *v.B})
	}
	if v.BOOL != nil {
		found = append(found, &types.AttributeValueMemberBOOL{Value: *v.BOOL})
	}
	if v.NULL != nil {
		found = append(found, &types.AttributeValueMemberNULL{Value: *v.NULL})
	}
	if v.SS != nil {
		found = append(found, &types.AttributeValueMemberSS{Value: v.SS})
	}
	if v.NS != nil {
		found = append(found, &types.AttributeValueMemberNS{Value: v.NS})
	}
	if v.BS != nil {
		found = append(found, &types.AttributeValueMemberBS{Value: v.BS})
	}
	if v.L != nil {
		var list types.AttributeValueMemberL
		list.Value, err = listOf(*v.L)
		found = append(found, &list)
	}
	if v.M != nil && err == nil {
		var item types.AttributeValueMemberM
		item.Value, err = itemOf(v.M)
		found = append(found, &item)
	}
	if err == nil && len(found) != 1 {
		err = errAttribute
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func listOf(values []jsonValue) ([]types.AttributeValue, error) {
	list := make([]types.AttributeValue, len(values))
	for i, value := range values {
		attribute, err := value.attribute()
		if err != nil {
			return nil, err
		}
		list[i] = attribute
	}
	return list, nil
}
