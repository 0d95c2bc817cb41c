// Package assistant answers messages about projects with a language model, and generates code for prompts. It contains
// the endpoints of the assistant and the steps from a question to the stored answer. Stored messages are in package
// conversation, limits in package quota, prompts in package prompt, and changes to files in package action. Each model
// provider has its own package. Projects and their files belong to package project.
package assistant

import (
	"log/slog"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB            *db.Client
	Conversations db.Table
	Projects      db.Table // only read
	Files         *file.Service
	Cursors       *db.Cursors
	IDs           *id.Generator
	Clock         clock.Clock
	Logger        *slog.Logger
	Model         model.Provider
	Limits        Limits
}

// Service is the assistant. Its methods return *fault.Error or the error classes of db. It is safe for concurrent use.
type Service struct {
	conversations conversation.Store
	quota         *quota.Ledger
	access        workspace.Access
	files         *file.Service
	cursors       *db.Cursors
	ids           *id.Generator
	now           clock.Clock
	logger        *slog.Logger
	model         model.Provider
	limits        Limits
}

// New returns a Service. It does not use the network.
func New(d Deps) *Service {
	return &Service{
		conversations: conversation.NewStore(d.DB, d.Conversations),
		quota:         quota.New(d.DB, d.Conversations, d.Projects, d.Clock, d.Logger, d.Limits.Limits),
		access:        workspace.Access{Projects: d.Projects},
		files:         d.Files,
		cursors:       d.Cursors,
		ids:           d.IDs,
		now:           d.Clock,
		logger:        d.Logger,
		model:         d.Model,
		limits:        d.Limits,
	}
}
