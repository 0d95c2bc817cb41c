package workspace

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// Personal are the writes that give a new user a workspace of their own: the record, the
// membership and its mirror. They travel in the transaction that makes the user, each on the condition that
// nothing of the kind exists.
func Personal(projects db.Table, workspaceID, userID, username string, now time.Time) ([]db.Write, error) {
	at := clock.Stamp(now)
	record, err := db.Encode(Workspace{
		ID: workspaceID, Name: personalName(username), Personal: true, Owners: 1, CreatedAt: at,
	})
	if err != nil {
		return nil, err
	}
	membership, err := db.Encode(Membership{
		WorkspaceID: workspaceID, UserID: userID, Username: username, Role: Owner, AddedAt: at,
		Name: personalName(username), Personal: true, CreatedAt: at,
	})
	if err != nil {
		return nil, err
	}
	return []db.Write{
		projects.Create(db.WorkspaceKey(workspaceID), record),
		projects.Create(db.MemberKey(workspaceID, userID), membership),
		projects.Create(db.MembershipKey(userID, workspaceID), membership),
	}, nil
}
