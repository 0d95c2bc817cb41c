// Package dynamodb is an embedded DynamoDB: the JSON 1.0 wire protocol over
// Pebble, in a folder or in memory.
//
// It speaks to the real SDKs and the AWS CLI: tables with global secondary
// indexes and TTL, single-item operations, queries and scans, batches and
// transactions, with AWS's semantics, limits, error types and messages. What it
// does not do (PartiQL, legacy parameters, local indexes, streams, backups,
// global tables, ...) it refuses by name, so that nothing is silently ignored.
//
// Attribute values live in attr, the expression language in expr; this package
// is the engine and the wire. Nothing of any particular application's domain
// may enter it.
package dynamodb
