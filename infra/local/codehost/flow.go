package codehost

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// scopeTexts describes the scopes on the consent page. A request without a scope gets read:user.
var scopeTexts = map[string]string{
	"read:user":  "read the profile and the e-mail address",
	"user:email": "read the e-mail address",
}

// challengePattern is the base64url of 32 bytes, without padding (RFC 7636 §4.2).
var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// oauthError is an error response (RFC 6749 §4.1.2.1 and §5.2).
type oauthError struct{ code, description string }

// checkAuthorization returns why the client cannot get a code, nil if it can. Its redirect URI can be trusted.
func checkAuthorization(q url.Values, scopes []string) *oauthError {
	switch {
	case q.Get("response_type") != "code":
		return &oauthError{"unsupported_response_type", "only response_type=code is supported"}
	case q.Get("code_challenge_method") != "S256" || !challengePattern.MatchString(q.Get("code_challenge")):
		return &oauthError{"invalid_request", "a code_challenge with code_challenge_method=S256 is required (PKCE)"}
	case slices.ContainsFunc(scopes, func(scope string) bool { return scopeTexts[scope] == "" }):
		return &oauthError{"invalid_scope", "the scopes are read:user and user:email"}
	}
	return nil
}

// authorization returns the scopes of an authorization request. If the request is not valid, it responds with an error:
// to the user if the redirect URI cannot be trusted, and otherwise to the client.
func (s *Server) authorization(w http.ResponseWriter, r *http.Request, q url.Values) (scopes []string, ok bool) {
	if q.Get("client_id") != s.options.ClientID || !s.allowsRedirect(q.Get("redirect_uri")) {
		s.show(w, http.StatusBadRequest, "error", "The client_id or the redirect_uri is not registered.")
		return nil, false
	}
	if scopes = strings.Fields(q.Get("scope")); len(scopes) == 0 {
		scopes = []string{"read:user"}
	}
	if failure := checkAuthorization(q, scopes); failure != nil {
		redirect(w, r, q, url.Values{"error": {failure.code}, "error_description": {failure.description}})
		return nil, false
	}
	return scopes, true
}

// redirect sends the browser back to the client, with the state of the request.
func redirect(w http.ResponseWriter, r *http.Request, q, result url.Values) {
	result.Set("state", q.Get("state"))
	separator := "?"
	if strings.Contains(q.Get("redirect_uri"), "?") {
		separator = "&"
	}
	target := q.Get("redirect_uri") + separator + result.Encode()
	http.Redirect(w, r, target, http.StatusFound) //nolint:gosec // allowsRedirect has checked the redirect URI
}

// consentPage is the data of the page "consent".
type consentPage struct {
	Client, Action string
	Scopes         []string
	Fields         url.Values // of the authorization request
	Wrong          bool
}

func (s *Server) showConsent(w http.ResponseWriter, status int, q url.Values, scopes []string, isWrong bool) {
	page := consentPage{
		Client: s.options.ClientID, Action: Path + "/login/oauth/authorize", Fields: url.Values{},
		Wrong: isWrong,
	}
	for _, scope := range scopes {
		page.Scopes = append(page.Scopes, scopeTexts[scope])
	}
	for _, name := range strings.Fields(
		"client_id redirect_uri response_type scope state code_challenge code_challenge_method") {
		page.Fields.Set(name, q.Get(name))
	}
	s.show(w, status, "consent", page)
}

// askConsent handles GET /login/oauth/authorize.
func (s *Server) askConsent(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if scopes, ok := s.authorization(w, r, query); ok {
		s.showConsent(w, http.StatusOK, query, scopes, false)
	}
}

// decide handles POST /login/oauth/authorize, the form of the consent page. Pages of other sites can't consent.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if s.guard.Check(r) != nil || r.ParseForm() != nil {
		s.show(w, http.StatusForbidden, "error", "The form came from another site, or is malformed or too large.")
		return
	}
	form := r.PostForm
	scopes, ok := s.authorization(w, r, form)
	if !ok {
		return
	}
	if form.Get("decision") != "authorize" {
		redirect(w, r, form, url.Values{"error": {"access_denied"}, "error_description": {"the user did not authorize"}})
		return
	}
	user, ok := newUser(form.Get("login"), form.Get("email"), form.Get("verified") != "")
	if !ok {
		s.showConsent(w, http.StatusUnprocessableEntity, form, scopes, true)
		return
	}
	code := s.issue(s.codes, grant{
		user: user, scopes: scopes, redirectURI: form.Get("redirect_uri"), challenge: form.Get("code_challenge"),
	}, codeLife)
	s.options.Logger.Info("codehost: authorized", "login", user.Login)
	redirect(w, r, form, url.Values{"code": {code}})
}

// redeem handles POST /login/oauth/access_token: it exchanges a code for an access token. It reads only the body,
// because URLs are logged. A code can be used once, even if the redirect URI or the verifier is wrong.
func (s *Server) redeem(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code, description string) {
		s.options.Logger.Info("codehost: token refused", "error", code)
		writeJSON(w, status, map[string]string{"error": code, "error_description": description})
	}
	if err := r.ParseForm(); err != nil {
		refuse(http.StatusBadRequest, "invalid_request", "the form is malformed or too large")
		return
	}
	form := r.PostForm
	if !s.isClient(r, form) {
		w.Header().Set("WWW-Authenticate", `Basic realm="codehost"`)
		refuse(http.StatusUnauthorized, "invalid_client", "the client is unknown or its secret is wrong")
		return
	}
	if form.Get("grant_type") != "authorization_code" {
		refuse(http.StatusBadRequest, "unsupported_grant_type", "only grant_type=authorization_code is supported")
		return
	}
	s.mu.Lock()
	granted, ok := s.codes[form.Get("code")]
	delete(s.codes, form.Get("code"))
	s.mu.Unlock()
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !ok || !s.options.Now().Before(granted.expires) || form.Get("redirect_uri") != granted.redirectURI ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != granted.challenge {
		refuse(http.StatusBadRequest, "invalid_grant",
			"the code is unknown, used or expired, or it belongs to another redirect_uri or code_verifier")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": s.issue(s.tokens, granted, tokenLife), "token_type": "Bearer",
		"expires_in": int64(tokenLife / time.Second), "scope": strings.Join(granted.scopes, " "),
	})
}

// isClient checks the client's credentials, which are in the Authorization header or in the form (RFC 6749 §2.3).
func (s *Server) isClient(r *http.Request, form url.Values) bool {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if user, password, isBasic := r.BasicAuth(); isBasic { // both are form-encoded (§2.3.1)
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	isSecret := subtle.ConstantTimeCompare([]byte(secret), []byte(s.options.ClientSecret)) == 1
	return id == s.options.ClientID && isSecret
}

// serveUser handles GET /api/v1/user.
func (s *Server) serveUser(w http.ResponseWriter, r *http.Request) {
	if user, ok := s.bearer(w, r, "read:user"); ok {
		writeJSON(w, http.StatusOK, user)
	}
}

// serveEmails handles GET /api/v1/user/emails.
func (s *Server) serveEmails(w http.ResponseWriter, r *http.Request) {
	if user, ok := s.bearer(w, r, "read:user", "user:email"); ok {
		writeJSON(w, http.StatusOK, []map[string]any{{"email": user.Email, "verified": user.verified, "primary": true}})
	}
}

// bearer returns the user of the request's token, which must have one of the scopes. Otherwise it responds with an
// error.
func (s *Server) bearer(w http.ResponseWriter, r *http.Request, scopes ...string) (user, bool) {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	s.mu.Lock()
	granted, ok := s.tokens[token]
	s.mu.Unlock()
	isBearer := strings.EqualFold(kind, "Bearer") || strings.EqualFold(kind, "token") // Gitea accepts both
	switch {
	case !isBearer || !ok || !s.options.Now().Before(granted.expires):
		w.Header().Set("WWW-Authenticate", `Bearer realm="codehost", error="invalid_token"`)
		writeJSON(w, http.StatusUnauthorized, map[string]string{"message": "the token is missing, unknown or expired"})
	case !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(granted.scopes, scope) }):
		w.Header().Set("WWW-Authenticate", `Bearer realm="codehost", error="insufficient_scope"`)
		writeJSON(w, http.StatusForbidden, map[string]string{"message": "the token does not have the scope " + scopes[0]})
	default:
		return granted.user, true
	}
	return user{}, false
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
