package webhook

import (
	"errors"
	"strconv"

	"devplatform/shared/fault"
	"devplatform/shared/limit"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

var (
	errNoWebhook = fault.New(fault.CodeWebhookNotFound,
		"The webhook does not exist, or you do not have access to it.")
	errNoDelivery = fault.New(fault.CodeDeliveryNotFound,
		"The delivery does not exist, or it has expired. List the deliveries of the webhook to see all IDs.")
	errInactive       = fault.New(fault.CodeConflict, "The webhook is not active. Activate it first.")
	errOtherWorkspace = fault.Invalid(fault.Field("workspaceId", "must be the workspace of the project, or be absent"))
	errFull           = fault.New(fault.CodeQuotaExceeded,
		"The workspace has reached its limit of "+strconv.Itoa(maxWebhooks)+" webhooks. Delete one first.")
	// errOften documents the error after too many tests, redeliveries or recoveries. Its Retry-After is an example.
	errOften     = limit.ErrTooMany.WithHeader("Retry-After", "40")
	errBadSecret = fault.Invalid(fault.Field("secret", signature.CheckSecret("whsec_secret")))
	errBadURL    = fault.Invalid(fault.Field("url", sender.CheckURL("http://example.com/hooks", false).Error()))
	errBadPeriod = fault.Invalid(fault.Field("until", untilRule))
)

// untilRule is the rule for the period of a recovery.
const untilRule = "must not be before since"

// errAccountFull reports that the account has reached its limit of webhooks. The caller returns Limits.errAccount.
var errAccountFull = errors.New("webhook: the account has reached its limit")

// errAccount returns the error for a new webhook of an account that has reached its limit.
func (l Limits) errAccount() *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, "The owner of the workspace has reached the limit of "+
		strconv.Itoa(l.AccountWebhooks)+" webhooks in all workspaces together. Delete one of these webhooks first.")
}

// errUserTests returns the error for a test of a user who has too many tests in progress.
func (l Limits) errUserTests() *fault.Error { return testsError("You have", l.UserTests) }

// errWorkspaceTests returns the error for a test of a webhook whose workspace has too many tests in progress.
func (l Limits) errWorkspaceTests() *fault.Error {
	return testsError("The workspace has", l.WorkspaceTests)
}

func testsError(subject string, limit int) *fault.Error {
	return fault.New(fault.CodeRateLimited, subject+" reached the limit of webhook tests in progress ("+
		strconv.Itoa(limit)+"). Wait until a test has ended, and try again.")
}
