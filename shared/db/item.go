package db

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Encode returns the item of a struct with dynamodbav tags. Timestamps and other text marshalers are stored as text.
func Encode(record any) (Item, error) {
	item, err := attributevalue.MarshalMapWithOptions(record, func(o *attributevalue.EncoderOptions) {
		o.UseEncodingMarshalers = true
	})
	if err != nil {
		return nil, fmt.Errorf("db: encode: %w", err)
	}
	return item, nil
}

var decoder = attributevalue.NewDecoder(func(o *attributevalue.DecoderOptions) { o.UseEncodingUnmarshalers = true })

// Decode decodes an item that Encode returned. It returns the zero struct for a nil item. It returns an error if an
// attribute does not have the type of its field.
func Decode[T any](item Item) (T, error) {
	var record T
	if err := decoder.Decode(&types.AttributeValueMemberM{Value: item}, &record); err != nil {
		return record, fmt.Errorf("db: decode %T: %w", record, err)
	}
	return record, nil
}

// DecodeAll decodes items of one type. It returns the first error.
func DecodeAll[T any](items []Item) ([]T, error) {
	records := make([]T, len(items))
	for i, item := range items {
		var err error
		if records[i], err = Decode[T](item); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// ExpiresAt returns the value of the attribute AttrExpiresAt. unix is the time when the item expires, in seconds since
// 1970.
func ExpiresAt(unix int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(unix, 10)}
}

// ItemFromJSON decodes an item in DynamoDB's JSON, such as {"id":{"S":"evt_…"},"expiresAt":{"N":"1763640000"}}. Stream
// records contain items in this format. Errors do not contain values.
//
// The SDK's attributevalue.UnmarshalMapJSON is not used. It accepts duplicate names, and attributes without a type,
// with an unknown type, or with two types. It picks one of two types at random. Its errors contain values.
func ItemFromJSON(data []byte) (Item, error) {
	var attributes map[string]attribute
	if err := json.Unmarshal(data, &attributes); err != nil || attributes == nil {
		return nil, errors.New("db: not an item in DynamoDB's JSON") // the decoder's error may contain values
	}
	item := make(Item, len(attributes))
	for name, a := range attributes {
		item[name] = a.value
	}
	return item, nil
}

// attribute is an attribute in DynamoDB's JSON: an object with one member, whose name is the type
// (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html).
type attribute struct{ value types.AttributeValue }

// UnmarshalJSON implements json.Unmarshaler.
func (a *attribute) UnmarshalJSON(data []byte) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return err //nolint:wrapcheck // replaced by ItemFromJSON
	}
	if len(members) != 1 {
		return errors.New("an attribute does not have exactly one type")
	}
	var err error
	for name, value := range members {
		a.value, err = attributeValue(name, value)
	}
	return err
}

// attributeValue decodes the value of an attribute. name is the name of its type, such as "S".
func attributeValue(name string, data jsontext.Value) (types.AttributeValue, error) {
	if data.Kind() == 'n' {
		return nil, errors.New("the value of an attribute is null")
	}
	var value types.AttributeValue
	var target any // points into value
	switch name {
	case "S":
		v := &types.AttributeValueMemberS{}
		value, target = v, &v.Value
	case "N":
		v := &types.AttributeValueMemberN{}
		value, target = v, &v.Value
	case "B":
		v := &types.AttributeValueMemberB{}
		value, target = v, &v.Value
	case "BOOL":
		v := &types.AttributeValueMemberBOOL{}
		value, target = v, &v.Value
	case "NULL":
		v := &types.AttributeValueMemberNULL{}
		value, target = v, &v.Value
	case "SS":
		v := &types.AttributeValueMemberSS{}
		value, target = v, &v.Value
	case "NS":
		v := &types.AttributeValueMemberNS{}
		value, target = v, &v.Value
	case "BS":
		v := &types.AttributeValueMemberBS{}
		value, target = v, &v.Value
	case "L":
		return listValue(data)
	case "M":
		item, err := ItemFromJSON(data)
		return &types.AttributeValueMemberM{Value: item}, err
	default:
		return nil, errors.New("an attribute has an unknown type")
	}
	return value, json.Unmarshal(data, target) //nolint:wrapcheck // replaced by ItemFromJSON
}

func listValue(data jsontext.Value) (types.AttributeValue, error) {
	var list []attribute
	err := json.Unmarshal(data, &list)
	v := &types.AttributeValueMemberL{Value: make([]types.AttributeValue, len(list))}
	for i, element := range list {
		v.Value[i] = element.value
	}
	return v, err //nolint:wrapcheck // replaced by ItemFromJSON
}
