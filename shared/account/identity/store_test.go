package identity

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) { slicetest.DecodeStored[Identity](t, item) },
		`{"id":{"S":"idn_1"},"linkedAt":{"S":"2026-01-31T08:15:30.123Z"}}`, `{"linkedAt":{"S":""}}`, `{"id":{"M":{}}}`,
	)
}
