package cleanup

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

const (
	// minAge is the age from which the sweep removes an object without a record. An object is stored at most minutes
	// before the transaction that refers to it, because no function runs longer than that.
	minAge = 24 * time.Hour
	// sweepTime limits the time of a run. The next run continues.
	sweepTime = 4 * time.Minute
)

// Sweep removes the objects to which no record refers: contents of expired versions, and of saves that failed after
// they had stored their object. A run continues where the previous run stopped. Every step is idempotent and can be
// interrupted at any point. If a project has a record that is not valid, Sweep keeps the project's objects, continues
// with the other projects, and returns an error in the end. Errors: db.ErrUnavailable, objectstore.ErrUnavailable.
//
// Sweep never removes an object to which a record refers, or is about to refer. It reads the records of a project after
// it has listed the object, and keeps objects that are younger than a day. A content ID is in a record from the
// transaction of its save until its last version expires or is deleted, and never again after that. But a rename moves
// it from one record to others, and the records are read in several pages. If the file /z is renamed to /a after the
// page with /a was read, and the old version of /z is deleted before the page with versions is read, then no page has
// the content ID. So Sweep compares the tree's revision before and after the read. If the revision differs, Sweep skips
// the project, and the next run handles it. The expiry of versions does not increment the revision. It cannot hide a
// content ID, because no version expires in the run in which the rename stored it.
func (c *Cleanup) Sweep(ctx context.Context) error {
	ctx = db.CountCalls(ctx)
	until, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	before := c.now().Add(-minAge)
	after, err := c.store.position(ctx)
	if err != nil {
		return err
	}
	var invalid error // of projects with records that are not valid
	listed, removed := 0, 0
	for more := true; more && until.Err() == nil; {
		objects, isMore, err := c.store.bucket.List(ctx, content.ObjectPrefix, after)
		if err != nil {
			return err
		}
		n, err := c.store.removeUnreferenced(ctx, objects, before)
		if errors.Is(err, errInvalidRecord) {
			invalid = errors.Join(invalid, err)
		} else if err != nil {
			return err
		}
		listed, removed = listed+len(objects), removed+n
		more, after = isMore, ""
		if more {
			after = objects[len(objects)-1].Key
		}
		if err := c.store.setPosition(ctx, after); err != nil {
			return err
		}
	}
	c.logger.InfoContext(ctx, "objects without a record were removed",
		"objects", listed, "removed", removed, "isComplete", after == "", "dynamodbCalls", db.Calls(ctx))
	return invalid
}
