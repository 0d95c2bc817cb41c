package codehost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/identity"
	"devplatform/shared/db"
)

// stateLife is how long a flow may take.
const stateLife = 10 * time.Minute

// flowRecord is the record of an unfinished flow. The attribute names are part of the data format.
type flowRecord struct {
	identity.Pending
	Verifier  string `dynamodbav:"verifier"`
	Browser   string `dynamodbav:"browser"` // hash of the binding cookie
	Redirect  string `dynamodbav:"redirect"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// store stores unfinished flows in the accounts table.
type store struct {
	client   *db.Client
	accounts db.Table
}

// save stores a flow under the hash of its state.
func (s store) save(ctx context.Context, state string, flow flowRecord) error {
	if _, err := s.client.Do(ctx, s.accounts.Create(db.OAuthStateKey(attempt.Hash(state)), flow)); err != nil {
		return fmt.Errorf("storing a sign-in: %w", err)
	}
	return nil
}

// take deletes a state and returns its flow, so that each state is used once. A request from another browser does not
// delete the state. The delete is a transaction, so that a retry after a lost response does not count as a second use.
// Error: errState.
func (s store) take(ctx context.Context, state, binding string) (flowRecord, error) {
	key := db.OAuthStateKey(attempt.Hash(state))
	item, err := s.accounts.Get(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		return flowRecord{}, errState
	}
	if err != nil {
		return flowRecord{}, fmt.Errorf("reading a sign-in: %w", err)
	}
	flow, err := db.Decode[flowRecord](item)
	if err != nil {
		return flowRecord{}, err
	}
	if binding == "" || flow.Browser != attempt.Hash(binding) {
		return flowRecord{}, fmt.Errorf("%w: another browser", errState)
	}
	if err := s.client.Tx(s.accounts.Delete(key).If(s.accounts.Exists()).Else(errState)).Commit(ctx); err != nil {
		return flowRecord{}, fmt.Errorf("deleting a sign-in: %w", err)
	}
	return flow, nil
}
