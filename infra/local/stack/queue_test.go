package stack_test

import (
	"testing"
	"time"

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
            BatchSize: 10000
            MaximumBatchingWindowInSeconds: 1
            FilterCriteria: {Filters: [{Pattern: '{"body":{"kind":["a"]}}'}]}
            FunctionResponseTypes: [ReportBatchItemFailures]
            ScalingConfig: {MaximumConcurrency: 1000}
            Enabled: false
            KmsKeyArn: x
            MetricsConfig: {Metrics: [EventCount]}
        Least: {Type: SQS, Properties: {Queue: !GetAtt Plain.Arn, ScalingConfig: !If [Never, {MaximumConcurrency: 1}, !Ref AWS::NoValue]}}
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !Sub '${AWS::StackName}-jobs'
      VisibilityTimeout: 43200
      DelaySeconds: 900
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
Conditions: {Never: !Equals [a, b]}
`

func TestQueues(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+queueReaders), stack.Options{QueueEndpoint: "http://127.0.0.1:4566/"})
	if err != nil {
		t.Fatal(err)
	}
	const arn, url = "arn:aws:sqs:us-east-1:000000000000:", "http://127.0.0.1:4566/000000000000/"
	want := []resources.Queue{
		{LogicalID: "Jobs", Name: "local-jobs", ARN: arn + "local-jobs", URL: url + "local-jobs", Attributes: map[string]string{
			"VisibilityTimeout": "43200", "DelaySeconds": "900", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "1209600",
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
	if diff := cmp.Diff(map[string]string{"JOBS": url + "local-jobs", "DEAD": "local-Dead"}, got.Functions[0].Env); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	mappings := []resources.EventSourceMapping{
		{
			Name: "FMost", Function: "F", Queue: "local-jobs", BatchSize: 10_000, BatchingWindow: time.Second,
			Filters: []string{`{"body":{"kind":["a"]}}`}, ReportBatchItemFailures: true, MaximumConcurrency: 1000,
		},
		{Name: "FLeast", Function: "F", Queue: "local-Plain", Enabled: true, BatchSize: 10},
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
		"delay":      one("DelaySeconds: 901", "DelaySeconds", `"901" must be a whole number between 0 and 900`),
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
		"same name": {"      QueueName: q\n  P: {Type: AWS::SQS::Queue, Properties: {QueueName: q}}", []string{"6: P: has the same name as Q: q"}},
	})
}

func TestQueueMappingErrors(t *testing.T) {
	t.Parallel()
	const queue = "  Q: {Type: AWS::SQS::Queue}\n"
	event := func(more string) string {
		return "      Events:\n        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, " + more + "}}\n" + queue
	}
	one := func(more, path, problem string) errorCase {
		return errorCase{event(more), []string{"10: F: Properties.Events.E.Properties." + path + ": " + problem}}
	}
	const (
		at = "10: F: Properties.Events.E"
	)
	run(t, header, map[string]errorCase{
		"nothing":     {"      Events:\n        E: {Type: SQS}", []string{at + ".Properties.Queue: is missing"}},
		"by url":      {"      Events:\n        E: {Type: SQS, Properties: {Queue: !Ref Q}}\n" + queue, []string{at + ".Properties.Queue: must be the Arn of an AWS::SQS::Queue of this template"}},
		"batch":       one("BatchSize: 10001, MaximumBatchingWindowInSeconds: 1", "BatchSize", `"10001" must be a whole number between 1 and 10000`),
		"no window":   one("BatchSize: 11", "BatchSize", "11 needs a MaximumBatchingWindowInSeconds of at least 1; without it the maximum is 10"),
		"long window": one("MaximumBatchingWindowInSeconds: 301", "MaximumBatchingWindowInSeconds", `"301" must be a whole number between 0 and 300`),
		"concurrency": one("ScalingConfig: {MaximumConcurrency: 1}", "ScalingConfig.MaximumConcurrency", `"1" must be a whole number between 2 and 1000`),
		"pollers":     one("ProvisionedPollerConfig: {MinimumPollers: 2}", "ProvisionedPollerConfig", "%"),
		"position":    one("StartingPosition: LATEST", "StartingPosition", "%"),
		"visibility":  {"      Timeout: 31\n      Events:\n        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}\n" + queue, []string{"11: F: Properties.Events.E: the VisibilityTimeout of local-Q is 30 s, less than the function's Timeout of 31 s: Lambda refuses this"}},
	})
}

func TestRebind(t *testing.T) {
	t.Parallel()
	const template = header + `      Environment: {Variables: {SHORT: !Ref Q, LONG: !Ref Q2, BOTH: !Sub '${Q2.Arn} ${Q.Arn}', SECRET: !Ref S}}
      Events: {E: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 day), Input: !Sub '{"queue":"${Q}"}'}}}
  Q: {Type: AWS::SQS::Queue}
  Q2: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt Q.Arn, maxReceiveCount: 2}}}
  S: {Type: AWS::SecretsManager::Secret}
`
	got, err := stack.Parse("t.yaml", []byte(template), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got.Rebind(map[string]string{
		got.Queues[0].URL: "http://other/queue/local-Q", got.Queues[0].ARN: "arn:aws:sqs:us-east-1:1:local-Q",
		got.Queues[1].URL: "http://other/queue/local-Q2", got.Queues[1].ARN: "arn:aws:sqs:us-east-1:1:local-Q2",
		got.Secrets[0].ARN: "arn:new",
	})
	env := map[string]string{
		"SHORT": "http://other/queue/local-Q", "LONG": "http://other/queue/local-Q2", "SECRET": "arn:new",
		"BOTH": "arn:aws:sqs:us-east-1:1:local-Q2 arn:aws:sqs:us-east-1:1:local-Q",
	}
	if diff := cmp.Diff(env, got.Functions[0].Env); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want := []resources.Queue{
		{LogicalID: "Q", Name: "local-Q", URL: env["SHORT"], ARN: "arn:aws:sqs:us-east-1:1:local-Q", Attributes: map[string]string{}},
		{LogicalID: "Q2", Name: "local-Q2", URL: env["LONG"], ARN: "arn:aws:sqs:us-east-1:1:local-Q2", Attributes: map[string]string{
			"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:1:local-Q","maxReceiveCount":2}`,
		}},
	}
	if diff := cmp.Diff(want, got.Queues); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if input := got.Schedules[0].Input; input != `{"queue":"http://other/queue/local-Q"}` {
		t.Error(input)
	}
	if got.Secrets[0].ARN != "arn:new" {
		t.Error(got.Secrets[0].ARN)
	}
}
