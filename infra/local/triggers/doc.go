// Package triggers is what AWS calls event source mappings: pollers that read an event source and invoke a function
// with batches of what they find. The sources are streams of DynamoDB tables, and queues of SQS.
//
// What belongs here: reading sources through the SDK (so that DynamoDB Local, LocalStack or AWS will do as well as the
// embedded engine), filters, batching, order, retries, partial failures, and positions that survive a crash.
// What may not enter: how functions run (the runtime's), how streams are kept (the engine's), templates (the stack's),
// and anything about the application whose functions are invoked.
//
// The way of a record of a stream: a shard's reader gets it, passes it over if no filter wants it, and puts it into a lane,
// of which a shard has as many as its ParallelizationFactor; all records of one partition key take the same lane. The lane
// gathers a batch, invokes the function, and splits, retries or discards what failed. The shard's ledger knows which
// records are done; its position is the last one before which everything is.
//
// Delivery of records is at least once and without gaps: a position is written (atomically, synced) after each batch and
// before the lane's next one. After a kill, only the batches that were in flight run again, and with ParallelizationFactor
// above 1 those that had overtaken them. Records that were only passed over may be looked at again: their position is
// written with the next batch, or after a second.
//
// Retention is by the clock, also while nothing runs: what a mapping had not read when it was off for longer than a
// stream keeps its records is lost to it. (On AWS it would not have been off.) Positions and tables belong together: whoever
// restores a copy restores both folders, or neither. A mapping that is not in the template any more keeps its position.
//
// Records that are given up are told of in the log, or to the mapping's on-failure queue: then the position stays before them
// until the queue has the message.
//
// The way of a message: a poller takes a slot, of which there are as many as batches may be in flight, and only then asks
// the queue for a batch; so under load messages wait in the queue, not here. Messages that no filter wants are deleted. The
// function is invoked with the others; what it has done is deleted, and the rest is left to its visibility timeout. There is
// nothing to remember: what is not done is in the queue. Messages that were received when everything ends, and that no
// function has seen, are made visible again.
//
// https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html and https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
package triggers
