package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

const (
	// sealPurpose is the label with which the keys that seal mails are derived from the key ring.
	sealPurpose = "mail"
	// sealUnit is the unit of the size of messages, in bytes: each message is padded to a multiple of it. So the size of
	// an item does not reveal the kind of the mail, or whether the recipient has an account. An item with one sealUnit is
	// smaller than 1 KB, which is one write unit of DynamoDB.
	sealUnit = 768
)

// Outbox stores mails. The function mailer reads them from the stream of the table and sends them.
type Outbox struct {
	mails, accounts db.Table
	keys            *config.Keys
	ids             *id.Generator
	now             clock.Clock
	settings        Settings
}

// NewOutbox returns an Outbox. It does no I/O.
func NewOutbox(
	d *db.Client, tables config.Tables, keys *config.Keys, ids *id.Generator, now clock.Clock, settings Settings,
) *Outbox {
	return &Outbox{
		mails: d.Table(tables.Mail), accounts: d.Table(tables.Accounts), keys: keys, ids: ids, now: now,
		settings: settings,
	}
}

// Enabled reports whether this stack sends mail.
func (o *Outbox) Enabled() bool { return o.settings.From != "" }

// record is a mail as it is stored. It contains nothing that depends on the message, except for its sealed form. The
// attribute names are part of the data format.
type record struct {
	ID        string `dynamodbav:"id"`
	KeyID     string `dynamodbav:"keyId"` // of the ring's key
	Sealed    []byte `dynamodbav:"sealed"`
	ExpiresAt int64  `dynamodbav:"expiresAt"` // in seconds since 1970
}

// Write returns the write that stores a mail. The write belongs in the transaction of the change that the mail is
// about. The whole message is encrypted, because its token and its code give access to an account. The additional data
// is the ID of the mail. Callers check Enabled first: ErrNotConfigured is only a safeguard. Errors: ErrNotConfigured,
// config.ErrUnavailable.
func (o *Outbox) Write(ctx context.Context, m Message) (db.Write, error) {
	switch {
	case !o.Enabled():
		return db.Write{}, ErrNotConfigured
	case m.Kind == "" || m.To == "":
		return db.Write{}, errors.New("mail: the kind or the address is missing")
	}
	now := o.now()
	if m.ExpiresAt.IsZero() {
		m.ExpiresAt = now.Add(Retention)
	}
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return db.Write{}, fmt.Errorf("mail: encoding: %w", err)
	}
	units := (len(text) + sealUnit - 1) / sealUnit
	padding := bytes.Repeat([]byte(" "), units*sealUnit-len(text)) // JSON ignores spaces at the end
	r := record{ID: o.ids.New(id.Mail), ExpiresAt: now.Add(Retention).Unix()}
	r.KeyID, r.Sealed, err = o.keys.Seal(ctx, sealPurpose, append(text, padding...), []byte(r.ID))
	if err != nil {
		return db.Write{}, fmt.Errorf("mail: sealing: %w", err)
	}
	return o.mails.Put(db.MailKey(r.ID), r), nil
}

// ErrUnreadable reports that a stored mail cannot be read: it was damaged, or its key was removed from the ring.
var ErrUnreadable = errors.New("mail: a stored mail cannot be read")

// Open returns the ID and the message of a stored mail. Errors: ErrUnreadable, config.ErrUnavailable.
func Open(ctx context.Context, keys *config.Keys, item db.Item) (mailID string, m Message, err error) {
	r, err := db.Decode[record](item)
	if err != nil || !id.Mail.Valid(r.ID) {
		return "", m, fmt.Errorf("%w: it is not a record of a mail", ErrUnreadable)
	}
	text, err := keys.Open(ctx, sealPurpose, r.KeyID, r.Sealed, []byte(r.ID))
	switch {
	case errors.Is(err, config.ErrUnknownKey), errors.Is(err, config.ErrDamaged):
		return r.ID, m, fmt.Errorf("%w: %w", ErrUnreadable, err)
	case err != nil:
		return r.ID, m, fmt.Errorf("mail: opening: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return r.ID, Message{}, fmt.Errorf("%w: it is not valid", ErrUnreadable) // the decoder's error may contain values
	}
	return r.ID, m, nil
}

// AddressState is the record that says whether mail arrives at an address. A missing record means that it arrives.
type AddressState struct {
	// UndeliverableSince is the time since which mail does not arrive at the address, nil if it arrives.
	UndeliverableSince *clock.Timestamp `dynamodbav:"undeliverableSince,omitempty"`
	// TriedAt is the time of the last mail that was sent to the address although mail did not arrive at it.
	TriedAt *clock.Timestamp `dynamodbav:"triedAt,omitempty"`
}

// StateRef returns the reference to the AddressState of an address, to read it together with other items.
func (o *Outbox) StateRef(address string) db.Ref { return o.accounts.Ref(db.MailStateKey(address)) }

// ClearState returns the write that deletes the AddressState of an address. The write belongs in the transaction that
// confirms the address.
func (o *Outbox) ClearState(address string) db.Write {
	return o.accounts.Delete(db.MailStateKey(address))
}
