package attempt

import (
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

func TestHashIsUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, parts := range [][]string{
		{"a", "bc"}, {"ab", "c"}, {"abc"}, {"abc", ""}, {"", "abc"}, {"a#b", "c"}, {"a", "b#c"},
	} {
		hash := Hash(parts...)
		if len(hash) != 64 {
			t.Errorf("Hash(%q) has %d characters, want 64", parts, len(hash))
		}
		if seen[hash] {
			t.Errorf("Hash(%q) equals the hash of other parts", parts)
		}
		seen[hash] = true
	}
}

func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) { slicetest.DecodeStored[Network](t, item) },
		`{"expiresAt":{"N":"1e99"}}`, `{"expiresAt":{"N":"1935745500"}}`,
	)
}
