package deployment

import (
	"fmt"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/fault"
)

var (
	errNotFound = fault.New(fault.CodeDeploymentNotFound,
		"The deployment does not exist. It may have been deleted, or replaced by newer deployments.")
	errNoSite = fault.New(fault.CodeSiteNotFound,
		"The project has no site yet. The first deployment creates it.")
	errNotConfigured = fault.New(fault.CodeSitesNotConfigured,
		"Sites are not available, because the service has no domain for them. Ask its operator to set one.")
	errHasEnded = fault.New(fault.CodeConflict,
		"The deployment has already ended. Only a deployment that is queued or building can be canceled.")
	errNotReady = fault.New(fault.CodeConflict, "The deployment is not ready. Only a ready deployment can go live.")
	errLive     = fault.New(fault.CodeConflict,
		"The deployment is live. Promote another deployment or take the site offline first.")
	errBlocked = fault.New(fault.CodeAccessDenied,
		"The address of the site is blocked, so its label cannot be changed. Ask the operator of the service.")
	errProjectBlocked = fault.New(fault.CodeAccessDenied,
		"The operator of the service has blocked the deployments of this project.")
	errLabelTaken = fault.New(fault.CodeConflict, "The label is taken by another site. Choose another label.")
)

// errOutput returns the error of a request to deploy if the account has reached its limit of stored output, in bytes.
func errOutput(limit int) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, fmt.Sprintf("The owner of the workspace has reached the limit of %d GiB "+
		"of stored output in all workspaces together. Delete old deployments first.", limit>>30))
}

// errNoSpace returns the error of a build whose output would exceed the limit of the account, in bytes.
func errNoSpace(limit int) *failure.Error {
	return &failure.Error{
		Code: failure.OutputTooLarge,
		Message: fmt.Sprintf("With this output, the owner of the workspace would exceed the limit of %d GiB of stored "+
			"output in all workspaces together. Delete old deployments, and deploy again.", limit>>30),
	}
}
