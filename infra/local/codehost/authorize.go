package codehost

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	scopeUser  = "read:user"
	scopeEmail = "user:email"
)

// scopeTexts describes the scopes on the consent page. A request without a scope gets read:user.
var scopeTexts = map[string]string{
	scopeUser:  "read the profile and the e-mail address",
	scopeEmail: "read the e-mail address",
}

// challengePattern is the base64url of 32 bytes, without padding (RFC 7636 §4.2).
var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// authorizationFields are the parameters of an authorization request. Each may be given once.
var authorizationFields = []string{
	"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
}

// authorization is an authorization request. redirectURI is "" unless it may be trusted.
type authorization struct {
	redirectURI string
	scopes      []string
	fields      url.Values // the parameters as the form repeats them
}

// oauthError is an error response (RFC 6749 §4.1.2.1 and §5.2). If code is "", the error is shown to the user, and not
// sent to the client.
type oauthError struct{ code, description string }

func invalidRequest(description string) *oauthError {
	return &oauthError{"invalid_request", description}
}

// readAuthorization checks a request in the order of RFC 6749 §4.1.2.1: first whether the redirect URI may be trusted,
// then the rest.
func (s *Server) readAuthorization(q url.Values) (a authorization, failure *oauthError) {
	if len(q["client_id"]) != 1 || q.Get("client_id") != s.clientID {
		return a, &oauthError{description: "The client_id is missing or unknown."}
	}
	if len(q["redirect_uri"]) != 1 || !s.redirects.allow(q.Get("redirect_uri")) {
		return a, &oauthError{description: "The redirect_uri is missing, or is not below a registered callback URL."}
	}
	a = authorization{redirectURI: q.Get("redirect_uri"), scopes: strings.Fields(q.Get("scope")), fields: url.Values{}}
	repeated := ""
	for _, name := range authorizationFields {
		if q.Has(name) {
			a.fields.Set(name, q.Get(name))
		}
		if len(q[name]) > 1 {
			repeated = name
		}
	}
	if len(a.scopes) == 0 {
		a.scopes = []string{scopeUser}
	}
	slices.Sort(a.scopes)
	a.scopes = slices.Compact(a.scopes)
	switch responseType := q.Get("response_type"); {
	case repeated != "":
		return a, invalidRequest(repeated + " is given more than once")
	case responseType == "":
		return a, invalidRequest("response_type is missing")
	case responseType != "code":
		return a, &oauthError{"unsupported_response_type", "only response_type=code is supported"}
	case q.Get("code_challenge") == "":
		return a, invalidRequest("code_challenge is required (PKCE)")
	case q.Get("code_challenge_method") != "S256":
		return a, invalidRequest("code_challenge_method must be S256")
	case !challengePattern.MatchString(q.Get("code_challenge")):
		return a, invalidRequest("code_challenge is not the base64url of a SHA-256 hash")
	case slices.ContainsFunc(a.scopes, func(scope string) bool { return scopeTexts[scope] == "" }):
		return a, &oauthError{"invalid_scope", "the scopes are read:user and user:email"}
	}
	return a, nil
}

// refuse redirects to the client with the error, or shows it if the redirect URI may not be trusted.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, a authorization, failure *oauthError) {
	if a.redirectURI == "" {
		s.showError(w, http.StatusBadRequest, failure.description)
		return
	}
	redirect(w, r, a, url.Values{"error": {failure.code}, "error_description": {failure.description}})
}

// redirect sends the browser back to the client, with the state that came with the request.
func redirect(w http.ResponseWriter, r *http.Request, a authorization, result url.Values) {
	if a.fields.Has("state") {
		result.Set("state", a.fields.Get("state"))
	}
	http.Redirect(w, r, withQuery(a.redirectURI, result), http.StatusFound)
}

// askConsent handles GET /login/oauth/authorize.
func (s *Server) askConsent(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.showError(w, http.StatusBadRequest, "The query of the request is malformed.")
		return
	}
	a, failure := s.readAuthorization(query)
	if failure != nil {
		s.refuse(w, r, a, failure)
		return
	}
	s.showConsent(w, http.StatusOK, a, consentInput{Verified: true})
}

// decide handles POST /login/oauth/authorize, the form of the consent page. Browsers send the site that it came from,
// so that pages of other sites can't consent.
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
	a, failure := s.readAuthorization(form)
	switch {
	case failure != nil:
		s.refuse(w, r, a, failure)
	case form.Get("decision") == "cancel":
		s.refuse(w, r, a, &oauthError{"access_denied", "the user did not authorize"})
	case form.Get("decision") == "authorize":
		s.authorize(w, r, a)
	default:
		s.showError(w, http.StatusBadRequest, "The form has no decision.")
	}
}

// authorize signs in as the identity that the form names, and redirects to the client with a code.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request, a authorization) {
	input := consentInput{
		Known: r.PostForm.Get("identity"), Login: strings.TrimSpace(r.PostForm.Get("login")),
		Email: strings.TrimSpace(r.PostForm.Get("email")), Verified: r.PostForm.Get("verified") != "",
	}
	user, err := s.chosen(&input)
	if err != nil {
		s.log.Error("codehost: the identity could not be stored", "error", err)
		s.showError(w, http.StatusInternalServerError, "The identity could not be stored.")
		return
	}
	if input.Wrong != nil {
		s.showConsent(w, http.StatusUnprocessableEntity, a, input)
		return
	}
	code := s.grants.issueCode(grant{
		userID: user.ID, scopes: a.scopes, redirectURI: a.redirectURI, challenge: a.fields.Get("code_challenge"),
	})
	s.log.Info("codehost: authorized", "login", user.Login)
	redirect(w, r, a, url.Values{"code": {code}})
}

// chosen returns the identity that the form names. If a field is not valid, it sets input.Wrong.
func (s *Server) chosen(input *consentInput) (identity, error) {
	if input.Known != "" {
		id, err := strconv.ParseInt(input.Known, 10, 64)
		user, ok := s.identities.find(id)
		if err != nil || !ok {
			input.Wrong = fieldErrors{"identity": "This identity does not exist."}
		}
		return user, nil
	}
	if input.Wrong = checkIdentity(input.Login, input.Email); input.Wrong != nil {
		return identity{}, nil
	}
	return s.identities.put(input.Login, input.Email, input.Verified)
}
