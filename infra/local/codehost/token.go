package codehost

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	oautherrors "github.com/go-oauth2/oauth2/v4/errors"
)

// verifierPattern is RFC 7636 §4.1.
var verifierPattern = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// tokenError is an error answer of the token endpoint (RFC 6749 §5.2).
type tokenError struct {
	code, description string
}

var (
	errClient = &tokenError{"invalid_client", "the client is unknown or its secret is wrong"}
	errGrant  = &tokenError{"invalid_grant", "the code is unknown, used or expired, or the redirect_uri or code_verifier is not the one that belongs to it"}
)

func invalidRequest(description string) *tokenError {
	return &tokenError{"invalid_request", description}
}

// redeem is the token endpoint: a code against an access token.
func (s *Server) redeem(w http.ResponseWriter, r *http.Request) {
	request, no := s.readTokenRequest(r)
	if no != nil {
		s.refuseToken(w, no)
		return
	}
	info, err := s.manager.GenerateAccessToken(r.Context(), oauth2.AuthorizationCode, request)
	switch {
	case errors.Is(err, oautherrors.ErrInvalidClient):
		s.refuseToken(w, errClient)
		return
	case errors.Is(err, oautherrors.ErrInvalidAuthorizeCode), errors.Is(err, oautherrors.ErrInvalidRedirectURI),
		errors.Is(err, oautherrors.ErrInvalidCodeChallenge), errors.Is(err, oautherrors.ErrMissingCodeVerifier):
		s.refuseToken(w, errGrant)
		return
	case err != nil:
		s.log.Error("codehost: token", "error", err)
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
		return
	}
	w.Header().Set("Pragma", "no-cache")
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": info.GetAccess(),
		"token_type":   "Bearer",
		"expires_in":   int64(info.GetAccessExpiresIn() / time.Second),
		"scope":        info.GetScope(),
	})
}

// readTokenRequest takes parameters from the body alone: a URL ends up in logs.
func (s *Server) readTokenRequest(r *http.Request) (*oauth2.TokenGenerateRequest, *tokenError) {
	contentType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || contentType != "application/x-www-form-urlencoded" {
		return nil, invalidRequest("the body must be application/x-www-form-urlencoded")
	}
	if err := r.ParseForm(); err != nil {
		return nil, invalidRequest("the form is malformed or too large")
	}
	form := r.PostForm
	for name, values := range form {
		if len(values) > 1 {
			return nil, invalidRequest("a parameter is given more than once: " + name)
		}
	}
	id, secret, no := clientOf(r, form)
	if no != nil {
		return nil, no
	}
	if id != s.clientID || !s.client.VerifyPassword(secret) {
		return nil, errClient
	}
	if no := checkGrant(form); no != nil {
		return nil, no
	}
	return &oauth2.TokenGenerateRequest{
		ClientID: id, ClientSecret: secret, RedirectURI: form.Get("redirect_uri"),
		Code: form.Get("code"), CodeVerifier: form.Get("code_verifier"), Request: r,
	}, nil
}

// clientOf reads the client's credentials from the Authorization header or from the form, never from both (RFC 6749 §2.3).
func clientOf(r *http.Request, form url.Values) (id, secret string, no *tokenError) {
	if r.Header.Get("Authorization") == "" {
		return form.Get("client_id"), form.Get("client_secret"), nil
	}
	user, password, ok := r.BasicAuth()
	if !ok {
		return "", "", errClient
	}
	// §2.3.1: both are form-encoded inside of Basic.
	id, errID := url.QueryUnescape(user)
	secret, errSecret := url.QueryUnescape(password)
	if errID != nil || errSecret != nil {
		return "", "", errClient
	}
	if form.Has("client_secret") || form.Has("client_id") && form.Get("client_id") != id {
		return "", "", invalidRequest("the client authenticates in two ways")
	}
	return id, secret, nil
}

func checkGrant(form url.Values) *tokenError {
	switch grant := form.Get("grant_type"); {
	case grant == "":
		return invalidRequest("grant_type is missing")
	case grant != string(oauth2.AuthorizationCode):
		return &tokenError{"unsupported_grant_type", "only grant_type=authorization_code is supported"}
	}
	for _, name := range []string{"code", "redirect_uri", "code_verifier"} {
		if form.Get(name) == "" {
			return invalidRequest(name + " is missing")
		}
	}
	if !verifierPattern.MatchString(form.Get("code_verifier")) {
		return errGrant
	}
	return nil
}

func (s *Server) refuseToken(w http.ResponseWriter, no *tokenError) {
	status := http.StatusBadRequest
	if no == errClient {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="codehost"`)
	}
	w.Header().Set("Pragma", "no-cache")
	s.log.Info("codehost: token refused", "error", no.code)
	writeJSON(w, status, map[string]string{"error": no.code, "error_description": no.description})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
