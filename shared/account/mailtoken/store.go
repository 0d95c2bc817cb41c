package mailtoken

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

// purpose is the label with which the keys of codes are derived from the key ring.
const purpose = "mail-code"

// Store stores tokens in the accounts table. It is safe for concurrent use.
type Store struct {
	client   *db.Client
	accounts db.Table
	keys     *config.Keys
	now      clock.Clock
}

// NewStore returns a Store. It does no I/O.
func NewStore(client *db.Client, accounts db.Table, keys *config.Keys, now clock.Clock) *Store {
	return &Store{client: client, accounts: accounts, keys: keys, now: now}
}

// Set contains the valid tokens of a user and a kind of mail, the oldest one first.
type Set struct {
	UserID string
	Kind   mail.Kind
	Tokens []Token

	version string // empty if the set is not stored
}

// record is a set as it is stored. The attribute names are part of the data format.
type record struct {
	Version   string  `dynamodbav:"version"` // random: a set that was deleted and created again has another one
	Tokens    []Token `dynamodbav:"tokens"`
	ExpiresAt int64   `dynamodbav:"expiresAt"`
}

// Ref returns the reference of a set, to read it together with other items.
func (s *Store) Ref(userID string, kind mail.Kind) db.Ref {
	return s.accounts.Ref(db.MailTokensKey(userID, string(kind)))
}

// Decode returns a set from the items that were read. A set that is not stored is empty.
func (s *Store) Decode(items map[db.Ref]db.Item, userID string, kind mail.Kind) (Set, error) {
	r, err := db.Decode[record](items[s.Ref(userID, kind)])
	now := s.now().Unix()
	tokens := slices.DeleteFunc(r.Tokens, func(t Token) bool { return t.ExpiresAt <= now })
	return Set{UserID: userID, Kind: kind, Tokens: tokens, version: r.Version}, err
}

// Empty returns a set without tokens that replaces this one when it is written.
func (s Set) Empty() Set {
	s.Tokens = nil
	return s
}

// Before returns the set with only the tokens that are older than the given token of the set. It is written with
// Store.Put.
func (s Set) Before(token Token) Set {
	i := slices.IndexFunc(s.Tokens, func(t Token) bool { return t.Hash == token.Hash })
	s.Tokens = slices.Clone(s.Tokens[:i])
	return s
}

// Issue returns a new token about an address with its code, and the set with the token. If the set has too many tokens,
// its oldest token ends. A token of the kind mail.Undo has no code. Error: config.ErrUnavailable.
func (s *Store) Issue(ctx context.Context, set Set, email string) (Secret, Set, error) {
	secret, now := newSecret(set.UserID), s.now()
	secret.ExpiresAt = now.Add(Life(set.Kind))
	token := Token{
		Hash: id.HashToken(secret.Token), Email: email, IssuedAt: clock.Stamp(now), ExpiresAt: secret.ExpiresAt.Unix(),
	}
	maxTokens := MaxUndo
	if set.Kind == mail.Undo {
		secret.Code = ""
	} else {
		kid, key, err := s.keys.Current(ctx, purpose)
		if err != nil {
			return Secret{}, Set{}, fmt.Errorf("deriving the key of a code: %w", err)
		}
		maxTokens, token.KeyID, token.Code = MaxValid, kid, mac(key, set, secret.Code)
	}
	set.Tokens = append(slices.Clone(set.Tokens), token)
	set.Tokens = set.Tokens[max(len(set.Tokens)-maxTokens, 0):]
	return secret, set, nil
}

// mac returns the HMAC of a code. It includes the user and the kind, so that it matches no code of another set.
func mac(key []byte, set Set, code string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(set.UserID + " " + string(set.Kind) + " " + code))
	return hex.EncodeToString(h.Sum(nil))
}

// Claim is a token or a code that a client sends.
type Claim struct{ Token, Code string }

// Match returns the token that a claim matches. It counts a wrong code for each token of the set. If the set is empty,
// it makes the same write, so that the work is always the same. Errors: ErrInvalid; db.ErrStale if another request
// changed the set; db.ErrUnavailable, config.ErrUnavailable.
func (s *Store) Match(ctx context.Context, set Set, claim Claim) (Token, error) {
	if claim.Token != "" {
		sent := id.HashToken(claim.Token)
		i := slices.IndexFunc(set.Tokens, func(t Token) bool { return hmac.Equal([]byte(t.Hash), []byte(sent)) })
		if i < 0 {
			return Token{}, ErrInvalid
		}
		return set.Tokens[i], nil
	}
	for _, token := range set.Tokens {
		matches, err := s.matchesCode(ctx, set, token, normalizeCode(claim.Code))
		if err != nil || matches {
			return token, err
		}
	}
	set.Tokens = slices.Clone(set.Tokens)
	for i := range set.Tokens {
		set.Tokens[i].Guesses++
	}
	if _, err := s.client.DoOnce(ctx, s.Put(set)); err != nil {
		return Token{}, fmt.Errorf("counting a wrong code: %w", err)
	}
	return Token{}, ErrInvalid
}

// matchesCode reports whether a token can still be used with a code, and the code is right.
func (s *Store) matchesCode(ctx context.Context, set Set, token Token, code string) (bool, error) {
	if token.KeyID == "" || token.Guesses >= MaxGuesses {
		return false, nil
	}
	key, err := s.keys.KeyToVerify(ctx, token.KeyID, purpose)
	if errors.Is(err, config.ErrUnknownKey) {
		return false, nil // the key was removed, or has leaked
	}
	if err != nil {
		return false, fmt.Errorf("deriving the key of a code: %w", err)
	}
	return hmac.Equal([]byte(token.Code), []byte(mac(key, set, code))), nil
}

// Put returns the write that stores a changed set. Error: db.ErrStale if another request changed the set since it was
// read.
func (s *Store) Put(set Set) db.Write {
	r := record{Version: rand.Text(), Tokens: set.Tokens, ExpiresAt: s.now().Add(Life(set.Kind)).Unix()}
	isOwn := func(stored db.Item) bool {
		version, ok := stored["version"].(*types.AttributeValueMemberS)
		return ok && version.Value == r.Version
	}
	key := db.MailTokensKey(set.UserID, string(set.Kind))
	if set.version == "" {
		return s.accounts.Create(key, r).Else(db.ErrStale).Recognize(isOwn)
	}
	isUnchanged := expression.Name("version").Equal(expression.Value(set.version))
	return s.accounts.Put(key, r).If(isUnchanged).Else(db.ErrStale).Recognize(isOwn)
}

// Use returns the write that marks a token as used and removes all other tokens of its set. The used token stays, so
// that a repeated request with the same link is recognized. Error: db.ErrStale.
func (s *Store) Use(set Set, used Token) db.Write {
	used.Used = true
	set.Tokens = []Token{used}
	return s.Put(set)
}

// End returns the write that deletes a stored set, which ends its tokens. Error: db.ErrStale if another request changed
// the set since it was read, such as a request with the same token.
func (s *Store) End(set Set) db.Write {
	isUnchanged := expression.Name("version").Equal(expression.Value(set.version))
	return s.accounts.Delete(db.MailTokensKey(set.UserID, string(set.Kind))).If(isUnchanged).Else(db.ErrStale)
}

// EndAll returns the writes that end all tokens of these kinds of a user.
func (s *Store) EndAll(userID string, kinds ...mail.Kind) []db.Write {
	var writes []db.Write
	for _, kind := range kinds {
		writes = append(writes, s.accounts.Delete(db.MailTokensKey(userID, string(kind))))
	}
	return writes
}
