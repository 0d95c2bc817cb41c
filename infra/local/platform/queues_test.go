package platform

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// patience limits the wait for a result that comes at once on an idle machine.
const patience = time.Minute

// queued is a template without an API, whose function is called by a queue and the clock.
const queued = `Transform: AWS::Serverless-2016-10-31
Resources:
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: reader
      Handler: bootstrap
      Runtime: provided.al2023
      Timeout: 30
      Environment: {Variables: {TEST_URL: '%s', JOBS: !Ref Jobs}}
      Events:
        Jobs:
          Type: SQS
          Properties:
            Queue: !GetAtt Jobs.Arn
            BatchSize: 1
            FunctionResponseTypes: [ReportBatchItemFailures]
            ScalingConfig: {MaximumConcurrency: 5}
        Clock: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 day), RetryPolicy: {MaximumRetryAttempts: 0}, Input: '{"tick":true}'}}
        Off: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), RetryPolicy: {MaximumRetryAttempts: 0}, State: DISABLED}}
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 1}
  Dead: {Type: AWS::SQS::Queue}
`

// called is an event of the function. Its invocation ends when the test sends a status.
type called struct {
	event struct {
		Tick    bool
		Records []struct {
			EventSource, Body, ReceiptHandle string
		}
	}
	status chan int
}

// queuedPlatform is a platform with the template above, and the calls of its function.
type queuedPlatform struct {
	*Platform
	config Config
	calls  chan called
	log    *bytes.Buffer
	queues *sqs.Client
}

func newQueued(t *testing.T) *queuedPlatform {
	t.Helper()
	p := &queuedPlatform{calls: make(chan called), log: &bytes.Buffer{}}
	ended := make(chan struct{})
	p.config = projectOf(t, queued, func(w http.ResponseWriter, r *http.Request) {
		call := called{status: make(chan int, 1)}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &call.event)
		}
		if err != nil {
			t.Errorf("%v in %s", err, body)
		}
		select {
		case p.calls <- call:
		case <-ended:
			return
		}
		select {
		case status := <-call.status:
			w.WriteHeader(status)
		case <-ended:
		}
	})
	t.Cleanup(func() { close(ended) })
	p.config.Logger = slog.New(slog.NewTextHandler(p.log, nil))
	return p
}

func (p *queuedPlatform) start(t *testing.T) {
	t.Helper()
	var err error
	if p.Platform, err = open(t.Context(), p.config); err != nil {
		t.Fatal(err)
	}
	p.queues = sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(p.endpoint()), Credentials: local,
	})
}

// next waits for the function's next call.
func (p *queuedPlatform) next(t *testing.T) called {
	t.Helper()
	select {
	case call := <-p.calls:
		return call
	case <-time.After(patience):
		t.Fatalf("the function was not called\n%s", p.log)
		return called{}
	}
}

// send sends a message to the queue's URL in the function's environment.
func (p *queuedPlatform) send(t *testing.T, body string) {
	t.Helper()
	url := p.Stack.Functions[0].Env["JOBS"]
	if _, err := p.queues.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body}); err != nil {
		t.Fatal(err)
	}
}

// wantJob waits for a call with a message of the queue.
func (p *queuedPlatform) wantJob(t *testing.T, body string) called {
	t.Helper()
	call := p.next(t)
	if records := call.event.Records; len(records) != 1 || records[0].EventSource != "aws:sqs" || records[0].Body != body {
		t.Fatalf("%+v, want the message %s", call.event, body)
	}
	return call
}

func (p *queuedPlatform) url(t *testing.T, name string) *string {
	t.Helper()
	out, err := p.queues.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	return out.QueueUrl
}

// wantMessage waits for a message in a queue without a reader. The message stays in the queue.
func (p *queuedPlatform) wantMessage(t *testing.T, queue, part string) {
	t.Helper()
	out, err := p.queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: p.url(t, queue), WaitTimeSeconds: 10, VisibilityTimeout: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Messages) != 1 || !strings.Contains(*out.Messages[0].Body, part) {
		t.Fatalf("%s has %+v, want one message with %s\n%s", queue, out.Messages, part, p.log)
	}
}

// A queue and a schedule call a function. What it fails to process is in the dead-letter queue, also after a restart.
func TestQueuesAndSchedules(t *testing.T) {
	t.Parallel()
	p := newQueued(t)
	p.start(t)
	p.schedules.Start()
	tick := p.next(t) // the schedule fires at its start
	if !tick.event.Tick {
		t.Errorf("%+v, want the schedule's Input", tick.event)
	}
	tick.status <- http.StatusOK

	p.triggers.Start()
	p.send(t, "work")
	p.wantJob(t, "work").status <- http.StatusOK
	p.send(t, "poison")
	job := p.wantJob(t, "poison") // and not the first again
	_, err := p.queues.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: p.url(t, "local-Jobs"), ReceiptHandle: &job.event.Records[0].ReceiptHandle, VisibilityTimeout: 0,
	})
	if err != nil {
		t.Fatal(err)
	}
	job.status <- http.StatusInternalServerError
	p.wantMessage(t, "local-Dead", "poison")

	if err := p.Close(); err != nil {
		t.Error(err)
	}

	if want := "provisioned: queues local-Dead, local-Jobs"; !strings.Contains(p.log.String(), want) {
		t.Errorf("%s\nwant %s", p.log, want)
	}
	p.start(t) // the failures are still there
	p.wantMessage(t, "local-Dead", "poison")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
