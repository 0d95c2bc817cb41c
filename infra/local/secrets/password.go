package secrets

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/infra/local/stack"
)

const (
	lowercase   = "abcdefghijklmnopqrstuvwxyz"
	uppercase   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	numbers     = "0123456789"
	punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

	maxPassword = 4096 // characters
)

// Generate returns a secret's first value as CloudFormation generates it: a random string or, if the specification has
// a template, the template's JSON object with the random string as the value of the key.
func Generate(spec stack.GenerateSecretString) (string, error) {
	password, err := randomPassword(spec)
	if err != nil || spec.Template == "" {
		return password, err
	}
	object := map[string]jsontext.Value{}
	if err := json.Unmarshal([]byte(spec.Template), &object); err != nil {
		return "", fmt.Errorf("the template of a generated secret must be a JSON object: %w", err)
	}
	quoted, err := json.Marshal(password)
	if err != nil {
		return "", fmt.Errorf("encode the generated secret: %w", err)
	}
	object[spec.Key] = quoted
	filled, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("encode the generated secret: %w", err)
	}
	return string(filled), nil
}

// randomPassword returns a password of unbiased random characters.
func randomPassword(spec stack.GenerateSecretString) (string, error) {
	if spec.Length < 1 || spec.Length > maxPassword {
		return "", fmt.Errorf("PasswordLength must be from 1 to %d", maxPassword)
	}
	var all string
	var password []byte
	for _, set := range []struct {
		characters           string
		excluded, isOptional bool
	}{
		{lowercase, spec.ExcludeLowercase, false},
		{uppercase, spec.ExcludeUppercase, false},
		{numbers, spec.ExcludeNumbers, false},
		{punctuation, spec.ExcludePunctuation, false},
		{" ", !spec.IncludeSpace, true},
	} {
		characters := without(set.characters, spec.ExcludeCharacters)
		if set.excluded || characters == "" {
			continue
		}
		all += characters
		if spec.RequireEachIncludedType && !set.isOptional {
			password = append(password, characters[randomBelow(len(characters))])
		}
	}
	if all == "" {
		return "", errors.New("every character is excluded")
	}
	if len(password) > spec.Length {
		return "", fmt.Errorf("PasswordLength %d is too short for a character of each required type", spec.Length)
	}
	for len(password) < spec.Length {
		password = append(password, all[randomBelow(len(all))])
	}
	for i := len(password) - 1; i > 0; i-- { // required characters must not always come first
		j := randomBelow(i + 1)
		password[i], password[j] = password[j], password[i]
	}
	return string(password), nil
}

func without(characters, excluded string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(excluded, c) {
			return -1
		}
		return c
	}, characters)
}

func randomBelow(n int) int {
	number, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil { // crypto/rand's reader never fails
		panic(err)
	}
	return int(number.Int64())
}
