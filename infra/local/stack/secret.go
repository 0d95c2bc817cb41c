package stack

import "encoding/json"

var secretProperties = map[string]support{
	"Name": runs, "Description": runs, "SecretString": runs, "GenerateSecretString": runs,
	"KmsKeyId": inert, "ReplicaRegions": inert, "Tags": inert,
}

var generateProperties = map[string]support{
	"ExcludeCharacters": runs, "ExcludeLowercase": runs, "ExcludeNumbers": runs, "ExcludePunctuation": runs, "ExcludeUppercase": runs,
	"GenerateStringKey": runs, "IncludeSpace": runs, "PasswordLength": runs, "RequireEachIncludedType": runs, "SecretStringTemplate": runs,
}

func secretName(r *resolver, res *resource) string {
	return r.physicalName(res, "Name", r.options.StackName+"-"+res.id)
}

func secretARN(r *resolver, res *resource) string {
	return SecretARN(r.options.Region, r.options.Account, secretName(r, res))
}

func (r *resolver) buildSecret(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), secretProperties)
	secret := Secret{
		LogicalID: res.id, Name: secretName(r, res), ARN: secretARN(r, res),
		Description: p.text("Description", ""), Literal: p.text("SecretString", ""),
	}
	if p.has("GenerateSecretString") {
		if p.has("SecretString") {
			p.problem("GenerateSecretString", "can't stand beside SecretString")
		}
		secret.Generate = p.object("GenerateSecretString", generateProperties).generate()
	}
	r.stack.Secrets = append(r.stack.Secrets, secret)
}

func (o object) generate() *GenerateSecretString {
	generate := &GenerateSecretString{
		Length:                  o.integer("PasswordLength", 32, 1, 4096),
		ExcludeCharacters:       o.text("ExcludeCharacters", ""),
		ExcludeLowercase:        o.boolean("ExcludeLowercase", false),
		ExcludeUppercase:        o.boolean("ExcludeUppercase", false),
		ExcludeNumbers:          o.boolean("ExcludeNumbers", false),
		ExcludePunctuation:      o.boolean("ExcludePunctuation", false),
		IncludeSpace:            o.boolean("IncludeSpace", false),
		RequireEachIncludedType: o.boolean("RequireEachIncludedType", true),
		Template:                o.text("SecretStringTemplate", ""),
		Key:                     o.text("GenerateStringKey", ""),
	}
	if (generate.Template == "") != (generate.Key == "") {
		o.problem("SecretStringTemplate", "and GenerateStringKey stand together or not at all")
	}
	var template map[string]any
	if generate.Template != "" && json.Unmarshal([]byte(generate.Template), &template) != nil {
		o.problem("SecretStringTemplate", "must be a JSON object")
	}
	return generate
}
