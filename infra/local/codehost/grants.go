package codehost

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
	"sync"
	"time"
)

// grant is what a user has allowed the client.
type grant struct {
	userID int64
	scopes []string
}

// code is an authorization code. A redeemed code is kept for as long as its token is valid: if it comes again, the
// token is revoked (RFC 6749 §4.1.2).
type code struct {
	grant
	redirectURI, challenge string
	expires                time.Time
	redeemed               bool
	token                  string // the token that the code was redeemed for
}

type token struct {
	grant
	expires time.Time
}

// grants holds codes and tokens in memory.
type grants struct {
	now func() time.Time
	log *slog.Logger

	mu     sync.Mutex
	codes  map[string]*code
	tokens map[string]token
}

func newGrants(now func() time.Time, log *slog.Logger) *grants {
	return &grants{now: now, log: log, codes: map[string]*code{}, tokens: map[string]token{}}
}

// issueCode stores a code and returns its key.
func (g *grants) issueCode(c code) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deleteExpired()
	key := "chc_" + randomText()
	c.expires = g.now().Add(codeLife)
	g.codes[key] = &c
	return key
}

// redeem exchanges a code for an access token. A code can be used once, also if the redirect URI or the verifier is
// wrong.
func (g *grants) redeem(key, redirectURI, verifier string) (access string, granted grant, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.codes[key]
	switch {
	case c == nil:
		return "", grant{}, false
	case c.redeemed:
		delete(g.tokens, c.token)
		g.log.Warn("codehost: an authorization code was used again; its token is revoked")
		return "", grant{}, false
	}
	c.redeemed = true
	if !g.now().Before(c.expires) || redirectURI != c.redirectURI || !provesChallenge(verifier, c.challenge) {
		return "", grant{}, false
	}
	c.token = "cht_" + randomText()
	g.tokens[c.token] = token{grant: c.grant, expires: g.now().Add(tokenLife)}
	return c.token, c.grant, true
}

// find returns the grant of an access token.
func (g *grants) find(access string) (grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, ok := g.tokens[access]
	return t.grant, ok && g.now().Before(t.expires)
}

func (g *grants) deleteExpired() {
	now := g.now()
	for key, c := range g.codes {
		if now.After(c.expires.Add(tokenLife)) {
			delete(g.codes, key)
		}
	}
	for key, t := range g.tokens {
		if now.After(t.expires) {
			delete(g.tokens, key)
		}
	}
}

// provesChallenge is the S256 check of RFC 7636 §4.6.
func provesChallenge(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// randomText returns 256 random bits as text.
func randomText() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
