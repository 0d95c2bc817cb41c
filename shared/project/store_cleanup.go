package project

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"devplatform/shared/db"
)

// cleanupStore removes what is kept of projects.
type cleanupStore struct {
	client                            *db.Client
	projects, contents, conversations db.Table
	pause                             func(ctx context.Context, attempt int) bool
}

// How many items are removed before the next ones are thought of: eight calls of 25, side by side, and one call when storage
// throttles. So no more than that is done again.
const (
	mostTogether  = 8 * leastTogether
	leastTogether = 25
)

// exists reports whether a project is there, strongly consistent. An id that can't be one's is errEvent.
func (s cleanupStore) exists(ctx context.Context, projectID string) (bool, error) {
	key := db.TreeKey(projectID)
	if key.IsZero() {
		return false, fmt.Errorf("%w: a project %q", errEvent, projectID)
	}
	_, err := s.projects.Get(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// holding is a part of what a project held: records, and the chunks that they name.
type holding struct{ records, chunks []db.Key }

// held reads what is kept under a project's id in the projects table, up to 1 MB of it, from behind a key on. The answer's key is where
// it goes on, zero at the end.
func (s cleanupStore) held(ctx context.Context, projectID string, after db.Key) (holding, db.Key, error) {
	page, err := s.projects.Query(ctx, db.Query{Prefix: db.ProjectPartition(projectID), After: after})
	if err != nil {
		return holding{}, db.Key{}, err
	}
	var part holding
	for _, item := range page.Items {
		part.records = append(part.records, db.KeyOf(item))
		ref, err := db.Decode[contentRef](item)
		if err != nil {
			continue // the sweep finds its chunks
		}
		part.chunks = append(part.chunks, chunkKeys(projectID, ref)...)
	}
	return part, page.Next, nil
}

// sweep removes what is under a project's id in a table and answers how many items that were. What has expired is DynamoDB's to
// remove, at no cost.
func (s cleanupStore) sweep(ctx context.Context, table db.Table, projectID string) (n int, err error) {
	q := db.Query{Prefix: db.ProjectPartition(projectID), KeysOnly: true}
	for {
		page, err := table.Query(ctx, q)
		if err != nil {
			return n, err
		}
		keys := make([]db.Key, len(page.Items))
		for i, item := range page.Items {
			keys[i] = db.KeyOf(item)
		}
		if err := s.remove(ctx, table, keys); err != nil {
			return n, err
		}
		n += len(keys)
		if page.Next.IsZero() {
			return n, nil
		}
		q.After = page.Next
	}
}

// remove deletes items with patience for a storage that throttles: all of a project's contents are in one partition, which takes
// 1 MB of deletions a second. Each refusal halves how many are tried together, each success adds a little again.
func (s cleanupStore) remove(ctx context.Context, table db.Table, keys []db.Key) error {
	together, attempt := mostTogether, 0
	for len(keys) > 0 {
		some := keys[:min(together, len(keys))]
		err := table.DeleteAll(ctx, some...)
		if err == nil {
			keys, attempt = keys[len(some):], 0
			together = min(mostTogether, together+leastTogether)
			continue
		}
		if attempt++; !errors.Is(err, db.ErrUnavailable) || attempt == maxAttempts || !s.pause(ctx, attempt) {
			return fmt.Errorf("removing: %w", err)
		}
		together = max(leastTogether, together/2)
	}
	return nil
}

// expireChunks has chunks expire at a moment, unless they are gone or are to expire later.
func (s cleanupStore) expireChunks(ctx context.Context, chunks []db.Key, at time.Time) error {
	pk, expires := expression.Name(db.AttrPK), expression.Name(db.AttrExpiresAt)
	group, ctx := errgroup.WithContext(ctx)
	for _, key := range chunks {
		group.Go(func() error {
			_, err := s.client.Do(ctx, s.contents.Update(key, expression.Set(expires, expression.Value(at.Unix()))).
				If(expression.AttributeExists(pk)).
				If(expression.AttributeNotExists(expires).Or(expires.LessThan(expression.Value(at.Unix())))))
			if err == nil || errors.Is(err, db.ErrConditionFailed) {
				return nil
			}
			return fmt.Errorf("expiring a chunk: %w", err)
		})
	}
	return group.Wait() //nolint:wrapcheck // our own errors
}
