package secrets

import (
	"context"
	"crypto/rand"
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

	defaultPassword = 32
	maxPassword     = 4096
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
		return "", invalidParameter("PasswordLength must be between 1 and %d.", maxPassword)
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
		return "", invalidParameter("The password can't be generated because every character is excluded.")
	}
	if len(password) > spec.Length {
		return "", invalidParameter("Password length %d is too short based on the required types.", spec.Length)
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

// randomBelow returns a random number from 0 to n-1.
func randomBelow(n int) int {
	number, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil { // crypto/rand's reader never fails
		panic(err)
	}
	return int(number.Int64())
}

type randomPasswordInput struct {
	PasswordLength          *int   `json:"PasswordLength"`
	ExcludeCharacters       string `json:"ExcludeCharacters"`
	ExcludeLowercase        bool   `json:"ExcludeLowercase"`
	ExcludeNumbers          bool   `json:"ExcludeNumbers"`
	ExcludePunctuation      bool   `json:"ExcludePunctuation"`
	ExcludeUppercase        bool   `json:"ExcludeUppercase"`
	IncludeSpace            bool   `json:"IncludeSpace"`
	RequireEachIncludedType *bool  `json:"RequireEachIncludedType"`
}

type randomPasswordOutput struct {
	RandomPassword string `json:"RandomPassword"`
}

func (s *Store) getRandomPassword(_ context.Context, in *randomPasswordInput) (*randomPasswordOutput, error) {
	spec := stack.GenerateSecretString{
		Length: defaultPassword, ExcludeCharacters: in.ExcludeCharacters,
		ExcludeLowercase: in.ExcludeLowercase, ExcludeUppercase: in.ExcludeUppercase,
		ExcludeNumbers: in.ExcludeNumbers, ExcludePunctuation: in.ExcludePunctuation,
		IncludeSpace:            in.IncludeSpace,
		RequireEachIncludedType: in.RequireEachIncludedType == nil || *in.RequireEachIncludedType,
	}
	if in.PasswordLength != nil {
		spec.Length = *in.PasswordLength
	}
	password, err := randomPassword(spec)
	return &randomPasswordOutput{password}, err
}
