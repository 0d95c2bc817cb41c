package activity

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) { slicetest.DecodeStored[Entry](t, item) },
		`{"at":{"S":"2026-01-31T08:15:30.123Z"},"type":{"S":"login.failed"},"failures":{"N":"3"},"detail":{"M":{}}}`,
		`{"at":{"S":"yesterday"},"detail":{"L":[]}}`, `{"failures":{"N":"1e99"}}`,
	)
}
