package account

import (
	"context"

	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

var tag = httpapi.Tag{
	Name: "Authentication",
	Description: "Accounts, sessions and passwords, and sign-in with a code host. A login returns the session cookie " +
		"that the endpoints of all other groups require.",
}

// Register registers the endpoints of accounts.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerSignup(r)
	s.registerLogin(r)
	s.registerPassword(r)
	s.registerSessions(r)
	s.registerCodeHost(r)
}

// clientOf returns the client that sent the request.
func clientOf(ctx context.Context) Client {
	info := httpapi.RequestInfoFrom(ctx)
	return Client{IP: info.SourceIP, UserAgent: info.UserAgent}
}

// RateLimit is the RateLimit-* headers of a response to an attempt that was counted. It is exported because httpapi
// ignores unexported embedded structs.
type RateLimit struct {
	Limit     int `header:"RateLimit-Limit" doc:"Attempts per window that the strictest rule allows" example:"10"`
	Remaining int `header:"RateLimit-Remaining" doc:"Attempts that remain in the window" example:"9"`
	Reset     int `header:"RateLimit-Reset" doc:"Seconds until the window ends" example:"840"`
}

func rateLimitOf(s limit.Status) RateLimit {
	return RateLimit{Limit: s.Limit, Remaining: s.Remaining, Reset: s.ResetSeconds()}
}

// maxLoginBytes returns the rule that a field of a login breaks, or "". A login has no other rules: any other value
// that is not correct is rejected as a wrong password.
func maxLoginBytes(s string) string {
	if len(s) > MaxLoginBytes {
		return "must be at most 1,024 bytes long"
	}
	return ""
}
