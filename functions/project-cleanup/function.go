package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/queue"
)

// settings are the environment variables of the function.
type settings struct {
	AWS           config.AWS
	Conversations config.ConversationsTable
	Bucket        config.FilesBucket
	Projects      string `env:"PROJECTS_TABLE,required,notEmpty"`
	Contents      string `env:"CONTENTS_TABLE,required,notEmpty"`
	// Failures is the URL of the queue for records that cannot be processed.
	Failures string `env:"FAILURES_QUEUE,required,notEmpty"`
}

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.StreamHandler, error) {
	client := db.New(cfg.AWS, now)
	c := cleanup.New(cleanup.Deps{
		DB: client, Projects: client.Table(cfg.Projects), Contents: client.Table(cfg.Contents),
		Conversations: client.Table(cfg.Conversations.Conversations),
		Bucket:        objectstore.New(cfg.AWS).Bucket(cfg.Bucket.Files), Clock: now, Logger: logger,
	})
	handler := lambdafn.Stream(logger, c.Handle, queue.New(cfg.AWS).Queue(cfg.Failures).Poison)
	return handler.WithSchedule(c.Sweep), nil
}
