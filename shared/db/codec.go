package db

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
)

// Encode makes an item of a struct with dynamodbav tags. Timestamps and other text types are stored as their text.
func Encode(record any) (Item, error) {
	item, err := attributevalue.MarshalMapWithOptions(record, func(o *attributevalue.EncoderOptions) {
		o.UseEncodingMarshalers = true
	})
	if err != nil {
		return nil, fmt.Errorf("db: encode: %w", err)
	}
	return item, nil
}

// Decode fills record, a pointer to such a struct, from an item.
func Decode(item Item, record any) error {
	err := attributevalue.UnmarshalMapWithOptions(item, record, func(o *attributevalue.DecoderOptions) {
		o.UseEncodingUnmarshalers = true
	})
	if err != nil {
		return fmt.Errorf("db: decode: %w", err)
	}
	return nil
}
