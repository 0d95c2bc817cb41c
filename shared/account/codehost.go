package account

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"time"

	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// CallbackPath is where the code host sends the browser back to.
const CallbackPath = "/api/auth/codehost/callback"

// maxResolutions is how often a sign-in looks again after it met another on the same account.
const maxResolutions = 4

var (
	errNotConfigured = fault.New(fault.CodeOAuthNotConfigured, "Sign-in with a code host is not configured.")
	errBadState      = fault.New(fault.CodeOAuthStateInvalid, "This sign-in has expired, was used already, or began in another browser. Please start again.")
	errCodeHost      = fault.New(fault.CodeOAuthFailed, "The code host did not sign you in. Please start again.")
	errNoEmail       = fault.New(fault.CodeOAuthFailed, "The code host gave no verified e-mail address. Verify one there and start again.")
	errUnverified    = fault.New(fault.CodeUserExists, "An account with this e-mail address exists. Log in to it with its password and link the code host.")
	errLinked        = fault.New(fault.CodeConflict, "This code-host identity belongs to another account.")
	errBadRedirect   = fault.New(fault.CodeValidationFailed, "redirect: must be a path of this site, such as /projects")
	errMoving        = fault.New(fault.CodeConflict, "This account is being changed at the same time. Please start again.")
)

// Departure is where a browser goes to sign in, and what it must bring back besides the state.
type Departure struct {
	URL     string // at the code host
	Browser string // the value of the binding cookie
}

// Depart begins a sign-in. linkTo is the user to join the identity to, "" to sign in; browser is the binding cookie
// that the browser has from another sign-in under way, which stays good.
func (s *Service) Depart(ctx context.Context, redirect, browser, linkTo, ip string) (Departure, Standing, error) {
	if s.provider == nil {
		return Departure{}, Standing{}, errNotConfigured
	}
	back, ok := cleanRedirect(redirect)
	if !ok {
		return Departure{}, Standing{}, errBadRedirect
	}
	now := s.now()
	ticket, err := s.admit(ctx, []counter{s.limits.oauthCounter(httpapi.RateKey(ip), now)}, now)
	if err != nil {
		return Departure{}, Standing{}, err
	}
	if !wellFormedBinding(browser) {
		browser = rand.Text()
	}
	state, verifier := rand.Text(), oauth.NewVerifier()
	err = s.store.saveState(ctx, state, stateRecord{
		Verifier: verifier, Browser: hashParts(browser), Redirect: back, LinkTo: linkTo, ExpiresAt: now.Add(stateLife).Unix(),
	})
	if err != nil {
		return Departure{}, Standing{}, err
	}
	target := s.provider.AuthorizeURL(state, verifier, callbackURL(ctx))
	return Departure{URL: target, Browser: browser}, ticket.standing(true), nil
}

// wellFormedBinding reports whether a cookie's value is one that rand.Text made: 26 characters of base32.
func wellFormedBinding(s string) bool {
	return len(s) == 26 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func callbackURL(ctx context.Context) string {
	return httpapi.RequestInfoFrom(ctx).BaseURL + CallbackPath
}

// Return is what a callback brings.
type Return struct {
	State, Code string
	Query       url.Values // for the code host's error
	Browser     string     // the binding cookie
	Token       string     // the session, if there is one; only a link looks at it
	Client      Client
}

// Arrival is a finished sign-in: always a new session, and where to go with it.
type Arrival struct {
	SignedIn
	Redirect string
}

// Arrive ends a sign-in. The state is looked at first and used up, whatever else the callback says.
func (s *Service) Arrive(ctx context.Context, r Return) (Arrival, error) {
	if s.provider == nil {
		return Arrival{}, errNotConfigured
	}
	state, err := s.store.takeState(ctx, r.State, r.Browser)
	if errors.Is(err, errState) {
		return Arrival{}, errBadState.WithCause(err)
	}
	if err != nil {
		return Arrival{}, err
	}
	identity, err := s.identify(ctx, r, state)
	if err != nil {
		return Arrival{}, err
	}
	var in SignedIn
	if state.LinkTo != "" {
		in, err = s.link(ctx, r, state.LinkTo, identity)
	} else {
		in, err = s.enter(ctx, identity, r.Client)
	}
	return Arrival{SignedIn: in, Redirect: state.Redirect}, err
}

func (s *Service) identify(ctx context.Context, r Return, state stateRecord) (oauth.Identity, error) {
	if err := oauth.CallbackError(r.Query); err != nil {
		return oauth.Identity{}, errCodeHost.WithCause(err)
	}
	if r.Code == "" {
		return oauth.Identity{}, errCodeHost
	}
	identity, err := s.provider.Identify(ctx, r.Code, state.Verifier, callbackURL(ctx))
	if err != nil {
		return oauth.Identity{}, errCodeHost.WithCause(err)
	}
	return identity, nil
}

// link joins an identity to the user who asked for it, who must still be signed in in that browser.
func (s *Service) link(ctx context.Context, r Return, userID string, identity oauth.Identity) (SignedIn, error) {
	caller, _, err := s.Sessions().Authenticate(ctx, r.Token)
	if err != nil {
		return SignedIn{}, err
	}
	if caller.UserID != userID {
		return SignedIn{}, errBadState
	}
	user, err := s.store.user(ctx, userID)
	if err != nil {
		return SignedIn{}, err
	}
	now := s.now()
	in, l, err := s.newLink(ctx, user, identity, r.Client, now)
	if err != nil {
		return SignedIn{}, err
	}
	l.ends = caller.SessionID
	err = s.store.join(ctx, user, l, false, now)
	if !errors.Is(err, errIdentityTaken) {
		return in, err
	}
	owner, err := s.store.userOfIdentity(ctx, identity.Provider, identity.Subject)
	if err != nil {
		return SignedIn{}, err
	}
	if owner.ID != userID {
		return SignedIn{}, errLinked
	}
	return in, s.store.startLinked(ctx, user, l, now) // linked already: nothing to join
}

// enter signs in whoever an identity belongs to, or makes an account for it (API.md §2, call 6). When another sign-in
// gets in between, what it did is looked at anew: two of them never make two accounts.
func (s *Service) enter(ctx context.Context, identity oauth.Identity, client Client) (SignedIn, error) {
	for range maxResolutions {
		in, err := s.enterOnce(ctx, identity, client)
		if !errors.Is(err, errIdentityTaken) && !errors.Is(err, errEmailTaken) && !errors.Is(err, errUsernameTaken) && !errors.Is(err, errStale) {
			return in, err
		}
	}
	return SignedIn{}, errMoving
}

func (s *Service) enterOnce(ctx context.Context, identity oauth.Identity, client Client) (SignedIn, error) {
	now := s.now()
	user, err := s.store.userOfIdentity(ctx, identity.Provider, identity.Subject)
	if err == nil {
		in, l, err := s.newLink(ctx, user, identity, client, now)
		if err != nil {
			return SignedIn{}, err
		}
		return in, s.store.startLinked(ctx, user, l, now)
	}
	if !errors.Is(err, db.ErrNotFound) {
		return SignedIn{}, err
	}
	emails := usableEmails(identity)
	if len(emails) == 0 {
		return SignedIn{}, errNoEmail
	}
	candidates := usernameCandidates(identity.Login)
	owners, taken, err := s.store.claimed(ctx, emails, candidates)
	if err != nil {
		return SignedIn{}, err
	}
	for _, email := range emails {
		if owner := owners[email]; owner.Verified {
			return s.joinVerified(ctx, owner.UserID, identity, client, now)
		}
	}
	if _, held := owners[emails[0]]; held {
		return SignedIn{}, errUnverified
	}
	return s.createFrom(ctx, identity, emails[0], firstFree(candidates, taken), client, now)
}

// joinVerified joins an identity to an account whose own e-mail came, verified, from a code host, too.
func (s *Service) joinVerified(ctx context.Context, userID string, identity oauth.Identity, client Client, now time.Time) (SignedIn, error) {
	user, err := s.store.user(ctx, userID)
	if err != nil {
		return SignedIn{}, err
	}
	in, l, err := s.newLink(ctx, user, identity, client, now)
	if err != nil {
		return SignedIn{}, err
	}
	return in, s.store.join(ctx, user, l, true, now)
}

func (s *Service) createFrom(ctx context.Context, identity oauth.Identity, email, username string, client Client, now time.Time) (SignedIn, error) {
	user := User{ID: s.ids.New(id.User), Email: email, Username: username, CreatedAt: now}
	in, l, err := s.newLink(ctx, user, identity, client, now)
	if err != nil {
		return SignedIn{}, err
	}
	return in, s.store.createAccount(ctx, newAccount{
		user:        user,
		credential:  Credential{UserID: user.ID, Verified: true},
		workspaceID: s.ids.New(id.Workspace),
		link:        &l,
	}, now)
}

// newLink prepares a session for user and the identity's record.
func (s *Service) newLink(ctx context.Context, user User, identity oauth.Identity, client Client, now time.Time) (SignedIn, link, error) {
	session := newSession(s.ids.New(id.Session), user, client, now)
	token, err := s.tokens.sign(ctx, session, now)
	if err != nil {
		return SignedIn{}, link{}, err
	}
	in := SignedIn{UserID: user.ID, Token: httpapi.Renewal{Token: token, Expires: session.ExpiresAt}}
	return in, link{
		identity: identityRecord{
			UserID: user.ID, Provider: identity.Provider, Subject: identity.Subject,
			Login: printable(identity.Login, maxLoginNameBytes), LinkedAt: clock.Stamp(now),
		},
		session: session,
		ip:      httpapi.RateKey(client.IP),
	}, nil
}

// maxLoginNameBytes bounds what is kept of a code host's name for somebody. Nothing goes by it.
const maxLoginNameBytes = 128

// maxUsableEmails bounds how many of somebody's addresses are looked up.
const maxUsableEmails = 20

// usableEmails are the verified addresses that could be an account's, as accounts store them, the primary one first.
func usableEmails(identity oauth.Identity) []string {
	var emails []string
	for _, address := range identity.VerifiedEmails() {
		if CheckEmail(address) == "" && len(emails) < maxUsableEmails {
			emails = append(emails, NormalizeEmail(address))
		}
	}
	return emails
}

// usernameCandidates are the names that a new account from a code host may get, best first. The last one is so random
// that it is free.
func usernameCandidates(login string) []string {
	name := usernameFrom(login)
	return []string{name, name + "-2", name + "-3", name + "-4", name + "-5", name + "-" + strings.ToLower(rand.Text()[:8])}
}

// firstFree is the first candidate that isn't taken.
func firstFree(candidates []string, taken map[string]bool) string {
	for _, name := range candidates {
		if !taken[name] {
			return name
		}
	}
	return candidates[len(candidates)-1]
}
