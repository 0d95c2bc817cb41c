"""Prints the policy document of an AWS managed policy, given its name. moto has a copy, so no AWS account is needed."""

import json
import sys

from moto.iam.aws_managed_policies import aws_managed_policies_data

policy = json.loads(aws_managed_policies_data).get(sys.argv[1])
if policy is None:
    sys.exit(f"moto has no AWS managed policy named {sys.argv[1]}")
json.dump(policy["Document"], sys.stdout)
