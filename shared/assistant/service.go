package assistant

import (
	"log/slog"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/project/file"
)

// Limits (API.md §6.3). Lower ones are for tests.
type Limits struct {
	// CallsPerMinute is how many chat and generate calls a user makes in a minute.
	CallsPerMinute int
	// MonthlyTokens is what a user may take in a month of UTC.
	MonthlyTokens int
	// GlobalMonthlyTokens is what all users together may take; 0: no such limit, and nothing is counted for it.
	GlobalMonthlyTokens int
	// Generation is how long an answer may take, Silence how long its model may say nothing.
	Generation, Silence time.Duration
	// CancelPoll is how often it is looked whether an answer was cancelled.
	CancelPoll time.Duration
	// NotePatience is how long a complete answer waits for the note that is written beside it.
	NotePatience time.Duration
}

// DefaultLimits are those of API.md, with no limit for all users together.
func DefaultLimits() Limits {
	return Limits{
		CallsPerMinute: 20, MonthlyTokens: 2_000_000,
		Generation: 2 * time.Minute, Silence: time.Minute, CancelPoll: time.Second, NotePatience: 5 * time.Second,
	}
}

// Deps are what the assistant is built on.
type Deps struct {
	DB            *db.Client
	Conversations db.Table
	Files         *file.Service
	Cursors       *db.Cursors
	IDs           *id.Generator
	Clock         clock.Clock
	Logger        *slog.Logger
	Model         model.Provider
	Limits        Limits
}

// Service is the assistant. Its methods answer with *api.Error or an error of storage's classes. It is safe for concurrent use.
type Service struct {
	store    store
	files    *file.Service
	counters *limit.Counters
	cursors  *db.Cursors
	ids      *id.Generator
	now      clock.Clock
	logger   *slog.Logger
	model    model.Provider
	limits   Limits
}

// New builds the assistant. It does no input or output.
func New(d Deps) *Service {
	return &Service{
		store: store{client: d.DB, conversations: d.Conversations},
		files: d.Files, counters: limit.New(d.DB, d.Conversations, d.Clock), cursors: d.Cursors,
		ids: d.IDs, now: d.Clock, logger: d.Logger, model: d.Model, limits: d.Limits,
	}
}
