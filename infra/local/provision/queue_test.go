package provision_test

import (
	"bytes"
	"strings"
	"testing"

	queueclient "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/provision"
)

const queues = `Transform: AWS::Serverless-2016-10-31
Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3}
  Dead:
    Type: AWS::SQS::Queue
    Properties:
      MessageRetentionPeriod: 1209600
  Function:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: f
      Handler: h
      Runtime: provided.al2023
      Environment: {Variables: {JOBS: !Ref Jobs, DEAD: !GetAtt Dead.Arn}}
`

// attributes returns the attributes of a queue that differ from SQS's defaults.
func (s *services) attributes(t *testing.T, name string) map[string]string {
	t.Helper()
	url, err := s.queues.GetQueueUrl(t.Context(), &queueclient.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.queues.GetQueueAttributes(t.Context(), &queueclient.GetQueueAttributesInput{
		QueueUrl: url.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	for attribute, usual := range map[string]string{
		"VisibilityTimeout": "30", "DelaySeconds": "0", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
		"ReceiveMessageWaitTimeSeconds": "0", "SqsManagedSseEnabled": "true", "ApproximateNumberOfMessages": "0",
		"ApproximateNumberOfMessagesNotVisible": "0", "ApproximateNumberOfMessagesDelayed": "0",
	} {
		if out.Attributes[attribute] == usual {
			delete(out.Attributes, attribute)
		}
	}
	for _, own := range []string{"CreatedTimestamp", "LastModifiedTimestamp", "QueueArn"} {
		delete(out.Attributes, own)
	}
	return out.Attributes
}

// The queues of the template above.
var (
	jobsMade = map[string]string{
		"VisibilityTimeout": "60", "RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:local-Dead","maxReceiveCount":3}`,
	}
	deadMade = map[string]string{"MessageRetentionPeriod": "1209600"}
)

func TestCreatesQueues(t *testing.T) {
	t.Parallel()
	s := start(t)
	made, loaded := s.apply(t, queues)
	equal(t, made, "queues local-Dead, local-Jobs")
	equal(t, s.attributes(t, "local-Jobs"), jobsMade)
	equal(t, s.attributes(t, "local-Dead"), deadMade)
	equal(t, loaded.Functions[0].Env, map[string]string{
		"JOBS": s.url + "/000000000000/local-Jobs", "DEAD": "arn:aws:sqs:us-east-1:000000000000:local-Dead",
	})

	s.counted()
	made, loaded = s.apply(t, queues)
	equal(t, made, "everything is there")
	equal(t, s.counted(), map[string]int{"GetQueueUrl": 2, "SetQueueAttributes": 2})
	equal(t, loaded.Functions[0].Env["JOBS"], s.url+"/000000000000/local-Jobs")
}

func TestSetsChangedAttributes(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, queues)
	change := func(old, replacement string) string {
		t.Helper()
		changed := strings.Replace(queues, old, replacement, 1)
		if changed == queues {
			t.Fatal("nothing replaced")
		}
		return changed
	}
	s.apply(t, change("maxReceiveCount: 3", "maxReceiveCount: 4"))
	if got := s.attributes(t, "local-Jobs")["RedrivePolicy"]; !strings.Contains(got, `"maxReceiveCount":4`) {
		t.Errorf("the policy is %s", got)
	}
	s.apply(t, change("VisibilityTimeout: 60\n", "ReceiveMessageWaitTimeSeconds: 7\n")) // an attribute that is left out gets its default
	equal(t, s.attributes(t, "local-Jobs"), map[string]string{"ReceiveMessageWaitTimeSeconds": "7", "RedrivePolicy": jobsMade["RedrivePolicy"]})
	s.apply(t, change("      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3}\n", ""))
	equal(t, s.attributes(t, "local-Jobs"), map[string]string{"VisibilityTimeout": "60"})
}

func TestQueueOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	rename := func(_ string, _ int, _ *int, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte("/000000000000/"), []byte("/111122223333/"))
	}
	s.during(rename, func() {
		_, err := provision.Apply(t.Context(), load(t, s, queues), provision.Options{Endpoint: s.url})
		if err == nil || !strings.Contains(err.Error(), "the endpoint must be a local platform") {
			t.Errorf("%v", err)
		}
	})
}
