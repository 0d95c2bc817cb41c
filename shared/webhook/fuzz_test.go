package webhook

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

// Decoding an arbitrary item returns an error, or a record that does not change when it is encoded and decoded again.
func FuzzDecodeStored(f *testing.F) {
	for _, seed := range []string{
		`{"workspaceId":{"S":"ws_1"}}`, `{"workspaceId":{"NULL":true}}`, `{"workspaceId":{"N":"1"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if item, err := db.ItemFromJSON(data); err == nil {
			slicetest.DecodeStored[pointer](t, item)
		}
	})
}
