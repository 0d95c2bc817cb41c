"""Sends mails to an endpoint of SES (argv[1]) with boto3. Prints nothing if all is as on AWS."""

import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ses = boto3.client("sesv2", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="test",
                   aws_secret_access_key="test", config=Config(retries={"max_attempts": 1}))
simple = {
    "Subject": {"Data": "Gr\u00fc\u00dfe", "Charset": "UTF-8"},
    "Body": {"Text": {"Data": "Hello\n", "Charset": "UTF-8"}, "Html": {"Data": "<p>Hello", "Charset": "UTF-8"}},
}
mail = {
    "FromEmailAddress": "Service <mail@example.com>", "Destination": {"ToAddresses": ["ada@example.com"]},
    "Content": {"Simple": simple}, "ConfigurationSetName": "mail", "EmailTags": [{"Name": "kind", "Value": "confirm"}],
}
sent = ses.send_email(**mail)
assert sent["MessageId"] and sent["ResponseMetadata"]["RequestId"], sent


def refused(code, text, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        got = error.response
        assert got["Error"]["Code"] == code and text in got["Error"]["Message"], got
    else:
        raise AssertionError(f"{code} expected")


refused("SerializationException", "ReplyToAddresses", ses.send_email, **mail, ReplyToAddresses=["x@example.com"])
refused("BadRequestException", "FromEmailAddress", ses.send_email, **{**mail, "FromEmailAddress": "nobody"})
refused("UnknownOperationException", "GET /v2/email/account", ses.get_account)
