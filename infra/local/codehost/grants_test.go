package codehost

import (
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"time"

	oautherrors "github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/models"
)

// A replay can fall between a code's redemption and the storing of its token; that token must not come to life.
func TestReplayBeforeTheTokenIsStored(t *testing.T) {
	t.Parallel()
	g := newGrants(time.Now, slog.New(slog.DiscardHandler))
	code := models.NewToken()
	code.SetCode("c")
	code.SetCodeExpiresIn(time.Minute)
	if err := errors.Join(g.Create(t.Context(), code), g.RemoveByCode(t.Context(), "c")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.GetByCode(t.Context(), "c"); !errors.Is(err, oautherrors.ErrInvalidAuthorizeCode) {
		t.Fatalf("replay: %v", err)
	}
	token := models.NewToken()
	token.SetAccess("t")
	token.SetAccessExpiresIn(time.Minute)
	token.SetExtension(url.Values{fromCode: {"c"}})
	if err := g.Create(t.Context(), token); !errors.Is(err, oautherrors.ErrInvalidAuthorizeCode) {
		t.Errorf("the token was stored: %v", err)
	}
	if _, err := g.GetByAccess(t.Context(), "t"); !errors.Is(err, oautherrors.ErrInvalidAccessToken) {
		t.Errorf("the token works: %v", err)
	}
}
