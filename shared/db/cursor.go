package db

import (
	"context"
	"errors"

	"devplatform/shared/config"
)

// ErrCursor says: a cursor that was not made here, or for another list.
var ErrCursor = errors.New("db: no cursor of this list")

// Cursors makes and checks the cursors of lists: where a list goes on, signed, so that no client can make one up, and
// bound to one list, so that none can carry it elsewhere.
type Cursors struct{ keys *config.Keys }

// NewCursors signs with a key derived from the ring.
func NewCursors(keys *config.Keys) *Cursors { return &Cursors{keys: keys} }

// Seal makes the cursor at which the list named by scope goes on behind position.
func (c *Cursors) Seal(ctx context.Context, scope, position string) (string, error) {
	return "", errors.New("db: cursors come first")
}

// Open is the position of a cursor of the list named by scope. Errors: ErrCursor, and those of the key ring.
func (c *Cursors) Open(ctx context.Context, scope, cursor string) (string, error) {
	return "", ErrCursor
}
