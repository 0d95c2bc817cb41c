package site

import (
	"container/list"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"devplatform/shared/async"
)

const (
	// loadTimeout is the time limit for reading an object into a cache. Several requests may wait for it.
	loadTimeout = 10 * time.Second
	// entryOverhead is added to the size of each value, so that many small values cannot use much more memory than max.
	entryOverhead = 512
)

// cache keeps the most recently used values that were read from objects, by the keys of the objects. A value never
// changes, because objects do not.
type cache[V any] struct {
	load   func(ctx context.Context, key string) (value V, size int, err error)
	max    int // bytes
	flight singleflight.Group

	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List // of *entry[V], the most recently used first
	size  int       // bytes
}

// entry is a value in memory.
type entry[V any] struct {
	key   string
	value V
	size  int // bytes
}

// newCache returns a cache of up to maxBytes. load reads a value and returns its size.
func newCache[V any](maxBytes int, load func(context.Context, string) (V, int, error)) *cache[V] {
	return &cache[V]{load: load, max: maxBytes, byKey: map[string]*list.Element{}}
}

// get returns the value of the object with that key. Concurrent calls read an object once. Errors: the errors of load.
func (c *cache[V]) get(ctx context.Context, key string) (V, error) {
	c.mu.Lock()
	element := c.byKey[key]
	if element != nil {
		c.order.MoveToFront(element)
	}
	c.mu.Unlock()
	if element != nil {
		return element.Value.(*entry[V]).value, nil
	}
	loaded, err, _ := c.flight.Do(key, func() (any, error) {
		// Other requests may wait for the value after the client of this request has left.
		ctx, cancel := async.Detach(ctx, loadTimeout)
		defer cancel()
		var value V
		err := async.Recover(func() error { // singleflight would hide where it panicked
			read, size, err := c.load(ctx, key)
			if err == nil {
				c.add(&entry[V]{key, read, size + entryOverhead})
			}
			value = read
			return err
		})
		return value, err
	})
	return loaded.(V), err
}

// add adds a value, and evicts the values that were not used for the longest time.
func (c *cache[V]) add(e *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[e.key] != nil || e.size > c.max {
		return
	}
	c.byKey[e.key] = c.order.PushFront(e)
	c.size += e.size
	for c.size > c.max {
		oldest := c.order.Remove(c.order.Back()).(*entry[V])
		delete(c.byKey, oldest.key)
		c.size -= oldest.size
	}
}
