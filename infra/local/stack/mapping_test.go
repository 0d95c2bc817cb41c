package stack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers/pattern"
)

// table has a table with a stream, T, one that never has one, N, one that could have one, M, and a queue. What readers adds reads T.
const (
	table = `
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      StreamSpecification: {StreamViewType: !If [Yes, NEW_IMAGE, KEYS_ONLY]}
  N:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
  M: {Type: AWS::DynamoDB::Table, Properties: {BillingMode: PAY_PER_REQUEST, AttributeDefinitions: [{AttributeName: pk, AttributeType: S}], KeySchema: [{AttributeName: pk, KeyType: HASH}], StreamSpecification: !If [Yes, !Ref AWS::NoValue, {StreamViewType: NEW_IMAGE}]}}
  Failed: {Type: AWS::SQS::Queue}
Conditions: {Yes: !Equals [a, a], No: !Equals [a, b]}
`
	readers = `
      AutoPublishAlias: live
      Policies: [{Statement: [{Effect: Allow, Action: dynamodb:GetRecords, Resource: !GetAtt T.StreamArn}]}]
      Events:
        Most:
          Type: DynamoDB
          Properties:
            Stream: !GetAtt T.StreamArn
            StartingPosition: LATEST
            BatchSize: 10000
            MaximumBatchingWindowInSeconds: 300
            FilterCriteria: {Filters: [{Pattern: '{"eventName":["INSERT"]}'}, {Pattern: !Sub '{"eventName":["${AWS::StackName}"]}'}]}
            ParallelizationFactor: 10
            FunctionResponseTypes: [ReportBatchItemFailures]
            BisectBatchOnFunctionError: true
            MaximumRetryAttempts: 0
            MaximumRecordAgeInSeconds: 60
            TumblingWindowInSeconds: 0
            Enabled: false
            KmsKeyArn: x
            MetricsConfig: {Metrics: [EventCount]}
            DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Failed.Arn}}
  Role: {Type: AWS::IAM::Role, Properties: {Policies: [{PolicyName: p, PolicyDocument: {Statement: [{Resource: !GetAtt T.StreamArn}]}}]}}
  G: {Type: AWS::Serverless::Function, Properties: {FunctionName: given, Runtime: provided.al2023, Handler: h, CodeUri: g, AutoPublishAlias: live}}
  Raw:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !Sub '${T.StreamArn}', FunctionName: !Ref G.Alias, StartingPosition: TRIM_HORIZON, Tags: [{Key: a, Value: b}]}
  Least:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: {'Fn::GetAtt': T.StreamArn}, FunctionName: !GetAtt G.Arn, StartingPosition: TRIM_HORIZON, MaximumRecordAgeInSeconds: -1, DestinationConfig: !If [No, {OnFailure: {Destination: x}}, !Ref AWS::NoValue]}
  LeftOut: {Type: AWS::Lambda::EventSourceMapping, Condition: No}`
	outputs = `
Outputs: {Stream: {Value: !GetAtt T.StreamArn}, Name: {Value: !Ref T}}`
)

func TestEventSourceMappings(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+readers+table+outputs), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	least := stack.EventSourceMapping{
		Name: "Raw", Function: "given", Table: "local-T", Enabled: true, StartingPosition: "TRIM_HORIZON", BatchSize: 100,
		ParallelizationFactor: 1, MaximumRetryAttempts: -1,
	}
	second := least
	second.Name = "Least"
	want := []stack.EventSourceMapping{{
		Name: "FMost", Function: "F", Table: "local-T", StartingPosition: "LATEST", BatchSize: 10_000, BatchingWindow: 5 * time.Minute,
		Filters: []string{`{"eventName":["INSERT"]}`, `{"eventName":["local"]}`}, ParallelizationFactor: 10, ReportBatchItemFailures: true,
		BisectOnError: true, MaximumRecordAge: time.Minute, OnFailureQueue: "local-Failed",
	}, least, second}
	if diff := cmp.Diff(want, got.EventSourceMappings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	views := map[string]string{}
	for _, table := range got.Tables {
		views[table.LogicalID] = table.StreamViewType
	}
	if diff := cmp.Diff(map[string]string{"T": "NEW_IMAGE", "N": "", "M": ""}, views); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The stream's ARN is left out: nobody knows it before there is a stream.
	if diff := cmp.Diff(map[string]string{"Name": "local-T"}, got.Outputs); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFunctionOfMapping(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"F", "F:live", "F:$LATEST", "!Ref F", "!GetAtt F.Arn", "!Ref F.Alias", "!Ref F.Version", "!Ref FAliaslive",
		"arn:aws:lambda:us-east-1:000000000000:function:F", "000000000000:function:F:7", "function:F",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := stack.Parse("t.yaml", []byte(header+"      AutoPublishAlias: live\n"+
				"  R: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: "+name+"}}"+table), stack.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if function := got.EventSourceMappings[0].Function; function != "F" {
				t.Errorf("%q", function)
			}
		})
	}
}

func TestEventSourceMappingErrors(t *testing.T) {
	t.Parallel()
	// event is a function's event on line 10, mapping the raw resource on line 9; both read T.
	event := func(more string) string {
		return "      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: LATEST, " + more + "}}" + table
	}
	one := func(more, path, complaint string) errorCase {
		return errorCase{event(more), []string{"10: F: Properties.Events.E.Properties." + path + ": " + complaint}}
	}
	raw := func(properties string) string {
		return "  R: {Type: AWS::Lambda::EventSourceMapping, Properties: {" + properties + "}}" + table
	}
	broken := func(text string) string {
		_, err := pattern.Parse(text)
		return err.Error()
	}
	const at = "10: F: Properties.Events.E.Properties"
	run(t, header, map[string]errorCase{
		"nothing": {"      Events:\n        E: {Type: DynamoDB}", []string{at + ".Stream: is missing", at + ".StartingPosition: is missing"}},
		"raw nothing": {"  R: {Type: AWS::Lambda::EventSourceMapping}", []string{
			"9: R: Properties.FunctionName: is missing", "9: R: Properties.EventSourceArn: is missing", "9: R: Properties.StartingPosition: is missing"}},
		"at a time": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: AT_TIMESTAMP, StartingPositionTimestamp: 1}}" + table, []string{
			at + ".StartingPositionTimestamp: DynamoDB's streams are read from TRIM_HORIZON or LATEST, on AWS too",
			at + `.StartingPosition: "AT_TIMESTAMP": DynamoDB's streams are read from TRIM_HORIZON or LATEST, on AWS too`}},
		"batch size":         one("BatchSize: 10001", "BatchSize", `"10001" must be a whole number between 1 and 10000`),
		"no batch":           one("BatchSize: 0", "BatchSize", `"0" must be a whole number between 1 and 10000`),
		"window":             one("MaximumBatchingWindowInSeconds: 301", "MaximumBatchingWindowInSeconds", `"301" must be a whole number between 0 and 300`),
		"parallelization":    one("ParallelizationFactor: 11", "ParallelizationFactor", `"11" must be a whole number between 1 and 10`),
		"retries":            one("MaximumRetryAttempts: -2", "MaximumRetryAttempts", `"-2" must be a whole number between -1 and 10000`),
		"age":                one("MaximumRecordAgeInSeconds: 604801", "MaximumRecordAgeInSeconds", `"604801" must be a whole number between -1 and 604800`),
		"young":              one("MaximumRecordAgeInSeconds: 59", "MaximumRecordAgeInSeconds", "59 must be -1 or at least 60"),
		"response type":      one("FunctionResponseTypes: [All]", "FunctionResponseTypes", `"All" is not supported by the local platform, which knows ReportBatchItemFailures`),
		"two response types": one("FunctionResponseTypes: [ReportBatchItemFailures, ReportBatchItemFailures]", "FunctionResponseTypes", "AWS takes one value only"),
		"tumbling window":    one("TumblingWindowInSeconds: 30", "TumblingWindowInSeconds", "tumbling windows are %"),
		"bisect":             one("BisectBatchOnFunctionError: maybe", "BisectBatchOnFunctionError", `"maybe" must be true or false`),
		"of queues":          one("ScalingConfig: {MaximumConcurrency: 2}", "ScalingConfig", "belongs to queues: the batches of a stream in flight are its shards times ParallelizationFactor"),
		"topic":              one("DestinationConfig: {OnFailure: {Destination: 'arn:aws:sns:us-east-1:000000000000:t'}}", "DestinationConfig.OnFailure.Destination", "a topic of SNS as a destination is %, which knows queues"),
		"bucket":             one("DestinationConfig: {OnFailure: {Destination: 'arn:aws:s3:::b'}}", "DestinationConfig.OnFailure.Destination", "a bucket of S3 as a destination is %, which knows queues"),
		"kafka":              one("DestinationConfig: {OnFailure: {Destination: 'kafka://t'}}", "DestinationConfig.OnFailure.Destination", "a topic of Kafka as a destination is %, which knows queues"),
		"foreign queue":      one("DestinationConfig: {OnFailure: {Destination: 'arn:aws:sqs:us-east-1:000000000000:q'}}", "DestinationConfig.OnFailure.Destination", "must be the Arn of an AWS::SQS::Queue of this template"),
		"no destination":     one("DestinationConfig: {OnFailure: {Type: SQS}}", "DestinationConfig.OnFailure.Destination", "is missing"),
		"on success":         one("DestinationConfig: {OnSuccess: {Destination: x}}", "DestinationConfig.OnSuccess", "%"),
		"of the other form":  one("FunctionName: F", "FunctionName", "%"),
		"criteria":           one("FilterCriteria: {Patterns: []}", "FilterCriteria.Patterns", "%"),
		"no pattern":         one("FilterCriteria: {Filters: [{}]}", "FilterCriteria.Filters[0].Pattern", "is missing"),
		"pattern as YAML":    one("FilterCriteria: {Filters: [{Pattern: {eventName: [INSERT]}}]}", "FilterCriteria.Filters[0].Pattern", "must be a string"),
		"no JSON":            one("FilterCriteria: {Filters: [{Pattern: '{\"a\":[\"b\"]}'}, {Pattern: 'eventName = INSERT'}]}", "FilterCriteria.Filters[1].Pattern", broken("eventName = INSERT")),
		"no array":           one(`FilterCriteria: {Filters: [{Pattern: '{"eventName":"INSERT"}'}]}`, "FilterCriteria.Filters[0].Pattern", broken(`{"eventName":"INSERT"}`)),
		"many filters":       one("FilterCriteria: {Filters: ["+strings.Repeat(`{Pattern: '{"a":["b"]}'},`, 11)+"]}", "FilterCriteria.Filters", "AWS takes 10 at most, these are 11"),
		"destination's type": {event("DestinationConfig: {OnFailure: {Type: SNS, Destination: !GetAtt Failed.Arn}}"), []string{
			at + `.DestinationConfig.OnFailure.Type: "SNS" is %, which knows SQS`}},
		"type in the other form": {raw("EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: F, DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Failed.Arn}}"), []string{
			"9: R: Properties.DestinationConfig.OnFailure.Type: %"}},
		"all at once": {event("BatchSize: x, Enabled: 1"), []string{
			at + `.Enabled: "1" must be true or false`, at + `.BatchSize: "x" must be a whole number between 1 and 10000`}},
		"not a stream": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.Arn, StartingPosition: LATEST}}" + table, []string{
			at + ".Stream: must be the StreamArn of an AWS::DynamoDB::Table of this template"}},
		"no stream": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt N.StreamArn, StartingPosition: LATEST}}" + table, []string{
			at + ".Stream: there is no StreamArn of N: the table has no StreamSpecification"}},
		"no stream now": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt M.StreamArn, StartingPosition: LATEST}}" + table, []string{
			at + ".Stream: there is no StreamArn of M: the table has no StreamSpecification"}},
		"no stream in a policy": {"      Policies: [{Statement: [{Resource: !Sub '${N.StreamArn}/x'}]}]" + table, []string{
			"9: F: Properties.Policies[0].Statement[0].Resource: there is no StreamArn of N: the table has no StreamSpecification"}},
		"no stream in an output": {table + "Outputs: {O: {Value: !GetAtt N.StreamArn}}", []string{
			"26: Outputs: O.Value: there is no StreamArn of N: the table has no StreamSpecification"}},
		"in an environment": {"      Environment: {Variables: {STREAM: !GetAtt T.StreamArn}}" + table, []string{
			"9: F: Properties.Environment.Variables.STREAM: attribute StreamArn of T (AWS::DynamoDB::Table) is % here: a stream's ARN ends with the time at which the stream began"}},
		"foreign function": {raw("EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: G"), []string{
			`9: R: Properties.FunctionName: "G" is no function of this template`}},
		"foreign region": {raw("EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: 'arn:aws:lambda:eu-west-1:000000000000:function:F'"), []string{
			`9: R: Properties.FunctionName: "arn:aws:lambda:eu-west-1:000000000000:function:F" is no function of this template`}},
		"queue": {raw("EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:q', StartingPosition: LATEST, FunctionName: F, Queues: []"), []string{
			"9: R: Properties.Queues: %", "9: R: Properties.EventSourceArn: must be the StreamArn of an AWS::DynamoDB::Table of this template, or the Arn of an AWS::SQS::Queue"}},
		"twice": {"  R: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: F}}\n" +
			"  S: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: !GetAtt F.Arn}}" + table, []string{
			"10: S: F reads the stream of local-T already, by the event source mapping R"}},
		"twice the alias": {"      AutoPublishAlias: live\n      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: LATEST}}\n" +
			"  U: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: F}}\n" + // another target
			"  R: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: !Ref F.Alias}}" + table, []string{
			"13: R: F:live reads the stream of local-T already, by the event source mapping FE"}},
		"same name": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: LATEST}}\n" +
			"  FE: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: F:live}}" + table, []string{
			"11: FE: the event source mapping has the name FE, as another one has"}},
		"reference": {raw("EventSourceArn: !GetAtt T.StreamArn, StartingPosition: LATEST, FunctionName: F") + "Outputs: {O: {Value: !Ref R}}", nil},
	})
}
