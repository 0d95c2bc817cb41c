package workspace

import (
	"testing"

	"devplatform/shared/db"
)

// FuzzStored reads items that this version did not write: either they are records, which are written as they were read, or errors.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"workspaceId":{"S":"ws_1"},"userId":{"S":"usr_1"},"role":{"S":"owner"},"addedAt":{"S":"2026-01-31T08:15:30.123Z"},"personal":{"BOOL":true}}`,
		`{"id":{"S":"ws_1"},"owners":{"N":"1"},"projects":{"N":"-1"},"createdAt":{"NULL":true}}`, `{"role":{"N":"1"}}`, `{"personal":{"S":"true"},"owners":{"N":"1e1"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		if m, err := decode(item); err == nil {
			comesBack(t, m)
		}
		var w Workspace
		if db.Decode(item, &w) == nil {
			comesBack(t, w)
		}
	})
}

func comesBack[T comparable](t *testing.T, record T) {
	t.Helper()
	written, err := db.Encode(record)
	if err != nil {
		t.Fatalf("%+v: %v", record, err)
	}
	var again T
	if err := db.Decode(written, &again); err != nil || again != record {
		t.Fatalf("%+v came back as %+v, %v", record, again, err)
	}
}
