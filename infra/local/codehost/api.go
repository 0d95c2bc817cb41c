package codehost

import (
	"net/http"
	"slices"
	"strings"
)

// apiUser and apiEmail have the fields of Gitea's User and Email that sign-in needs.
type apiUser struct {
	ID       int64  `json:"id"`
	Login    string `json:"login"`
	Username string `json:"username"`
	FullName string `json:"full_name"`
	Email    string `json:"email"`
	Active   bool   `json:"active"`
}

type apiEmail struct {
	Email    string `json:"email"`
	Verified bool   `json:"verified"`
	Primary  bool   `json:"primary"`
	UserID   int64  `json:"user_id"`
	Username string `json:"username"`
}

// user handles GET /api/v1/user.
func (s *Server) user(w http.ResponseWriter, r *http.Request) {
	if user, ok := s.bearer(w, r, scopeUser); ok {
		writeJSON(w, http.StatusOK, apiUser{
			ID: user.ID, Login: user.Login, Username: user.Login, Email: user.Email, Active: true,
		})
	}
}

// emails handles GET /api/v1/user/emails.
func (s *Server) emails(w http.ResponseWriter, r *http.Request) {
	if user, ok := s.bearer(w, r, scopeUser, scopeEmail); ok {
		writeJSON(w, http.StatusOK, []apiEmail{
			{Email: user.Email, Verified: user.Verified, Primary: true, UserID: user.ID, Username: user.Login},
		})
	}
}

// bearer returns the identity of the request's token, which must have one of the scopes. If it does not, bearer
// responds as RFC 6750 §3 requires.
func (s *Server) bearer(w http.ResponseWriter, r *http.Request, scopes ...string) (identity, bool) {
	refuse := func(status int, challenge, message string) (identity, bool) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="codehost"`+challenge)
		writeJSON(w, status, map[string]string{"message": message})
		return identity{}, false
	}
	kind, access, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") && !strings.EqualFold(kind, "token") { // Gitea accepts both
		return refuse(http.StatusUnauthorized, "", "token is required")
	}
	granted, ok := s.grants.find(access)
	user, known := s.identities.find(granted.userID)
	if !ok || !known {
		return refuse(http.StatusUnauthorized, `, error="invalid_token"`, "the token is unknown or expired")
	}
	if !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(granted.scopes, scope) }) {
		return refuse(http.StatusForbidden, `, error="insufficient_scope", scope="`+scopes[0]+`"`,
			"the token does not have the scope "+scopes[0])
	}
	return user, true
}
