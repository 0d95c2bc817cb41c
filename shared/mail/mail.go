// Package mail stores the mails that the service sends. A request adds a mail to the transaction of its change, and
// never waits for it: the function mailer reads the stream of the table, renders the mails and sends them. Package
// render has their texts, and package sender sends them. This package must not import them, because every function that
// stores mails links it.
package mail

import (
	"time"

	"devplatform/shared/config"
	"devplatform/shared/fault"
)

// Kind is the kind of a mail. It selects the text.
type Kind string

// The kinds of mails that have a link. Most of them also have a code.
const (
	// Confirm goes to a new or unconfirmed address. Its token also lets the reader report that the account is not theirs.
	Confirm Kind = "confirm"
	// Reset lets the reader choose a new password.
	Reset Kind = "reset"
	// Change goes to the new address of an account.
	Change Kind = "change"
	// Undo goes to the old address of an account after the address was changed. Values: email.
	Undo Kind = "undo"
	// Invitation invites to a workspace. Values: workspace, inviter, role.
	Invitation Kind = "invitation"
)

// The kinds of mails that only report something. If a request caused the mail, it has the values ip and userAgent.
const (
	// ChangeRequested goes to the address of an account for which another address was requested. Values: email.
	ChangeRequested Kind = "changeRequested"
	// AddressTaken goes to the owner of an address that another account wanted to use.
	AddressTaken Kind = "addressTaken"
	// PasswordChanged reports a change with the old password.
	PasswordChanged Kind = "passwordChanged"
	// PasswordReset reports a change with a link or a code.
	PasswordReset Kind = "passwordReset"
	// IdentityLinked and IdentityRemoved report changes of the sign-ins with a code host. Values: provider, name.
	IdentityLinked  Kind = "identityLinked"
	IdentityRemoved Kind = "identityRemoved"
	// AccountDeleted reports the end of an account.
	AccountDeleted Kind = "accountDeleted"
	// WebhookDisabled goes to the creator of a webhook that the service disabled. No request of the creator caused it.
	// Values: name, workspace, reason.
	WebhookDisabled Kind = "webhookDisabled"
	// NewNetwork reports a login from a network that the user did not use before.
	NewNetwork Kind = "newNetwork"
)

// Message is a mail to send.
type Message struct {
	Kind     Kind   `json:"kind"`
	To       string `json:"to"`       // the address of the recipient
	UserID   string `json:"userId"`   // "" if the recipient has no account
	Username string `json:"username"` // "" if the recipient has no account
	// Values are the other values that the text contains, by name.
	Values map[string]string `json:"values"`
	Token  string            `json:"token"` // of the link, "" if the mail has no link
	Code   string            `json:"code"`  // "" if the mail has no code
	// ExpiresAt is the time after which the mail is not sent. Zero means until Retention has passed.
	ExpiresAt time.Time `json:"expiresAt"`
	// Discard makes the mailer drop the mail. A request for an unknown address stores such a mail. Its item has the same
	// attributes and the same size as the item of a request for a known address.
	Discard bool `json:"discard"`
	// TryUndeliverable makes the mailer send the mail even to an address at which mail does not arrive, but only once a
	// day. It is for a confirmation that was requested with a session.
	TryUndeliverable bool `json:"tryUndeliverable"`
}

// Retention is the time for which a mail is stored, whether or not it was sent.
const Retention = 7 * 24 * time.Hour

// ErrNotConfigured reports that this stack sends no mail, because MAIL_FROM is empty.
var ErrNotConfigured = fault.New(fault.CodeMailNotConfigured, "This service is not configured to send mail.")

// Link returns the link in a mail. path is the path of a front end's page below origin. If path is "", the link leads
// to the service's own page for the kind of the mail. The token is in the fragment, which browsers do not send.
func Link(origin config.Origin, path string, kind Kind, token string) string {
	if path == "" {
		path = "/api/auth/page/" + string(kind)
	}
	return string(origin) + path + "#token=" + token
}

// Settings are the settings of functions that store mails.
type Settings struct {
	// From is the address from which the service sends mails. Without it, the service sends none.
	From string `env:"MAIL_FROM"`
}
