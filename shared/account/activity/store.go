package activity

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// AddFailure counts a failed login. All failed logins from a network in an hour are one entry, with the IP address and
// the User-Agent of the last one. Error: db.ErrUnavailable.
func (l *Log) AddFailure(ctx context.Context, userID string, client httpapi.RequestInfo) error {
	hour := l.now().UTC().Truncate(time.Hour)
	network := sha256.Sum256([]byte(httpapi.RateKey(client.SourceIP)))
	entryID := id.Activity.From(hour, [10]byte(network[:10]))
	update := expression.Add(expression.Name("failures"), expression.Value(1))
	for name, value := range map[string]any{
		"at": clock.Stamp(hour).String(), "type": LoginFailed, "ip": client.SourceIP, "id": entryID,
		"userAgent": user.Printable(client.UserAgent, maxUserAgentBytes), db.AttrExpiresAt: hour.Add(Retention).Unix(),
	} {
		update = update.Set(expression.Name(name), expression.Value(value))
	}
	if _, err := l.db.Do(ctx, l.accounts.Update(db.ActivityKey(userID, entryID), update)); err != nil {
		return fmt.Errorf("counting a failed login: %w", err)
	}
	return nil
}

// list reads up to n entries that are older than the entry with the ID after, newest first. If after is "", it begins
// with the newest entry.
func (l *Log) list(ctx context.Context, userID, after string, n int) ([]Entry, error) {
	q := db.Query{Prefix: db.ActivityOf(userID), Descending: true, Limit: n}
	if after != "" {
		q.After = db.ActivityKey(userID, after)
	}
	entries, _, err := db.List(ctx, l.accounts, q, db.DecodeByID(func(e Entry) string { return e.ID }))
	if err != nil {
		return nil, fmt.Errorf("listing the activity of an account: %w", err)
	}
	for i := range entries {
		entries[i].Detail.Count = entries[i].Failures
	}
	return entries, nil
}
