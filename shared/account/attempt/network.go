package attempt

import (
	"time"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

const (
	// knownLife is the time for which a network stays known to an account after a login from it.
	knownLife = 365 * 24 * time.Hour
	// knownRefresh is the remaining life at which a login stores a known network again: a day after it was stored.
	knownRefresh = knownLife - 24*time.Hour
)

// Network is the record of a network that is known to an account. It is stored below the e-mail address, so that a
// login can read it in the same call as the password hash.
type Network struct {
	UserID    string `dynamodbav:"userId"`    // of the user who logged in: the address can belong to another user later
	ExpiresAt int64  `dynamodbav:"expiresAt"` // in seconds since 1970
}

// NetworkKey returns the key of the record of a client's network.
func NetworkKey(email string, client httpapi.RequestInfo) db.Key {
	return db.KnownIPKey(email, network(client))
}

// IsKnownTo reports whether the user has logged in or signed up from the network before.
func (n Network) IsKnownTo(userID string) bool { return userID != "" && n.UserID == userID }

// IsDue reports whether a login of a user has to store the network. A known network is stored at most once a day.
func (n Network) IsDue(userID string, now time.Time) bool {
	return !n.IsKnownTo(userID) || time.Unix(n.ExpiresAt, 0).Sub(now) <= knownRefresh
}

// Know returns the write that makes the network of a client known to the user with an e-mail address.
func (l *Limiter) Know(email, userID string, client httpapi.RequestInfo) db.Write {
	known := Network{UserID: userID, ExpiresAt: l.now().Add(knownLife).Unix()}
	return l.accounts.Put(NetworkKey(email, client), known)
}
