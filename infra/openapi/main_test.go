package main

import (
	"bytes"
	"testing"

	"devplatform/infra"
)

// TestDocumentIsCurrent holds the committed document to the code.
func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	var fresh bytes.Buffer
	if err := run(&fresh); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fresh.Bytes(), infra.OpenAPI) {
		t.Error("infra/openapi.json is not what the code says: run make openapi")
	}
}
