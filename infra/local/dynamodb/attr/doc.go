// Package attr is DynamoDB's data model: attribute values and items, the JSON
// they travel in, the bytes they are stored and sorted by, their sizes and
// their exact decimal numbers.
//
// Values are immutable by convention: nobody writes to a slice or map reached
// through a Value, so values are shared freely between items and goroutines.
//
// Decoding JSON reports only what AWS calls a SerializationException (a JSON
// number where a string belongs, broken base64). What AWS calls a
// ValidationException depends, in its order and its wording, on the field the
// value came in; it is therefore kept in the value, which has KindInvalid, and
// reported by [Value.Validate] and [Item.Validate] when the caller gets there.
//
// Expressions, tables, requests and storage engines do not belong here.
package attr
