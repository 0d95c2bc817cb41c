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
	})
}
