package file

import (
	"context"
	"encoding/hex"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// VersionItem is a version of a file as clients see it.
type VersionItem struct {
	Version   string          `json:"version" doc:"The ID of the version. To read the version, send this ID as the query parameter version" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Size      int             `json:"size" doc:"The size of the decoded content, in bytes" example:"1024"`
	SHA256    string          `json:"sha256" doc:"The SHA-256 hash of the decoded content, in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When the version was created" example:"2026-01-31T08:15:30.123Z"`
	UpdatedBy string          `json:"updatedBy" doc:"The ID of the user who created the version" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Current   bool            `json:"current" doc:"Whether this is the current version of the file" example:"true"`
}

// afterCurrent is the prefix of the current version's position. It sorts after every ULID, and the history is in
// descending order, so all replaced versions come after this position.
const afterCurrent = "~"

// position returns the version's position in the history.
func (v VersionItem) position() string {
	if v.Current {
		return afterCurrent + v.Version
	}
	return v.Version
}

// History returns a page of the versions of the file at a path: the current version, then the replaced versions, newest
// first. The history of a deleted file is available until its versions expire. Errors: PROJECT_NOT_FOUND; ACCESS_DENIED
// if the caller is not a member of the workspace; FILE_NOT_FOUND if there is no version; VALIDATION_FAILED if the
// cursor is not from this list.
func (s *Service) History(
	ctx context.Context, caller httpapi.Caller, projectID, path string, page httpapi.PageInput,
) ([]VersionItem, string, error) {
	scope := httpapi.ListScope(caller, "versions", projectID, path)
	current := db.FileKey(projectID, path)
	read := func(ctx context.Context, after string, n int) ([]VersionItem, error) {
		versions := func(ctx context.Context, located workspace.ProjectAccess) ([]VersionItem, error) {
			return s.versionsAfter(ctx, projectID, path, located.Items[current], after, n)
		}
		_, items, err := workspace.ReadWith(ctx, s.store.Access, caller.UserID, projectID, workspace.Read, versions, current)
		if err == nil && len(items) == 0 && after == "" {
			err = errNotFound
		}
		return items, err
	}
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read, VersionItem.position)
}

// DeleteVersion deletes an old version of the file at a path. Its content can no longer be read, unless another version
// or file has the same content. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; CONFLICT for the current version;
// FILE_NOT_FOUND if there is no such version.
func (s *Service) DeleteVersion(ctx context.Context, caller httpapi.Caller, projectID, path, version string) error {
	current, replaced := db.FileKey(projectID, path), db.VersionKey(projectID, pathHash(path), version)
	return db.Retry(ctx, "delete a version", func(ctx context.Context) error {
		access, err := s.store.Project(ctx, caller.UserID, projectID, workspace.Write, current, replaced)
		if err != nil {
			return err
		}
		tree, err := db.Decode[Tree](access.Items[db.TreeKey(projectID)])
		if err != nil {
			return err
		}
		file, err := db.Decode[File](access.Items[current])
		if err != nil {
			return err
		}
		old, err := db.Decode[File](access.Items[replaced])
		switch {
		case err != nil:
			return err
		case access.Items[current] != nil && file.Version == version:
			return errCurrentVersion
		case access.Items[replaced] == nil:
			return errVersionNotFound
		}
		return s.store.deleteVersion(ctx, projectID, replaced, old, tree)
	})
}

// versionsAfter returns up to n versions that come after a position. current is the file's record, or nil if the file
// does not exist.
func (s *Service) versionsAfter(
	ctx context.Context, projectID, path string, current db.Item, after string, n int,
) (items []VersionItem, err error) {
	var f File
	if current != nil {
		if f, err = db.Decode[File](current); err != nil {
			return nil, err
		}
	}
	switch seen, wasCurrent := strings.CutPrefix(after, afterCurrent); {
	case after == "" && current != nil:
		items, after = []VersionItem{f.versionItem(true)}, afterCurrent
	case after == "":
		after = afterCurrent
	case wasCurrent && f.Version != seen:
		after = seen // this version was replaced after the previous page was read
	}
	prefix := db.VersionsOf(projectID, pathHash(path))
	q := db.Query{Prefix: prefix, After: prefix.After(after), Limit: n - len(items), Descending: true}
	replaced, _, err := db.List(ctx, s.store.Projects, q, db.DecodeByID(func(f File) string { return f.Version }))
	for _, version := range replaced {
		items = append(items, version.versionItem(false))
	}
	return items, err
}

func (f File) versionItem(current bool) VersionItem {
	return VersionItem{
		Version: f.Version, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256),
		CreatedAt: f.UpdatedAt, UpdatedBy: f.UpdatedBy, Current: current,
	}
}
