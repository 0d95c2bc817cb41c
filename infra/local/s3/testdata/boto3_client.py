"""Uses the S3 of the local platform at the URL of the first argument with boto3. Prints nothing if all is well."""

import io
import sys
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.client import Config
from botocore.exceptions import ClientError

client = boto3.client(
    "s3", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="local", aws_secret_access_key="local",
    config=Config(signature_version="s3v4", retries={"total_max_attempts": 1}),
)
bucket, key = "from-boto3", "folder/ä b+c.txt"
client.create_bucket(Bucket=bucket)
assert bucket in [b["Name"] for b in client.list_buckets()["Buckets"]]

client.put_object(Bucket=bucket, Key=key, Body=b"content", ContentType="text/plain", Metadata={"owner": "ada"})
got = client.get_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
assert got["Body"].read() == b"content"
assert got["ContentType"] == "text/plain" and got["Metadata"] == {"owner": "ada"}
assert "ChecksumCRC32" in got or "ChecksumCRC64NVME" in got, got
assert client.get_object(Bucket=bucket, Key=key, Range="bytes=1-3")["Body"].read() == b"ont"
assert client.head_object(Bucket=bucket, Key=key)["ContentLength"] == 7


def code(call, **arguments):
    """Returns the code of the error of a call."""
    try:
        call(Bucket=bucket, **arguments)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return ""


assert code(client.put_object, Key=key, Body=b"other", IfNoneMatch="*") == "PreconditionFailed"
assert code(client.get_object, Key="none") == "NoSuchKey"
assert code(client.get_object_acl, Key=key) == "NotImplemented"
assert code(client.list_objects_v2, ContinuationToken="%") == "InvalidArgument"

# A stream, with the checksum that boto3 chooses, and a download in parts. Uploads in parts are refused.
content = bytes(range(256)) * 4 * 12 * 1024
client.upload_fileobj(io.BytesIO(content), bucket, "large", Config=TransferConfig(multipart_threshold=64 << 20))
download = io.BytesIO()
client.download_fileobj(bucket, "large", download, Config=TransferConfig(multipart_threshold=5 << 20))
assert download.getvalue() == content
assert code(client.create_multipart_upload, Key="large") == "NotImplemented"

# Pages of a list.
for i in range(5):
    client.put_object(Bucket=bucket, Key=f"list/{i}", Body=b"")
pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="list/", PaginationConfig={"PageSize": 2})
assert [o["Key"] for page in pages for o in page["Contents"]] == [f"list/{i}" for i in range(5)]
top = client.list_objects_v2(Bucket=bucket, Delimiter="/")
assert [p["Prefix"] for p in top["CommonPrefixes"]] == ["folder/", "list/"], top
assert key in [o["Key"] for o in client.list_objects_v2(Bucket=bucket, Prefix="folder/")["Contents"]]

# Presigned URLs.
url = client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key, "ResponseContentType": "text/css"})
with urllib.request.urlopen(url) as response:
    assert response.read() == b"content" and response.headers["Content-Type"] == "text/css"
url = client.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "put", "IfNoneMatch": "*"})
request = urllib.request.Request(url, data=b"uploaded", method="PUT", headers={"If-None-Match": "*"})
with urllib.request.urlopen(request):
    pass
assert client.get_object(Bucket=bucket, Key="put")["Body"].read() == b"uploaded"

deleted = client.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}, {"Key": "large"}, {"Key": "none"}]})
assert len(deleted["Deleted"]) == 3 and "Errors" not in deleted
client.delete_object(Bucket=bucket, Key="put")
assert code(client.head_object, Key=key) == "404"
