package codehost

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-oauth2/oauth2/v4"
)

// The scopes that can be granted, and what they say to people. Without one asked for, read:user is granted.
var scopeTexts = map[string]string{
	scopeUser:  "read the profile and the e-mail address",
	scopeEmail: "read the e-mail address",
}

const (
	scopeUser  = "read:user"
	scopeEmail = "user:email"
)

// challengePattern is what S256 makes: the base64url of 32 bytes, without padding (RFC 7636 §4.2).
var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// authorization is a valid authorization request.
type authorization struct {
	RedirectURI, State, Challenge string
	Scopes                        []string
	HasState                      bool
}

// refusal is an authorization request that is not served. With a redirect URI to be trusted the client is told, else only the user.
type refusal struct {
	redirectURI, state string
	hasState           bool
	code, description  string
}

// readAuthorization checks in the order of RFC 6749 §4.1.2.1: first where errors may be sent, then the rest.
func (s *Server) readAuthorization(q url.Values) (authorization, *refusal) {
	if len(q["client_id"]) != 1 || q.Get("client_id") != s.clientID {
		return authorization{}, &refusal{description: "The client_id is missing or unknown."}
	}
	if len(q["redirect_uri"]) != 1 || !s.redirects.allow(q.Get("redirect_uri")) {
		return authorization{}, &refusal{description: "The redirect_uri is missing, or is not below a registered callback URL of this client."}
	}
	a := authorization{
		RedirectURI: q.Get("redirect_uri"), State: q.Get("state"), HasState: q.Has("state"),
		Challenge: q.Get("code_challenge"), Scopes: scopesOf(q.Get("scope")),
	}
	refuse := func(code, description string) (authorization, *refusal) {
		return a, &refusal{a.RedirectURI, a.State, a.HasState, code, description}
	}
	for _, name := range []string{"response_type", "state", "scope", "code_challenge", "code_challenge_method"} {
		if len(q[name]) > 1 {
			return refuse("invalid_request", name+" is given more than once")
		}
	}
	switch responseType := q.Get("response_type"); {
	case responseType == "":
		return refuse("invalid_request", "response_type is missing")
	case responseType != string(oauth2.Code):
		return refuse("unsupported_response_type", "only response_type=code is supported")
	case a.Challenge == "":
		return refuse("invalid_request", "code_challenge is required (PKCE)")
	case q.Get("code_challenge_method") != string(oauth2.CodeChallengeS256):
		return refuse("invalid_request", "code_challenge_method must be S256")
	case !challengePattern.MatchString(a.Challenge):
		return refuse("invalid_request", "code_challenge is not the base64url of a SHA-256 hash")
	case slices.ContainsFunc(a.Scopes, func(scope string) bool { return scopeTexts[scope] == "" }):
		return refuse("invalid_scope", "the scopes are read:user and user:email")
	}
	return a, nil
}

func scopesOf(given string) []string {
	scopes := strings.Fields(given)
	if len(scopes) == 0 {
		return []string{scopeUser}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// refuse shows or redirects, never both.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	if no.redirectURI == "" {
		s.showError(w, http.StatusBadRequest, no.description)
		return
	}
	answer := url.Values{"error": {no.code}, "error_description": {no.description}}
	if no.hasState {
		answer.Set("state", no.state)
	}
	http.Redirect(w, r, withQuery(no.redirectURI, answer), http.StatusFound) //nolint:gosec // a registered callback, see readAuthorization
}

// askConsent is GET authorize.
func (s *Server) askConsent(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.showError(w, http.StatusBadRequest, "The query of the request is malformed.")
		return
	}
	a, no := s.readAuthorization(query)
	if no != nil {
		s.refuse(w, r, no)
		return
	}
	s.showConsent(w, http.StatusOK, a, s.browser(w, r), consentInput{Verified: true})
}

// decide is the consent page's form.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if err := s.guard.Check(r); err != nil {
		s.showError(w, http.StatusForbidden, "The form came from another site.")
		return
	}
	if err := r.ParseForm(); err != nil {
		s.showError(w, http.StatusBadRequest, "The form is malformed or too large.")
		return
	}
	form := r.PostForm
	a, no := s.readAuthorization(form)
	if no != nil && no.redirectURI == "" {
		s.refuse(w, r, no)
		return
	}
	cookie, err := r.Cookie(browserCookie)
	if err != nil || !hmac.Equal([]byte(form.Get("csrf")), []byte(s.csrfToken(cookie.Value, form))) {
		s.showError(w, http.StatusForbidden, "The form is not from this browser, or from before a restart. Go back to the application and sign in again.")
		return
	}
	switch {
	case no != nil:
		s.refuse(w, r, no)
	case form.Get("decision") == "cancel":
		s.refuse(w, r, &refusal{a.RedirectURI, a.State, a.HasState, "access_denied", "the user did not authorize"})
	case form.Get("decision") == "authorize":
		s.authorize(w, r, a)
	default:
		s.showError(w, http.StatusBadRequest, "The form holds no decision.")
	}
}

// authorize signs in whom the form names and sends the code.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request, a authorization) {
	input := consentInput{
		Known: r.PostForm.Get("identity"), Login: strings.TrimSpace(r.PostForm.Get("login")),
		Email: strings.TrimSpace(r.PostForm.Get("email")), Verified: r.PostForm.Get("verified") != "",
	}
	who, err := s.chosen(&input)
	if err != nil {
		s.log.Error("codehost: identities", "error", err)
		s.showError(w, http.StatusInternalServerError, "The identity could not be stored.")
		return
	}
	if input.Wrong != nil {
		s.showConsent(w, http.StatusUnprocessableEntity, a, s.browser(w, r), input)
		return
	}
	granted, err := s.manager.GenerateAuthToken(r.Context(), oauth2.Code, &oauth2.TokenGenerateRequest{
		ClientID: s.clientID, UserID: strconv.FormatInt(who.ID, 10), RedirectURI: a.RedirectURI, Scope: strings.Join(a.Scopes, " "),
		CodeChallenge: a.Challenge, CodeChallengeMethod: oauth2.CodeChallengeS256, Request: r,
	})
	if err != nil {
		s.log.Error("codehost: code", "error", err)
		s.refuse(w, r, &refusal{a.RedirectURI, a.State, a.HasState, "server_error", "no code could be issued"})
		return
	}
	s.log.Info("codehost: authorized", "login", who.Login)
	answer := url.Values{"code": {granted.GetCode()}}
	if a.HasState {
		answer.Set("state", a.State)
	}
	http.Redirect(w, r, withQuery(a.RedirectURI, answer), http.StatusFound)
}

// chosen is the identity that the form names; what is wrong with the form is put into input.
func (s *Server) chosen(input *consentInput) (identity, error) {
	if input.Known != "" {
		id, err := strconv.ParseInt(input.Known, 10, 64)
		if err == nil {
			var who identity
			if who, err = s.identities.byID(id); err == nil {
				return who, nil
			}
		}
		input.Wrong = fieldErrors{"identity": errUnknownIdentity.Error()}
		return identity{}, nil
	}
	if input.Wrong = checkIdentity(input.Login, input.Email); input.Wrong != nil {
		return identity{}, nil
	}
	return s.identities.put(input.Login, input.Email, input.Verified)
}

// browserCookie holds a random value that binds consent forms to the browser which was shown them.
const browserCookie = "codehost_browser"

// browser is that value, made and set where the request brings none.
func (s *Server) browser(w http.ResponseWriter, r *http.Request) string {
	if c, err := r.Cookie(browserCookie); err == nil && c.Valid() == nil && len(c.Value) == len(rand.Text()) {
		return c.Value
	}
	value := rand.Text()
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever it can be: a laptop has plain http
		Name: browserCookie, Value: value, Path: s.base + "/", HttpOnly: true,
		Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	})
	return value
}

// signedFields are the fields of the form that nobody may exchange between the page and the decision.
var signedFields = []string{
	"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
}

// csrfToken ties a form to a browser, to the request that it decides on, and to this server.
func (s *Server) csrfToken(browser string, form url.Values) string {
	signed := url.Values{"browser": {browser}}
	for _, name := range signedFields {
		signed[name] = form[name]
	}
	mac := hmac.New(sha256.New, s.csrfKey)
	mac.Write([]byte(signed.Encode()))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// fields is the request as the form carries it.
func (s *Server) fields(a authorization) url.Values {
	form := url.Values{
		"client_id": {s.clientID}, "redirect_uri": {a.RedirectURI}, "response_type": {string(oauth2.Code)},
		"scope": {strings.Join(a.Scopes, " ")}, "code_challenge": {a.Challenge},
		"code_challenge_method": {string(oauth2.CodeChallengeS256)},
	}
	if a.HasState {
		form.Set("state", a.State)
	}
	return form
}
