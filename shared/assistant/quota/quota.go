// Package quota limits the use of the assistant: calls per minute, generations in progress, and tokens per month. It
// reserves tokens before a model is called, and settles the reservation when the answer ends. The record of a
// reservation also stores whether the user has cancelled the answer. Questions, answers and conversations do not belong
// here.
package quota

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// Limits are the limits of each user and of all users together.
type Limits struct {
	// CallsPerMinute is the number of chat and generate calls that a user may make in a minute.
	CallsPerMinute int `env:"LIMIT_AI_MINUTE" envDefault:"20" min:"1"`
	// InProgress is the number of generations of a user that may be in progress at the same time.
	InProgress int `env:"LIMIT_AI_IN_PROGRESS" envDefault:"3" min:"1"`
	// MonthlyTokens is the number of tokens that a user may use in a calendar month (UTC).
	MonthlyTokens int `env:"AI_MONTHLY_TOKENS" envDefault:"2000000" min:"1"`
	// GlobalMonthlyTokens is the number of tokens that all users together may use in a calendar month. If it is 0, the
	// total is neither limited nor counted.
	GlobalMonthlyTokens int `env:"AI_GLOBAL_MONTHLY_TOKENS" envDefault:"100000000" min:"0"`
}

// Month is a calendar month in UTC, represented by its first moment.
type Month time.Time

// MonthOf returns the month that contains a time.
func MonthOf(at time.Time) Month {
	at = at.UTC()
	return Month(time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC))
}

// String returns the month in the format of keys and API responses, such as 2026-11.
func (m Month) String() string { return time.Time(m).Format("2006-01") }

// End returns the first moment of the next month.
func (m Month) End() time.Time { return time.Time(m).AddDate(0, 1, 0) }

// Reservation reserves the tokens that an answer may use. Until it is settled, they count towards the user's limit in
// the same way as used tokens.
type Reservation struct {
	UserID string
	// MessageID is the ID of the answer.
	MessageID string
	Tokens    int
	// Began is the time of the user's request. The tokens count in the month of Began, even if the answer ends in the
	// next month.
	Began time.Time

	// Reserve sets the remaining fields. shard is the number of the shard that also counts the tokens; 0 if there are no
	// shards. operation is the generation in progress.
	shard     int
	operation limit.Operation
}

func (r Reservation) month() Month { return MonthOf(r.Began) }

// Settlement ends a reservation: the used tokens replace the reserved tokens.
type Settlement struct {
	Reservation
	Used model.Usage
	// UnlessCancelled makes Settle fail with ErrCancelled if the user has cancelled the answer.
	UnlessCancelled bool
}

// Ledger stores reservations and usage in a table. It is safe for concurrent use.
type Ledger struct {
	client   *db.Client
	table    db.Table
	projects db.Table // only read: whether users are suspended
	counters *limit.Counters
	limits   Limits
	now      clock.Clock
	logger   *slog.Logger
	// lastReport is the time at which the usage of all users was last logged, in nanoseconds since 1970.
	lastReport atomic.Int64
}

// New returns a Ledger that uses the given tables.
func New(
	client *db.Client, table, projects db.Table, now clock.Clock, logger *slog.Logger, limits Limits,
) *Ledger {
	return &Ledger{
		client: client, table: table, projects: projects, counters: limit.New(client, table, now), limits: limits, now: now,
		logger: logger,
	}
}

// Lease is the time for which a generation counts as in progress if its function crashes. It is longer than the time
// limit of the function.
const Lease = 160 * time.Second

// minuteRule returns the rate limit for calls.
func (l Limits) minuteRule() limit.Rule {
	return limit.Rule{Name: "ai", Limit: l.CallsPerMinute, Window: time.Minute}
}

// operationRule returns the limit of generations in progress.
func (l Limits) operationRule() limit.OperationRule {
	full := fault.New(fault.CodeRateLimited, "You have reached the limit of answers in progress ("+
		strconv.Itoa(l.InProgress)+"). Wait until an answer has ended, and try again.")
	return limit.OperationRule{Name: "ai", Limit: l.InProgress, Lease: Lease, Full: full}
}

// ExampleInProgress returns the error of a user who has too many generations in progress. It is an example for the API
// documentation.
func (l Limits) ExampleInProgress() *fault.Error {
	return limit.Status{Reset: Lease}.WithRetryAfter(l.operationRule().Full)
}

// ErrInUse reports that a reservation for the same answer already exists.
var ErrInUse = fault.New(fault.CodeConflict,
	"The answer could not be started because of a conflict. Please send the request again.")

// errExceeded returns the QUOTA_EXCEEDED error for a shortage. left is the number of remaining tokens.
func (l Limits) errExceeded(s shortage, m Month, left int) *fault.Error {
	var message string
	switch user := s.user; {
	case user == nil:
		message = "All users together have used the assistant's tokens for this month."
	case user.Taken < l.MonthlyTokens:
		message = fmt.Sprintf("You have %d of your %d tokens left this month, which is too few for this request.",
			l.MonthlyTokens-user.Taken, l.MonthlyTokens)
	case user.Taken > user.Input+user.Output:
		message = fmt.Sprintf("Your %d tokens for this month are used or reserved by answers in progress.",
			l.MonthlyTokens)
	default:
		message = fmt.Sprintf("You have used all of your %d tokens for this month.", l.MonthlyTokens)
	}
	message += " The quota is renewed on " + m.End().Format(time.DateOnly) + " (UTC)."
	return fault.New(fault.CodeQuotaExceeded, message).WithCause(tokensLeftError(left))
}

// ExampleExceeded returns the QUOTA_EXCEEDED error of a user who has used all tokens of the month that contains at. It
// is an example for the API documentation.
func (l Limits) ExampleExceeded(at time.Time) *fault.Error {
	return l.errExceeded(shortage{user: &Usage{Taken: l.MonthlyTokens, Input: l.MonthlyTokens}}, MonthOf(at), 0)
}

// tokensLeftError is the cause of QUOTA_EXCEEDED. It is the number of tokens that remain.
type tokensLeftError int

func (e tokensLeftError) Error() string { return fmt.Sprintf("quota: %d tokens left", int(e)) }
