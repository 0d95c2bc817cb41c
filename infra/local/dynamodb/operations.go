package dynamodb

import (
	"context"
	"sync"

	"devplatform/infra/local/awsjson"
)

// Prefixes of X-Amz-Target. The two services have the same endpoint.
const (
	targetPrefix  = "DynamoDB_20120810."
	streamsPrefix = "DynamoDBStreams_20120810."
)

const maxRequestBytes = 16 << 20

func (db *DB) newService() awsjson.Service {
	items, tables := db.catalog.RLocker(), &db.catalog
	return awsjson.Service{
		Name: "dynamodb", ContentType: awsjson.Version10, MaxRequestBytes: maxRequestBytes, Logger: db.options.Logger,
		CRC32: true, RejectUnknown: true, Before: db.store.Check, Convert: asAPIError,
		Targets: map[string]awsjson.Operations{
			targetPrefix: {
				"CreateTable":        handle(tables, db.createTable),
				"DescribeTable":      handle(items, db.describeTable),
				"ListTables":         handle(items, db.listTables),
				"UpdateTable":        handle(tables, db.updateTable),
				"DeleteTable":        handle(tables, db.deleteTable),
				"UpdateTimeToLive":   handle(tables, db.updateTimeToLive),
				"DescribeTimeToLive": handle(items, db.describeTimeToLive),
				"TagResource":        handle(tables, db.tagResource),
				"UntagResource":      handle(tables, db.tagResource),
				"ListTagsOfResource": handle(items, db.listTags),
				"PutItem":            handle(items, db.putItem),
				"GetItem":            handle(items, db.getItem),
				"UpdateItem":         handle(items, db.updateItem),
				"DeleteItem":         handle(items, db.deleteItem),
				"Query":              handle(items, db.query),
				"Scan":               handle(items, db.scan),
				"BatchGetItem":       handle(items, db.batchGetItem),
				"BatchWriteItem":     handle(items, db.batchWriteItem),
				"TransactGetItems":   handle(items, db.transactGetItems),
				"TransactWriteItems": handle(items, db.transactWriteItems),
			},
			streamsPrefix: {
				"ListStreams":      handle(items, db.listStreams),
				"DescribeStream":   handle(items, db.describeStream),
				"GetShardIterator": handle(items, db.getShardIterator),
				"GetRecords":       handle(items, db.getRecords),
			},
		},
	}
}

// request is a pointer to an operation's input.
type request[T any] interface {
	*T
	check() error
}

// handle returns an operation that checks the request and then runs while it holds the lock.
func handle[T, Out any, In request[T]](lock sync.Locker, run func(In) (*Out, error)) awsjson.Operation {
	return awsjson.Handle(func(_ context.Context, in *T) (*Out, error) {
		if err := In(in).check(); err != nil {
			return nil, err
		}
		lock.Lock()
		defer lock.Unlock()
		return run(in)
	})
}

// table returns the table with a name or ARN.
func (db *DB) table(ref string) (*table, error) {
	name := tableName(ref)
	t, ok := db.tables[name]
	if !ok {
		return nil, errorOf(typeNotFound, "Requested resource not found: Table: %s not found", name)
	}
	return t, nil
}
