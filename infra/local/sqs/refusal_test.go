package sqs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	wrongValue = "400 com.amazon.coral.service#InvalidParameterValueException | InvalidParameterValue;Sender | "
	wrongName  = "400 com.amazonaws.sqs#InvalidAttributeName | InvalidAttributeName;Sender | Unknown Attribute "
	wrongAttr  = "400 com.amazonaws.sqs#InvalidAttributeValue | InvalidAttributeValue;Sender | Invalid value for the parameter "
	absent     = "400 com.amazon.coral.service#MissingRequiredParameterException | MissingParameter;Sender | The request must contain the parameter "
	noQueue    = "400 com.amazonaws.sqs#QueueDoesNotExist | AWS.SimpleQueueService.NonExistentQueue;Sender | The specified queue does not exist."
	noHandle   = "404 com.amazonaws.sqs#ReceiptHandleIsInvalid | ReceiptHandleIsInvalid;Sender | The input receipt handle is invalid."
	refusedOp  = "400 com.amazonaws.sqs#UnsupportedOperation | AWS.SimpleQueueService.UnsupportedOperation;Sender | "
	badJSON    = "400 com.amazon.coral.service#SerializationException | MalformedInput;Sender | "
	notThere   = "404 com.amazonaws.sqs#ResourceNotFoundException | ResourceNotFoundException;Sender | "
)

// batchOf is n entries of a batch, with more members.
func batchOf(n int, more string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"Id":"e%d"%s}`, i, more)
	}
	return `"Entries":[` + strings.Join(entries, ",") + `]`
}

// What is refused, in AWS's types, statuses and words.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	must(t, s, "CreateQueue", `{"QueueName":"q"}`)
	must(t, s, "CreateQueue", `{"QueueName":"denies","Attributes":{"RedriveAllowPolicy":"{\"redrivePermission\":\"denyAll\"}"}}`)
	must(t, s, "CreateQueue", `{"QueueName":"dlq"}`)
	must(t, s, "CreateQueue", `{"QueueName":"gives","Attributes":{"RedrivePolicy":"`+strings.ReplaceAll(redriveTo("dlq", 1), `"`, `\"`)+`"}}`)
	const nameRule = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
	set := func(name, value string) string {
		return `{URL(q),"Attributes":{"` + name + `":"` + strings.ReplaceAll(value, `"`, `\"`) + `"}}`
	}
	send := func(more string) string { return `{URL(q),"MessageBody":"x"` + more + `}` }
	withAttribute := func(name, value string) string { return send(`,"MessageAttributes":{"` + name + `":` + value + `}`) }
	redrive := func(value string) string {
		return wrongValue + "Value " + value + " for parameter RedrivePolicy is invalid. Reason: "
	}
	tests := []struct{ operation, body, want string }{
		{"CreateQueue", `{}`, wrongValue + "Value for parameter QueueName is invalid. Reason: Must specify a queue name."},
		{"CreateQueue", `{"QueueName":"a b"}`, wrongValue + nameRule},
		{"CreateQueue", `{"QueueName":"` + strings.Repeat("a", 81) + `"}`, wrongValue + nameRule},
		{"CreateQueue", `{"QueueName":"a.fifo"}`, wrongValue + nameRule},
		{"CreateQueue", `{"QueueName":"a.fifo","Attributes":{"FifoQueue":"true"}}`, refusedOp + "FIFO queues are not supported by the embedded SQS"},
		{"CreateQueue", `{"QueueName":"a","Attributes":{"FifoQueue":"false"}}`, wrongName + "FifoQueue."},
		{"CreateQueue", `{"QueueName":"a","Attributes":{"Colour":"red"}}`, wrongName + "Colour."},
		{"CreateQueue", `{"QueueName":"q","Attributes":{"DelaySeconds":"1"}}`, "400 com.amazonaws.sqs#QueueNameExists | QueueAlreadyExists;Sender | A queue already exists with the same name and a different value for attribute DelaySeconds"},
		{"CreateQueue", `{"QueueName":"a","Colour":"red"}`, refusedOp + "The parameter Colour is not supported by the embedded SQS"},
		{"CreateQueue", `{"QueueName":5}`, badJSON + "number cannot be converted to String (QueueName)"},
		{"CreateQueue", `{"QueueName":`, badJSON + "Unexpected end of input"},
		{"CreateQueue", `[]`, badJSON + "array cannot be converted to Structure ()"},
		{"GetQueueUrl", `{"QueueName":"none"}`, noQueue},
		{"GetQueueUrl", `{"QueueName":"q","QueueOwnerAWSAccountId":"111111111111"}`, noQueue},
		{"GetQueueUrl", `{}`, wrongValue + "Value for parameter QueueName is invalid. Reason: Must specify a queue name."},
		{"DeleteQueue", `{URL(none)}`, noQueue},
		{"DeleteQueue", `{}`, noQueue},
		{"PurgeQueue", `{URL(none)}`, noQueue},
		{"ListQueues", `{"MaxResults":1001}`, wrongValue + "Value 1001 for parameter MaxResults is invalid. Reason: Must be between 1 and 1000, if provided."},
		{"ListQueues", `{"NextToken":"%"}`, wrongValue + "Invalid or expired next token."},
		{"GetQueueAttributes", `{URL(q),"AttributeNames":["Colour"]}`, wrongName + "Colour."},
		{"SetQueueAttributes", set("VisibilityTimeout", "43201"), wrongAttr + "VisibilityTimeout."},
		{"SetQueueAttributes", set("VisibilityTimeout", "-1"), wrongAttr + "VisibilityTimeout."},
		{"SetQueueAttributes", set("VisibilityTimeout", "soon"), wrongAttr + "VisibilityTimeout."},
		{"SetQueueAttributes", set("MaximumMessageSize", "1023"), wrongAttr + "MaximumMessageSize."},
		{"SetQueueAttributes", set("MaximumMessageSize", "1048577"), wrongAttr + "MaximumMessageSize."},
		{"SetQueueAttributes", set("MessageRetentionPeriod", "59"), wrongAttr + "MessageRetentionPeriod."},
		{"SetQueueAttributes", set("MessageRetentionPeriod", "1209601"), wrongAttr + "MessageRetentionPeriod."},
		{"SetQueueAttributes", set("DelaySeconds", "901"), wrongAttr + "DelaySeconds."},
		{"SetQueueAttributes", set("ReceiveMessageWaitTimeSeconds", "21"), wrongAttr + "ReceiveMessageWaitTimeSeconds."},
		{"SetQueueAttributes", set("KmsDataKeyReusePeriodSeconds", "59"), wrongAttr + "KmsDataKeyReusePeriodSeconds."},
		{"SetQueueAttributes", set("SqsManagedSseEnabled", "perhaps"), wrongAttr + "SqsManagedSseEnabled."},
		{"SetQueueAttributes", set("Policy", "no JSON"), wrongAttr + "Policy."},
		{"SetQueueAttributes", set("Policy", "null"), wrongAttr + "Policy."},
		{"SetQueueAttributes", set("QueueArn", "x"), wrongName + "QueueArn."},
		{"SetQueueAttributes", set("FifoQueue", "true"), wrongName + "FifoQueue."},
		{"SetQueueAttributes", `{URL(q)}`, absent + "Attributes."},
		{"SetQueueAttributes", `{URL(q),"Attributes":{"KmsMasterKeyId":"k","SqsManagedSseEnabled":"true"}}`, "400 com.amazonaws.sqs#InvalidAttributeName | InvalidAttributeName;Sender | You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE."},
		{"SetQueueAttributes", set("RedrivePolicy", `{"deadLetterTargetArn": "dummy", "maxReceiveCount": 42}`), redrive(`{"deadLetterTargetArn": "dummy", "maxReceiveCount": 42}`) + "Invalid value for deadLetterTargetArn."},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("none", 1)), redrive(redriveTo("none", 1)) + "Dead letter target does not exist."},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("dlq", 0)), redrive(redriveTo("dlq", 0)) + "Invalid value for maxReceiveCount: 0, valid values are from 1 to 1000 both inclusive."},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("dlq", 1001)), redrive(redriveTo("dlq", 1001)) + "Invalid value for maxReceiveCount: 1001, valid values are from 1 to 1000 both inclusive."},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("denies", 1)), redrive(redriveTo("denies", 1)) + "Dead letter target does not allow this queue to use it: see its RedriveAllowPolicy."},
		{"SetQueueAttributes", set("RedrivePolicy", "x"), redrive("x") + "Redrive policy is not a valid JSON map."},
		{"SetQueueAttributes", set("RedrivePolicy", `{"maxReceiveCount":1}`), redrive(`{"maxReceiveCount":1}`) + "Redrive policy does not contain mandatory attribute: deadLetterTargetArn."},
		{"SetQueueAttributes", set("RedriveAllowPolicy", `{"redrivePermission":"byQueue"}`), wrongValue + `Value {"redrivePermission":"byQueue"} for parameter RedriveAllowPolicy is invalid. Reason: sourceQueueArns must contain between 1 and 10 queue ARNs.`},
		{"TagQueue", `{URL(q),"Tags":{}}`, absent + "Tags."},
		{"TagQueue", `{URL(q),"Tags":{"":"x"}}`, wrongValue + "Tag keys must be between 1 and 128 characters in length."},
		{"UntagQueue", `{URL(q)}`, absent + "TagKeys."},

		{"SendMessage", `{URL(none),"MessageBody":"x"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"http://sqs.test/111111111111/q","MessageBody":"x"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"q","MessageBody":"x"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"","MessageBody":"x"}`, noQueue},
		{"SendMessage", `{URL(q)}`, absent + "MessageBody."},
		{"SendMessage", `{URL(q),"MessageBody":""}`, absent + "MessageBody."},
		{"SendMessage", `{URL(q),"MessageBody":"a\u0000b"}`, "400 com.amazonaws.sqs#InvalidMessageContents | InvalidMessageContents;Sender | " + badText},
		{"SendMessage", `{URL(q),"MessageBody":"a\uffffb"}`, "400 com.amazonaws.sqs#InvalidMessageContents | InvalidMessageContents;Sender | " + badText},
		{"SendMessage", `{URL(q),"MessageBody":"` + strings.Repeat("x", 1<<20+1) + `"}`, wrongValue + "One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes."},
		{"SendMessage", send(`,"DelaySeconds":901`), wrongValue + "Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."},
		{"SendMessage", send(`,"DelaySeconds":-1`), wrongValue + "Value -1 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."},
		{"SendMessage", send(`,"DelaySeconds":"5"`), badJSON + "string cannot be converted to Integer (DelaySeconds)"},
		{"SendMessage", send(`,"MessageDeduplicationId":"d"`), wrongValue + "Value d for parameter MessageDeduplicationId is invalid. Reason: " + notThisType},
		{"SendMessage", send(`,"MessageGroupId":"a b"`), wrongValue + "Value a b for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length."},
		{"SendMessage", send(`,"MessageGroupId":""`), wrongValue + "Value  for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length."},
		{"SendMessage", withAttribute("a", `{"DataType":"String","StringValue":""}`), wrongValue + "Message (user) attribute 'a' must contain a non-empty value of type 'String'."},
		{"SendMessage", withAttribute("a", `{"DataType":"Binary","StringValue":"x"}`), wrongValue + "Message (user) attribute 'a' must contain a non-empty value of type 'Binary'."},
		{"SendMessage", withAttribute("a", `{"StringValue":"x"}`), wrongValue + "The message attribute 'a' must contain non-empty message attribute type."},
		{"SendMessage", withAttribute("a", `{"DataType":"Strings","StringValue":"x"}`), wrongValue + "The type of message (user) attribute 'a' is invalid. You must use only the following supported type prefixes: Binary, Number, String."},
		{"SendMessage", withAttribute("a", `{"DataType":"Number","StringValue":"x"}`), wrongValue + "Can't cast the value of message (user) attribute 'a' to a number."},
		{"SendMessage", withAttribute("a", `{"DataType":"String","StringValue":"\u0001"}`), wrongValue + badText},
		{"SendMessage", withAttribute("a", `{"DataType":"String","StringListValues":["x"]}`), refusedOp + "Message attribute list values in SendMessage operation are not supported."},
		{"SendMessage", withAttribute("", `{"DataType":"String","StringValue":"x"}`), wrongValue + "The request must contain non-empty message attribute name."},
		{"SendMessage", withAttribute("a b", `{"DataType":"String","StringValue":"x"}`), wrongValue + "Message (user) attribute name 'a b' is invalid. It can contain only A-Z, a-z, 0-9, underscores, hyphens and periods."},
		{"SendMessage", withAttribute("AWS.a", `{"DataType":"String","StringValue":"x"}`), wrongValue + "Message (user) attribute name 'AWS.a' is invalid. Names that start with AWS. or Amazon. are reserved."},
		{"SendMessage", withAttribute("a..b", `{"DataType":"String","StringValue":"x"}`), wrongValue + "Message (user) attribute name 'a..b' is invalid. It must not start or end with a period or have periods in succession."},
		{"SendMessage", send(`,"MessageAttributes":{` + elevenAttributes() + `}`), wrongValue + "Number of message attributes [11] exceeds the allowed maximum [10]."},
		{"SendMessage", send(`,"MessageSystemAttributes":{"Other":{"DataType":"String","StringValue":"x"}}`), wrongValue + "Message system attribute name 'Other' is invalid."},
		{"SendMessageBatch", `{URL(none),` + batchOf(1, `,"MessageBody":"x"`) + `}`, noQueue},
		{"SendMessageBatch", `{URL(q)}`, "400 com.amazonaws.sqs#EmptyBatchRequest | AWS.SimpleQueueService.EmptyBatchRequest;Sender | There should be at least one SendMessageBatchRequestEntry in the request."},
		{"SendMessageBatch", `{URL(q),` + batchOf(11, `,"MessageBody":"x"`) + `}`, "400 com.amazonaws.sqs#TooManyEntriesInBatchRequest | AWS.SimpleQueueService.TooManyEntriesInBatchRequest;Sender | Maximum number of entries per request are 10. You have sent 11."},
		{"SendMessageBatch", `{URL(q),"Entries":[{"Id":"a","MessageBody":"x"},{"Id":"a","MessageBody":"x"}]}`, "400 com.amazonaws.sqs#BatchEntryIdsNotDistinct | AWS.SimpleQueueService.BatchEntryIdsNotDistinct;Sender | Id a repeated."},
		{"SendMessageBatch", `{URL(q),"Entries":[{"Id":"a:b","MessageBody":"x"}]}`, "400 com.amazonaws.sqs#InvalidBatchEntryId | AWS.SimpleQueueService.InvalidBatchEntryId;Sender | A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long."},
		{"SendMessageBatch", `{URL(q),` + batchOf(2, `,"MessageBody":"`+strings.Repeat("x", 1<<19+1)+`"`) + `}`, "400 com.amazonaws.sqs#BatchRequestTooLong | AWS.SimpleQueueService.BatchRequestTooLong;Sender | Batch requests cannot be longer than 1048576 bytes. You have sent 1048578 bytes."},
		{"SendMessageBatch", `{URL(q),` + batchOf(10, `,"MessageBody":"`+strings.Repeat("x", 1<<20)+`"`) + `}`, "400 com.amazonaws.sqs#BatchRequestTooLong | AWS.SimpleQueueService.BatchRequestTooLong;Sender | Batch requests cannot be longer than 1048576 bytes. You have sent 10485760 bytes."},

		{"ReceiveMessage", `{URL(none)}`, noQueue},
		{"ReceiveMessage", `{URL(q),"MaxNumberOfMessages":0}`, wrongValue + "Value 0 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided."},
		{"ReceiveMessage", `{URL(q),"MaxNumberOfMessages":11}`, wrongValue + "Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided."},
		{"ReceiveMessage", `{URL(q),"WaitTimeSeconds":21}`, wrongValue + "Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided."},
		{"ReceiveMessage", `{URL(q),"VisibilityTimeout":43201}`, wrongValue + "Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided."},
		{"ReceiveMessage", `{URL(q),"ReceiveRequestAttemptId":"a"}`, wrongValue + "Value a for parameter ReceiveRequestAttemptId is invalid. Reason: " + notThisType},
		{"ReceiveMessage", `{URL(q),"MessageSystemAttributeNames":["Colour"]}`, wrongName + "Colour."},
		{"DeleteMessage", `{URL(q),"ReceiptHandle":"garbage"}`, noHandle},
		{"DeleteMessage", `{URL(q),"ReceiptHandle":"` + (receipt{queue: 77}).String() + `"}`, noHandle},
		{"DeleteMessage", `{URL(q)}`, absent + "ReceiptHandle."},
		{"ChangeMessageVisibility", `{URL(q),"ReceiptHandle":"garbage","VisibilityTimeout":1}`, noHandle},
		{"ChangeMessageVisibility", `{URL(q),"ReceiptHandle":"garbage"}`, absent + "VisibilityTimeout."},
		{"ChangeMessageVisibility", `{URL(q),"ReceiptHandle":"garbage","VisibilityTimeout":43201}`, wrongValue + "Value 43201 for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and 43200."},

		{"ListDeadLetterSourceQueues", `{URL(none)}`, noQueue},
		{"StartMessageMoveTask", `{}`, absent + "SourceArn."},
		{"StartMessageMoveTask", `{"SourceArn":"dlq"}`, wrongValue + "You must use this format to specify the SourceArn: arn:<partition>:<service>:<region>:<account-id>:<resource-id>"},
		{"StartMessageMoveTask", `{"SourceArn":"` + arnOf("none") + `"}`, notThere + "The resource that you specified for the SourceArn parameter doesn't exist."},
		{"StartMessageMoveTask", `{"SourceArn":"` + arnOf("q") + `"}`, wrongValue + "Source queue must be configured as a Dead Letter Queue."},
		{"StartMessageMoveTask", `{"SourceArn":"` + arnOf("dlq") + `","DestinationArn":"` + arnOf("none") + `"}`, notThere + "The resource that you specified for the DestinationArn parameter doesn't exist."},
		{"StartMessageMoveTask", `{"SourceArn":"` + arnOf("dlq") + `","MaxNumberOfMessagesPerSecond":501}`, wrongValue + "Value 501 for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: Must be between 1 and 500, if provided."},
		{"ListMessageMoveTasks", `{"SourceArn":"` + arnOf("none") + `"}`, notThere + "The resource that you specified for the SourceArn parameter doesn't exist."},
		{"CancelMessageMoveTask", `{"TaskHandle":"x"}`, wrongValue + "Value for parameter TaskHandle is invalid."},
		{"CancelMessageMoveTask", `{"TaskHandle":"` + (&moveTask{ID: "x", Source: arnOf("none")}).handle() + `"}`, notThere + "The resource that you specified for the SourceArn parameter doesn't exist."},
		{"CancelMessageMoveTask", `{"TaskHandle":"` + (&moveTask{ID: "x", Source: arnOf("dlq")}).handle() + `"}`, notThere + "Task does not exist."},

		{"AddPermission", `{}`, refusedOp + "The operation AddPermission is not supported by the embedded SQS"},
		{"SendParcel", `{}`, "400 com.amazon.coral.service#UnknownOperationException | InvalidAction;Sender | The action SendParcel is not valid for this web service."},
	}
	for _, test := range tests {
		if got := ask(t, s, test.operation, test.body).refusal(); got != test.want {
			t.Errorf("%s %.200s\n got %s\nwant %s", test.operation, test.body, got, test.want)
		}
	}
}

func elevenAttributes() string {
	attributes := make([]string, 11)
	for i := range attributes {
		attributes[i] = fmt.Sprintf(`"a%d":{"DataType":"String","StringValue":"x"}`, i)
	}
	return strings.Join(attributes, ",")
}

// What is wrong with a request before any operation sees it.
func TestRequests(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	for name, test := range map[string]struct {
		change func(*http.Request)
		want   string
	}{
		"as it should be":    {func(*http.Request) {}, ""},
		"no target":          {func(r *http.Request) { r.Header.Del("X-Amz-Target") }, "400 com.amazon.coral.service#UnknownOperationException | InvalidAction;Sender | The action  is not valid for this web service."},
		"no credentials":     {func(r *http.Request) { r.Header.Del("Authorization") }, "403 com.amazon.coral.service#AccessDeniedException | AccessDenied;Sender | Access to the resource http://example.com/ is denied."},
		"half of a header":   {func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x") }, "400 com.amazon.coral.service#IncompleteSignatureException | IncompleteSignature;Sender | The request signature does not conform to AWS standards."},
		"the query's signer": {func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "X-Amz-Algorithm=x" }, ""},
	} {
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
		request.Header.Set("X-Amz-Target", "AmazonSQS.ListQueues")
		request.Header.Set("Authorization", testAuthorization)
		test.change(request)
		got := send(t, s, request)
		if got.refusal() != test.want {
			t.Errorf("%s: got %s, want %s", name, got.refusal(), test.want)
		}
		if got.header.Get("x-amzn-RequestId") == "" || got.header.Get("Content-Type") != "application/x-amz-json-1.0" {
			t.Errorf("%s: headers %v", name, got.header)
		}
	}
	if got := send(t, s, httptest.NewRequest(http.MethodGet, "/", nil)); got.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", got.status)
	}
	huge := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", maxRequestBytes+1)))
	if got := send(t, s, huge); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("huge: %d", got.status)
	}
}
