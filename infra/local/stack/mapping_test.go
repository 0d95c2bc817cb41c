package stack_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers/pattern"
)

// table has the tables T with a stream, N without one, and M whose stream has a false condition, and a queue. The
// mappings of readers read T.
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
            Enabled: false
            KmsKeyArn: x
            MetricsConfig: {Metrics: [EventCount]}
            DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Failed.Arn}}
  H:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: provided.al2023
      Handler: h
      CodeUri: h
      Events:
        Least: {Type: DynamoDB, Properties: {Stream: {'Fn::GetAtt': T.StreamArn}, StartingPosition: TRIM_HORIZON, MaximumRecordAgeInSeconds: -1, DestinationConfig: !If [No, {OnFailure: {Destination: x}}, !Ref AWS::NoValue]}}
  Role: {Type: AWS::IAM::Role, Properties: {Policies: [{PolicyName: p, PolicyDocument: {Statement: [{Resource: !GetAtt T.StreamArn}]}}]}}
  G: {Type: AWS::Serverless::Function, Properties: {FunctionName: given, Runtime: provided.al2023, Handler: h, CodeUri: g, AutoPublishAlias: live}}`
)

func TestEventSourceMappings(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+readers+table), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	least := resources.EventSourceMapping{
		Name: "HLeast", Function: "H", Table: "local-T", Enabled: true, StartingPosition: "TRIM_HORIZON", BatchSize: 100,
		ParallelizationFactor: 1, MaximumRetryAttempts: -1,
	}
	want := []resources.EventSourceMapping{{
		Name: "FMost", Function: "F", Table: "local-T", StartingPosition: "LATEST", BatchSize: 10_000, BatchingWindow: 5 * time.Minute,
		Filters: []string{`{"eventName":["INSERT"]}`, `{"eventName":["local"]}`}, ParallelizationFactor: 10, ReportBatchItemFailures: true,
		BisectOnError: true, MaximumRecordAge: time.Minute, OnFailureQueue: "local-Failed",
	}, least}
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
}

func TestEventSourceMappingErrors(t *testing.T) {
	t.Parallel()
	// event is a function's event on line 10. It reads T.
	event := func(more string) string {
		return "      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: LATEST, " + more + "}}" + table
	}
	one := func(more, path, problem string) errorCase {
		return errorCase{event(more), []string{"10: F: Properties.Events.E.Properties." + path + ": " + problem}}
	}
	broken := func(text string) string {
		_, err := pattern.Parse(text)
		return err.Error()
	}
	const at = "10: F: Properties.Events.E.Properties"
	run(t, header, map[string]errorCase{
		"nothing":           {"      Events:\n        E: {Type: DynamoDB}", []string{at + ".Stream: is missing", at + ".StartingPosition: is missing"}},
		"batch size":        one("BatchSize: 10001", "BatchSize", `"10001" must be a whole number between 1 and 10000`),
		"no batch":          one("BatchSize: 0", "BatchSize", `"0" must be a whole number between 1 and 10000`),
		"window":            one("MaximumBatchingWindowInSeconds: 301", "MaximumBatchingWindowInSeconds", `"301" must be a whole number between 0 and 300`),
		"parallelization":   one("ParallelizationFactor: 11", "ParallelizationFactor", `"11" must be a whole number between 1 and 10`),
		"retries":           one("MaximumRetryAttempts: -2", "MaximumRetryAttempts", `"-2" must be a whole number between -1 and 10000`),
		"no mapping":        {"      Events: {E: {Type: DynamoDB, Properties: text}}", []string{"9: F: Properties.Events.E.Properties: must be a mapping"}},
		"age":               one("MaximumRecordAgeInSeconds: 604801", "MaximumRecordAgeInSeconds", `"604801" must be a whole number between -1 and 604800`),
		"young":             one("MaximumRecordAgeInSeconds: 59", "MaximumRecordAgeInSeconds", "59 must be -1 or at least 60"),
		"response type":     one("FunctionResponseTypes: [All]", "FunctionResponseTypes", "must be [ReportBatchItemFailures]"),
		"tumbling window":   one("TumblingWindowInSeconds: 30", "TumblingWindowInSeconds", "%"),
		"bisect":            one("BisectBatchOnFunctionError: maybe", "BisectBatchOnFunctionError", `"maybe" must be true or false`),
		"foreign queue":     one("DestinationConfig: {OnFailure: {Destination: 'arn:aws:sqs:us-east-1:000000000000:q'}}", "DestinationConfig.OnFailure.Destination", "must be the Arn of an AWS::SQS::Queue of this template"),
		"no destination":    one("DestinationConfig: {OnFailure: {Type: SQS}}", "DestinationConfig.OnFailure.Destination", "is missing"),
		"on success":        one("DestinationConfig: {OnSuccess: {Destination: x}}", "DestinationConfig.OnSuccess", "%"),
		"of the other form": one("FunctionName: F", "FunctionName", "%"),
		"criteria":          one("FilterCriteria: {Patterns: []}", "FilterCriteria.Patterns", "%"),
		"no pattern":        one("FilterCriteria: {Filters: [{}]}", "FilterCriteria.Filters[0].Pattern", "is missing"),
		"pattern as YAML":   one("FilterCriteria: {Filters: [{Pattern: {eventName: [INSERT]}}]}", "FilterCriteria.Filters[0].Pattern", "must be a string"),
		"not JSON":          one("FilterCriteria: {Filters: [{Pattern: '{\"a\":[\"b\"]}'}, {Pattern: 'eventName = INSERT'}]}", "FilterCriteria.Filters[1].Pattern", broken("eventName = INSERT")),
		"no array":          one(`FilterCriteria: {Filters: [{Pattern: '{"eventName":"INSERT"}'}]}`, "FilterCriteria.Filters[0].Pattern", broken(`{"eventName":"INSERT"}`)),
		"position": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: AT_TIMESTAMP}}" + table, []string{
			at + `.StartingPosition: "AT_TIMESTAMP" is %: use TRIM_HORIZON or LATEST`}},
		"twice": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: LATEST}}\n" +
			"        D: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, StartingPosition: LATEST}}" + table, []string{
			"11: F: Properties.Events.D: F already reads local-T, with the event source mapping FE"}},
		"destination's type": {event("DestinationConfig: {OnFailure: {Type: SNS, Destination: !GetAtt Failed.Arn}}"), []string{
			at + `.DestinationConfig.OnFailure.Type: "SNS" is %: use SQS`}},
		"all at once": {event("BatchSize: x, Enabled: 1"), []string{
			at + `.Enabled: "1" must be true or false`, at + `.BatchSize: "x" must be a whole number between 1 and 10000`}},
		"not a stream": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.Arn, StartingPosition: LATEST}}" + table, []string{
			at + ".Stream: must be the StreamArn of an AWS::DynamoDB::Table of this template"}},
		"no stream": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt N.StreamArn, StartingPosition: LATEST}}" + table, []string{
			at + ".Stream: N has no StreamArn: the table has no StreamSpecification"}},
		"no stream now": {"      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt M.StreamArn, StartingPosition: LATEST}}" + table, []string{
			at + ".Stream: M has no StreamArn: the table has no StreamSpecification"}},
		"in an environment": {"      Environment: {Variables: {STREAM: !GetAtt T.StreamArn}}" + table, []string{
			"9: F: Properties.Environment.Variables.STREAM: attribute StreamArn of T (AWS::DynamoDB::Table) is %, except as an event source: it ends with the time at which the stream began"}},
	})
}
