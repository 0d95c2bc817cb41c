// Package pattern implements event filters: the patterns in the FilterCriteria of an event source mapping.
//
// A pattern is a JSON object in the shape of the event. All of its fields must match. Each leaf is an array. One of its
// elements must match: a string, a number, true, false or null, which must be equal, or one of
//
//	{"prefix": "x"}  {"suffix": "x"}  {"equals-ignore-case": "x"}
//	{"prefix": {"equals-ignore-case": "x"}}  {"suffix": {"equals-ignore-case": "x"}}
//	{"anything-but": "x"}  {"anything-but": [1, 2]}
//	{"anything-but": {"prefix": "x"}}  (suffix, equals-ignore-case; lists)
//	{"numeric": ["=", 5]}  {"numeric": [">", 0, "<=", 5]}
//	{"exists": true}  {"exists": false}
//
// "$or" in an object takes an array of objects. One of them must match. If the event has an array, one element must
// match, and it must match everything that the pattern requires of the array's objects. exists applies to leaves only:
// for an object, {"exists": false} matches. Except in numeric, numbers are compared as they are written, as Lambda
// documents it: 300 and 300.0 differ.
//
// Sources: https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html for the language, and
// https://github.com/aws/event-ruler for the patterns that are not valid. Operators that AWS offers on event buses only
// (wildcard, cidr) are unknown here.
//
// The package does not use quamina.net/go/quamina, the Go relative of AWS's matcher, because that has neither numeric
// comparisons nor $or, nor anything-but with numbers and operators.
//
// The package must not know the events of a certain source, such as DynamoDB.
package pattern
