package dynamodb

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// tokenLifetime is how long a ClientRequestToken stands for its transaction.
const tokenLifetime = 10 * time.Minute

// tokenTable holds the tokens of transactions in progress. Those of completed
// ones are stored with what they wrote, in the same batch.
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
	if t.running == nil {
		t.running = map[string]bool{}
	}
	t.running[token] = true
	return true
}

func (t *tokenTable) end(token string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.running, token)
}

// idempotencyToken is a client's token with what its transaction says, and does.
type idempotencyToken struct {
	token       string
	fingerprint [sha256.Size]byte
	changes     []change
}

// appendReadUnits appends what a replay will cost: reading the larger of the
// two images of each item.
func appendReadUnits(dst []byte, changes []change) []byte {
	for _, c := range changes {
		dst = binary.AppendUvarint(dst, uint64(unitsOf(max(c.old.Size(), c.new.Size()), readUnitBytes)))
	}
	return dst
}

// restoreReadUnits is the reverse; the changes are those of the same transaction.
func restoreReadUnits(stored []byte, changes []change) {
	for i := range changes {
		units, n := binary.Uvarint(stored)
		stored = stored[max(n, 0):]
		changes[i].units = writeUnits{table: float64(units)}
	}
}

func tokenKey(token string) []byte { return append([]byte{spaceToken}, token...) }

func tokenAgeKey(second uint64, token string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{spaceTokenAge}, second), token...)
}

// once runs a transaction unless its token's has completed within ten minutes;
// then it reports a replay. The same token for something else is an error, and
// so is one whose transaction is still running.
func (db *DB) once(t idempotencyToken, run func(also func(*pebble.Batch) error) error) (replayed bool, err error) {
	if err := db.folder.Room(); err != nil { // the try before may be what waits for room
		return false, err
	}
	if !db.tokens.begin(t.token) {
		return false, &apiError{Type: typeInProgress, Message: "Transaction with the given request token is already in progress"}
	}
	defer db.tokens.end(t.token)
	stored, err := db.read(tokenKey(t.token))
	if err != nil {
		return false, err
	}
	now := db.options.Now()
	if len(stored) >= 8+sha256.Size && now.Unix() < int64(binary.BigEndian.Uint64(stored)) { //nolint:gosec // written from an int64
		if [sha256.Size]byte(stored[8:]) != t.fingerprint {
			return false, &apiError{
				Type:    typeIdempotentMismatch,
				Message: "The provided client token '" + t.token + "' was already used with other parameters",
			}
		}
		restoreReadUnits(stored[8+sha256.Size:], t.changes)
		return true, nil
	}
	until := uint64(now.Add(tokenLifetime).Unix()) //nolint:gosec // after 1970
	return false, run(func(batch *pebble.Batch) error {
		value := append(binary.BigEndian.AppendUint64(nil, until), t.fingerprint[:]...)
		value = appendReadUnits(value, t.changes)
		return errors.Join(batch.Set(tokenKey(t.token), value, nil), batch.Set(tokenAgeKey(until, t.token), nil, nil))
	})
}

// sweepTokens forgets expired tokens.
func (db *DB) sweepTokens(now time.Time) error {
	batch := db.folder.DB.NewBatch()
	defer discard(batch)
	bound := tokenAgeKey(uint64(max(0, now.Unix())), "")
	iterator, err := db.folder.DB.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceTokenAge}, UpperBound: bound})
	if err != nil {
		return fmt.Errorf("reading expired tokens: %w", err)
	}
	held := map[string]bool{}
	for valid := iterator.First(); valid && err == nil; valid = iterator.Next() {
		token := string(iterator.Key()[9:])
		if !held[token] {
			if !db.tokens.begin(token) {
				continue // in use: the next sweep sees it
			}
			held[token] = true
			defer db.tokens.end(token) // when the batch is written
		}
		err = db.forgetToken(batch, token, iterator.Key())
	}
	if err := errors.Join(err, iterator.Error(), iterator.Close()); err != nil {
		return fmt.Errorf("reading expired tokens: %w", err)
	}
	if batch.Empty() {
		return nil
	}
	if err := db.folder.CommitSync(batch); err != nil {
		return fmt.Errorf("forgetting expired tokens: %w", err)
	}
	return nil
}

// forgetToken deletes an expired token, unless a later transaction has it again.
func (db *DB) forgetToken(batch *pebble.Batch, token string, ageKey []byte) error {
	second := ageKey[1:9]
	stored, err := db.read(tokenKey(token))
	if err != nil {
		return err
	}
	if len(stored) >= 8 && string(stored[:8]) == string(second) {
		err = batch.Delete(tokenKey(token), nil)
	}
	return errors.Join(err, batch.Delete(ageKey, nil))
}

// fingerprint is a digest of everything that actions say, in an order that does
// not depend on how a client happened to write its maps.
func fingerprint(actions []*action) [sha256.Size]byte {
	digest := sha256.New()
	for _, a := range actions {
		writePart(digest, []byte(a.kind))
		writePart(digest, []byte(tableNameOf(*a.TableName)))
		writePart(digest, a.Item.AppendJSON(nil))
		writePart(digest, a.Key.AppendJSON(nil))
		for _, expression := range []*string{a.ConditionExpression, a.UpdateExpression} {
			if expression == nil {
				writePart(digest, nil)
				continue
			}
			writePart(digest, []byte(*expression))
		}
		for _, name := range slices.Sorted(maps.Keys(a.ExpressionAttributeNames)) {
			writePart(digest, []byte(name))
			writePart(digest, []byte(a.ExpressionAttributeNames[name]))
		}
		writePart(digest, a.ExpressionAttributeValues.AppendJSON(nil))
		writePart(digest, []byte(a.ReturnValuesOnConditionCheckFailure))
	}
	return [sha256.Size]byte(digest.Sum(nil))
}

// writePart adds one part with its length, so that no two lists of parts are alike.
func writePart(digest hash.Hash, part []byte) {
	_, _ = digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	_, _ = digest.Write(part)
}
