package main

import (
	"bytes"
	"context"
	"testing"
)

// TestStopWhileStarting ends a platform by a signal before it is ready: that is no failure.
func TestStopWhileStarting(t *testing.T) {
	t.Setenv("DATA_DIR", t.TempDir())
	t.Setenv("PORT", "0")
	t.Setenv("AWS_PORT", "0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if err := serve(ctx, []string{"-template", "../../template.yaml"}, &stdout, &stderr); err != nil {
		t.Errorf("got %v, want a quiet end", err)
	}
	if stdout.Len() > 0 {
		t.Errorf("printed %s", &stdout)
	}
}
