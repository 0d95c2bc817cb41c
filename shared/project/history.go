package project

import (
	"context"
	"encoding/hex"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// versionItem is a version of a file as clients see it (API.md §5).
type versionItem struct {
	Version   string          `json:"version" doc:"Its name: what the version parameter of a read takes" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Size      int             `json:"size" doc:"Bytes of its content, decoded" example:"1024"`
	SHA256    string          `json:"sha256" doc:"SHA-256 of its content's bytes, in hex" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	CreatedAt clock.Timestamp `json:"createdAt" doc:"When it was made" example:"2026-01-31T08:15:30.123Z"`
	UpdatedBy string          `json:"updatedBy" doc:"The id of the user who made it" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Current   bool            `json:"current" doc:"Whether the file is in this version now" example:"true"`
}

func (f fileRecord) versionItem(current bool) versionItem {
	return versionItem{
		Version: f.Version, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256),
		CreatedAt: f.UpdatedAt, UpdatedBy: f.UpdatedBy, Current: current,
	}
}

// behindCurrent begins the position of a page that goes on behind the current version, whose ULID follows. It sorts after every
// ULID: all that were replaced come next.
const behindCurrent = "~"

// fileHistory lists the versions that the path has had, the current one first, then the newest of those that were replaced.
// It outlives the file. Errors: PROJECT_NOT_FOUND; ACCESS_DENIED to outsiders; FILE_NOT_FOUND, if there was never a file, or
// too long ago; VALIDATION_FAILED for a cursor that is not this list's.
func (s *Service) fileHistory(ctx context.Context, projectID, path string, page logPage) (items []versionItem, next string, err error) {
	limit := page.limit()
	fileKey := db.FileKey(projectID, path)
	o, err := s.open(ctx, projectID, workspace.Read, fileKey)
	if err != nil {
		return nil, "", err
	}
	scope := httpapi.ListScope(httpapi.CallerFrom(ctx), "versions", projectID, path)
	position, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	current, err := currentVersion(o.found[fileKey])
	if err != nil {
		return nil, "", err
	}
	switch seen, wasCurrent := strings.CutPrefix(position, behindCurrent); {
	case position == "":
		items, position = current, behindCurrent
	case wasCurrent && (len(current) == 0 || current[0].Version != seen):
		position = seen // replaced since: it is not shown again
	}
	replaced, err := s.store.listVersions(ctx, projectID, path, position, limit+1-len(items))
	if err != nil {
		return nil, "", err
	}
	for _, version := range replaced {
		items = append(items, version.versionItem(false))
	}
	if len(items) == 0 && page.Cursor == "" {
		return nil, "", errNoFile
	}
	if len(items) <= limit {
		return items, "", nil
	}
	items = items[:limit]
	position = items[limit-1].Version
	if items[limit-1].Current {
		position = behindCurrent + position
	}
	next, err = s.cursors.Seal(ctx, scope, position)
	return items, next, err
}

// currentVersion is the version that a stored file is in, if there is one.
func currentVersion(item db.Item) ([]versionItem, error) {
	if item == nil {
		return nil, nil
	}
	current, err := db.Decode[fileRecord](item)
	return []versionItem{current.versionItem(true)}, err
}
