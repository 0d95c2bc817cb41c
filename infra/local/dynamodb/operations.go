package dynamodb

// operations are those that run here, by the name behind the target's prefix.
var operations = map[string]operation{
	"CreateTable":        handle((*DB).createTable),
	"DescribeTable":      handle((*DB).describeTable),
	"ListTables":         handle((*DB).listTables),
	"UpdateTable":        handle((*DB).updateTable),
	"DeleteTable":        handle((*DB).deleteTable),
	"UpdateTimeToLive":   handle((*DB).updateTimeToLive),
	"DescribeTimeToLive": handle((*DB).describeTimeToLive),
	"TagResource":        handle((*DB).tagResource),
	"UntagResource":      handle((*DB).untagResource),
	"ListTagsOfResource": handle((*DB).listTagsOfResource),
	"DescribeLimits":     handle((*DB).describeLimits),
	"DescribeEndpoints":  handle((*DB).describeEndpoints),

	"PutItem":    handle((*DB).putItem),
	"GetItem":    handle((*DB).getItem),
	"UpdateItem": handle((*DB).updateItem),
	"DeleteItem": handle((*DB).deleteItem),
	"Query":      handle((*DB).query),
	"Scan":       handle((*DB).scan),

	"BatchGetItem":       handle((*DB).batchGetItem),
	"BatchWriteItem":     handle((*DB).batchWriteItem),
	"TransactGetItems":   handle((*DB).transactGetItems),
	"TransactWriteItems": handle((*DB).transactWriteItems),
}

// streamOperations are those of DynamoDB Streams, a service of its own on the
// same endpoint.
var streamOperations = map[string]operation{
	"ListStreams":      handle((*DB).listStreams),
	"DescribeStream":   handle((*DB).describeStream),
	"GetShardIterator": handle((*DB).getShardIterator),
	"GetRecords":       handle((*DB).getRecords),
}

// unsupported are AWS's operations that do not run here; what is on neither
// list does not exist.
var unsupported = map[string]bool{}

func init() {
	for _, name := range []string{
		"BatchExecuteStatement", "ExecuteStatement", "ExecuteTransaction",
		"CreateBackup", "DeleteBackup", "DescribeBackup", "ListBackups",
		"RestoreTableFromBackup", "RestoreTableToPointInTime",
		"DescribeContinuousBackups", "UpdateContinuousBackups",
		"CreateGlobalTable", "DescribeGlobalTable", "DescribeGlobalTableSettings", "ListGlobalTables",
		"UpdateGlobalTable", "UpdateGlobalTableSettings",
		"DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling",
		"DescribeContributorInsights", "ListContributorInsights", "UpdateContributorInsights",
		"DescribeExport", "ExportTableToPointInTime", "ListExports",
		"DescribeImport", "ImportTable", "ListImports",
		"DescribeKinesisStreamingDestination", "DisableKinesisStreamingDestination",
		"EnableKinesisStreamingDestination", "UpdateKinesisStreamingDestination",
		"DeleteResourcePolicy", "GetResourcePolicy", "PutResourcePolicy",
		"SearchVectors", "StartBulkPutItems", "DescribeBulkOperation", "ListBulkOperations", "CancelBulkOperation",
	} {
		unsupported[name] = true
	}
}

func unknownOperation(name string) *apiError {
	if unsupported[name] {
		return &apiError{Type: typeUnknownOperation, Message: "The operation " + name + " is not supported by the embedded DynamoDB"}
	}
	return &apiError{Type: typeUnknownOperation}
}
