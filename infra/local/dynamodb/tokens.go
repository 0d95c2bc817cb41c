package dynamodb

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"devplatform/infra/local/datafolder"

	"github.com/cockroachdb/pebble/v2"
)

// tokenLifetime is how long a ClientRequestToken makes a transaction idempotent.
const tokenLifetime = 10 * time.Minute

// tokenTable has the tokens of running transactions. The tokens of completed transactions are stored with their writes,
// in the same batch.
type tokenTable struct {
	mutex   sync.Mutex
	running map[string]bool
}

func (t *tokenTable) begin(token string) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.running[token] {
		return false
	}
	t.running[token] = true
	return true
}

func (t *tokenTable) end(token string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.running, token)
}

// A stored token has the second at which it expires (8 bytes), the fingerprint, and for each change the read units of a
// replay.
const fingerprintEnd = 8 + sha256.Size

// writeOnce is like Write, unless a transaction with the same token has completed within ten minutes. Then it changes
// nothing, returns true, and sets the units to the units that reading the larger image of each item needs. It returns
// an error if the token was used with another fingerprint of the transaction's content, or if the token's transaction
// is still running.
func (s *store) writeOnce(
	token string, fingerprint [sha256.Size]byte, changes []change, decide func() error,
) (replayed bool, err error) {
	if !s.tokens.begin(token) {
		return false, errorOf(typeInProgress, "Transaction with the given request token is already in progress")
	}
	defer s.tokens.end(token)
	stored, err := datafolder.Read(s.DB, tokenKey(token))
	if err != nil {
		return false, err
	}
	now := s.now()
	if len(stored) >= fingerprintEnd && now.Unix() < int64(binary.BigEndian.Uint64(stored)) {
		if [sha256.Size]byte(stored[8:]) != fingerprint {
			return false, errorOf(typeIdempotentMismatch,
				"The provided client token %q was already used with other parameters", token)
		}
		stored = stored[fingerprintEnd:]
		for i := range changes {
			count, n := binary.Uvarint(stored)
			stored = stored[max(n, 0):]
			changes[i].Units = units{Table: float64(count)}
		}
		return true, nil
	}
	until := uint64(now.Add(tokenLifetime).Unix())
	return false, s.write(changes, decide, func(batch *pebble.Batch) error {
		value := append(binary.BigEndian.AppendUint64(nil, until), fingerprint[:]...)
		for _, c := range changes {
			value = binary.AppendUvarint(value, uint64(readUnits(max(c.Old.Size(), c.New.Size()))))
		}
		return errors.Join(batch.Set(tokenKey(token), value, nil), batch.Set(tokenAgeKey(until, token), nil, nil))
	})
}

func tokenKey(token string) []byte { return append([]byte{datafolder.SpaceToken}, token...) }

func tokenAgeKey(second uint64, token string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{datafolder.SpaceTokenAge}, second), token...)
}

// deleteTokens deletes expired tokens.
func (s *store) deleteTokens(now time.Time) error {
	held := map[string]bool{}
	defer func() {
		for token := range held {
			s.tokens.end(token)
		}
	}()
	return s.Update(func(batch *pebble.Batch) error {
		end := tokenAgeKey(uint64(max(0, now.Unix())), "")
		return datafolder.Range(s.DB, []byte{datafolder.SpaceTokenAge}, end, func(key, _ []byte) (bool, error) {
			token := string(key[9:])
			if !held[token] && !s.tokens.begin(token) {
				return true, nil // in use: the next call deletes it
			}
			held[token] = true
			return true, s.deleteToken(batch, token, key)
		})
	})
}

// deleteToken deletes an expired token, unless a later transaction used it again.
func (s *store) deleteToken(batch *pebble.Batch, token string, ageKey []byte) error {
	stored, err := datafolder.Read(s.DB, tokenKey(token))
	if err != nil {
		return err
	}
	if len(stored) >= 8 && string(stored[:8]) == string(ageKey[1:9]) {
		err = batch.Delete(tokenKey(token), nil)
	}
	return errors.Join(err, batch.Delete(ageKey, nil))
}
