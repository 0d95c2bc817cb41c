// Package deletion ends accounts. One transaction ends an account and the workspaces that only its user had. From then
// on, nothing reads their data, and no login succeeds. The transaction also adds the removal of the account (package
// removal), in which the Remover of this package removes the rest. The transaction decides about workspaces only by
// their numbers of owners and members, and must not know what they contain.
package deletion

import (
	"devplatform/shared/account/activity"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Accounts db.Table
	Projects db.Table
	Users    user.Store
	Mails    mailtoken.Mails // Tokens may be nil
	Activity *activity.Log
	Clock    clock.Clock
}

// Service ends accounts. It is safe for concurrent use.
type Service struct{ Deps }

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service { return &Service{d} }
