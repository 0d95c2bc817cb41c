package activity

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// store stores entries in the accounts table.
type store struct {
	client   *db.Client
	accounts db.Table
}

// count adds one failure to an entry. It creates the entry if there is none.
func (s store) count(ctx context.Context, userID string, e Entry) error {
	update := expression.Add(expression.Name("failures"), expression.Value(1))
	for name, value := range map[string]any{
		"at": e.At.String(), "type": e.Type, "ip": e.IP, "userAgent": e.UserAgent, "id": e.ID, db.AttrExpiresAt: e.ExpiresAt,
	} {
		update = update.Set(expression.Name(name), expression.Value(value))
	}
	_, err := s.client.Do(ctx, s.accounts.Update(db.ActivityKey(userID, e.ID), update))
	return err
}

// list reads up to n entries that are older than the entry with the ID after, newest first. If after is "", it begins
// with the newest entry.
func (s store) list(ctx context.Context, userID, after string, n int) ([]Entry, error) {
	q := db.Query{Prefix: db.ActivityOf(userID), Descending: true, Limit: n}
	if after != "" {
		q.After = db.ActivityKey(userID, after)
	}
	entries, _, err := db.List(ctx, s.accounts, q, db.DecodeByID(func(e Entry) string { return e.ID }))
	if err != nil {
		return nil, fmt.Errorf("listing the activity of an account: %w", err)
	}
	for i := range entries {
		entries[i].Detail.Count = entries[i].Failures
	}
	return entries, nil
}
