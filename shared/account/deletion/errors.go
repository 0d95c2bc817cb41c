package deletion

import (
	"strings"

	"devplatform/shared/fault"
)

// errShared returns the error for a user who is the only owner of workspaces with other members.
func errShared(names ...string) *fault.Error {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = `"` + name + `"`
	}
	return fault.New(fault.CodeConflict, "You are the only owner of workspaces that have other members: "+
		strings.Join(quoted, ", ")+". First make another member an owner, remove the members, or delete the workspace.")
}

// ruleConfirm is the rule of the field confirm.
const ruleConfirm = "must be the username of the account"
