package webhook

import (
	"reflect"
	"testing"

	experiment "github.com/go-json-experiment/json"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

// FuzzSecretText tells an absent secret from null and from text, and takes nothing else.
func FuzzSecretText(f *testing.F) {
	for _, seed := range []string{`{}`, `{"secret":null}`, `{"secret":"a\u0000"}`, `{"secret":1}`, `{"secret":["a"]}`, `{"secret":"\ud800"}`, `{"Secret":"a"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var in struct {
			Secret secretText `json:"secret"`
		}
		if experiment.Unmarshal(body, &in) != nil {
			return
		}
		var plain struct {
			Secret *string `json:"secret"`
		}
		if err := experiment.Unmarshal(body, &plain); err != nil || !reflect.DeepEqual(plain.Secret, in.Secret.text) || in.Secret.text != nil && !in.Secret.given {
			t.Fatalf("%s: %+v, %v", body, in, err)
		}
	})
}

// FuzzStored reads items that this version did not write: the result is a record, which is written as it was read, or an error.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{`{"workspaceId":{"S":"ws_1"}}`, `{"workspaceId":{"NULL":true}}`, `{"workspaceId":{"N":"1"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if item, err := db.ItemFromJSON(data); err == nil {
			slicetest.Stored[pointer](t, item)
		}
	})
}
