package site

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"devplatform/shared/objectstore"
)

// maxManifests is the maximum size of all manifests in memory, as JSON. In memory they have about twice that size.
const maxManifests = 16 << 20

// newManifests returns a cache of manifests. Errors of its get: objectstore.ErrNotFound, objectstore.ErrUnavailable.
func newManifests(bucket objectstore.Bucket, maxBytes int) *cache[Manifest] {
	return newCache(maxBytes, func(ctx context.Context, key string) (m Manifest, size int, err error) {
		data, err := bucket.Get(ctx, key)
		if err != nil {
			return m, 0, err
		}
		if err := json.Unmarshal(data, &m); err != nil {
			return m, 0, fmt.Errorf("site: the manifest %s is not valid: %w", key, err)
		}
		return m, len(data), nil
	})
}
