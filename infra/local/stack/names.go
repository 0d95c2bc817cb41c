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
	return "arn:aws:secretsmanager:" + region + ":" + account + ":secret:" + name + "-" + digest(6, region, account, name)
}

// restAPIID gives the ten characters by which API Gateway knows a REST API.
func restAPIID(stackName, logicalID string) string { return digest(10, "restapi", stackName, logicalID) }

// digest gives n lower-case letters and digits that depend on the parts and on nothing else.
func digest(n int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	number, _ := new(big.Int).SetString(hex.EncodeToString(sum[:]), 16)
	return number.Text(36)[:n]
}
