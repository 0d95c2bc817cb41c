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

// Decode reads such a struct back, the zero one of no item. Error: the item is none, which is a fault of who wrote it, not an absence.
func Decode[T any](item Item) (T, error) {
	var record T
	err := attributevalue.UnmarshalMapWithOptions(item, &record, func(o *attributevalue.DecoderOptions) {
		o.UseEncodingUnmarshalers = true
	})
	if err != nil {
		return record, fmt.Errorf("db: decode: a stored %T: %w", record, err)
	}
	return record, nil
}

// DecodeAll reads items of one kind. Error: as Decode's, of the first that is none.
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
