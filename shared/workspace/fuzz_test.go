package workspace

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

// FuzzStored decodes arbitrary items. If an item can be decoded, the record must be the same after it is encoded and
// decoded again.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"workspaceId":{"S":"ws_1"},"userId":{"S":"usr_1"},"role":{"S":"owner"},` +
			`"addedAt":{"S":"2026-01-31T08:15:30.123Z"},"personal":{"BOOL":true}}`,
		`{"id":{"S":"ws_1"},"owners":{"N":"1"},"projects":{"N":"-1"},"createdAt":{"NULL":true}}`,
		`{"role":{"N":"1"}}`,
		`{"version":{"N":"1"},"list":{"L":[{"M":{"id":{"S":"inv_1"},"expiresAt":{"S":"2026-01-31T08:15:30.123Z"}}}]}}`,
		`{"id":{"S":"inv_1"},"workspaceId":{"S":"ws_1"},"expiresAt":{"N":"1790000000"}}`,
		`{"personal":{"S":"true"},"owners":{"N":"1e1"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		slicetest.DecodeStored[Membership](t, item)
		slicetest.DecodeStored[Workspace](t, item)
		slicetest.DecodeStored[invitations](t, item)
		slicetest.DecodeStored[invitationPointer](t, item)
	})
}
