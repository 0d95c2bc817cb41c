package sqs

import (
	"fmt"
	"strings"
	"testing"
)

const (
	wrongValue = "400 com.amazon.coral.service#InvalidParameterValueException | InvalidParameterValue;Sender | "
	wrongName  = "400 com.amazonaws.sqs#InvalidAttributeName | InvalidAttributeName;Sender | "
	wrongAttr  = "400 com.amazonaws.sqs#InvalidAttributeValue | InvalidAttributeValue;Sender | "
	absent     = "400 com.amazon.coral.service#MissingRequiredParameterException | MissingParameter;Sender | The request must contain the parameter "
	noQueue    = "400 com.amazonaws.sqs#QueueDoesNotExist | AWS.SimpleQueueService.NonExistentQueue;Sender | "
	noHandle   = "404 com.amazonaws.sqs#ReceiptHandleIsInvalid | ReceiptHandleIsInvalid;Sender | "
	badText    = "400 com.amazonaws.sqs#InvalidMessageContents | InvalidMessageContents;Sender | "
	badJSON    = "400 com.amazon.coral.service#SerializationException |  | "
)

// batchOf returns n entries of a batch. more contains further JSON members of each entry.
func batchOf(n int, more string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"Id":"e%d"%s}`, i, more)
	}
	return `"Entries":[` + strings.Join(entries, ",") + `]`
}

// TestErrors checks the status, type and code of errors, and the beginning of their messages.
func TestErrors(t *testing.T) {
	t.Parallel()
	s, _ := openClock(t)
	must(t, s, "CreateQueue", `{"QueueName":"q"}`)
	must(t, s, "CreateQueue", `{"QueueName":"dlq"}`)
	set := func(name, value string) string {
		return `{URL(q),"Attributes":{"` + name + `":"` + strings.ReplaceAll(value, `"`, `\"`) + `"}}`
	}
	send := func(more string) string { return `{URL(q),"MessageBody":"x"` + more + `}` }
	tests := []struct{ operation, body, want string }{
		{"CreateQueue", `{}`, wrongValue + "QueueName must have 1 to 80"},
		{"CreateQueue", `{"QueueName":"a b"}`, wrongValue + "QueueName must have 1 to 80"},
		{"CreateQueue", `{"QueueName":"` + strings.Repeat("a", 81) + `"}`, wrongValue + "QueueName must have 1 to 80"},
		{"CreateQueue", `{"QueueName":"a.fifo","Attributes":{"FifoQueue":"true"}}`, wrongValue + "QueueName must have 1 to 80"},
		{"CreateQueue", `{"QueueName":"a","Attributes":{"Colour":"red"}}`, wrongName + "The attribute Colour does not exist here."},
		{"CreateQueue", `{"QueueName":"q","Attributes":{"VisibilityTimeout":"1"}}`, "400 com.amazonaws.sqs#QueueNameExists | QueueAlreadyExists;Sender | "},
		{"CreateQueue", `{"QueueName":"a","tags":{"a":"b"}}`, badJSON + "The local platform does not support the parameter tags."},
		{"CreateQueue", `{"QueueName":`, badJSON},
		{"GetQueueUrl", `{"QueueName":"none"}`, noQueue},
		{"GetQueueUrl", `{}`, noQueue},
		{"GetQueueAttributes", `{URL(q),"AttributeNames":["Colour"]}`, wrongName},
		{"SetQueueAttributes", set("VisibilityTimeout", "43201"), wrongAttr + "VisibilityTimeout must be from 0 to 43200."},
		{"SetQueueAttributes", set("VisibilityTimeout", "-1"), wrongAttr},
		{"SetQueueAttributes", set("VisibilityTimeout", "soon"), wrongAttr},
		{"SetQueueAttributes", set("MaximumMessageSize", "1023"), wrongAttr},
		{"SetQueueAttributes", set("MaximumMessageSize", "1048577"), wrongAttr},
		{"SetQueueAttributes", set("MessageRetentionPeriod", "59"), wrongAttr},
		{"SetQueueAttributes", set("MessageRetentionPeriod", "1209601"), wrongAttr},
		{"SetQueueAttributes", set("DelaySeconds", "1"), wrongName},
		{"SetQueueAttributes", set("ReceiveMessageWaitTimeSeconds", "21"), wrongAttr},
		{"SetQueueAttributes", set("QueueArn", "x"), wrongName},
		{"SetQueueAttributes", set("RedrivePolicy", `{"deadLetterTargetArn": "dummy", "maxReceiveCount": 42}`), wrongValue + "deadLetterTargetArn"},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("none", 1)), wrongValue + "deadLetterTargetArn"},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("dlq", 0)), wrongValue + "maxReceiveCount"},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("dlq", 1001)), wrongValue + "maxReceiveCount"},
		{"SetQueueAttributes", set("RedrivePolicy", redriveTo("q", 1)), wrongValue + "deadLetterTargetArn"},
		{"SetQueueAttributes", set("RedriveAllowPolicy", `{}`), wrongName + "The attribute RedriveAllowPolicy does not exist here."},
		{"SetQueueAttributes", set("RedrivePolicy", "x"), wrongValue + "RedrivePolicy must be a JSON object"},
		{"SetQueueAttributes", set("RedrivePolicy", `{"maxReceiveCount":1}`), wrongValue + "deadLetterTargetArn"},

		{"SendMessage", `{URL(none),"MessageBody":"x"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"http://sqs.test/111111111111/q","MessageBody":"x"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"q","MessageBody":"x"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"","MessageBody":"x"}`, noQueue},
		{"SendMessage", `{URL(q)}`, absent + "MessageBody."},
		{"SendMessage", `{URL(q),"MessageBody":"a\u0000b"}`, badText},
		{"SendMessage", `{URL(q),"MessageBody":"a\uffffb"}`, badText},
		{"SendMessage", `{URL(q),"MessageBody":"` + strings.Repeat("x", 1<<20+1) + `"}`, wrongValue + "The message must have at most 1048576 bytes."},
		{"SendMessage", send(`,"DelaySeconds":901`), wrongValue + "DelaySeconds must be from 0 to 900."},
		{"SendMessage", send(`,"DelaySeconds":-1`), wrongValue},
		{"SendMessage", send(`,"DelaySeconds":"5"`), badJSON + "The parameter DelaySeconds has the wrong type"},
		{"SendMessage", send(`,"MessageDeduplicationId":"d"`), badJSON + "The local platform does not support the parameter MessageDeduplicationId."},
		{"SendMessage", send(`,"MessageGroupId":"a b"`), wrongValue + "MessageGroupId"},
		{"SendMessage", send(`,"MessageGroupId":""`), wrongValue + "MessageGroupId"},
		{"SendMessage", send(`,"MessageAttributes":{}`), badJSON + "The local platform does not support the parameter MessageAttributes."},
		{"SendMessage", send(`,"MessageSystemAttributes":{}`), badJSON + "The local platform does not support the parameter MessageSystemAttributes."},
		{"SendMessageBatch", `{URL(none),` + batchOf(1, `,"MessageBody":"x"`) + `}`, noQueue},
		{"SendMessageBatch", `{URL(q)}`, "400 com.amazonaws.sqs#EmptyBatchRequest | AWS.SimpleQueueService.EmptyBatchRequest;Sender | "},
		{"SendMessageBatch", `{URL(q),` + batchOf(11, `,"MessageBody":"x"`) + `}`, "400 com.amazonaws.sqs#TooManyEntriesInBatchRequest | AWS.SimpleQueueService.TooManyEntriesInBatchRequest;Sender | "},
		{"SendMessageBatch", `{URL(q),"Entries":[{"Id":"a","MessageBody":"x"},{"Id":"a","MessageBody":"x"}]}`, "400 com.amazonaws.sqs#BatchEntryIdsNotDistinct | AWS.SimpleQueueService.BatchEntryIdsNotDistinct;Sender | "},
		{"SendMessageBatch", `{URL(q),"Entries":[{"Id":"a:b","MessageBody":"x"}]}`, "400 com.amazonaws.sqs#InvalidBatchEntryId | AWS.SimpleQueueService.InvalidBatchEntryId;Sender | "},
		{"SendMessageBatch", `{URL(q),` + batchOf(2, `,"MessageBody":"`+strings.Repeat("x", 1<<19+1)+`"`) + `}`, "400 com.amazonaws.sqs#BatchRequestTooLong | AWS.SimpleQueueService.BatchRequestTooLong;Sender | "},
		{"SendMessageBatch", `{URL(q),` + batchOf(10, `,"MessageBody":"`+strings.Repeat("x", 1<<20)+`"`) + `}`, "400 com.amazonaws.sqs#BatchRequestTooLong | AWS.SimpleQueueService.BatchRequestTooLong;Sender | "},

		{"ReceiveMessage", `{URL(none)}`, noQueue},
		{"ReceiveMessage", `{URL(q),"MaxNumberOfMessages":0}`, wrongValue + "MaxNumberOfMessages must be from 1 to 10."},
		{"ReceiveMessage", `{URL(q),"MaxNumberOfMessages":11}`, wrongValue},
		{"ReceiveMessage", `{URL(q),"WaitTimeSeconds":21}`, wrongValue},
		{"ReceiveMessage", `{URL(q),"VisibilityTimeout":43201}`, wrongValue},
		{"ReceiveMessage", `{URL(q),"MessageSystemAttributeNames":["Colour"]}`, wrongName},
		{"DeleteMessage", `{URL(none),"ReceiptHandle":"x"}`, noQueue},
		{"DeleteMessage", `{URL(q),"ReceiptHandle":"garbage"}`, noHandle},
		{"DeleteMessage", `{URL(q),"ReceiptHandle":"` + (receipt{queue: 77}).String() + `"}`, noHandle},
		{"DeleteMessage", `{URL(q)}`, absent + "ReceiptHandle."},
		{"ChangeMessageVisibility", `{URL(q),"ReceiptHandle":"garbage","VisibilityTimeout":1}`, noHandle},
		{"ChangeMessageVisibility", `{URL(q),"ReceiptHandle":"garbage"}`, absent + "VisibilityTimeout."},
		{"ChangeMessageVisibility", `{URL(q),"ReceiptHandle":"garbage","VisibilityTimeout":43201}`, wrongValue},

		{"DeleteQueue", `{URL(q)}`, "400 com.amazon.coral.service#UnknownOperationException |  | The local platform does not have the operation AmazonSQS.DeleteQueue."},
		{"AddPermission", `{}`, "400 com.amazon.coral.service#UnknownOperationException |  | The local platform does not have the operation AmazonSQS.AddPermission."},
	}
	for _, test := range tests {
		if got := call(t, s, test.operation, test.body).failure(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s %.200s\n got %s\nwant %s", test.operation, test.body, got, test.want)
		}
	}
}
