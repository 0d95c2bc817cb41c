package dynamodb

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2"
)

// tokenLifetime is how long a ClientRequestToken makes a transaction idempotent.
const tokenLifetime = 10 * time.Minute

// requestToken is a ClientRequestToken, and the hash of the content of its transaction.
type requestToken struct {
	token       string
	fingerprint [sha256.Size]byte
}

func tokenKey(token string) []byte { return append([]byte{datafolder.SpaceToken}, token...) }

func tokenAgeKey(second uint64, token string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{datafolder.SpaceTokenAge}, second), token...)
}

// isReplay reports whether a transaction with the token was made within its lifetime. It returns an error if the content
// of that transaction was different.
func (s *store) isReplay(t *requestToken) (bool, error) {
	stored, err := datafolder.Read(s.DB, tokenKey(t.token))
	if err != nil || len(stored) < 8 || s.now().Unix() >= int64(binary.BigEndian.Uint64(stored)) {
		return false, err
	}
	if string(stored[8:]) != string(t.fingerprint[:]) {
		return false, errorOf(typeIdempotentMismatch,
			"The provided client token %q was already used with other parameters", t.token)
	}
	return true, nil
}

// addTo adds the token to the batch of its transaction.
func (t *requestToken) addTo(batch *pebble.Batch, now time.Time) error {
	until := uint64(now.Add(tokenLifetime).Unix())
	value := append(binary.BigEndian.AppendUint64(nil, until), t.fingerprint[:]...)
	return errors.Join(batch.Set(tokenKey(t.token), value, nil), batch.Set(tokenAgeKey(until, t.token), nil, nil))
}

// deleteTokens deletes expired tokens, unless a later transaction used them again.
func (s *store) deleteTokens(now time.Time) error {
	begin, end := []byte{datafolder.SpaceTokenAge}, tokenAgeKey(uint64(max(0, now.Unix())), "")
	return datafolder.Range(s.DB, begin, end, func(key, _ []byte) (bool, error) {
		token := tokenKey(string(key[9:]))
		defer s.locks.lock([][]byte{token})()
		stored, err := datafolder.Read(s.DB, token)
		if err != nil {
			return false, err
		}
		batch := s.DB.NewBatch()
		err = batch.Delete(key, nil)
		if len(stored) >= 8 && string(stored[:8]) == string(key[1:9]) {
			err = errors.Join(err, batch.Delete(token, nil))
		}
		return true, errors.Join(err, s.CommitLater(batch))
	})
}
