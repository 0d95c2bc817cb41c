package stack

import "devplatform/infra/local/resources"

type secretProperties struct {
	object `ignored:"KmsKeyId ReplicaRegions Tags"`

	Description          string
	GenerateSecretString resources.GenerateSecretString `cfn:",required"`
}

func (b *builder) secret(res *resource) {
	var p secretProperties
	b.decodeProperties(res, &p)
	b.stack.Secrets = append(b.stack.Secrets, resources.Secret{
		LogicalID: res.id, Name: b.nameOf(res), ARN: b.expandFor(res, "{secret}"), Description: p.Description,
		Generate: p.GenerateSecretString,
	})
}
