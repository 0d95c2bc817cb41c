package mailtoken

import (
	"strings"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

const userID = "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"

func TestSecrets(t *testing.T) {
	t.Parallel()
	tokens, letters := map[string]bool{}, map[rune]bool{}
	for range 200 {
		s := newSecret(userID)
		if len(s.Token) > 128 || UserOf(s.Token) != userID || tokens[s.Token] || tokens[s.Code] {
			t.Fatalf("got the secret %+v, want a new token of the user, and a new code", s)
		}
		if len(s.Code) != 8 || normalizeCode(s.Code) != s.Code || strings.Trim(s.Code, alphabet) != "" {
			t.Fatalf("got the code %q, want 8 characters of Crockford's base32", s.Code)
		}
		tokens[s.Token], tokens[s.Code] = true, true
		for _, r := range s.Code {
			letters[r] = true
		}
	}
	if len(letters) != 32 {
		t.Errorf("the codes have %d different characters, want 32", len(letters))
	}
}

func TestTypedCodes(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"7K3M9PQR": "7K3M9PQR", " 7k3m-9pqr ": "7K3M9PQR", "OoIiLl00": "00111100", "": "", "U": "U",
	} {
		if got := normalizeCode(typed); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}

// A text that is not a token belongs to a user who does not exist.
func TestUserOfOtherTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "x", userID, userID[4:], strings.ToLower(userID[4:]) + "x", strings.Repeat("#", 128),
	} {
		at, ok := id.User.Time(UserOf(text))
		if !ok || at.Unix() != 0 {
			t.Errorf("%q: got the user %s, want an ID with the time 1970", text, UserOf(text))
		}
	}
	if UnknownUser("a@example.com") == UnknownUser("b@example.com") {
		t.Error("two unknown addresses have the same ID")
	}
}

// FuzzToken checks that no text of a client makes the key of an item invalid.
func FuzzToken(f *testing.F) {
	f.Add(newSecret(userID).Token)
	f.Add("01K9ZQ3V7M8T5XW2ABCDEFGHJ#x")
	f.Fuzz(func(t *testing.T, token string) {
		if key := db.MailTokensKey(UserOf(token), "reset"); key.IsZero() {
			t.Errorf("the token %q has no key", token)
		}
	})
}

func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) { slicetest.DecodeStored[record](t, item) },
		`{"version":{"S":"v"},"tokens":{"L":[{"M":{"hash":{"S":"h"},"guesses":{"N":"5"},"expiresAt":{"N":"1e99"}}}]}}`,
		`{"tokens":{"L":[{"M":{"issuedAt":{"S":"yesterday"}}}]}}`, `{"tokens":{"M":{}}}`,
	)
}
