"""Checks an SQS endpoint (argv[1]) with boto3. Prints nothing if all is as on AWS."""

import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

session = {"endpoint_url": sys.argv[1], "region_name": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}
sqs = boto3.client("sqs", **session, config=Config(retries={"max_attempts": 1}))


def refused(code, query_code, status, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        got = error.response
        assert got["Error"]["Code"] == code, got
        assert got["Error"].get("QueryErrorCode") == query_code, got
        assert got["Error"].get("Type") == "Sender", got
        assert got["ResponseMetadata"]["HTTPStatusCode"] == status, got
    else:
        raise AssertionError(f"{code} expected")


dead = sqs.create_queue(QueueName="dead")["QueueUrl"]
dead_arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
url = sqs.create_queue(
    QueueName="jobs",
    Attributes={"VisibilityTimeout": "0", "RedrivePolicy": '{"deadLetterTargetArn":"%s","maxReceiveCount":2}' % dead_arn},
)["QueueUrl"]
assert sqs.get_queue_url(QueueName="jobs")["QueueUrl"] == url
assert "Messages" not in sqs.receive_message(QueueUrl=url)

# boto3 verifies the checksums of bodies.
sent = sqs.send_message(QueueUrl=url, MessageBody="h\u00e9llo", MessageGroupId="tenant")
(message,) = sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"], AttributeNames=["All"])["Messages"]
assert message["Body"] == "h\u00e9llo" and message["MessageId"] == sent["MessageId"]
assert message["Attributes"]["MessageGroupId"] == "tenant" and message["Attributes"]["ApproximateReceiveCount"] == "1"

# After two receives, the message is moved to the dead-letter queue.
assert len(sqs.receive_message(QueueUrl=url)["Messages"]) == 1
assert "Messages" not in sqs.receive_message(QueueUrl=url)
attributes = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["All"])["Attributes"]
assert attributes["ApproximateNumberOfMessages"] == "1", attributes
(message,) = sqs.receive_message(QueueUrl=dead, WaitTimeSeconds=20, VisibilityTimeout=60)["Messages"]
sqs.change_message_visibility(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=120)
sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])

batch = sqs.send_message_batch(
    QueueUrl=url,
    Entries=[{"Id": "a", "MessageBody": "a"}, {"Id": "b", "MessageBody": "\x00"}, {"Id": "c", "MessageBody": "c", "DelaySeconds": 900}],
)
assert [e["Id"] for e in batch["Successful"]] == ["a", "c"], batch
assert [(e["Id"], e["Code"], e["SenderFault"]) for e in batch["Failed"]] == [("b", "InvalidMessageContents", True)], batch

legacy = "AWS.SimpleQueueService."
nothing = url + "-none"
refused(legacy + "NonExistentQueue", "QueueDoesNotExist", 400, sqs.get_queue_url, QueueName="none")
refused(legacy + "NonExistentQueue", "QueueDoesNotExist", 400, sqs.send_message, QueueUrl=nothing, MessageBody="x")
refused("QueueAlreadyExists", "QueueNameExists", 400, sqs.create_queue, QueueName="jobs", Attributes={"VisibilityTimeout": "5"})
refused("InvalidAttributeValue", "InvalidAttributeValue", 400, sqs.create_queue, QueueName="x", Attributes={"VisibilityTimeout": "43201"})
refused("InvalidAttributeName", "InvalidAttributeName", 400, sqs.create_queue, QueueName="x", Attributes={"Colour": "red"})
refused("InvalidParameterValue", "InvalidParameterValueException", 400, sqs.receive_message, QueueUrl=url, MaxNumberOfMessages=11)
refused("MissingParameter", "MissingRequiredParameterException", 400, sqs.send_message, QueueUrl=url, MessageBody="")
refused("InvalidMessageContents", "InvalidMessageContents", 400, sqs.send_message, QueueUrl=url, MessageBody="\x00")
refused("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404, sqs.delete_message, QueueUrl=url, ReceiptHandle="x")
refused(legacy + "EmptyBatchRequest", "EmptyBatchRequest", 400, sqs.send_message_batch, QueueUrl=url, Entries=[])
refused(legacy + "TooManyEntriesInBatchRequest", "TooManyEntriesInBatchRequest", 400, sqs.delete_message_batch, QueueUrl=url,
        Entries=[{"Id": str(i), "ReceiptHandle": "x"} for i in range(11)])
try:
    sqs.get_queue_url(QueueName="none")
except sqs.exceptions.QueueDoesNotExist:
    pass

queue = boto3.resource("sqs", **session).get_queue_by_name(QueueName="dead")
queue.send_messages(Entries=[{"Id": str(i), "MessageBody": str(i)} for i in range(10)])
got = queue.receive_messages(MaxNumberOfMessages=10)
assert [m.body for m in got] == [str(i) for i in range(10)], got
queue.delete_messages(Entries=[{"Id": m.message_id, "ReceiptHandle": m.receipt_handle} for m in got])
queue.load()
assert queue.attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
