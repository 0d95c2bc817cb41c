package stack

import "devplatform/infra/local/resources"

type secretProperties struct {
	object `ignored:"KmsKeyId ReplicaRegions Tags"`

	Description          string
	GenerateSecretString *resources.GenerateSecretString `cfn:",required"`
}

func (b *builder) secret(res *resource) {
	var p secretProperties
	b.decodeProperties(res, &p)
	if generate := p.GenerateSecretString; generate != nil && (generate.Template == "") != (generate.Key == "") {
		p.problem("GenerateSecretString", "must have both SecretStringTemplate and GenerateStringKey, or neither")
	}
	b.stack.Secrets = append(b.stack.Secrets, resources.Secret{
		LogicalID: res.id, Name: b.nameOf(res), ARN: b.expandFor(res, "{secret}"), Description: p.Description,
		Generate: p.GenerateSecretString,
	})
}
