package secrets_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"pgregory.net/rapid"

	"devplatform/infra/local/secrets"
	"devplatform/infra/local/stack"
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
		spec := stack.GenerateSecretString{
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
	made, err := secrets.Generate(stack.GenerateSecretString{Length: 64, Template: `{"current":"k1","big":12345678901234567890}`, Key: "k1"})
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
	if _, err := secrets.Generate(stack.GenerateSecretString{Length: 64, Template: `[]`, Key: "k1"}); err == nil {
		t.Error("the key was added to a list")
	}
}

func TestGetRandomPassword(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	first, err := s.GetRandomPassword(t.Context(), &secretsmanager.GetRandomPasswordInput{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.GetRandomPassword(t.Context(), &secretsmanager.GetRandomPasswordInput{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, len(*first.RandomPassword), 32)
	if *first.RandomPassword == *second.RandomPassword {
		t.Error("two passwords are the same")
	}
	_, err = s.GetRandomPassword(t.Context(), &secretsmanager.GetRandomPasswordInput{PasswordLength: aws.Int64(3)})
	equal(t, failure(err), "InvalidParameterException: Password length 3 is too short based on the required types.")
	_, err = s.GetRandomPassword(t.Context(), &secretsmanager.GetRandomPasswordInput{PasswordLength: aws.Int64(4097)})
	equal(t, failure(err), "InvalidParameterException: PasswordLength must be between 1 and 4096.")
}
