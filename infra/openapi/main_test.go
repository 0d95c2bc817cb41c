package main

import (
	"bytes"
	"devplatform/shared/docs"
	"testing"
)

// TestDocumentIsCurrent holds the committed document to the code.
func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	var fresh bytes.Buffer
	if err := run(&fresh); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fresh.Bytes(), docs.OpenAPI) {
		t.Error("shared/docs/openapi.json is not what the code says: run make openapi")
	}
}
