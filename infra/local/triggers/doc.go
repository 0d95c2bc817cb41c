// Package triggers implements event source mappings: pollers that read an event source and invoke a function with
// batches of its records. The sources are streams of DynamoDB tables and queues of SQS.
//
// The package reads sources with the AWS SDK, so that it works with the embedded services, LocalStack and AWS. It
// contains filters, batching, order, retries, partial failures, and positions that survive a crash. It must not know
// how functions run (package runtime), how streams are stored (the DynamoDB engine), templates (package stack), or the
// application.
//
// Streams: the reader of a shard gets a record, skips it if no filter matches, and puts it into a lane. A shard has as
// many lanes as its ParallelizationFactor. All records of a partition key go to the same lane. The lane gathers a
// batch, invokes the function, and splits, retries or discards what failed. The shard's ledger knows which records are
// done. The shard's position is the last record before which all records are done.
//
// Records are delivered at least once and without gaps. A new position is written after 100 ms. After a crash, the
// batches that were in flight or that ended after the last write are delivered again, and, if ParallelizationFactor is
// above 1, batches that had overtaken them.
//
// Records expire by the clock even while the platform does not run: a mapping loses the records that it did not read
// within the retention of the stream. Positions and tables belong together: restore both folders or neither. A mapping
// that was removed from the template keeps its position.
//
// Discarded records are logged, or sent to the mapping's on-failure queue: the position is before them until the queue
// has the message.
//
// Queues: there is a slot for each batch that may be in flight. A poller acquires a slot before it receives a batch.
// Under load, messages therefore wait in the queue. Messages that no filter matches are deleted. The function is
// invoked with the others. Its successes are deleted, its failures stay in the queue until their visibility timeout
// ends. When the platform stops, messages that no function has received are made visible again.
//
// https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html and
// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
package triggers
