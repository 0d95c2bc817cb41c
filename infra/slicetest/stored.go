package slicetest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/shared/db"
)

// DecodeStored reads an item that may be anything, for fuzz tests; false if it is no record. One that could be read is written in a form
// that comes back the same, but for lists of nothing.
func DecodeStored[T any](t testing.TB, item db.Item) (T, bool) {
	t.Helper()
	record, err := db.Decode[T](item)
	if err != nil {
		return record, false
	}
	written, err := db.Encode(record)
	if err != nil {
		t.Fatalf("%+v: %v", record, err)
	}
	again, err := db.Decode[T](written)
	if err != nil {
		t.Fatalf("%+v: %v", record, err)
	}
	everything := cmp.Exporter(func(reflect.Type) bool { return true })
	if diff := cmp.Diff(record, again, everything, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("came back as another record (-read +written and read):\n%s", diff)
	}
	return record, true
}
