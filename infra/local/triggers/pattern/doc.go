// Package pattern is the language of event filters: the patterns in an event source mapping's FilterCriteria.
//
// A pattern is a JSON object in the shape of the event. Its fields are AND-ed; each leaf is an array whose elements are
// OR-ed: strings, numbers, true, false and null, which must be equal, or one of
//
//	{"prefix": "x"}  {"suffix": "x"}  {"equals-ignore-case": "x"}
//	{"prefix": {"equals-ignore-case": "x"}}  {"suffix": {"equals-ignore-case": "x"}}
//	{"anything-but": "x"}  {"anything-but": [1, 2]}  {"anything-but": {"prefix": "x"}}  (suffix, equals-ignore-case; lists)
//	{"numeric": ["=", 5]}  {"numeric": [">", 0, "<=", 5]}
//	{"exists": true}  {"exists": false}
//
// "$or" in an object takes an array of objects of which one must match. Where the event has an array, one element must
// match, and it must match everything that the pattern says of the array's objects. exists looks at leaves only: for
// an object, {"exists": false} holds. Numbers outside of numeric are compared as they are written, as Lambda documents it:
// 300 and 300.0 differ.
//
// Sources: https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html for the language, and
// https://github.com/aws/event-ruler for which patterns are refused. What AWS offers on event buses only (wildcard, cidr)
// is refused as unknown here.
//
// Why not a library: quamina.net/go/quamina, the Go relative of AWS's matcher, documents neither numeric comparisons nor
// $or, nor anything-but with numbers and operators. Its strength is many thousands of patterns; a mapping has ten at most.
//
// What may not enter: events of a certain source, DynamoDB's or any other's.
package pattern
