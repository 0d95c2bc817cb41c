// Package expr is DynamoDB's expression language: conditions, filters, key
// conditions, updates and projections. An expression is parsed and checked
// once a request, then evaluated on any number of items.
//
// The order of the checks and their texts are AWS's: clients and conformance
// suites compare them. Requests, tables and storage do not belong here; what
// depends on a table's key schema is only in [KeyCondition.Resolve].
package expr
