package codehost

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	oautherrors "github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
)

// fromCode is the extension field in which an access token remembers the code that it was issued for.
const fromCode = "code"

// newManager ties the library's manager to this provider's store, client, secrets and redirect rule.
func newManager(store *grants, c client, registered redirects) *manage.Manager {
	m := manage.NewManager()
	m.SetAuthorizeCodeExp(codeLife)
	m.SetAuthorizeCodeTokenCfg(&manage.Config{AccessTokenExp: tokenLife})
	m.MapAuthorizeGenerate(codeGenerator{})
	m.MapAccessGenerate(tokenGenerator{})
	m.MapClientStorage(c)
	m.MapTokenStorage(store)
	m.SetValidateURIHandler(func(_, redirectURI string) error {
		if !registered.allow(redirectURI) {
			return oautherrors.ErrInvalidRedirectURI
		}
		return nil
	})
	m.SetExtractExtensionHandler(func(tgr *oauth2.TokenGenerateRequest, info oauth2.ExtendableTokenInfo) {
		if tgr.Code != "" {
			info.SetExtension(url.Values{fromCode: {tgr.Code}})
		}
	})
	return m
}

// client is the one registered client. Its secret is kept as a hash and compared in constant time.
type client struct {
	models.Client
	secret [sha256.Size]byte
}

func newClient(id, secret string) client {
	return client{Client: models.Client{ID: id}, secret: sha256.Sum256([]byte(secret))}
}

// VerifyPassword implements oauth2.ClientPasswordVerifier.
func (c client) VerifyPassword(secret string) bool {
	given := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(given[:], c.secret[:]) == 1
}

// GetByID implements oauth2.ClientStore.
func (c client) GetByID(_ context.Context, id string) (oauth2.ClientInfo, error) {
	if id != c.ID {
		return nil, oautherrors.ErrInvalidClient
	}
	return &c, nil
}

// secretText makes 256 random bits. The library's own codes and tokens are UUIDs in letters of one case.
func secretText(prefix string) (string, error) {
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("codehost: %w", err)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(b), nil
}

type codeGenerator struct{}

// Token implements oauth2.AuthorizeGenerate.
func (codeGenerator) Token(context.Context, *oauth2.GenerateBasic) (string, error) {
	return secretText("chc_")
}

type tokenGenerator struct{}

// Token implements oauth2.AccessGenerate. There are no refresh tokens.
func (tokenGenerator) Token(context.Context, *oauth2.GenerateBasic, bool) (string, string, error) {
	token, err := secretText("cht_")
	return token, "", err
}

// grants holds codes and tokens in memory. It implements oauth2.TokenStore with what the manager leaves to chance: exactly one
// redemption of a code, and revocation of what a code gave when the code comes a second time (RFC 6749 §4.1.2).
type grants struct {
	now func() time.Time
	log *slog.Logger

	mu     sync.Mutex
	codes  map[string]*code
	tokens map[string]token
}

type code struct {
	info     oauth2.TokenInfo
	expires  time.Time
	redeemed bool
	replayed bool
	token    string // what it was redeemed for
}

type token struct {
	info    oauth2.TokenInfo
	expires time.Time
}

func newGrants(now func() time.Time, log *slog.Logger) *grants {
	return &grants{now: now, log: log, codes: make(map[string]*code), tokens: make(map[string]token)}
}

// Create implements oauth2.TokenStore.
func (g *grants) Create(_ context.Context, info oauth2.TokenInfo) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	g.sweep(now)
	if key := info.GetCode(); key != "" {
		g.codes[key] = &code{info: info, expires: now.Add(info.GetCodeExpiresIn())}
		return nil
	}
	if extended, ok := info.(oauth2.ExtendableTokenInfo); ok {
		if c := g.codes[extended.GetExtension().Get(fromCode)]; c != nil {
			if c.replayed { // between its redemption and now
				return oautherrors.ErrInvalidAuthorizeCode
			}
			c.token = info.GetAccess()
		}
	}
	g.tokens[info.GetAccess()] = token{info: info, expires: now.Add(info.GetAccessExpiresIn())}
	return nil
}

// sweep forgets what can no longer matter: a redeemed code is remembered for as long as its token may live.
func (g *grants) sweep(now time.Time) {
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

// GetByCode implements oauth2.TokenStore; the manager asks only after it has authenticated the client.
func (g *grants) GetByCode(_ context.Context, key string) (oauth2.TokenInfo, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.codes[key]
	switch {
	case c == nil:
		return nil, oautherrors.ErrInvalidAuthorizeCode
	case c.redeemed:
		g.revoke(c)
		return nil, oautherrors.ErrInvalidAuthorizeCode
	case !g.now().Before(c.expires):
		return nil, oautherrors.ErrInvalidAuthorizeCode
	}
	return c.info, nil
}

// RemoveByCode implements oauth2.TokenStore: of several requests that have read the same code only the first redeems it.
func (g *grants) RemoveByCode(_ context.Context, key string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.codes[key]
	if c == nil {
		return oautherrors.ErrInvalidAuthorizeCode
	}
	if c.redeemed {
		g.revoke(c)
		return oautherrors.ErrInvalidAuthorizeCode
	}
	c.redeemed = true
	return nil
}

func (g *grants) revoke(c *code) {
	c.replayed = true
	delete(g.tokens, c.token)
	g.log.Warn("codehost: an authorization code was used again; its token is revoked")
}

// GetByAccess implements oauth2.TokenStore.
func (g *grants) GetByAccess(_ context.Context, access string) (oauth2.TokenInfo, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, ok := g.tokens[access]
	if !ok {
		return nil, oautherrors.ErrInvalidAccessToken
	}
	if !g.now().Before(t.expires) {
		return nil, oautherrors.ErrExpiredAccessToken
	}
	return t.info, nil
}

// RemoveByAccess implements oauth2.TokenStore.
func (g *grants) RemoveByAccess(_ context.Context, access string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.tokens, access)
	return nil
}

// RemoveByRefresh implements oauth2.TokenStore: there are no refresh tokens.
func (*grants) RemoveByRefresh(context.Context, string) error {
	return oautherrors.ErrInvalidRefreshToken
}

// GetByRefresh implements oauth2.TokenStore: there are no refresh tokens.
func (*grants) GetByRefresh(context.Context, string) (oauth2.TokenInfo, error) {
	return nil, oautherrors.ErrInvalidRefreshToken
}
