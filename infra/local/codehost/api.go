package codehost

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// apiUser and apiEmail are the fields of Gitea's User and Email that sign-in needs.
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

// user is GET /api/v1/user.
func (s *Server) user(w http.ResponseWriter, r *http.Request) {
	who, ok := s.bearer(w, r, scopeUser)
	if !ok {
		return
	}
	writeJSON(w, http.StatusOK, apiUser{ID: who.ID, Login: who.Login, Username: who.Login, Email: who.Email, Active: true})
}

// emails is GET /api/v1/user/emails.
func (s *Server) emails(w http.ResponseWriter, r *http.Request) {
	who, ok := s.bearer(w, r, scopeUser, scopeEmail)
	if !ok {
		return
	}
	writeJSON(w, http.StatusOK, []apiEmail{
		{Email: who.Email, Verified: who.Verified, Primary: true, UserID: who.ID, Username: who.Login},
	})
}

// bearer finds whose token the request carries and whether it has one of the scopes; else it answers as RFC 6750 §3 says.
func (s *Server) bearer(w http.ResponseWriter, r *http.Request, scopes ...string) (identity, bool) {
	refuse := func(status int, challenge, message string) (identity, bool) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="codehost"`+challenge)
		writeJSON(w, status, map[string]string{"message": message})
		return identity{}, false
	}
	if len(r.Header.Values("Authorization")) == 0 {
		return refuse(http.StatusUnauthorized, "", "token is required")
	}
	kind, access, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") && !strings.EqualFold(kind, "token") { // Gitea takes both
		return refuse(http.StatusUnauthorized, "", "token is required")
	}
	info, err := s.manager.LoadAccessToken(r.Context(), access)
	if err != nil {
		return refuse(http.StatusUnauthorized, `, error="invalid_token"`, "the token is unknown, expired or revoked")
	}
	granted := strings.Fields(info.GetScope())
	if !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(granted, scope) }) {
		return refuse(http.StatusForbidden, `, error="insufficient_scope", scope="`+scopes[0]+`"`, "the token's scope does not reach this far")
	}
	id, err := strconv.ParseInt(info.GetUserID(), 10, 64)
	if err != nil {
		return refuse(http.StatusUnauthorized, `, error="invalid_token"`, "the token belongs to nobody")
	}
	who, err := s.identities.byID(id)
	if err != nil {
		return refuse(http.StatusUnauthorized, `, error="invalid_token"`, "the token belongs to nobody")
	}
	return who, true
}
