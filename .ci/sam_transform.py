"""Applies the AWS SAM transform to template.yaml and prints the resulting CloudFormation template.

Fails if the transform fails, or if it does not create exactly one stage for each API.
"""

import json
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

import boto3  # noqa: E402
from samtranslator.parser.parser import Parser  # noqa: E402
from samtranslator.translator.translator import Translator  # noqa: E402
from samtranslator.yaml_helper import yaml_parse  # noqa: E402


def main(path: str) -> int:
    with open(path, encoding="utf-8") as file:
        template = yaml_parse(file)
    for resource in template["Resources"].values():  # as `sam package` would after uploading the code
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    apis = [k for k, v in template["Resources"].items() if v["Type"] == "AWS::Serverless::Api"]
    translator = Translator({}, Parser(), boto_session=boto3.Session(region_name="us-east-1"))
    result = translator.translate(template, {})
    stages = [k for k, v in result["Resources"].items() if v["Type"] == "AWS::ApiGateway::Stage"]
    if len(stages) != len(apis):
        print(f"the SAM transform created the API stages {stages} for the APIs {apis}", file=sys.stderr)
        return 1
    json.dump(result, sys.stdout, indent=1, sort_keys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "template.yaml"))
