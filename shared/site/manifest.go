package site

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/singleflight"

	"devplatform/shared/objectstore"
)

const (
	// maxManifests is the maximum size of all manifests in memory, as JSON. In memory they have about twice that size.
	maxManifests = 16 << 20
	// loadTimeout is the time limit for reading a manifest. Several requests may wait for it.
	loadTimeout = 10 * time.Second
)

// manifests reads manifests and caches the most recently used ones. A manifest never changes.
type manifests struct {
	bucket objectstore.Bucket
	max    int // bytes
	flight singleflight.Group

	mu    sync.Mutex
	byKey map[string]*list.Element // by the key of the object
	order list.List                // of *cached, the most recently used first
	size  int                      // bytes
}

// cached is a manifest in memory.
type cached struct {
	key      string // of the object
	manifest Manifest
	size     int // of the JSON
}

func newManifests(bucket objectstore.Bucket, maxBytes int) *manifests {
	return &manifests{bucket: bucket, max: maxBytes, byKey: map[string]*list.Element{}}
}

// get returns the manifest in the object with that key. Errors: objectstore.ErrNotFound, objectstore.ErrUnavailable.
func (c *manifests) get(ctx context.Context, key string) (Manifest, error) {
	c.mu.Lock()
	element := c.byKey[key]
	if element != nil {
		c.order.MoveToFront(element)
	}
	c.mu.Unlock()
	if element != nil {
		return element.Value.(*cached).manifest, nil
	}
	loaded, err, _ := c.flight.Do(key, func() (any, error) {
		// The client of another request that waits may stay longer than the client of this one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		return c.load(ctx, key)
	})
	if err != nil {
		return Manifest{}, err //nolint:wrapcheck // an error of load
	}
	return loaded.(*cached).manifest, nil
}

// load reads a manifest and adds it to the cache.
func (c *manifests) load(ctx context.Context, key string) (*cached, error) {
	data, err := c.bucket.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	loaded := &cached{key: key, size: len(data)}
	if err := json.Unmarshal(data, &loaded.manifest); err != nil {
		return nil, fmt.Errorf("site: the manifest %s is not valid: %w", key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] == nil && loaded.size <= c.max {
		c.byKey[key] = c.order.PushFront(loaded)
		c.size += loaded.size
		for c.size > c.max {
			oldest := c.order.Remove(c.order.Back()).(*cached)
			delete(c.byKey, oldest.key)
			c.size -= oldest.size
		}
	}
	return loaded, nil
}
