package cleanup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/content"
	"devplatform/shared/site"
)

// parallelProjects is the maximum number of projects whose records the sweep reads at the same time.
const parallelProjects = 8

// errInvalidRecord reports a record that cannot be decoded. The object to which it refers is then unknown.
var errInvalidRecord = errors.New("cleanup: invalid record")

// removeOutput deletes all objects of a deployment, and returns their number.
func (s store) removeOutput(ctx context.Context, deploymentID string) (int, error) {
	if !id.Deployment.Valid(deploymentID) { // its prefix could select other objects
		return 0, fmt.Errorf("%w: deployment ID %q", errInvalidEvent, deploymentID)
	}
	return s.bucket.DeletePrefix(ctx, site.ObjectsOf(deploymentID))
}

// removeUnreferenced deletes the objects that were written before a time and to which no record refers, and returns
// their number. It skips objects that are not contents, and projects that change in the meantime. Error:
// errInvalidRecord, after it has handled the other projects.
func (s store) removeUnreferenced(ctx context.Context, objects []objectstore.Object, before time.Time) (int, error) {
	old := map[string][]string{} // the keys of old objects by project
	for _, o := range objects {
		if projectID, _, ok := content.ParseObjectKey(o.Key); ok && o.Written.Before(before) {
			old[projectID] = append(old[projectID], o.Key)
		}
	}
	var removed atomic.Int64
	var invalid atomic.Pointer[error]
	group, ctx := async.WithContext(ctx)
	group.SetLimit(parallelProjects)
	for projectID, keys := range old {
		group.Go(func() error {
			keys, err := s.findUnreferenced(ctx, projectID, keys)
			if errors.Is(err, errInvalidRecord) {
				invalid.Store(&err)
				return nil
			}
			if err != nil {
				return err
			}
			if err := s.bucket.DeleteAll(ctx, keys...); err != nil {
				return err
			}
			removed.Add(int64(len(keys)))
			return nil
		})
	}
	err := group.Wait()
	if invalidRecord := invalid.Load(); err == nil && invalidRecord != nil {
		err = *invalidRecord
	}
	return int(removed.Load()), err
}

// findUnreferenced returns the keys of a project's objects to which no record of the project refers. It returns none
// if files or old versions change while it reads the records, because the records then do not show the state at one
// point in time (see Sweep). Error: errInvalidRecord.
func (s store) findUnreferenced(ctx context.Context, projectID string, keys []string) ([]string, error) {
	before, err := s.readTreeState(ctx, projectID)
	if err != nil {
		return nil, err
	}
	remaining := map[string]bool{}
	for _, key := range keys {
		remaining[key] = true
	}
	if err := s.dropReferenced(ctx, projectID, remaining); err != nil || len(remaining) == 0 {
		return nil, err
	}
	after, err := s.readTreeState(ctx, projectID)
	if err != nil || after != before {
		return nil, err
	}
	return slices.Collect(maps.Keys(remaining)), nil
}

// treeState identifies a state of the files and old versions of a project. It has two attributes of the project's tree
// (file.Tree), and is zero if the project does not exist.
type treeState struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
	Revision    int    `dynamodbav:"changes"`
}

// readTreeState returns the state of a project. Error: errInvalidRecord.
func (s store) readTreeState(ctx context.Context, projectID string) (treeState, error) {
	item, err := s.projects.Get(ctx, db.TreeKey(projectID))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return treeState{}, err
	}
	state, err := db.Decode[treeState](item)
	if err != nil {
		err = fmt.Errorf("%w: project %s: %w", errInvalidRecord, projectID, err)
	}
	return state, err
}

// dropReferenced deletes from keys the key of each object to which a record of the project refers. It reads one page of
// records at a time, because a project can have millions of old versions. Error: errInvalidRecord.
func (s store) dropReferenced(ctx context.Context, projectID string, keys map[string]bool) error {
	return s.projects.Each(ctx, db.ProjectPartition(projectID), func(item db.Item) error {
		ref, err := db.Decode[content.Ref](item)
		if err != nil {
			return fmt.Errorf("%w: project %s: %w", errInvalidRecord, projectID, err)
		}
		delete(keys, ref.ObjectKey(projectID))
		return nil
	}, "content", "chunks", "object")
}

// sweepPosition is the record of the position of the sweep.
type sweepPosition struct {
	After string `dynamodbav:"after"` // the key of the last object that was handled
}

// position returns the key after which the sweep continues, or "" for the first object. A position that is not valid is
// "" too: the sweep replaces it.
func (s store) position(ctx context.Context) (after string, err error) {
	item, err := s.contents.Get(ctx, db.SweepKey())
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return "", err
	}
	p, _ := db.Decode[sweepPosition](item)
	return p.After, nil
}

func (s store) setPosition(ctx context.Context, after string) error {
	_, err := s.client.Do(ctx, s.contents.Update(db.SweepKey(),
		expression.Set(expression.Name("after"), expression.Value(after))))
	return err
}
