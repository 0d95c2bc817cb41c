package resources

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
)

// SecretARN returns the ARN of a secret. On AWS it ends with six random characters. Here they depend on the name, so
// that a template resolves to the same ARN before the secret exists, and after its data was deleted.
func SecretARN(region, account, name string) string {
	return "arn:aws:secretsmanager:" + region + ":" + account + ":secret:" + name + "-" +
		Digest(6, region, account, name)
}

// RestAPIID returns the ten-character id of a REST API.
func RestAPIID(stackName, logicalID string) string {
	return Digest(10, "restapi", stackName, logicalID)
}

// Digest returns n lower-case letters and digits that depend on the parts only.
func Digest(n int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	number, _ := new(big.Int).SetString(hex.EncodeToString(sum[:]), 16)
	text := number.Text(36)
	return text[len(text)-n:]
}
