package account

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Limits are the counts behind AUTH_RATE_LIMITED (API.md §2). Windows are fixed by the contract, counts are settable.
type Limits struct {
	// LoginPair bounds failed logins in 15 min for one e-mail from one address.
	LoginPair int `env:"LIMIT_LOGIN_PAIR" envDefault:"10"`
	// LoginEmail bounds failed logins in 15 min for one e-mail, from addresses that never logged in to it.
	LoginEmail int `env:"LIMIT_LOGIN_EMAIL" envDefault:"100"`
	// LoginIP bounds logins in 15 min from one address.
	LoginIP int `env:"LIMIT_LOGIN_IP" envDefault:"300"`
	// SignupIP bounds sign-ups in an hour from one address.
	SignupIP int `env:"LIMIT_SIGNUP_IP" envDefault:"100"`
	// OAuthIP bounds starts of the code-host flow in 15 min from one address.
	OAuthIP int `env:"LIMIT_OAUTH_IP" envDefault:"60"`
}

// check reports a limit that would let nobody in.
func (l Limits) check() error {
	for name, limit := range map[string]int{
		"LIMIT_LOGIN_PAIR": l.LoginPair, "LIMIT_LOGIN_EMAIL": l.LoginEmail, "LIMIT_LOGIN_IP": l.LoginIP,
		"LIMIT_SIGNUP_IP": l.SignupIP, "LIMIT_OAUTH_IP": l.OAuthIP,
	} {
		if limit < 1 {
			return fmt.Errorf("%s: must be at least 1", name)
		}
	}
	return nil
}

// Names of the rules: part of the counters' keys, so never to be changed or reused for something else.
const (
	ruleLoginPair  = "login-pair"
	ruleLoginEmail = "login-email"
	ruleLoginIP    = "login-ip"
	ruleSignupIP   = "signup-ip"
	ruleOAuthIP    = "oauth-ip"
)

const (
	loginWindow  = 15 * time.Minute
	signupWindow = time.Hour
	oauthWindow  = 15 * time.Minute
)

// counter is one rule applied to one subject in the window that now lies in. Windows are aligned to the epoch.
type counter struct {
	rule   string
	key    string // a hash: whatever a caller sends in can't shape the record's key
	limit  int
	refund bool // counts failures only: an attempt that succeeds is given back
	starts time.Time
	ends   time.Time
}

func newCounter(rule string, limit int, window time.Duration, now time.Time, parts ...string) counter {
	starts := now.UTC().Truncate(window)
	return counter{rule: rule, key: hashParts(parts...), limit: limit, starts: starts, ends: starts.Add(window)}
}

func (c counter) failuresOnly() counter {
	c.refund = true
	return c
}

// loginCounters are the counters of a password check, tightest subject first. The e-mail's own counter only holds back
// strangers: somebody who hammers an account from elsewhere can't lock its owner out of a place they use.
func (l Limits) loginCounters(email, ip string, knownIP bool, now time.Time) []counter {
	counters := []counter{
		newCounter(ruleLoginPair, l.LoginPair, loginWindow, now, email, ip).failuresOnly(),
		newCounter(ruleLoginIP, l.LoginIP, loginWindow, now, ip),
	}
	if !knownIP {
		counters = append(counters, newCounter(ruleLoginEmail, l.LoginEmail, loginWindow, now, email).failuresOnly())
	}
	return counters
}

func (l Limits) signupCounter(ip string, now time.Time) counter {
	return newCounter(ruleSignupIP, l.SignupIP, signupWindow, now, ip)
}

func (l Limits) oauthCounter(ip string, now time.Time) counter {
	return newCounter(ruleOAuthIP, l.OAuthIP, oauthWindow, now, ip)
}

// Standing is what is left of the rule that is closest to refusing.
type Standing struct {
	Limit     int
	Remaining int
	Reset     time.Duration // until the window ends
}

// Headers are the RateLimit-* fields of a standing, in whole seconds, rounded up.
func (s Standing) Headers() http.Header {
	return http.Header{
		"Ratelimit-Limit":     {strconv.Itoa(s.Limit)},
		"Ratelimit-Remaining": {strconv.Itoa(s.Remaining)},
		"Ratelimit-Reset":     {strconv.Itoa(wholeSeconds(s.Reset))},
	}
}

func wholeSeconds(d time.Duration) int {
	return max(int((d+time.Second-1)/time.Second), 1)
}

// standing is where a counter stands after used attempts.
func (c counter) standing(used int, now time.Time) Standing {
	return Standing{Limit: c.limit, Remaining: max(c.limit-used, 0), Reset: c.ends.Sub(now)}
}

// tighter reports whether s refuses earlier than o, or as early but for longer.
func (s Standing) tighter(o Standing) bool {
	if s.Remaining != o.Remaining {
		return s.Remaining < o.Remaining
	}
	return s.Reset > o.Reset
}

// tightest picks the tightest of at least one standing.
func tightest(standings []Standing) Standing {
	t := standings[0]
	for _, s := range standings[1:] {
		if s.tighter(t) {
			t = s
		}
	}
	return t
}

// hashParts makes a fixed-size key of parts that people chose. Each part is hashed on its own first: ("a", "bc") and
// ("ab", "c") don't meet.
func hashParts(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
