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
	"devplatform/shared/removal"
)

// store deletes the stored data of projects.
type store struct {
	client                            *db.Client
	projects, contents, conversations db.Table
	bucket                            objectstore.Bucket
	removal.Deleter
}

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

// removed is the number of records, chunks and objects that were removed.
type removed struct{ records, chunks, objects int }

// removeRecords deletes the records of a project, one page at a time. It deletes the chunks of a page's records, and
// the objects of its deployments, before the records. It keeps the jobs, which end by themselves: a worker may still
// write objects of a deployment, and the deployment's job removes them after the lease of the worker.
func (s store) removeRecords(ctx context.Context, projectID string) (r removed, err error) {
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
			if ref, err := db.Decode[content.Ref](item); err == nil { // DeleteAll deletes the chunks of an invalid record
				chunkKeys = append(chunkKeys, ref.ChunkKeys(projectID)...)
			}
		}
		if err := s.Delete(ctx, s.contents, chunkKeys...); err != nil {
			return r, err
		}
		if err := s.Delete(ctx, s.projects, recordKeys...); err != nil {
			return r, err
		}
		r.records, r.chunks = r.records+len(recordKeys), r.chunks+len(chunkKeys)
	}
	return r, nil
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
