package webhook

import (
	"sync"
	"time"

	"devplatform/shared/config"
)

// Limits are the limits of each account and of each user. The account of a workspace is its owner, of several owners
// the first one.
type Limits struct {
	// AccountWebhooks is the maximum number of webhooks in all workspaces of an account together.
	AccountWebhooks int `env:"LIMIT_WEBHOOKS_ACCOUNT" envDefault:"100" min:"1"`
	// UserTests and WorkspaceTests are the maximum numbers of tests that are in progress at the same time, for a user and
	// for the webhooks of a workspace.
	UserTests      int `env:"LIMIT_WEBHOOK_TESTS_USER" envDefault:"1" min:"1"`
	WorkspaceTests int `env:"LIMIT_WEBHOOK_TESTS_WORKSPACE" envDefault:"3" min:"1"`
	// UserCalls is the maximum number of tests of a user in one minute. Redeliveries and recoveries have the same limit,
	// and are counted separately.
	UserCalls int `env:"LIMIT_WEBHOOK_CALLS_USER" envDefault:"30" min:"1"`
}

// DefaultLimits returns the limits that apply if the environment sets no others. They are read from the tags only once,
// because the descriptions of operations need them at the start of a function.
var DefaultLimits = sync.OnceValue(config.Defaults[Limits])

const (
	// maxWebhooks is the maximum number of webhooks of a workspace.
	maxWebhooks = 20
	// maxQueries is the maximum number of workspaces that are read concurrently.
	maxQueries = 16
	// maxOperations is the number of tests of a webhook that are allowed in limitWindow. Redeliveries and recoveries
	// have the same limit, and are counted separately. Limits.UserCalls is the number for one user in limitWindow.
	maxOperations = 10
	limitWindow   = time.Minute
	// testLease is longer than the time limit of the function. If the function crashes during a test, the test no longer
	// counts after this time.
	testLease = 30 * time.Second
)
