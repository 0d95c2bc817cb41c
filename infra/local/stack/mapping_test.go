package stack_test

import (
	"strings"
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
	// constant are the properties that have one supported value, or must be there.
	constant = `StartingPosition: TRIM_HORIZON, FunctionResponseTypes: [ReportBatchItemFailures], BisectBatchOnFunctionError: true, ` +
		`MaximumRecordAgeInSeconds: 3600, DestinationConfig: {OnFailure: {Destination: !GetAtt Failed.Arn}}`
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
            StartingPosition: TRIM_HORIZON
            BatchSize: 10000
            MaximumBatchingWindowInSeconds: 300
            FilterCriteria: {Filters: [{Pattern: '{"eventName":["INSERT"]}'}, {Pattern: !Sub '{"eventName":["${AWS::StackName}"]}'}]}
            ParallelizationFactor: 10
            FunctionResponseTypes: [ReportBatchItemFailures]
            BisectBatchOnFunctionError: true
            MaximumRecordAgeInSeconds: 60
            DestinationConfig: {OnFailure: {Destination: !GetAtt Failed.Arn}}
  H:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: provided.al2023
      Handler: h
      CodeUri: h
      Events:
        Least: {Type: DynamoDB, Properties: {Stream: {'Fn::GetAtt': T.StreamArn}, ` + constant + `, FilterCriteria: !If [No, {Filters: x}, !Ref AWS::NoValue]}}
  Role: {Type: AWS::IAM::Role, Properties: {Policies: [{PolicyName: p, PolicyDocument: {Statement: [{Resource: !GetAtt T.StreamArn}]}}]}}
  G: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2023, Handler: h, CodeUri: g, AutoPublishAlias: live}}`
)

func TestEventSourceMappings(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+readers+table), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []resources.EventSourceMapping{
		{
			Name: "FMost", Function: "F", Table: "local-T", BatchSize: 10_000, BatchingWindow: 5 * time.Minute,
			Filters: []string{`{"eventName":["INSERT"]}`, `{"eventName":["local"]}`}, ParallelizationFactor: 10,
			MaximumRecordAge: time.Minute, OnFailureQueue: "local-Failed",
		},
		{
			Name: "HLeast", Function: "H", Table: "local-T", BatchSize: 100, ParallelizationFactor: 1, MaximumRecordAge: time.Hour,
			OnFailureQueue: "local-Failed",
		},
	}
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
	const at = "10: F: Properties.Events.E.Properties"
	// event is a function's event on line 10. It reads a stream.
	event := func(stream, properties string) string {
		return "      Events:\n        E: {Type: DynamoDB, Properties: {Stream: !GetAtt " + stream + ", " + properties + "}}" + table
	}
	one := func(more, path, problem string) errorCase {
		return errorCase{event("T.StreamArn", constant+", "+more), []string{at + "." + path + ": " + problem}}
	}
	instead := func(old, replacement, path, problem string) errorCase {
		return errorCase{event("T.StreamArn", strings.Replace(constant, old, replacement, 1)), []string{at + "." + path + ": " + problem}}
	}
	broken := func(text string) string {
		_, err := pattern.Parse(text)
		return err.Error()
	}
	run(t, header, map[string]errorCase{
		"nothing": {"      Events:\n        E: {Type: DynamoDB}", []string{
			at + ".Stream: is missing", at + ".StartingPosition: is missing", at + ".FunctionResponseTypes: is missing",
			at + ".BisectBatchOnFunctionError: is missing", at + ".MaximumRecordAgeInSeconds: is missing",
			at + ".DestinationConfig.OnFailure.Destination: is missing"}},
		"batch size":        one("BatchSize: 10001", "BatchSize", `"10001" must be a whole number between 1 and 10000`),
		"window":            one("MaximumBatchingWindowInSeconds: 301", "MaximumBatchingWindowInSeconds", `"301" must be a whole number between 0 and 300`),
		"parallelization":   one("ParallelizationFactor: 11", "ParallelizationFactor", `"11" must be a whole number between 1 and 10`),
		"no mapping":        {"      Events: {E: {Type: DynamoDB, Properties: text}}", []string{"9: F: Properties.Events.E.Properties: must be a mapping"}},
		"young":             instead("3600", "59", "MaximumRecordAgeInSeconds", `"59" must be a whole number between 60 and 604800`),
		"response type":     instead("[ReportBatchItemFailures]", "[All]", "FunctionResponseTypes[0]", `"All" is %: use ReportBatchItemFailures`),
		"bisect":            instead("BisectBatchOnFunctionError: true", "BisectBatchOnFunctionError: false", "BisectBatchOnFunctionError", `"false" is %: use true`),
		"position":          instead("TRIM_HORIZON", "LATEST", "StartingPosition", `"LATEST" is %: use TRIM_HORIZON`),
		"retries":           one("MaximumRetryAttempts: 2", "MaximumRetryAttempts", "%"),
		"tumbling window":   one("TumblingWindowInSeconds: 30", "TumblingWindowInSeconds", "%"),
		"foreign queue":     instead("!GetAtt Failed.Arn", "'arn:aws:sqs:us-east-1:000000000000:q'", "DestinationConfig.OnFailure.Destination", "must be the Arn of an AWS::SQS::Queue of this template"),
		"on success":        instead("OnFailure: {", "OnSuccess: {}, OnFailure: {", "DestinationConfig.OnSuccess", "%"),
		"of the other form": one("FunctionName: F", "FunctionName", "%"),
		"criteria":          one("FilterCriteria: {Patterns: []}", "FilterCriteria.Patterns", "%"),
		"no pattern":        one("FilterCriteria: {Filters: [{}]}", "FilterCriteria.Filters[0].Pattern", "is missing"),
		"pattern as YAML":   one("FilterCriteria: {Filters: [{Pattern: {eventName: [INSERT]}}]}", "FilterCriteria.Filters[0].Pattern", "must be a string"),
		"not JSON":          one("FilterCriteria: {Filters: [{Pattern: '{\"a\":[\"b\"]}'}, {Pattern: 'eventName = INSERT'}]}", "FilterCriteria.Filters[1].Pattern", broken("eventName = INSERT")),
		"not a stream":      {event("T.Arn", constant), []string{at + ".Stream: must be the StreamArn of an AWS::DynamoDB::Table of this template"}},
		"no stream":         {event("N.StreamArn", constant), []string{at + ".Stream: N has no StreamArn: the table has no StreamSpecification"}},
		"no stream now":     {event("M.StreamArn", constant), []string{at + ".Stream: M has no StreamArn: the table has no StreamSpecification"}},
		"in an environment": {"      Environment: {Variables: {STREAM: !GetAtt T.StreamArn}}" + table, []string{
			"9: F: Properties.Environment.Variables.STREAM: attribute StreamArn of T (AWS::DynamoDB::Table) is %, except as an event source: it ends with the time at which the stream began"}},
	})
}
