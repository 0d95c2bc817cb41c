package secrets

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/infra/local/resources"
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
func Generate(spec resources.GenerateSecretString) (string, error) {
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
func randomPassword(spec resources.GenerateSecretString) (string, error) {
	allowed := func(characters string) string {
		return strings.Map(func(c rune) rune {
			if strings.ContainsRune(spec.ExcludeCharacters, c) {
				return -1
			}
			return c
		}, characters)
	}
	all, required := "", []string(nil)
	for characters, isExcluded := range map[string]bool{
		lowercase: spec.ExcludeLowercase, uppercase: spec.ExcludeUppercase, numbers: spec.ExcludeNumbers,
		punctuation: spec.ExcludePunctuation, " ": !spec.IncludeSpace,
	} {
		set := allowed(characters)
		if isExcluded || set == "" {
			continue
		}
		if all += set; spec.RequireEachIncludedType && characters != " " {
			required = append(required, set)
		}
	}
	switch {
	case spec.Length < 1 || spec.Length > maxPassword:
		return "", fmt.Errorf("PasswordLength must be from 1 to %d", maxPassword)
	case all == "":
		return "", errors.New("every character is excluded")
	case len(required) > spec.Length:
		return "", fmt.Errorf("PasswordLength %d is too short for a character of each required type", spec.Length)
	}
	password := make([]byte, spec.Length)
	isMissing := func(set string) bool { return !bytes.ContainsAny(password, set) }
	for isRandom := false; !isRandom || slices.ContainsFunc(required, isMissing); isRandom = true {
		for i := range password {
			password[i] = all[randomBelow(len(all))]
		}
	}
	return string(password), nil
}

func randomBelow(n int) int {
	number, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil { // crypto/rand's reader never fails
		panic(err)
	}
	return int(number.Int64())
}
