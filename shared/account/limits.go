package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

var errTooMany = fault.New(fault.CodeAuthRateLimited, "Too many attempts. Please wait and try again.")

// Limits are the numbers of attempts that are allowed in a fixed window. A client network is an IPv4 address or the /64
// prefix of an IPv6 address.
type Limits struct {
	// LoginPair limits failed logins per e-mail address and client network in 15 minutes.
	LoginPair int `env:"LIMIT_LOGIN_PAIR" envDefault:"10"`
	// LoginEmail limits failed logins per e-mail address in 15 minutes, from networks that are not known to the account.
	// A login makes its network known for a year.
	LoginEmail int `env:"LIMIT_LOGIN_EMAIL" envDefault:"100"`
	// LoginIP limits all login attempts per client network in 15 minutes.
	LoginIP int `env:"LIMIT_LOGIN_IP" envDefault:"300"`
	// SignupIP limits sign-ups per client network in an hour.
	SignupIP int `env:"LIMIT_SIGNUP_IP" envDefault:"100"`
	// OAuthIP limits attempts to start a sign-in with the code host, per client network in 15 minutes.
	OAuthIP int `env:"LIMIT_OAUTH_IP" envDefault:"60"`
}

// Validate returns an error if a limit would reject every attempt. The error names the environment variable.
func (l Limits) Validate() error {
	for name, value := range map[string]int{
		"LIMIT_LOGIN_PAIR": l.LoginPair, "LIMIT_LOGIN_EMAIL": l.LoginEmail, "LIMIT_LOGIN_IP": l.LoginIP,
		"LIMIT_SIGNUP_IP": l.SignupIP, "LIMIT_OAUTH_IP": l.OAuthIP,
	} {
		if value < 1 {
			return fmt.Errorf("%s: must be at least 1", name)
		}
	}
	return nil
}

type rules struct{ loginPair, loginEmail, loginIP, signupIP, oauthIP limit.Rule }

func (l Limits) rules() rules {
	const quarterHour = 15 * time.Minute
	return rules{
		loginPair:  limit.Rule{Name: "login-pair", Limit: l.LoginPair, Window: quarterHour, FailuresOnly: true},
		loginEmail: limit.Rule{Name: "login-email", Limit: l.LoginEmail, Window: quarterHour, FailuresOnly: true},
		loginIP:    limit.Rule{Name: "login-ip", Limit: l.LoginIP, Window: quarterHour},
		signupIP:   limit.Rule{Name: "signup-ip", Limit: l.SignupIP, Window: time.Hour},
		oauthIP:    limit.Rule{Name: "oauth-ip", Limit: l.OAuthIP, Window: quarterHour},
	}
}

// counter returns the counter of a rule for a subject, such as an e-mail address and a network. The parts of the
// subject are hashed, so that a client cannot choose the key of an item.
func (s *Service) counter(rule limit.Rule, subject ...string) limit.Counter {
	return s.counters.Counter(rule, hashParts(subject...))
}

// loginCounters returns the counters of a password check. The last one applies only to networks that are not known to
// the account, so that an attacker in another network cannot lock out the user.
func (s *Service) loginCounters(email, network string) []limit.Counter {
	return []limit.Counter{
		s.counter(s.rules.loginPair, email, network),
		s.counter(s.rules.loginIP, network),
		s.counter(s.rules.loginEmail, email),
	}
}

// count adds an attempt to the counters. Error: AUTH_RATE_LIMITED if one of them has reached its limit.
func (s *Service) count(ctx context.Context, counters ...limit.Counter) (limit.Attempt, error) {
	attempt, err := s.counters.Count(ctx, counters...)
	if errors.Is(err, limit.ErrTooMany) {
		return attempt, tooMany(attempt.Status()).WithCause(err)
	}
	return attempt, err
}

func tooMany(status limit.Status) *fault.Error {
	return status.WithHeaders(status.WithRetryAfter(errTooMany))
}

// hashParts returns a hash of fixed size of strings that clients choose. Each part is hashed separately first, so that
// ("a", "bc") and ("ab", "c") have different keys.
func hashParts(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
