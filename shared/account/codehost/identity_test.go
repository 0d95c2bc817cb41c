package codehost

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) {
		slicetest.DecodeStored[Identity](t, item)
		slicetest.DecodeStored[flow](t, item)
	},
		`{"id":{"S":"idn_1"},"linkedAt":{"S":"2026-01-31T08:15:30.123Z"}}`, `{"linkedAt":{"S":""}}`, `{"id":{"M":{}}}`,
		`{"verifier":{"S":"v"},"linkTo":{"S":"usr_1"},"expiresAt":{"N":"1e99"}}`, `{"generation":{"L":[]}}`,
	)
}
