package secrets

import (
	"crypto/rand"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/infra/local/resources"
)

// Generate returns a secret's first value as CloudFormation generates it: the JSON object of the template, with a
// random string as the value of the key. The string has capital letters and digits.
func Generate(spec resources.GenerateSecretString) (string, error) {
	object := map[string]jsontext.Value{}
	if err := json.Unmarshal([]byte(spec.Template), &object); err != nil {
		return "", fmt.Errorf("the template of a generated secret must be a JSON object: %w", err)
	}
	password := ""
	for len(password) < spec.Length {
		password += rand.Text()
	}
	object[spec.Key] = jsontext.Value(`"` + password[:spec.Length] + `"`)
	filled, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("encode the generated secret: %w", err)
	}
	return string(filled), nil
}
