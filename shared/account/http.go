package account

import (
	"context"

	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

var tag = httpapi.Tag{
	Name: "Authentication",
	Description: "Accounts, passwords, sessions, and sign-in with a code host. A login returns the session cookie that the " +
		"endpoints of all other groups require. The maximum size of a body is 16 KiB.",
	// Clients without a session can send these requests, and parsing 4 MiB of JSON costs more than a password hash.
	MaxBody: 16 << 10,
}

// Register registers the endpoints of accounts.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerSignup(r)
	s.registerLogin(r)
	s.registerPassword(r)
	s.registerSessions(r)
	s.registerCodeHost(r)
	s.registerIdentities(r)
}

// clientOf returns the client that sent the request.
func clientOf(ctx context.Context) Client {
	info := httpapi.RequestInfoFrom(ctx)
	return Client{IP: info.SourceIP, UserAgent: info.UserAgent}
}

// RateLimit is the RateLimit-* headers of a response to an attempt that was counted. It is exported because httpapi
// ignores unexported embedded structs.
type RateLimit struct {
	Limit     int `header:"RateLimit-Limit" doc:"The maximum number of attempts per window. If several limits apply, this is the limit with the fewest remaining attempts" example:"10"`
	Remaining int `header:"RateLimit-Remaining" doc:"The number of attempts that remain in the current window" example:"9"`
	Reset     int `header:"RateLimit-Reset" doc:"The number of seconds until the current window ends" example:"840"`
}

func rateLimitOf(s limit.Status) RateLimit {
	return RateLimit{Limit: s.Limit, Remaining: s.Remaining, Reset: s.ResetSeconds()}
}

// checkLoginField returns the rule that a field of a login breaks, or "". The length is the only rule: any other
// incorrect value is rejected as a wrong password.
func checkLoginField(s string) string {
	if len(s) > MaxLoginBytes {
		return "must be at most 1,024 bytes long"
	}
	return ""
}
