package httpapi

import (
	"context"
	"time"
)

// Caller is who a request's session belongs to.
type Caller struct {
	UserID    string
	SessionID string
	Email     string
	Username  string
	CreatedAt time.Time
}

// Renewal is a session's fresh token, given out when a session in use is prolonged.
type Renewal struct {
	Token   string
	Expires time.Time
}

// Authenticator tells whose session a token is. A token that is no good is an *fault.Error with CodeInvalidToken;
// any other error means that it could not be found out.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (Caller, *Renewal, error)
}

type callerKey struct{}

// WithCaller hands out a context that carries the caller.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerFrom is the caller of an operation that needs a session; the zero Caller in any other.
func CallerFrom(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}
