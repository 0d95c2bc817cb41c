package site

import (
	"testing"

	"github.com/go-json-experiment/json"
)

// The format of a manifest is read by every version of the function.
func TestManifestFormat(t *testing.T) {
	t.Parallel()
	m := Manifest{Files: map[string]File{
		"/a": {Size: 3, SHA256: Hash{1, 2}, ContentType: "text/css", Hashed: true, Gzip: true},
	}}
	data, err := json.Marshal(m)
	const want = `{"files":{"/a":{"size":3,"sha256":"AQIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",` +
		`"contentType":"text/css","hashed":true,"gzip":true}}}`
	if err != nil || string(data) != want {
		t.Errorf("got %s, error %v, want %s", data, err, want)
	}
}
