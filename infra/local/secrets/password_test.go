package secrets_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/secrets"
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	marks  = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)

func TestGeneratedStrings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := resources.GenerateSecretString{
			Length:                  rapid.IntRange(4, 200).Draw(t, "length"),
			ExcludeLowercase:        rapid.Bool().Draw(t, "no lowercase"),
			ExcludeUppercase:        rapid.Bool().Draw(t, "no uppercase"),
			ExcludeNumbers:          rapid.Bool().Draw(t, "no numbers"),
			ExcludePunctuation:      rapid.Bool().Draw(t, "no punctuation"),
			IncludeSpace:            rapid.Bool().Draw(t, "space"),
			RequireEachIncludedType: rapid.Bool().Draw(t, "each"),
			ExcludeCharacters:       rapid.SampledFrom([]string{"", "/@\"", "abcdef0123", "§"}).Draw(t, "not these"),
		}
		password, err := secrets.Generate(spec)
		if spec.ExcludeLowercase && spec.ExcludeUppercase && spec.ExcludeNumbers && spec.ExcludePunctuation && !spec.IncludeSpace {
			if err == nil {
				t.Fatalf("generated %q without characters", password)
			}
			return
		}
		if err != nil || len(password) != spec.Length {
			t.Fatalf("%q, %v", password, err)
		}
		if strings.ContainsAny(password, spec.ExcludeCharacters) {
			t.Fatalf("%q has an excluded character", password)
		}
		for set, excluded := range map[string]bool{
			lower: spec.ExcludeLowercase, upper: spec.ExcludeUppercase, digits: spec.ExcludeNumbers, marks: spec.ExcludePunctuation, " ": !spec.IncludeSpace,
		} {
			has := strings.ContainsAny(password, set)
			if excluded && has {
				t.Fatalf("%q has a character of %s", password, set)
			}
			if !excluded && !has && set != " " && spec.RequireEachIncludedType {
				t.Fatalf("%q has no character of %s", password, set)
			}
		}
	})
}

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
	equal(t, len(key), 64)
	if _, err := secrets.Generate(resources.GenerateSecretString{Length: 64, Template: `[]`, Key: "k1"}); err == nil {
		t.Error("the key was added to a list")
	}
}

func TestPasswordLength(t *testing.T) {
	t.Parallel()
	spec := resources.GenerateSecretString{Length: 32, RequireEachIncludedType: true}
	first, err := secrets.Generate(spec)
	if err != nil {
		t.Fatal(err)
	}
	second, err := secrets.Generate(spec)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, len(first), 32)
	if first == second {
		t.Error("two passwords are the same")
	}
	for length, want := range map[int]string{
		3:    "PasswordLength 3 is too short for a character of each required type",
		4097: "PasswordLength must be from 1 to 4096",
	} {
		spec.Length = length
		_, err := secrets.Generate(spec)
		if err == nil || err.Error() != want {
			t.Errorf("length %d: got the error %v, want %s", length, err, want)
		}
	}
}
