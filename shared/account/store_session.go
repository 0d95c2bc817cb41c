package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

// loginState is the stored data that a password check uses.
type loginState struct {
	email      string
	credential Credential // zero if there is no such account
	knownUntil time.Time  // the client's network is known to the account until then; zero if it is not known
}

// user returns the fields of the user that a session needs.
func (s loginState) user() User {
	return User{ID: s.credential.UserID, Email: s.email, Generation: s.credential.Generation}
}

// loginState reads the data of a password check in one call, and loads the counters.
func (s store) loginState(
	ctx context.Context, email, network string, counters []limit.Counter,
) (loginState, error) {
	keys := []db.Key{db.EmailKey(email), db.KnownIPKey(email, network)}
	for _, counter := range counters {
		keys = append(keys, counter.Key())
	}
	items, err := s.accounts.BatchGet(ctx, keys...)
	if err != nil {
		return loginState{}, fmt.Errorf("reading an account: %w", err)
	}
	state := loginState{email: email}
	credential, err := db.Decode[emailRecord](items[keys[0]])
	state.credential = Credential(credential)
	if item, ok := items[keys[1]]; ok {
		known, decodeErr := db.Decode[knownIPRecord](item)
		err = errors.Join(err, decodeErr)
		state.knownUntil = time.Unix(known.ExpiresAt, 0)
	}
	for i := range counters {
		err = errors.Join(err, counters[i].Load(items[counters[i].Key()]))
	}
	return state, err
}

// sessionRefs returns the references of a session and its user.
func (s store) sessionRefs(userID, sessionID string) (session, user db.Ref) {
	return s.accounts.Ref(db.SessionKey(userID, sessionID)), s.accounts.Ref(db.UserKey(userID))
}

// session reads a session and its user in one call. Error: db.ErrNotFound if one of them does not exist.
func (s store) session(ctx context.Context, userID, sessionID string) (Session, User, error) {
	session, user := s.sessionRefs(userID, sessionID)
	items, err := s.client.BatchGet(ctx, session, user)
	if err != nil {
		return Session{}, User{}, fmt.Errorf("reading a session: %w", err)
	}
	return decodeSession(items[session], items[user])
}

// guardSession returns a context whose guard reads the session of a token and its user. If both exist, check decides.
// Error of the guard: errSessionEnded.
func (s store) guardSession(ctx context.Context, c claims, check func(Session, User) error) context.Context {
	sessionRef, userRef := s.sessionRefs(c.Subject, c.SessionID)
	return s.client.WithGuard(ctx, func(items map[db.Ref]db.Item) error {
		session, user, err := decodeSession(items[sessionRef], items[userRef])
		if errors.Is(err, db.ErrNotFound) {
			return errSessionEnded.WithCause(err)
		}
		if err != nil {
			return err
		}
		return check(session, user)
	}, sessionRef, userRef)
}

// decodeSession decodes a session and its user. Error: db.ErrNotFound if one of them does not exist.
func decodeSession(sessionItem, userItem db.Item) (Session, User, error) {
	if sessionItem == nil || userItem == nil {
		return Session{}, User{}, db.ErrNotFound
	}
	session, err := db.Decode[sessionRecord](sessionItem)
	if err != nil {
		return Session{}, User{}, err
	}
	user, err := db.Decode[userRecord](userItem)
	return session.session(), user.user(), err
}

// activeSessions reads up to n active sessions of a user, newest first. They are older than the session after. If after
// is "", the first one is the newest session.
func (s store) activeSessions(ctx context.Context, user User, after string, n int, now time.Time) ([]Session, error) {
	const fewestRead = 1000 // in one call: many sessions of old generations can be between active ones
	q := db.Query{Prefix: db.SessionsOf(user.ID), Descending: true, Limit: max(n, fewestRead)}
	if after != "" {
		q.After = db.SessionKey(user.ID, after)
	}
	var active []Session
	for {
		page, err := s.accounts.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("listing sessions: %w", err)
		}
		records, err := db.DecodeAll[sessionRecord](page.Items)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			if session := record.session(); session.isActive(user, now) {
				active = append(active, session)
			}
		}
		if len(active) >= n || page.Next.IsZero() {
			return active[:min(n, len(active))], nil
		}
		q.After = page.Next
	}
}

// signIn is a session to start, with the other data that is written in the same transaction.
type signIn struct {
	session          Session
	token            string
	email            string     // of the account
	knownIP          string     // the network to store as known to the account; may be empty
	refunds          []db.Write // of the rate limits
	oldHash, newHash string     // if newHash is not empty, it replaces oldHash, the stored hash of the password
	replaces         string     // the ID of the session that this one replaces; may be empty
	identity         db.Key     // of an identity that must still be linked to the user; may be zero
}

// signedIn returns the part of the sign-in that the client receives.
func (in signIn) signedIn() SignedIn {
	return SignedIn{
		UserID: in.session.UserID, Token: httpapi.Renewal{Token: in.token, Expires: in.session.ExpiresAt},
	}
}

// startSession starts a session. Error: db.ErrStale if the replaced session has ended, the identity is no longer linked
// to the user, or newHash is set and oldHash is not the stored hash.
func (s store) startSession(ctx context.Context, in signIn) error {
	tx := s.client.Tx()
	s.addSignIn(tx, in)
	if in.newHash != "" {
		hash := expression.Name("passwordHash")
		update := expression.Set(hash, expression.Value(in.newHash))
		tx.Add(s.accounts.Update(db.EmailKey(in.email), update).
			If(hash.Equal(expression.Value(in.oldHash))).Else(db.ErrStale))
	}
	if !in.identity.IsZero() {
		isLinked := expression.Name("userId").Equal(expression.Value(in.session.UserID))
		tx.Add(s.accounts.Check(in.identity, isLinked).Else(db.ErrStale))
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("starting a session: %w", err)
	}
	return nil
}

// addSignIn adds the writes of a sign-in, except newHash. Error: db.ErrStale if the replaced session has ended.
func (s store) addSignIn(tx *db.Tx, in signIn) {
	tx.Add(s.accounts.Create(db.SessionKey(in.session.UserID, in.session.ID), in.session.record()).Else(db.ErrStale))
	tx.Add(in.refunds...)
	if in.knownIP != "" {
		tx.Add(s.accounts.Put(db.KnownIPKey(in.email, in.knownIP), knownIPRecord{
			ExpiresAt: in.session.CreatedAt.Add(knownIPLife).Unix(),
		}))
	}
	if in.replaces != "" { // the replaced session must still be active
		current := expression.Name("generation").Equal(expression.Value(in.session.Generation))
		tx.Add(
			s.accounts.Delete(db.SessionKey(in.session.UserID, in.replaces)).
				If(s.accounts.Exists()).If(current).Else(db.ErrStale),
			s.accounts.Check(db.UserKey(in.session.UserID), current).Else(db.ErrStale),
		)
	}
}

// refund refunds a successful attempt.
func (s store) refund(ctx context.Context, attempt limit.Attempt) error {
	if err := s.client.Tx(attempt.Refunds()...).Commit(ctx); err != nil {
		return fmt.Errorf("refunding an attempt: %w", err)
	}
	return nil
}

// renewSession stores the new times of a session. Error: db.ErrStale if another request has renewed or ended the
// session.
func (s store) renewSession(ctx context.Context, before, after Session) error {
	seen := expression.Name("lastSeenAt")
	update := expression.
		Set(seen, expression.Value(clock.Stamp(after.LastSeenAt).String())).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(after.ExpiresAt.Unix()))
	isUnchanged := seen.Equal(expression.Value(clock.Stamp(before.LastSeenAt).String()))
	write := s.accounts.Update(db.SessionKey(before.UserID, before.ID), update).If(isUnchanged).Else(db.ErrStale)
	if _, err := s.client.Do(ctx, write); err != nil {
		return fmt.Errorf("renewing a session: %w", err)
	}
	return nil
}

// endSession deletes a session, if it exists.
func (s store) endSession(ctx context.Context, userID, sessionID string) error {
	if _, err := s.client.Do(ctx, s.accounts.Delete(db.SessionKey(userID, sessionID))); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// endExistingSession deletes a session that was just read. It uses a transaction, so that a retry after a lost response
// does not return an error. Error: db.ErrNotFound.
func (s store) endExistingSession(ctx context.Context, session Session) error {
	key := db.SessionKey(session.UserID, session.ID)
	tx := s.client.Tx(s.accounts.Delete(key).If(s.accounts.Exists()).Else(db.ErrNotFound))
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}
