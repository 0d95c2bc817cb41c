package codehost

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// verifierPattern is the syntax of a code verifier (RFC 7636 §4.1).
var verifierPattern = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

var (
	errClient = &oauthError{"invalid_client", "the client is unknown or its secret is wrong"}
	errGrant  = &oauthError{
		"invalid_grant", "the code is unknown, used or expired, or it belongs to another redirect_uri or code_verifier",
	}
	errGrantType = &oauthError{"unsupported_grant_type", "only grant_type=authorization_code is supported"}
)

// redeem handles POST /login/oauth/access_token: it exchanges a code for an access token.
func (s *Server) redeem(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Pragma", "no-cache")
	form, failure := s.readTokenRequest(r)
	if failure != nil {
		s.refuseToken(w, failure)
		return
	}
	token, granted, ok := s.grants.redeem(form.Get("code"), form.Get("redirect_uri"), form.Get("code_verifier"))
	if !ok {
		s.refuseToken(w, errGrant)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": token,
		"token_type":   "Bearer",
		"expires_in":   int64(tokenLife / time.Second),
		"scope":        strings.Join(granted.scopes, " "),
	})
}

// readTokenRequest returns the parameters of a valid request. It reads the body only: URLs are logged.
func (s *Server) readTokenRequest(r *http.Request) (url.Values, *oauthError) {
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
	if failure := s.authenticate(r, form); failure != nil {
		return nil, failure
	}
	switch form.Get("grant_type") {
	case "authorization_code":
	case "":
		return nil, invalidRequest("grant_type is missing")
	default:
		return nil, errGrantType
	}
	for _, name := range []string{"code", "redirect_uri", "code_verifier"} {
		if form.Get(name) == "" {
			return nil, invalidRequest(name + " is missing")
		}
	}
	if !verifierPattern.MatchString(form.Get("code_verifier")) {
		return nil, errGrant
	}
	return form, nil
}

// authenticate checks the client's credentials, which are either in the Authorization header or in the form
// (RFC 6749 §2.3).
func (s *Server) authenticate(r *http.Request, form url.Values) *oauthError {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if r.Header.Get("Authorization") != "" {
		user, password, ok := r.BasicAuth()
		basicID, errID := url.QueryUnescape(user) // both are form-encoded (§2.3.1)
		basicSecret, errSecret := url.QueryUnescape(password)
		if !ok || errID != nil || errSecret != nil {
			return errClient
		}
		if form.Has("client_secret") || form.Has("client_id") && id != basicID {
			return invalidRequest("the client authenticates in two ways")
		}
		id, secret = basicID, basicSecret
	}
	given := sha256.Sum256([]byte(secret))
	if id != s.clientID || subtle.ConstantTimeCompare(given[:], s.secretHash[:]) != 1 {
		return errClient
	}
	return nil
}

func (s *Server) refuseToken(w http.ResponseWriter, failure *oauthError) {
	status := http.StatusBadRequest
	if failure == errClient {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="codehost"`)
	}
	s.log.Info("codehost: token refused", "error", failure.code)
	writeJSON(w, status, map[string]string{"error": failure.code, "error_description": failure.description})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
