package codehost

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"time"
)

// grant is an authorization of a user, to which a code or a token refers.
type grant struct {
	userID                 int64
	scopes                 []string
	redirectURI, challenge string // of a code
	expires                time.Time
}

// grants holds the codes and tokens in memory.
type grants struct {
	now func() time.Time

	mu     sync.Mutex
	codes  map[string]grant
	tokens map[string]grant
}

// issueCode stores a grant and returns its authorization code. It also deletes expired grants.
func (g *grants) issueCode(granted grant) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for _, all := range []map[string]grant{g.codes, g.tokens} {
		for key, stored := range all {
			if now.After(stored.expires) {
				delete(all, key)
			}
		}
	}
	code := "chc_" + rand.Text() + rand.Text()
	granted.expires = now.Add(codeLife)
	g.codes[code] = granted
	return code
}

// redeem exchanges a code for an access token. A code can be used once, even if the redirect URI or the verifier is
// wrong.
func (g *grants) redeem(code, redirectURI, verifier string) (token string, granted grant, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	granted, ok = g.codes[code]
	delete(g.codes, code)
	if !ok || !now.Before(granted.expires) || redirectURI != granted.redirectURI ||
		!provesChallenge(verifier, granted.challenge) {
		return "", grant{}, false
	}
	token = "cht_" + rand.Text() + rand.Text()
	granted.expires = now.Add(tokenLife)
	g.tokens[token] = granted
	return token, granted, true
}

// find returns the grant of an access token.
func (g *grants) find(token string) (grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	granted, ok := g.tokens[token]
	return granted, ok && g.now().Before(granted.expires)
}

// provesChallenge is the S256 check of RFC 7636 §4.6.
func provesChallenge(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}
