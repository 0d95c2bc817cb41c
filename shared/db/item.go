package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

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

// DecodeByID returns a function like Decode for items whose sort keys end with their IDs. The function returns an error
// if the ID of an item is not the one in its key: a list that continues after such an ID would skip or repeat items.
func DecodeByID[T any](id func(T) string) func(Item) (T, error) {
	return func(item Item) (T, error) {
		record, err := Decode[T](item)
		if err == nil && !strings.HasSuffix(KeyOf(item).SK, separator+id(record)) {
			err = fmt.Errorf("db: decode %T: the ID is not the one in the key", record)
		}
		return record, err
	}
}

// DecodeListed decodes an item of a list. It reports false and logs the error if decode returns one: the caller omits
// the item, because one damaged item must not break the list.
func DecodeListed[T any](ctx context.Context, item Item, decode func(Item) (T, error)) (record T, ok bool) {
	record, err := decode(item)
	if err != nil {
		key := KeyOf(item)
		slog.ErrorContext(ctx, "an item of a list cannot be decoded and is omitted",
			"pk", key.PK, "sk", key.SK, "cause", err.Error())
	}
	return record, err == nil
}

// DecodeAll decodes the items of a list. It omits damaged items, see DecodeListed.
func DecodeAll[T any](ctx context.Context, items []Item, decode func(Item) (T, error)) []T {
	records := make([]T, 0, len(items))
	for _, item := range items {
		if record, ok := DecodeListed(ctx, item, decode); ok {
			records = append(records, record)
		}
	}
	return records
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
	return itemOf(attributes), nil
}

// attribute is an attribute in DynamoDB's JSON: an object with one member, whose name is the type
// (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html).
type attribute struct{ value types.AttributeValue }

// UnmarshalJSONFrom implements json.UnmarshalerFrom. Attributes inside of others are decoded from the same text, and
// not from a copy for each level.
func (a *attribute) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return errAttribute
	}
	_, _ = d.ReadToken()
	name, err := d.ReadToken()
	if err != nil || name.Kind() != '"' {
		return errAttribute
	}
	if a.value, err = attributeValue(name.String(), d); err != nil {
		return err
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != '}' {
		return errAttribute
	}
	return nil
}

// errAttribute is replaced by ItemFromJSON.
var errAttribute = errors.New("an attribute is not an object with exactly one type")

// attributeValue decodes the value of an attribute. name is the name of its type, such as "S".
func attributeValue(name string, d *jsontext.Decoder) (types.AttributeValue, error) {
	if d.PeekKind() == 'n' {
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
		var list []attribute
		err := json.UnmarshalDecode(d, &list)
		v := &types.AttributeValueMemberL{Value: make([]types.AttributeValue, len(list))}
		for i, element := range list {
			v.Value[i] = element.value
		}
		return v, err
	case "M":
		var members map[string]attribute
		err := json.UnmarshalDecode(d, &members)
		return &types.AttributeValueMemberM{Value: itemOf(members)}, err
	default:
		return nil, errors.New("an attribute has an unknown type")
	}
	return value, json.UnmarshalDecode(d, target)
}

func itemOf(attributes map[string]attribute) Item {
	item := make(Item, len(attributes))
	for name, a := range attributes {
		item[name] = a.value
	}
	return item
}
