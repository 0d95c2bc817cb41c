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

// knownNetwork is the record of a network that is known to an account. It is stored below the address, so that a login
// reads it with the password. The address can belong to another user later, who has not used the network.
type knownNetwork struct {
	UserID    string `dynamodbav:"userId"`
	ExpiresAt int64  `dynamodbav:"expiresAt"` // in seconds since 1970
}

// Login is an attempt to check the password of an account.
type Login struct {
	limit.Attempt // set by Count

	limiter *Limiter
	email   string
	network string
	userID  string

	byPair, byIP limit.Counter
	byEmail      limit.Counter // does not count attempts from a known network
	knownUntil   time.Time     // zero if the network is not known to the account
}

// Login returns an attempt to check the password of the account with an e-mail address.
func (l *Limiter) Login(email string, client httpapi.RequestInfo) *Login {
	net, limits := network(client), l.limits
	byPair := limit.Rule{Name: "login-pair", Limit: limits.LoginPair, Window: quarterHour, FailuresOnly: true}
	byIP := limit.Rule{Name: "login-ip", Limit: limits.LoginIP, Window: quarterHour}
	byEmail := limit.Rule{Name: "login-email", Limit: limits.LoginEmail, Window: quarterHour, FailuresOnly: true}
	return &Login{
		limiter: l, email: email, network: net,
		byPair: l.counter(byPair, email, net), byIP: l.counter(byIP, net), byEmail: l.counter(byEmail, email),
	}
}

// Keys returns the keys of the items that Count needs.
func (a *Login) Keys() []db.Key {
	return []db.Key{db.KnownIPKey(a.email, a.network), a.byPair.Key(), a.byIP.Key(), a.byEmail.Key()}
}

// Count counts the attempt. items are the stored items with the keys of Keys. userID is the ID of the user with the
// e-mail address, "" if there is none. The limit for the e-mail address does not apply to networks that are known to
// the account, so that an attacker in another network cannot lock out the user. Error: AUTH_RATE_LIMITED.
func (a *Login) Count(ctx context.Context, userID string, items map[db.Key]db.Item) error {
	a.userID = userID
	known, err := db.Decode[knownNetwork](items[db.KnownIPKey(a.email, a.network)])
	for _, counter := range []*limit.Counter{&a.byPair, &a.byIP, &a.byEmail} {
		err = errors.Join(err, counter.Load(items[counter.Key()]))
	}
	if err != nil {
		return err
	}
	counters := []limit.Counter{a.byPair, a.byIP, a.byEmail}
	if known.UserID == userID && userID != "" {
		a.knownUntil, counters = time.Unix(known.ExpiresAt, 0), []limit.Counter{a.byPair, a.byIP}
	}
	a.Attempt, err = a.limiter.count(ctx, counters...)
	return err
}

// IsKnown reports whether the user has logged in from the network before. It is valid after Count.
func (a *Login) IsKnown() bool { return !a.knownUntil.IsZero() }

// Success returns the writes of a login that succeeds: they refund the attempt, and make the network known to the
// account, at most once a day.
func (a *Login) Success() []db.Write {
	writes := a.Refunds()
	if a.knownUntil.Sub(a.limiter.now()) <= knownRefresh {
		writes = append(writes, a.limiter.know(a.email, a.userID, a.network))
	}
	return writes
}

// Forgive returns the writes that reset the failed logins with an e-mail address: the counter of the client's network,
// and the counter of all networks together. The counters of other networks with this address do not change.
func (l *Limiter) Forgive(email string, client httpapi.RequestInfo) []db.Write {
	a := l.Login(email, client)
	return []db.Write{l.accounts.Delete(a.byPair.Key()), l.accounts.Delete(a.byEmail.Key())}
}

// KnownKey returns the key of the item with which IsKnown decides about the network of a client.
func KnownKey(email string, client httpapi.RequestInfo) db.Key {
	return db.KnownIPKey(email, network(client))
}

// IsKnown reports whether a user has logged in from a network before, by the item with the key of KnownKey.
func IsKnown(userID string, item db.Item) (bool, error) {
	known, err := db.Decode[knownNetwork](item)
	return userID != "" && known.UserID == userID, err
}

// Know returns the write that makes the network of a client known to the user with an e-mail address.
func (l *Limiter) Know(email, userID string, client httpapi.RequestInfo) db.Write {
	return l.know(email, userID, network(client))
}

func (l *Limiter) know(email, userID, net string) db.Write {
	known := knownNetwork{UserID: userID, ExpiresAt: l.now().Add(knownLife).Unix()}
	return l.accounts.Put(db.KnownIPKey(email, net), known)
}
