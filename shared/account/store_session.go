package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// session reads a session and its user in one call. Error: db.ErrNotFound if either is missing or over.
func (s store) session(ctx context.Context, userID, sessionID string) (Session, User, error) {
	sessionKey, userKey := db.SessionKey(userID, sessionID), db.UserKey(userID)
	items, err := s.accounts.BatchGet(ctx, sessionKey, userKey)
	if err != nil {
		return Session{}, User{}, fmt.Errorf("reading a session: %w", err)
	}
	if items[sessionKey] == nil || items[userKey] == nil {
		return Session{}, User{}, db.ErrNotFound
	}
	session, err := db.Decode[sessionRecord](items[sessionKey])
	if err != nil {
		return Session{}, User{}, err
	}
	user, err := db.Decode[userRecord](items[userKey])
	if err != nil {
		return Session{}, User{}, err
	}
	return session.session(), user.user(), nil
}

// renewSession moves a session's times on. Error: errStale if another request did so first, or ended it.
func (s store) renewSession(ctx context.Context, before, after Session) error {
	seen := expression.Name("lastSeenAt")
	update := expression.
		Set(seen, expression.Value(clock.Stamp(after.LastSeenAt).String())).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(after.ExpiresAt.Unix()))
	_, err := s.client.Do(ctx, s.accounts.Update(db.SessionKey(before.UserID, before.ID), update).
		If(seen.Equal(expression.Value(clock.Stamp(before.LastSeenAt).String()))))
	if errors.Is(err, db.ErrConditionFailed) {
		return errStale
	}
	if err != nil {
		return fmt.Errorf("renewing a session: %w", err)
	}
	return nil
}

// endSession removes a session, if it is there.
func (s store) endSession(ctx context.Context, userID, sessionID string) error {
	if _, err := s.client.Do(ctx, s.accounts.Delete(db.SessionKey(userID, sessionID))); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// endLiveSession removes a session of the user's current generation. Error: db.ErrNotFound if there is none such.
// The answer tells, so the delete reads first and removes in a transaction: a repetition after a lost reply is known
// for what it is, and does not turn into "not found".
func (s store) endLiveSession(ctx context.Context, user User, sessionID string, now time.Time) error {
	key := db.SessionKey(user.ID, sessionID)
	item, err := s.accounts.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("reading a session: %w", err)
	}
	record, err := db.Decode[sessionRecord](item)
	if err != nil {
		return err
	}
	if !record.session().alive(user, now) {
		return db.ErrNotFound
	}
	err = s.client.Transact(ctx, s.accounts.Delete(key).If(s.accounts.Exists()))
	if errors.Is(err, db.ErrConditionFailed) {
		return db.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// maxListedSessions keeps the answer within API.md's 4 MiB, whatever clients call themselves. Nobody has that many, but
// a program that logs in for every call.
const maxListedSessions = 5000

// sessions lists the user's live sessions, newest first.
func (s store) sessions(ctx context.Context, user User, now time.Time) ([]Session, error) {
	var list []Session
	q := db.Query{Prefix: db.SessionsOf(user.ID), Descending: true}
	for {
		page, err := s.accounts.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("listing sessions: %w", err)
		}
		for _, item := range page.Items {
			record, err := db.Decode[sessionRecord](item)
			if err != nil {
				return nil, err
			}
			if session := record.session(); session.alive(user, now) && len(list) < maxListedSessions {
				list = append(list, session)
			}
		}
		if page.Next.IsZero() || len(list) == maxListedSessions {
			return list, nil
		}
		q.After = page.Next
	}
}

// rehash replaces a password's hash by one of the same password.
type rehash struct{ old, fresh string }

// signIn is the transaction that ends a successful password check.
type signIn struct {
	session Session
	email   string
	noteIP  string    // the address to note as known; empty: noted lately
	refunds []counter // the counters that only count failures
	rehash  *rehash
	ends    string // the session that this one takes the place of, or ""
}

// startSession makes a signIn true, all of it or nothing.
func (s store) startSession(ctx context.Context, in signIn, now time.Time) error {
	var w writes
	w.create(s.accounts, db.SessionKey(in.session.UserID, in.session.ID), in.session.record())
	for _, c := range in.refunds {
		w.add(s.refund(c))
	}
	if in.noteIP != "" {
		s.noteIP(&w, in.email, in.noteIP, now)
	}
	if in.ends != "" {
		w.add(s.accounts.Delete(db.SessionKey(in.session.UserID, in.ends)))
	}
	rehashAt := -1
	if in.rehash != nil {
		hash := expression.Name("passwordHash")
		rehashAt = w.add(s.accounts.Update(db.EmailKey(in.email), expression.Set(hash, expression.Value(in.rehash.fresh))).
			If(hash.Equal(expression.Value(in.rehash.old))))
	}
	if w.err != nil {
		return w.err
	}
	err := s.client.Transact(ctx, w.list...)
	if db.FailedAt(err, rehashAt) {
		return errStale
	}
	if err != nil {
		return fmt.Errorf("starting a session: %w", err)
	}
	return nil
}
