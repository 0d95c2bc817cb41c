package secrets_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/secrets"
)

func TestGeneratedIntoTemplate(t *testing.T) {
	t.Parallel()
	made, err := secrets.Generate(resources.GenerateSecretString{Length: 64, Template: `{"current":"k1","big":12345678901234567890}`, Key: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(made), &object); err != nil {
		t.Fatal(err)
	}
	equal(t, string(object["current"])+string(object["big"]), `"k1"12345678901234567890`)
	var key string
	if err := json.Unmarshal(object["k1"], &key); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[A-Z0-9]{64}$`).MatchString(key) {
		t.Errorf("the generated string is %q", key)
	}
	if again, _ := secrets.Generate(resources.GenerateSecretString{Length: 64, Template: `{}`, Key: "k1"}); strings.Contains(again, key) {
		t.Error("two generated strings are the same")
	}
	if _, err := secrets.Generate(resources.GenerateSecretString{Length: 64, Template: `[]`, Key: "k1"}); err == nil {
		t.Error("the key was added to a list")
	}
}
