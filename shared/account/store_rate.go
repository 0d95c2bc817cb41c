package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"devplatform/shared/db"
)

const (
	// counterLinger keeps a counter a little longer than its window, so that a refund never meets a vanished one.
	counterLinger = time.Hour
	// knownIPLife is how long an address counts as one from which somebody logged in to an account.
	knownIPLife = 365 * 24 * time.Hour
	// knownIPRefresh spares the write while most of that life is left.
	knownIPRefresh = knownIPLife - 24*time.Hour
)

func counterDBKey(c counter) db.Key { return db.CounterKey(c.rule, c.starts, c.key) }

// count adds one attempt to each counter, at once, unless one is full: then none keeps it. It answers with how many
// attempts each has seen, this one included, and which are full. Exact under concurrency: each counter admits exactly
// its limit, by condition. If the reply to a write is lost and the SDK repeats it, that attempt counts twice; a limit
// may err on that side.
func (s store) count(ctx context.Context, counters []counter) (used []int, full []bool, err error) {
	used, full = make([]int, len(counters)), make([]bool, len(counters))
	var group errgroup.Group
	for i, c := range counters {
		group.Go(func() (err error) {
			used[i], full[i], err = s.countOne(ctx, c)
			return err
		})
	}
	err = group.Wait()
	refused := err != nil
	for _, f := range full {
		refused = refused || f
	}
	if refused {
		err = errors.Join(err, s.giveBack(ctx, counters, used, full))
	}
	return used, full, err
}

func (s store) countOne(ctx context.Context, c counter) (used int, full bool, err error) {
	hits := expression.Name("hits")
	update := expression.Add(hits, expression.Value(1)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(c.ends.Add(counterLinger).Unix()))
	item, err := s.client.Do(ctx, s.accounts.Update(counterDBKey(c), update).
		If(expression.AttributeNotExists(hits).Or(hits.LessThan(expression.Value(c.limit)))))
	if errors.Is(err, db.ErrConditionFailed) {
		return c.limit, true, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("counting %s: %w", c.rule, err)
	}
	record, err := db.Decode[counterRecord](item)
	return record.Hits, false, err
}

// giveBack takes an attempt back from the counters that did count it. It runs to its end even when the client has gone:
// what stays counted would hold somebody back for the rest of the window.
func (s store) giveBack(ctx context.Context, counters []counter, used []int, full []bool) error {
	ctx = context.WithoutCancel(ctx)
	var group errgroup.Group
	for i, c := range counters {
		if full[i] || used[i] == 0 {
			continue
		}
		used[i]--
		group.Go(func() error {
			if _, err := s.client.Do(ctx, s.refund(c)); err != nil {
				return fmt.Errorf("giving back to %s: %w", c.rule, err)
			}
			return nil
		})
	}
	return group.Wait() //nolint:wrapcheck // wrapped inside
}

// refund is the write that takes one attempt back.
func (s store) refund(c counter) db.Write {
	return s.accounts.Update(counterDBKey(c), expression.Add(expression.Name("hits"), expression.Value(-1)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(c.ends.Add(counterLinger).Unix())))
}

// loginState is what a password check starts from.
type loginState struct {
	credential Credential // zero if there is no such account
	knownIP    bool       // somebody logged in to it from this address
	freshIP    bool       // and lately, so that there is no need to note it again
	used       map[db.Key]int
}

// login reads, in one call, all that a password check wants to know beforehand: the account, whether the address is a
// known one, and where the counters stand.
func (s store) login(ctx context.Context, email, ip string, counters []counter, now time.Time) (loginState, error) {
	emailKey, ipKey := db.EmailKey(email), db.KnownIPKey(email, ip)
	keys := []db.Key{emailKey, ipKey}
	for _, c := range counters {
		keys = append(keys, counterDBKey(c))
	}
	items, err := s.accounts.BatchGet(ctx, keys...)
	if err != nil {
		return loginState{}, fmt.Errorf("reading an account: %w", err)
	}
	state := loginState{used: make(map[db.Key]int, len(counters))}
	if item, ok := items[emailKey]; ok {
		record, err := db.Decode[emailRecord](item)
		if err != nil {
			return loginState{}, err
		}
		state.credential = Credential(record)
	}
	if item, ok := items[ipKey]; ok {
		record, err := db.Decode[knownIPRecord](item)
		if err != nil {
			return loginState{}, err
		}
		state.knownIP = true
		state.freshIP = time.Unix(record.ExpiresAt, 0).Sub(now) > knownIPRefresh
	}
	for _, key := range keys[2:] {
		record, err := db.Decode[counterRecord](items[key])
		if err != nil {
			return loginState{}, err
		}
		state.used[key] = record.Hits
	}
	return state, nil
}

// noteIP adds the note that somebody logged in to email from ip.
func (s store) noteIP(w *writes, email, ip string, now time.Time) {
	w.put(s.accounts, db.KnownIPKey(email, ip), knownIPRecord{ExpiresAt: now.Add(knownIPLife).Unix()})
}
