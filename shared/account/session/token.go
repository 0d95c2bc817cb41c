package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"devplatform/shared/config"
	"devplatform/shared/id"
)

const (
	// TokenIssuer is the iss claim of session tokens.
	TokenIssuer = "devplatform"
	// TokenPurpose is the label for deriving the keys of session tokens from the key ring.
	TokenPurpose = "session-token"
)

// errToken reports a session token that is invalid or has expired.
var errToken = errors.New("session: invalid session token")

// claims are the claims of a session token. sub is the ID of the user, and sid is the ID of the session. The token
// contains no other data about the user or the session.
type claims struct {
	jwt.RegisteredClaims
	SessionID string `json:"sid"`
}

// Validate implements jwt.ClaimsValidator. It checks the claims that the options of the parser do not check.
func (c claims) Validate() error {
	if c.IssuedAt == nil || !id.User.Valid(c.Subject) || !id.Session.Valid(c.SessionID) {
		return errToken
	}
	return nil
}

// sign returns a signed token for a session: a JWT (RFC 7519) with HS256. issued is the time of the token. Error:
// config.ErrUnavailable.
func (s *Service) sign(ctx context.Context, session Session, issued time.Time) (string, error) {
	kid, key, err := s.keys.Current(ctx, TokenPurpose)
	if err != nil {
		return "", fmt.Errorf("deriving the key to sign a session token: %w", err)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    TokenIssuer,
			Subject:   session.UserID,
			IssuedAt:  jwt.NewNumericDate(issued),
			ExpiresAt: jwt.NewNumericDate(session.expires()),
		},
		SessionID: session.ID,
	})
	token.Header["kid"] = kid
	signed, err := token.SignedString(key)
	if err != nil {
		return "", fmt.Errorf("signing a session token: %w", err)
	}
	return signed, nil
}

// verify returns the claims of a valid token. Errors: errToken, config.ErrUnavailable.
func (s *Service) verify(ctx context.Context, token string) (claims, error) {
	var c claims
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(TokenIssuer),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(s.now),
		jwt.WithStrictDecoding(),
	)
	_, err := parser.ParseWithClaims(token, &c, func(token *jwt.Token) (any, error) {
		kid, ok := token.Header["kid"].(string)
		if !ok {
			return nil, errToken
		}
		return s.keys.KeyToVerify(ctx, kid, TokenPurpose)
	})
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, config.ErrUnavailable):
		return claims{}, fmt.Errorf("deriving the key to verify a session token: %w", err)
	}
	return claims{}, fmt.Errorf("%w: %w", errToken, err)
}
