package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestServe starts the triggers once it is ready, and ends when it is told to.
func TestServe(t *testing.T) {
	p := newTriggered(t)
	t.Setenv("DATA_DIR", p.settings.DataDir)
	t.Setenv("PORT", "0")
	t.Setenv("AWS_PORT", "0")
	t.Setenv("AWS_ENDPOINT_URL", "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	output, write := io.Pipe() // both of its outputs, in their order
	ended := make(chan error, 1)
	go func() {
		err := serve(ctx, []string{"-template", p.settings.Template, "-functions", p.settings.Binaries}, write, write)
		_ = write.Close()
		ended <- err
	}()
	ready := false
	for lines := bufio.NewScanner(output); lines.Scan(); {
		ready = ready || strings.HasPrefix(lines.Text(), "ready: ")
		if strings.Contains(lines.Text(), "event source mappings: 1 enabled") {
			if !ready {
				t.Error("the triggers were started before the platform was ready")
			}
			cancel()
		}
	}
	if err := <-ended; err != nil || !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("ended with %v, told to: %v", err, ctx.Err())
	}
}

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
