// Package sqs is an embedded Amazon SQS: the JSON 1.0 wire protocol over Pebble,
// in a folder or in memory.
//
// It speaks to the real SDKs and the AWS CLI: standard queues with their
// attributes and tags, messages with attributes, delays, visibility timeouts,
// long polling and their batches, dead-letter queues and the way back, and fair
// queues, with AWS's semantics, limits, error types and messages. What it does
// not do (FIFO queues, permissions, the query protocol) it refuses by name, so
// that nothing is silently ignored. Policies and keys are kept and returned, and
// not enforced: there is one principal here.
//
// What was acknowledged is on the disk: sends and deletions, and also receives,
// whose count, visibility deadline and receipt handle are written and synced with
// the receive, before its answer. That costs a receive one shared sync, and in
// return a poisonous message that takes the process down with it still reaches
// its dead-letter queue, and no crash shows a message early. What merely passes
// with time (a message becomes visible again, or too old) is written lazily or
// not at all, since opening the folder finds it out again.
//
// An index of all messages is in memory, some 160 bytes each, rebuilt at opening
// from small records; bodies stay in Pebble. No operation scans a queue but the
// ones that end it (DeleteQueue, PurgeQueue).
//
// What the bytes in the folder are kept by is in datafolder. Nothing of any
// particular application's domain may enter here.
package sqs
