package webhook

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

// FuzzStored reads items that this version did not write. Each is an error, or a record that is written as it was read.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{`{"workspaceId":{"S":"ws_1"}}`, `{"workspaceId":{"NULL":true}}`, `{"workspaceId":{"N":"1"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if item, err := db.ItemFromJSON(data); err == nil {
			slicetest.DecodeStored[pointer](t, item)
		}
	})
}
