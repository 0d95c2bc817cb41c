package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/queue"
)

// settings are the environment variables of the function.
type settings struct {
	AWS      config.AWS
	Bucket   config.FilesBucket
	Projects string `env:"PROJECTS_TABLE,required,notEmpty"`
	Contents string `env:"CONTENTS_TABLE,required,notEmpty"`
	// Exports is the URL of the queue from which the function receives its messages.
	Exports string `env:"EXPORTS_QUEUE,required,notEmpty"`
}

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.QueueHandler, error) {
	client := db.New(cfg.AWS, now)
	bucket := objectstore.NewTransfer(cfg.AWS).Bucket(cfg.Bucket.Files)
	projects := client.Table(cfg.Projects)
	worker := export.NewWorker(export.WorkerDeps{
		DB: client, Projects: projects, Bucket: bucket, Hide: queue.New(cfg.AWS).Queue(cfg.Exports).Hide,
		Files: file.New(file.Deps{ // the dependencies that reads need
			DB: client, Projects: projects, Contents: client.Table(cfg.Contents), Bucket: bucket, Clock: now,
		}),
		Clock: now, Logger: logger,
	})
	return lambdafn.Queue(logger, worker.Handle), nil
}
