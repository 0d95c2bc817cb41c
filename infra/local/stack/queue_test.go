package stack_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
)

// queueReaders has queues, and events that read them, with all properties and with the required ones.
const queueReaders = `
      Timeout: 30
      AutoPublishAlias: live
      Environment: {Variables: {JOBS: !Ref Jobs, DEAD: !GetAtt Dead.QueueName}}
      Events:
        Most:
          Type: SQS
          Properties:
            Queue: !GetAtt Jobs.Arn
            BatchSize: 7
            FunctionResponseTypes: [ReportBatchItemFailures]
            ScalingConfig: {MaximumConcurrency: 1000}
        Least: {Type: SQS, Properties: {Queue: !GetAtt Plain.Arn, FunctionResponseTypes: [ReportBatchItemFailures], ScalingConfig: {MaximumConcurrency: 2}}}
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 43200
      MaximumMessageSize: 1048576
      MessageRetentionPeriod: 1209600
      ReceiveMessageWaitTimeSeconds: 20
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 1000}
      SqsManagedSseEnabled: true
      Tags: [{Key: a, Value: b}]
  Dead:
    Type: AWS::SQS::Queue
  Plain:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {maxReceiveCount: '3', deadLetterTargetArn: !GetAtt Dead.Arn}
      RedriveAllowPolicy: {redrivePermission: denyAll}
  Policy: {Type: AWS::SQS::QueuePolicy, Properties: {Queues: [!Ref Jobs], PolicyDocument: {Statement: []}}}
`

func TestQueues(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+queueReaders), stack.Options{QueueEndpoint: "http://127.0.0.1:4566/"})
	if err != nil {
		t.Fatal(err)
	}
	const arn, url = "arn:aws:sqs:us-east-1:000000000000:", "http://127.0.0.1:4566/000000000000/"
	want := []resources.Queue{
		{LogicalID: "Jobs", Name: "local-Jobs", ARN: arn + "local-Jobs", URL: url + "local-Jobs", Attributes: map[string]string{
			"VisibilityTimeout": "43200", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "1209600",
			"ReceiveMessageWaitTimeSeconds": "20",
			"RedrivePolicy":                 `{"deadLetterTargetArn":"` + arn + `local-Dead","maxReceiveCount":1000}`,
		}},
		{LogicalID: "Dead", Name: "local-Dead", ARN: arn + "local-Dead", URL: url + "local-Dead", Attributes: map[string]string{}},
		{LogicalID: "Plain", Name: "local-Plain", ARN: arn + "local-Plain", URL: url + "local-Plain", Attributes: map[string]string{
			"RedrivePolicy": `{"deadLetterTargetArn":"` + arn + `local-Dead","maxReceiveCount":3}`,
		}},
	}
	if diff := cmp.Diff(want, got.Queues); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"JOBS": url + "local-Jobs", "DEAD": "local-Dead"}, got.Functions[0].Env); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	mappings := []resources.EventSourceMapping{
		{
			Name: "FMost", Function: "F", Queue: "local-Jobs", BatchSize: 7, MaximumConcurrency: 1000,
		},
		{Name: "FLeast", Function: "F", Queue: "local-Plain", BatchSize: 10, MaximumConcurrency: 2},
	}
	if diff := cmp.Diff(mappings, got.EventSourceMappings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestQueueErrors(t *testing.T) {
	t.Parallel()
	one := func(property, path, problem string) errorCase {
		return errorCase{"      " + property, []string{"5: Q: Properties." + path + ": " + problem}}
	}
	const dead = "\n  D: {Type: AWS::SQS::Queue}"
	run(t, "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n", map[string]errorCase{
		"visibility": one("VisibilityTimeout: 43201", "VisibilityTimeout", `"43201" must be a whole number between 0 and 43200`),
		"delay":      one("DelaySeconds: 1", "DelaySeconds", "%"),
		"size":       one("MaximumMessageSize: 1023", "MaximumMessageSize", `"1023" must be a whole number between 1024 and 1048576`),
		"retention":  one("MessageRetentionPeriod: 59", "MessageRetentionPeriod", `"59" must be a whole number between 60 and 1209600`),
		"wait":       one("ReceiveMessageWaitTimeSeconds: 21", "ReceiveMessageWaitTimeSeconds", `"21" must be a whole number between 0 and 20`),
		"unknown":    one("Policy: {}", "Policy", "%"),
		"fifo":       one("FifoQueue: true", "FifoQueue", "%"),
		"foreign":    one("RedrivePolicy: {deadLetterTargetArn: 'arn:aws:sqs:us-east-1:1:d', maxReceiveCount: 1}", "RedrivePolicy.deadLetterTargetArn", "must be the Arn of an AWS::SQS::Queue of this template"),
		"no policy":  one("RedrivePolicy: '[]'", "RedrivePolicy", "must be a mapping"),
		"empty policy": {"      RedrivePolicy: {}", []string{
			"5: Q: Properties.RedrivePolicy.deadLetterTargetArn: is missing", "5: Q: Properties.RedrivePolicy.maxReceiveCount: is missing"}},
		"receives": {"      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 1001}" + dead, []string{
			`5: Q: Properties.RedrivePolicy.maxReceiveCount: "1001" must be a whole number between 1 and 1000`}},
		"name": one("QueueName: q", "QueueName", "%"),
	})
}

func TestQueueEventErrors(t *testing.T) {
	t.Parallel()
	const (
		at       = "10: F: Properties.Events.E"
		queue    = "  Q: {Type: AWS::SQS::Queue}"
		required = "FunctionResponseTypes: [ReportBatchItemFailures], ScalingConfig: {MaximumConcurrency: 2}"
	)
	one := func(properties, path, problem string) errorCase {
		return errorCase{"      Events:\n        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, " + properties + "}}\n" + queue,
			[]string{at + ".Properties." + path + ": " + problem}}
	}
	run(t, header, map[string]errorCase{
		"nothing": {"      Events:\n        E: {Type: SQS}", []string{
			at + ".Properties.Queue: is missing", at + ".Properties.FunctionResponseTypes: is missing",
			at + ".Properties.ScalingConfig.MaximumConcurrency: is missing"}},
		"by url":      {"      Events:\n        E: {Type: SQS, Properties: {Queue: !Ref Q, " + required + "}}\n" + queue, []string{at + ".Properties.Queue: must be the Arn of an AWS::SQS::Queue of this template"}},
		"batch":       one("BatchSize: 11, "+required, "BatchSize", `"11" must be a whole number between 1 and 10`),
		"window":      one("MaximumBatchingWindowInSeconds: 1, "+required, "MaximumBatchingWindowInSeconds", "%"),
		"filter":      one("FilterCriteria: {}, "+required, "FilterCriteria", "%"),
		"responses":   one("FunctionResponseTypes: [], ScalingConfig: {MaximumConcurrency: 2}", "FunctionResponseTypes", "must have at least one element"),
		"concurrency": one("FunctionResponseTypes: [ReportBatchItemFailures], ScalingConfig: {MaximumConcurrency: 1}", "ScalingConfig.MaximumConcurrency", `"1" must be a whole number between 2 and 1000`),
		"visibility":  {"      Timeout: 31\n      Events:\n        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, " + required + "}}\n" + queue, []string{"11: F: Properties.Events.E: the VisibilityTimeout of local-Q is 30 s, less than the function's Timeout of 31 s: Lambda refuses this"}},
	})
}
