package npm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/deployment/failure"
)

// endingContext is a context that ends after its state was read a number of times.
type endingContext struct {
	context.Context

	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// sessionWith returns a session that has read the document of the package a, which has many versions with many parts.
func sessionWith(versions int) (*session, *document) {
	s := newRegistry("https://registry.example.com", false, requestTimeout).session()
	d := &document{
		Versions: entries[jsontext.Value]{}, name: "a", memory: &s.memory, releases: map[string]*release{},
		deprecated: map[string]bool{},
	}
	for i := range versions {
		d.Versions[fmt.Sprintf("1.0.0-%s%d", strings.Repeat("a.", 100), i)] = jsontext.Value("{}")
	}
	s.documents["a"] = func() (*document, error) { return d, nil }
	return s, d
}

// The end of an installation ends a selection that has begun, wherever it is, and a later selection is complete.
func TestEndWithinSelection(t *testing.T) {
	t.Parallel()
	const versions = 100
	s, d := sessionWith(versions)
	wanted := edge{name: "a", spec: ">=1.0.0-a"}
	for reads := range 3 * versions {
		ctx := &endingContext{Context: t.Context()}
		ctx.left.Store(int64(reads))
		if _, err := s.pick(ctx, wanted, nil); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d reads of the context: got %v, want context.Canceled", reads, err)
		}
		if d.sorted != nil && reads < versions {
			t.Fatalf("the versions were sorted after %d reads of the context", reads)
		}
	}
	picked, err := s.pick(t.Context(), wanted, nil)
	if err != nil || !strings.HasSuffix(picked.Version, ".99") || len(d.sorted) != versions {
		t.Errorf("got %v and %d versions, error %v", picked, len(d.sorted), err)
	}
}

// Parsed versions need many times the memory of their texts, and count.
func TestMemoryOfVersions(t *testing.T) {
	t.Parallel()
	s, d := sessionWith(100)
	s.memory.Store(maxMemory - 100*2000)
	_, err := s.pick(t.Context(), edge{name: "a", spec: ">=1.0.0-a"}, nil)
	var f *failure.Error
	if !errors.As(err, &f) || f.Code != failure.DependencyTooLarge || d.sorted != nil {
		t.Errorf("got %d versions, error %v, want %s", len(d.sorted), err, failure.DependencyTooLarge)
	}
}
