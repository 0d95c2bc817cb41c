"""Prints the document of one of AWS's managed policies, by its name: moto carries them, so that no account is asked."""

import json
import sys

from moto.iam.aws_managed_policies import aws_managed_policies_data

policy = json.loads(aws_managed_policies_data).get(sys.argv[1])
if policy is None:
    sys.exit(f"AWS has no managed policy {sys.argv[1]}, as far as moto knows")
json.dump(policy["Document"], sys.stdout)
