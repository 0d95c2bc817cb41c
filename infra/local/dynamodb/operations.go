package dynamodb

import (
	"context"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/wire"
)

// Prefixes of X-Amz-Target. The two services have the same endpoint.
const (
	targetPrefix  = "DynamoDB_20120810."
	streamsPrefix = "DynamoDBStreams_20120810."
)

const maxRequestBytes = 16 << 20

func (db *DB) newService() awsjson.Service {
	return awsjson.Service{
		Name: "dynamodb", ContentType: awsjson.Version10, MaxRequestBytes: maxRequestBytes, Logger: db.options.Logger,
		CRC32: true, RejectUnknown: true, Before: db.store.Check, Convert: wire.AsError,
		Health: "healthy: dynamodb." + db.options.Region + ".amazonaws.com ",
		Targets: map[string]awsjson.Operations{
			targetPrefix: {
				"CreateTable":        handle(db.createTable),
				"DescribeTable":      handle(db.describeTable),
				"ListTables":         handle(db.listTables),
				"UpdateTable":        handle(db.updateTable),
				"DeleteTable":        handle(db.deleteTable),
				"UpdateTimeToLive":   handle(db.updateTimeToLive),
				"DescribeTimeToLive": handle(db.describeTimeToLive),
				"TagResource":        handle(db.tagResource),
				"UntagResource":      handle(db.tagResource),
				"ListTagsOfResource": handle(db.listTags),
				"PutItem":            handle(db.putItem),
				"GetItem":            handle(db.getItem),
				"UpdateItem":         handle(db.updateItem),
				"DeleteItem":         handle(db.deleteItem),
				"Query":              handle(db.query),
				"Scan":               handle(db.scan),
				"BatchGetItem":       handle(db.batchGetItem),
				"BatchWriteItem":     handle(db.batchWriteItem),
				"TransactGetItems":   handle(db.transactGetItems),
				"TransactWriteItems": handle(db.transactWriteItems),
			},
			streamsPrefix: {
				"ListStreams":      handle(db.listStreams),
				"DescribeStream":   handle(db.describeStream),
				"GetShardIterator": handle(db.getShardIterator),
				"GetRecords":       handle(db.getRecords),
			},
		},
	}
}

func handle[In, Out any](run func(*In) (*Out, error)) awsjson.Operation {
	return awsjson.Handle(func(_ context.Context, in *In) (*Out, error) { return run(in) })
}

// table returns the table with a name or ARN. The catalog must be locked.
func (db *DB) table(ref string) (*catalog.Table, error) {
	name := wire.TableName(ref)
	t, ok := db.tables[name]
	if !ok {
		return nil, wire.Errorf(wire.TypeNotFound, "Requested resource not found: Table: %s not found", name)
	}
	return t, nil
}
