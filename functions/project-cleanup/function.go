package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project"
	"devplatform/shared/queue"
)

// settings are what the function reads from its environment.
type settings struct {
	AWS           config.AWS
	Conversations config.ConversationsTable
	Projects      string `env:"PROJECTS_TABLE,required,notEmpty"`
	Contents      string `env:"CONTENTS_TABLE,required,notEmpty"`
	// Failures is the URL of the queue that gets what makes no sense.
	Failures string `env:"FAILURES_QUEUE,required,notEmpty"`
}

// newHandler puts the function together. It does no input or output.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.StreamHandler, error) {
	client := db.New(cfg.AWS, now)
	return lambdafn.Stream(logger, project.NewCleanup(project.CleanupDeps{
		DB: client, Projects: client.Table(cfg.Projects), Contents: client.Table(cfg.Contents),
		Conversations: client.Table(cfg.Conversations.Conversations), Clock: now, Logger: logger,
	}).Handle, queue.New(cfg.AWS).Queue(cfg.Failures).Poison), nil
}
