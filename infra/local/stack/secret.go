package stack

import "encoding/json"

type secretProperties struct {
	object `ignored:"KmsKeyId ReplicaRegions Tags"`

	Name                 string
	Description          string
	SecretString         string
	GenerateSecretString *GenerateSecretString
}

func (b *builder) secret(res *resource) {
	var p secretProperties
	b.decodeProperties(res, &p)
	if generate := p.GenerateSecretString; generate != nil {
		var template map[string]any
		switch {
		case p.has("SecretString"):
			p.problem("GenerateSecretString", "must not be present with SecretString")
		case (generate.Template == "") != (generate.Key == ""):
			p.problem("GenerateSecretString", "must have both SecretStringTemplate and GenerateStringKey, or neither")
		case generate.Template != "" && json.Unmarshal([]byte(generate.Template), &template) != nil:
			p.problem("GenerateSecretString", "SecretStringTemplate must be a JSON object")
		}
	}
	b.stack.Secrets = append(b.stack.Secrets, Secret{
		LogicalID: res.id, Name: b.nameOf(res), ARN: b.expandFor(res, "{secret}"), Description: p.Description,
		Literal: p.SecretString, Generate: p.GenerateSecretString,
	})
}
