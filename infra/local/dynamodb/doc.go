// Package dynamodb is an embedded DynamoDB: the JSON 1.0 wire protocol over
// Pebble, in a folder or in memory.
//
// It speaks to the real SDKs and the AWS CLI: tables with global secondary
// indexes and TTL, single-item operations, queries and scans, batches and
// transactions, and the streams of tables, with AWS's semantics, limits, error
// types and messages. What it does not do (PartiQL, legacy parameters, local
// indexes, backups, global tables, ...) it refuses by name, so that nothing is
// silently ignored.
//
// A change and its stream record are one atomic write. A stream is one shard,
// whose records are numbered in the order in which they become visible, and are
// shown once they are durable; they stay for 24 hours by the clock, also while
// nothing runs: a reader that was off for longer has lost what it had not read.
// Who keeps positions in streams and restores a copy of the folder restores
// those with it, or neither. What only readers of streams need is in the stream
// files; what the bytes in the folder are kept by is in datafolder.
//
// Attribute values live in attr, the expression language in expr; this package
// is the engine and the wire. Nothing of any particular application's domain
// may enter it.
package dynamodb
