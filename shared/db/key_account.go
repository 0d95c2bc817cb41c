package db

import (
	"strconv"
	"strings"
	"time"

	"devplatform/shared/id"
)

// The keys of accounts, limits of requests, and mails.

// UserKey returns the key of a user.
func UserKey(userID string) Key { return newKey(userPK(userID), "USER") }

// EndedUserKey returns the key of the item that remains of a user until the removal of the account has ended.
func EndedUserKey(userID string) Key { return newKey(userPK(userID), "ENDED") }

// UserPartition selects all items that are stored under the ID of a user, in any table.
func UserPartition(userID string) Prefix { return Prefix{PK: userPK(userID)} }

// EmailKey returns the key of the item that makes an e-mail address unique. Case is ignored.
func EmailKey(email string) Key { return newKey(emailPK(email), "EMAIL") }

// KnownIPKey returns the key of the item that records that the user with an e-mail address has logged in from an IP
// address.
func KnownIPKey(email, ip string) Key { return newKey(emailPK(email), join("IP", ip)) }

// EmailPartition selects the items that are stored under an e-mail address.
func EmailPartition(email string) Prefix { return Prefix{PK: emailPK(email)} }

// KnownIPsOf selects the IP addresses from which the user with an e-mail address has logged in.
func KnownIPsOf(email string) Prefix { return kindPrefix(emailPK(email), "IP") }

// UsernameKey returns the key of the item that makes a username unique. Case is ignored.
func UsernameKey(username string) Key {
	return newKey(join("USERNAME", strings.ToLower(username)), "USERNAME")
}

// IdentityKey returns the key of the link from a user of a sign-in provider to a user of this service.
func IdentityKey(provider, subject string) Key {
	return newKey(join("IDENTITY", provider, subject), "IDENTITY")
}

// UserIdentityKey returns the key of the copy of an identity that is stored under the user, to list the identities of
// the user.
func UserIdentityKey(userID, identityID string) Key {
	return idKey(userPK(userID), "IDENTITY", id.Identity, identityID)
}

// IdentitiesOf selects the identities of a user, in the order in which they were linked.
func IdentitiesOf(userID string) Prefix { return kindPrefix(userPK(userID), "IDENTITY") }

// OAuthStateKey returns the key of a sign-in in progress, by the hash of its OAuth state.
func OAuthStateKey(hash string) Key { return newKey(join("OAUTH", hash), "OAUTH") }

// SessionKey returns the key of a session of a user.
func SessionKey(userID, sessionID string) Key {
	return idKey(userPK(userID), "SESSION", id.Session, sessionID)
}

// SessionsOf selects the sessions of a user.
func SessionsOf(userID string) Prefix { return kindPrefix(userPK(userID), "SESSION") }

// MailTokensKey returns the key of the tokens and codes of a kind of mail that are valid for a user.
func MailTokensKey(userID, kind string) Key { return newKey(userPK(userID), join("MAILTOKENS", kind)) }

// MailTokensOf selects the tokens and codes of all kinds of mails that are valid for a user.
func MailTokensOf(userID string) Prefix { return kindPrefix(userPK(userID), "MAILTOKENS") }

// ActivityKey returns the key of an entry in the activity log of an account.
func ActivityKey(userID, entryID string) Key {
	return idKey(userPK(userID), "ACTIVITY", id.Activity, entryID)
}

// ActivityOf selects the entries of a user, in the order of their times.
func ActivityOf(userID string) Prefix { return kindPrefix(userPK(userID), "ACTIVITY") }

// CounterKey returns the key of the counter of a rate limit rule, for the window of time that begins at start. subject
// identifies whose attempts are counted, such as an IP address.
func CounterKey(rule string, start time.Time, subject string) Key {
	return newKey(join("RATE", rule, subject), strconv.FormatInt(start.Unix(), 10))
}

// OperationsKey returns the key of the item with the operations of a subject that are in progress under a rule.
func OperationsKey(rule, subject string) Key {
	return newKey(join("OPERATIONS", rule, subject), "OPERATIONS")
}

// AccountExportKey returns the key of an export of the data of a user.
func AccountExportKey(userID, exportID string) Key {
	return idKey(userPK(userID), "EXPORT", id.Export, exportID)
}

// AccountExportsOf selects the exports of the data of a user, in the order in which they were started.
func AccountExportsOf(userID string) Prefix { return kindPrefix(userPK(userID), "EXPORT") }

// MailKey returns the key of a mail.
func MailKey(mailID string) Key { return newKey(join("MAIL", idPart(id.Mail, mailID)), "MAIL") }

// MailStateKey returns the key of the item that records whether mail arrives at an address. Case is ignored.
func MailStateKey(address string) Key { return newKey(emailPK(address), "MAIL") }
