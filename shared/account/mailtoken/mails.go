package mailtoken

import (
	"context"
	"errors"
	"maps"
	"time"

	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// maxUserAgent is the maximum number of bytes of the User-Agent in a mail. With it, mails of known and unknown users
// have the same size in the table.
const maxUserAgent = 128

// Mails stores mails in the outbox. It is safe for concurrent use.
type Mails struct {
	Outbox *mail.Outbox
	Tokens *Store
	Users  user.Store
}

// Report returns the write that stores a mail to the address of an account, about a change of the account. It returns
// no write if the stack sends no mail, or the account has no address. values can be nil. Error: config.ErrUnavailable.
func (m Mails) Report(
	ctx context.Context, kind mail.Kind, u user.User, client httpapi.RequestInfo, values map[string]string,
) ([]db.Write, error) {
	if !m.Outbox.Enabled() || u.Email == "" {
		return nil, nil
	}
	w, err := m.Outbox.Write(ctx, newMessage(kind, u.Email, u, client, values))
	return []db.Write{w}, err
}

// noticeEvery is the minimum time between two mails about logins from unknown networks.
const noticeEvery = 24 * time.Hour

// NewNetwork returns the writes that store a mail about a login from an unknown network to the address of a credential,
// at most once a day. Error of the writes: db.ErrStale if another login stores such a mail. Errors: db.ErrUnavailable,
// config.ErrUnavailable.
func (m Mails) NewNetwork(
	ctx context.Context, email string, c user.Credential, client httpapi.RequestInfo, now time.Time,
) ([]db.Write, error) {
	if !m.Outbox.Enabled() || now.Sub(time.Unix(c.NoticedAt, 0)) < noticeEvery {
		return nil, nil
	}
	u, err := m.Users.Read(ctx, c.UserID)
	if errors.Is(err, db.ErrNotFound) || err == nil && u.Email != email { // the account has ended or moved
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	writes, err := m.Report(ctx, mail.NewNetwork, u, client, nil)
	return append(writes, m.Users.Notice(email, c, now.Unix())), err
}

// Link is a mail with a link.
type Link struct {
	Set  Set       // of the kind of the mail
	To   string    // the recipient, and the address that the token is about
	User user.User // the user who uses the token
	// Owner is another user who has the address, nil if there is none. This user gets a mail without a link, and the
	// token is not sent.
	Owner *user.User
	// Values are further values of the text.
	Values map[string]string
	// See the fields of mail.Message.
	Discard, TryUndeliverable bool
}

// Send returns the writes that issue a token and store the mail with its link. Error: config.ErrUnavailable. Error of
// the writes: db.ErrStale if another request changed the set.
func (m Mails) Send(ctx context.Context, l Link, client httpapi.RequestInfo) ([]db.Write, error) {
	secret, set, err := m.Tokens.Issue(ctx, l.Set, l.To)
	if err != nil {
		return nil, err
	}
	message := newMessage(l.Set.Kind, l.To, l.User, client, l.Values)
	message.Token, message.Code, message.ExpiresAt = secret.Token, secret.Code, secret.ExpiresAt
	message.Discard, message.TryUndeliverable = l.Discard, l.TryUndeliverable
	if l.Owner != nil {
		message = newMessage(mail.AddressTaken, l.To, *l.Owner, client, nil)
	}
	w, err := m.Outbox.Write(ctx, message)
	return []db.Write{m.Tokens.Put(set), w}, err
}

// newMessage returns a message with values, and with the client's address and User-Agent.
func newMessage(
	kind mail.Kind, to string, u user.User, client httpapi.RequestInfo, values map[string]string,
) mail.Message {
	all := map[string]string{"ip": client.SourceIP, "userAgent": user.Printable(client.UserAgent, maxUserAgent)}
	maps.Copy(all, values)
	return mail.Message{Kind: kind, To: to, UserID: u.ID, Username: u.Username, Values: all}
}
