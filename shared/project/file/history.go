package file

import (
	"context"
	"encoding/hex"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/db"
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
