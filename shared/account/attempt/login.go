package attempt

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

const (
	// knownLife is how long a network stays known to an account after a login from it.
	knownLife = 365 * 24 * time.Hour
	// A login stores a known network again when knownRefresh or less of its life remains.
	knownRefresh = knownLife - 24*time.Hour
)

type knownNetwork struct {
	ExpiresAt int64 `dynamodbav:"expiresAt"` // in seconds since 1970
}

// Login is an attempt to check the password of an account.
type Login struct {
	limit.Attempt // set by Count

	limiter    *Limiter
	email      string
	network    string
	counters   []limit.Counter
	knownUntil time.Time // zero if the network is not known to the account
}

// Login returns an attempt to check the password of the account with an e-mail address.
func (l *Limiter) Login(email string, client httpapi.RequestInfo) *Login {
	net, limits := network(client), l.limits
	pair := limit.Rule{Name: "login-pair", Limit: limits.LoginPair, Window: quarterHour, FailuresOnly: true}
	ip := limit.Rule{Name: "login-ip", Limit: limits.LoginIP, Window: quarterHour}
	anyIP := limit.Rule{Name: "login-email", Limit: limits.LoginEmail, Window: quarterHour, FailuresOnly: true}
	return &Login{limiter: l, email: email, network: net, counters: []limit.Counter{
		l.counter(pair, email, net), l.counter(ip, net), l.counter(anyIP, email),
	}}
}

// Keys returns the keys of the items that Count needs.
func (a *Login) Keys() []db.Key {
	keys := []db.Key{db.KnownIPKey(a.email, a.network)}
	for _, counter := range a.counters {
		keys = append(keys, counter.Key())
	}
	return keys
}

// Count counts the attempt. items are the stored items with the keys of Keys. The limit for the e-mail address does not
// apply to networks that are known to the account, so that an attacker in another network cannot lock out the user.
// Error: AUTH_RATE_LIMITED.
func (a *Login) Count(ctx context.Context, items map[db.Key]db.Item) error {
	known, err := db.Decode[knownNetwork](items[db.KnownIPKey(a.email, a.network)])
	for i := range a.counters {
		err = errors.Join(err, a.counters[i].Load(items[a.counters[i].Key()]))
	}
	if err != nil {
		return err
	}
	if known.ExpiresAt != 0 {
		a.knownUntil, a.counters = time.Unix(known.ExpiresAt, 0), a.counters[:2]
	}
	a.Attempt, err = a.limiter.count(ctx, a.counters...)
	return err
}

// Success returns the writes of a login that succeeds: they refund the attempt, and make the network known to the
// account, at most once a day.
func (a *Login) Success() []db.Write {
	writes := a.Refunds()
	if a.knownUntil.Sub(a.limiter.now()) <= knownRefresh {
		writes = append(writes, a.limiter.know(a.email, a.network))
	}
	return writes
}

// Know returns the write that makes the network of a client known to the account with an e-mail address.
func (l *Limiter) Know(email string, client httpapi.RequestInfo) db.Write {
	return l.know(email, network(client))
}

func (l *Limiter) know(email, net string) db.Write {
	return l.accounts.Put(db.KnownIPKey(email, net), knownNetwork{ExpiresAt: l.now().Add(knownLife).Unix()})
}
