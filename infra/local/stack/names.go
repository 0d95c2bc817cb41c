package stack

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
)

// SecretARN gives the ARN of a secret: AWS ends it with six random characters, which are derived from the name here,
// so that a template resolves to the same ARN before the secret exists and after its data was deleted.
func SecretARN(region, account, name string) string {
	return "arn:" + partition(region) + ":secretsmanager:" + region + ":" + account + ":secret:" + name + "-" + digest(6, region, account, name)
}

// restAPIID gives the ten characters by which API Gateway knows a REST API.
func restAPIID(stackName, logicalID string) string {
	return digest(10, "restapi", stackName, logicalID)
}

// digest gives n lower-case letters and digits that depend on the parts and on nothing else.
func digest(n int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	number, _ := new(big.Int).SetString(hex.EncodeToString(sum[:]), 16)
	text := number.Text(36)
	return text[len(text)-n:]
}

// generatedName names what the template gives no name: after the stack and the logical id, with a digest in place of what
// is beyond the most characters that a name may have.
func (r *resolver) generatedName(id string, most int) string {
	name := r.options.StackName + "-" + id
	if len(name) <= most {
		return name
	}
	const suffix = 6
	return name[:most-suffix-1] + "-" + digest(suffix, name)
}

// partition is the first part of an ARN after "arn": AWS's own world, or one of its separate ones.
func partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	default:
		return "aws"
	}
}

func urlSuffix(region string) string {
	if partition(region) == "aws-cn" {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// arn gives the ARN of something that belongs to the stack's region.
func (r *resolver) arn(service, resource string) string {
	o := r.options
	return "arn:" + partition(o.Region) + ":" + service + ":" + o.Region + ":" + o.Account + ":" + resource
}

// globalARN gives the ARN of something that has no region, such as a role.
func (r *resolver) globalARN(service, resource string) string {
	return "arn:" + partition(r.options.Region) + ":" + service + "::" + r.options.Account + ":" + resource
}
