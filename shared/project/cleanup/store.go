package cleanup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/content"
	"devplatform/shared/retry"
)

// store deletes the stored data of projects.
type store struct {
	client                            *db.Client
	projects, contents, conversations db.Table
	bucket                            objectstore.Bucket
	sleep                             func(context.Context, time.Duration) bool
}

const (
	// minBatch and maxBatch limit the number of items that are deleted at the same time: one call of 25 items while
	// storage throttles, and up to eight concurrent calls otherwise. An interrupted cleanup repeats at most one batch.
	minBatch = 25
	maxBatch = 8 * minBatch
	// maxAttempts is the maximum number of attempts to delete a batch.
	maxAttempts = 20
)

// exists reports whether a project exists. The read is strongly consistent. Error: errInvalidEvent if projectID is not
// a valid ID.
func (s store) exists(ctx context.Context, projectID string) (bool, error) {
	key := db.TreeKey(projectID)
	if key.IsZero() {
		return false, fmt.Errorf("%w: project ID %q", errInvalidEvent, projectID)
	}
	_, err := s.projects.Get(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// removal is the number of records, chunks and objects that were removed.
type removal struct{ records, chunks, objects int }

// removeRecords deletes the records of a project, one page at a time. It deletes the chunks of a page's records, and
// the objects of its deployments, before the records. It keeps the jobs, which end by themselves: a worker may still
// write objects of a deployment, and the deployment's job removes them after the lease of the worker.
func (s store) removeRecords(ctx context.Context, projectID string) (r removal, err error) {
	for page, err := range s.projects.Pages(ctx, db.Query{Prefix: db.ProjectPartition(projectID)}) {
		if err != nil {
			return r, err
		}
		var recordKeys, chunkKeys []db.Key
		for _, item := range page.Items {
			key := db.KeyOf(item)
			if key.IsJob() {
				continue
			}
			if deploymentID, isDeployment := strings.CutPrefix(key.SK, db.DeploymentsOf(projectID).SK); isDeployment {
				n, err := s.removeOutput(ctx, deploymentID)
				if err != nil {
					return r, err
				}
				r.objects += n
			}
			recordKeys = append(recordKeys, key)
			ref, err := db.Decode[content.Ref](item)
			if chunk := ref.ChunkKey(projectID); err == nil && !chunk.IsZero() { // removeRest deletes the other chunks
				chunkKeys = append(chunkKeys, chunk)
			}
		}
		if err := s.remove(ctx, s.contents, chunkKeys); err != nil {
			return r, err
		}
		if err := s.remove(ctx, s.projects, recordKeys); err != nil {
			return r, err
		}
		r.records, r.chunks = r.records+len(recordKeys), r.chunks+len(chunkKeys)
	}
	return r, nil
}

// removeRest deletes all items of a project in a table except the jobs, and returns their number. It leaves expired
// items to DynamoDB, which deletes them at no cost.
func (s store) removeRest(ctx context.Context, table db.Table, projectID string) (n int, err error) {
	for page, err := range table.Pages(ctx, db.Query{Prefix: db.ProjectPartition(projectID), KeysOnly: true}) {
		if err != nil {
			return n, err
		}
		var keys []db.Key
		for _, item := range page.Items {
			if key := db.KeyOf(item); !key.IsJob() {
				keys = append(keys, key)
			}
		}
		if err := s.remove(ctx, table, keys); err != nil {
			return n, err
		}
		n += len(keys)
	}
	return n, nil
}

// remove deletes items, and slows down while storage throttles: all contents of a project are in one partition, which
// accepts 1 MB of deletions per second. A failure halves the batch size, a success increases it. db.Retry cannot be
// used here, because it is for conflicts. The calls themselves are not retried, so that the attempts do not multiply.
func (s store) remove(ctx context.Context, table db.Table, keys []db.Key) error {
	size, attempt := maxBatch, 0
	for len(keys) > 0 {
		batch := keys[:min(size, len(keys))]
		err := table.DeleteAll(retry.WithBudget(ctx, 0, 0), batch...)
		if err == nil {
			keys, attempt = keys[len(batch):], 0
			size = min(maxBatch, size+minBatch)
			continue
		}
		attempt++
		isRetryable := errors.Is(err, db.ErrUnavailable) && attempt < maxAttempts
		if !isRetryable || !s.sleep(ctx, retry.Jitter(min(attempt, 4))) {
			return fmt.Errorf("deleting items: %w", err)
		}
		size = max(minBatch, size/2)
	}
	return nil
}

// expireChunk sets the expiry of a chunk. It does not change a chunk that already expires at that time or later, and it
// ignores a chunk that does not exist.
func (s store) expireChunk(ctx context.Context, chunk db.Key, at time.Time) error {
	pk, expires := expression.Name(db.AttrPK), expression.Name(db.AttrExpiresAt)
	_, err := s.client.Do(ctx, s.contents.Update(chunk, expression.Set(expires, expression.Value(at.Unix()))).
		If(expression.AttributeExists(pk)).
		If(expression.AttributeNotExists(expires).Or(expires.LessThan(expression.Value(at.Unix())))))
	if errors.Is(err, db.ErrConditionFailed) {
		return nil
	}
	return err
}
