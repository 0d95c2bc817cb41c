// Package attempt limits the attempts to sign up, to check a password, to start a sign-in with a code host, to request
// a mail, and to use the token or the code of a mail. It remembers which networks are known to an account. It must not
// decide whether an attempt succeeds.
package attempt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

// Limits are the numbers of attempts that are allowed in a fixed window. A client network is an IPv4 address or the /64
// prefix of an IPv6 address.
type Limits struct {
	// LoginPair limits failed logins per e-mail address and client network in 15 minutes.
	LoginPair int `env:"LIMIT_LOGIN_PAIR" envDefault:"10" min:"1"`
	// LoginEmail limits failed logins per e-mail address in 15 minutes, from networks that are not known to the account.
	// A login or a sign-up makes its network known for a year.
	LoginEmail int `env:"LIMIT_LOGIN_EMAIL" envDefault:"100" min:"1"`
	// LoginIP limits all login attempts per client network in 15 minutes.
	LoginIP int `env:"LIMIT_LOGIN_IP" envDefault:"300" min:"1"`
	// SignupIP limits sign-ups per client network in an hour.
	SignupIP int `env:"LIMIT_SIGNUP_IP" envDefault:"100" min:"1"`
	// OAuthIP limits attempts to start a sign-in with the code host, per client network in 15 minutes.
	OAuthIP int `env:"LIMIT_OAUTH_IP" envDefault:"60" min:"1"`
	// CodeIP limits requests with the token or the code of a mail, per client network in 15 minutes.
	CodeIP int `env:"LIMIT_CODE_IP" envDefault:"20" min:"1"`
	Mail   MailLimits
}

const quarterHour = 15 * time.Minute

// RateLimit is the RateLimit-* headers of a response to an attempt that was counted.
type RateLimit struct {
	Limit     int `header:"RateLimit-Limit" doc:"The maximum number of attempts per window. If several limits apply, this is the limit with the fewest remaining attempts" example:"10"`
	Remaining int `header:"RateLimit-Remaining" doc:"The number of attempts that remain in the current window" example:"9"`
	Reset     int `header:"RateLimit-Reset" doc:"The number of seconds until the current window ends" example:"840"`
}

// Headers returns the RateLimit-* headers of a status.
func Headers(s limit.Status) RateLimit {
	return RateLimit{Limit: s.Limit, Remaining: s.Remaining, Reset: s.ResetSeconds()}
}

// Limiter counts attempts in the accounts table. It is safe for concurrent use.
type Limiter struct {
	counters *limit.Counters // their error is AUTH_RATE_LIMITED
	accounts db.Table
	limits   Limits
	now      clock.Clock
}

// New returns a Limiter that stores its counters in the accounts table.
func New(client *db.Client, accounts db.Table, limits Limits, now clock.Clock) *Limiter {
	counters := limit.New(client, accounts, now).WithError(TooMany)
	return &Limiter{counters: counters, accounts: accounts, limits: limits, now: now}
}

// CountCode counts an attempt to use a token or a code of a mail. Error: AUTH_RATE_LIMITED.
func (l *Limiter) CountCode(ctx context.Context, client httpapi.RequestInfo) error {
	rule := limit.Rule{Name: "code-ip", Limit: l.limits.CodeIP, Window: quarterHour}
	_, err := l.counters.Count(ctx, l.counter(rule, network(client)))
	return err
}

// CountSignup counts an attempt to sign up. Error: AUTH_RATE_LIMITED.
func (l *Limiter) CountSignup(ctx context.Context, client httpapi.RequestInfo) (limit.Attempt, error) {
	rule := limit.Rule{Name: "signup-ip", Limit: l.limits.SignupIP, Window: time.Hour}
	return l.counters.Count(ctx, l.counter(rule, network(client)))
}

// CountOAuth counts an attempt to start a sign-in with the code host. Error: AUTH_RATE_LIMITED.
func (l *Limiter) CountOAuth(ctx context.Context, client httpapi.RequestInfo) (limit.Attempt, error) {
	rule := limit.Rule{Name: "oauth-ip", Limit: l.limits.OAuthIP, Window: quarterHour}
	return l.counters.Count(ctx, l.counter(rule, network(client)))
}

// LoginCounters are the counters of an attempt to log in.
type LoginCounters struct {
	Pair  limit.Counter // Limits.LoginPair
	IP    limit.Counter // Limits.LoginIP
	Email limit.Counter // Limits.LoginEmail
}

// LoginCounters returns the counters of an attempt to log in with an e-mail address.
func (l *Limiter) LoginCounters(email string, client httpapi.RequestInfo) LoginCounters {
	net, limits := network(client), l.limits
	return LoginCounters{
		Pair: l.counter(limit.Rule{
			Name: "login-pair", Limit: limits.LoginPair, Window: quarterHour, FailuresOnly: true,
		}, email, net),
		IP: l.counter(limit.Rule{Name: "login-ip", Limit: limits.LoginIP, Window: quarterHour}, net),
		Email: l.counter(limit.Rule{
			Name: "login-email", Limit: limits.LoginEmail, Window: quarterHour, FailuresOnly: true,
		}, email),
	}
}

// Keys returns the keys of the items of the counters.
func (c LoginCounters) Keys() []db.Key { return []db.Key{c.Pair.Key(), c.IP.Key(), c.Email.Key()} }

// Load sets the numbers of attempts from the stored items of the counters.
func (c *LoginCounters) Load(items map[db.Key]db.Item) error {
	return errors.Join(
		c.Pair.Load(items[c.Pair.Key()]), c.IP.Load(items[c.IP.Key()]), c.Email.Load(items[c.Email.Key()]),
	)
}

// CountLogin counts an attempt to log in. Email does not count attempts from networks that are known to the account,
// so that an attacker in another network cannot lock out the user. Error: AUTH_RATE_LIMITED.
func (l *Limiter) CountLogin(ctx context.Context, c LoginCounters, isNetworkKnown bool) (limit.Attempt, error) {
	counters := []limit.Counter{c.Pair, c.IP}
	if !isNetworkKnown {
		counters = append(counters, c.Email)
	}
	return l.counters.Count(ctx, counters...)
}

// Forgive returns the writes that reset two counters of failed logins with an e-mail address: Pair for the client's
// network, and Email. The counters Pair of other networks do not change.
func (l *Limiter) Forgive(email string, client httpapi.RequestInfo) []db.Write {
	counters := l.LoginCounters(email, client)
	return []db.Write{l.accounts.Delete(counters.Pair.Key()), l.accounts.Delete(counters.Email.Key())}
}

// counter returns the counter of a rule for a subject, such as an e-mail address and a network. The parts of the
// subject are hashed, so that a client cannot choose the key of an item.
func (l *Limiter) counter(rule limit.Rule, subject ...string) limit.Counter {
	return l.counters.Counter(rule, Hash(subject...))
}

// network returns the network of a client: an IPv4 address, or the /64 prefix of an IPv6 address.
func network(client httpapi.RequestInfo) string { return httpapi.RateKey(client.SourceIP) }

// Hash returns a hash of fixed size of strings that clients choose. Each part is hashed separately first, so that
// ("a", "bc") and ("ab", "c") have different hashes.
func Hash(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
