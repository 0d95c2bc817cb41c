package password

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
)

func (s *Service) registerLogin(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "login", Method: http.MethodPost, Path: "/api/auth/login", Tag: tag,
		Summary: "Start a session",
		Description: "While a rate limit is exceeded, a correct password is rejected too. AUTH_SUSPENDED is returned only " +
			"after a correct password.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("password", "is required")),
			attempt.ExampleStatus.WithHeaders(errWrongPassword), attempt.ExampleStatus.WithHeaders(httpapi.ErrSuspended),
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.login)
}

type loginInput struct {
	Body struct {
		Email    string `json:"email" doc:"The e-mail address of the account, ignoring case; at most 1,024 bytes" example:"ada@example.com"`
		Password string `json:"password" format:"password" doc:"The password of the account; at most 1,024 bytes" example:"correct horse battery"`
	}
}

// Validate implements httpapi's validation.
func (in *loginInput) Validate(v *httpapi.Validation) {
	v.Field("email", checkLength(in.Body.Email))
	v.Field("password", checkLength(in.Body.Password))
}

type loginOutput struct {
	attempt.RateLimit
	SetCookie []string `header:"Set-Cookie" doc:"The session cookie"`
	Body      struct {
		Success bool   `json:"success" doc:"Always true" example:"true"`
		UserID  string `json:"userId" doc:"The ID of the user" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

// login checks a password and starts a session. For an unknown e-mail address, it does the same work, counts the
// attempt in the same way, and returns the same error as for a wrong password. Errors: AUTH_RATE_LIMITED,
// AUTH_INVALID_CREDENTIALS; AUTH_SUSPENDED if the password of a suspended account is correct.
func (s *Service) login(ctx context.Context, in *loginInput) (*loginOutput, error) {
	client := httpapi.RequestInfoFrom(ctx)
	c, err := s.checkPassword(ctx, user.NormalizeEmail(in.Body.Email), in.Body.Password, client)
	if err != nil {
		return nil, err
	}
	if c.credential.Suspended {
		if err := s.DB.Tx(c.Refunds()...).Commit(ctx); err != nil {
			return nil, err
		}
		return nil, c.RefundedStatus().WithHeaders(httpapi.ErrSuspended)
	}
	u := user.User{ID: c.credential.UserID, Generation: c.credential.Generation}
	started, writes, err := s.Sessions.Start(ctx, s.IDs.New(id.Session), u, client)
	if err != nil {
		return nil, err
	}
	writes = append(writes, c.Refunds()...)
	if c.network.IsDue(u.ID, s.Clock()) {
		writes = append(writes, s.Limiter.Know(c.email, u.ID, client))
	}
	// A login stores only one of the mail and the new hash: both change the credential, and a transaction can change an
	// item only once.
	var optional []db.Write
	if !c.isNetworkKnown {
		optional, err = s.Mails.NewNetwork(ctx, c.email, c.credential, client, s.Clock())
	}
	if err == nil && len(optional) == 0 && c.isOutdated {
		optional, err = s.rehash(ctx, c, in.Body.Password)
	}
	if err != nil {
		return nil, err
	}
	err = s.DB.Tx(slices.Concat(writes, optional)...).Commit(ctx)
	if errors.Is(err, db.ErrStale) && len(optional) > 0 {
		// Another login made the optional writes first, or the password was changed. After a change, this session belongs
		// to the old generation, and is never accepted.
		err = s.DB.Tx(writes...).Commit(ctx)
	}
	if err != nil {
		return nil, err
	}
	out := &loginOutput{RateLimit: attempt.Headers(c.RefundedStatus()), SetCookie: started.Cookies(ctx)}
	out.Body.Success, out.Body.UserID = true, u.ID
	return out, nil
}

// passwordCheck is an attempt to log in, with the stored data that it read.
type passwordCheck struct {
	limit.Attempt

	email          string
	credential     user.Credential // zero if there is no such account
	network        attempt.Network // of the client, as stored under the address
	isNetworkKnown bool            // to the account
	isOutdated     bool            // the hash has other parameters than new hashes
}

// checkPassword counts an attempt and then checks the password. While a limit is reached, it rejects the correct
// password too, because otherwise an attacker could continue to guess. This rejection costs one read. Errors:
// AUTH_RATE_LIMITED, AUTH_INVALID_CREDENTIALS.
func (s *Service) checkPassword(
	ctx context.Context, email, password string, client httpapi.RequestInfo,
) (c passwordCheck, err error) {
	c.email = email
	counters := s.Limiter.LoginCounters(email, client)
	emailKey, networkKey := db.EmailKey(email), attempt.NetworkKey(email, client)
	items, err := s.Accounts.BatchGet(ctx, append(counters.Keys(), emailKey, networkKey)...)
	if err != nil {
		return c, err
	}
	var credentialErr, networkErr error
	c.credential, credentialErr = db.Decode[user.Credential](items[emailKey])
	c.network, networkErr = db.Decode[attempt.Network](items[networkKey])
	if err := errors.Join(counters.Load(items), credentialErr, networkErr); err != nil {
		return c, err
	}
	userID := c.credential.UserID
	c.isNetworkKnown = c.network.IsKnownTo(userID)
	if c.Attempt, err = s.Limiter.CountLogin(ctx, counters, c.isNetworkKnown); err != nil {
		return c, err
	}
	verdict, err := s.Hasher.Verify(ctx, c.credential.PasswordHash, password)
	if err != nil {
		return c, err
	}
	c.isOutdated = verdict.Outdated
	if verdict.OK {
		return c, nil
	}
	if userID == "" || c.credential.Reserved {
		userID = mailtoken.UnknownUser(email)
	}
	if err := s.Activity.AddFailure(ctx, userID, client); err != nil {
		return c, err
	}
	return c, c.Status().WithHeaders(errWrongPassword)
}
