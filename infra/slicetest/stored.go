package slicetest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/db"
)

// DecodeStored decodes an arbitrary item, for fuzz tests. It reports false if the item is not a valid record. It fails
// the test if encoding and decoding the record again returns a different one. Nil and empty slices count as equal.
func DecodeStored[T any](t testing.TB, item db.Item) (T, bool) {
	t.Helper()
	record, err := db.Decode[T](item)
	if err != nil {
		return record, false
	}
	encoded, err := db.Encode(record)
	if err != nil {
		t.Fatalf("cannot encode the decoded record %+v: %v", record, err)
	}
	decoded, err := db.Decode[T](encoded)
	if err != nil {
		t.Fatalf("cannot decode the encoded record %+v: %v", record, err)
	}
	exportAll := cmp.Exporter(func(reflect.Type) bool { return true })
	if diff := cmp.Diff(record, decoded, exportAll, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("encoding and decoding changed the record (-before +after):\n%s", diff)
	}
	return record, true
}

// FuzzStored decodes arbitrary items, as another version of the code could have written them. seeds are items in
// DynamoDB's JSON.
func FuzzStored(f *testing.F, decode func(t *testing.T, item db.Item), seeds ...string) {
	f.Helper()
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if item, err := db.ItemFromJSON(data); err == nil {
			decode(t, item)
		}
	})
}
