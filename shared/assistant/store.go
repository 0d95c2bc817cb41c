package assistant

import (
	"context"
	"errors"

	"devplatform/shared/db"
)

// store keeps conversations, generations and usage.
type store struct {
	client        *db.Client
	conversations db.Table
}

// rounds is how often a transaction is begun that meets others for longer than any one item explains.
const rounds = 3

// transact makes all writes or none, with more patience than others need: all calls of all users meet on the month that they share, and
// an answer that can't be stored is lost. Errors: those of db.Client's Transact.
func (s store) transact(ctx context.Context, writes ...db.Write) error {
	for round := 1; ; round++ {
		err := s.client.Transact(ctx, writes...)
		if !errors.Is(err, db.ErrConflict) || round == rounds || ctx.Err() != nil {
			return err
		}
	}
}
