package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"devplatform/infra/local/platform"
	"devplatform/infra/local/stack"
)

// TestStopWhileStarting interrupts a platform before it is ready. That is not an error.
func TestStopWhileStarting(t *testing.T) {
	t.Setenv("DATA_DIR", t.TempDir())
	t.Setenv("PORT", "0")
	t.Setenv("AWS_PORT", "0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if err := serve(ctx, []string{"-template", "../../template.yaml"}, &stdout, &stderr); err != nil || stdout.Len() > 0 {
		t.Errorf("got the error %v and the output %s, want none", err, &stdout)
	}
}

// shop is a template with everything that the banner shows.
const shop = `Transform: AWS::Serverless-2016-10-31
Globals: {Function: {CodeUri: f, Handler: bootstrap, Runtime: provided.al2023}}
Resources:
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
  Pages: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
  Domain: {Type: AWS::ApiGateway::DomainName, Properties: {DomainName: '*.example.app'}}
  Mapping: {Type: AWS::ApiGateway::BasePathMapping, Properties: {DomainName: !Ref Domain, RestApiId: !Ref Pages, Stage: !Ref Pages.Stage}}
  Jobs: {Type: AWS::SQS::Queue}
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      StreamSpecification: {StreamViewType: KEYS_ONLY}
  Server: {Type: AWS::Serverless::Function, Properties: {Events: {Site: {Type: Api, Properties: {RestApiId: !Ref Pages, Path: /, Method: any}}}}}
  Docs: {Type: AWS::Serverless::Function, Properties: {Environment: {Variables: {LOGIN: http://localhost:4566/codehost/login}}, Events: {Page: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /api/docs, Method: get}}}}}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, FunctionResponseTypes: [ReportBatchItemFailures], ScalingConfig: {MaximumConcurrency: 2}}}
        Table: {Type: DynamoDB, Properties: {Stream: !GetAtt Table.StreamArn, StartingPosition: TRIM_HORIZON, FunctionResponseTypes: [ReportBatchItemFailures], BisectBatchOnFunctionError: true, MaximumRecordAgeInSeconds: 60, DestinationConfig: {OnFailure: {Destination: !GetAtt Jobs.Arn}}}}
        Clock: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 day), RetryPolicy: {MaximumRetryAttempts: 0}, State: DISABLED}}
`

// The banner shows what invokes functions, and the addresses. The ready line is the last one.
func TestBanner(t *testing.T) {
	t.Parallel()
	loaded, err := stack.Parse("template.yaml", []byte(shop), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &platform.Platform{Stack: loaded, Addresses: platform.Addresses{
		URL: "http://localhost:3000", HTTPS: "https://localhost:3443", Sites: "http://localhost:3001",
		AWS: "http://127.0.0.1:4566", Console: "http://localhost:3002", CodeHost: "http://localhost:4566/codehost",
	}}
	var out bytes.Buffer
	if err := banner(&out, p, "a hint\n\n"); err != nil {
		t.Fatal(err)
	}
	const want = `GET       /api/docs                       Docs
ANY       http://<label>.localhost:3001/  Server
queue     local-Jobs                      Worker
stream    local-Table                     Worker
schedule  rate(1 day)                     Worker (disabled)

data       DIR
AWS        http://127.0.0.1:4566  (Lambda, DynamoDB and its streams, SQS, S3, Secrets Manager, SES)
https      https://localhost:3443  (self-signed)
sites      http://<label>.localhost:3001
code host  http://localhost:4566/codehost/
console    http://localhost:3002  (the mailbox)

a hint

ready: http://localhost:3000
`
	if got := strings.Replace(out.String(), "data       \n", "data       DIR\n", 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	delete(loaded.Functions[1].Env, "LOGIN")
	out.Reset()
	if err := banner(&out, p, ""); err != nil || strings.Contains(out.String(), "code host") {
		t.Errorf("without a function that uses the code host: got %s, error %v", &out, err)
	}
	p.Addresses = platform.Addresses{AWS: "http://127.0.0.1:4566"}
	out.Reset()
	if err := banner(&out, p, ""); err != nil || !strings.HasSuffix(out.String(), "\nready: http://127.0.0.1:4566\n") {
		t.Errorf("without an API: got %s, error %v", &out, err)
	}
}
