package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/queue"
	"devplatform/shared/removal"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/workspace"
)

// settings are the environment variables of the function.
type settings struct {
	AWS           config.AWS
	Conversations config.ConversationsTable
	Webhooks      config.WebhooksTable
	Bucket        config.FilesBucket
	Metrics       config.Metrics
	Projects      string `env:"PROJECTS_TABLE,required,notEmpty"`
	Contents      string `env:"CONTENTS_TABLE,required,notEmpty"`
	Sites         string `env:"SITES_TABLE,required,notEmpty"`
	// Failures is the URL of the queue for records that cannot be processed.
	Failures string `env:"FAILURES_QUEUE,required,notEmpty"`
}

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.StreamHandler, error) {
	client := db.New(cfg.AWS, now)
	projects := client.Table(cfg.Projects)
	c := cleanup.New(cleanup.Deps{
		DB: client, Projects: projects, Contents: client.Table(cfg.Contents),
		Conversations: client.Table(cfg.Conversations.Conversations),
		Bucket:        objectstore.New(cfg.AWS).Bucket(cfg.Bucket.Files), Clock: now, Logger: logger,
	})
	removals := removal.NewWorker(removal.Deps{
		DB: client, Projects: projects, Clock: now, Logger: logger,
		Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
		Removers: map[removal.Kind]removal.Remover{
			removal.Workspace: workspaceRemover(cfg, client, c, removal.Deleter{}, now),
		},
	})
	handler := lambdafn.Stream(logger, c.Handle, queue.New(cfg.AWS).Queue(cfg.Failures).Poison)
	return handler.WithSchedule(c.Sweep).WithTask("removals", removals.Run), nil
}

// workspaceRemover returns the function that removes the data of workspaces that have ended.
func workspaceRemover(
	cfg settings, client *db.Client, c *cleanup.Cleanup, d removal.Deleter, now clock.Clock,
) removal.Remover {
	projects := client.Table(cfg.Projects)
	members := workspace.Remover{DB: client, Projects: projects, Deleter: d}
	deployments := deployment.Store{DB: client, Projects: projects, Sites: client.Table(cfg.Sites)}
	contents := project.Remover{
		DB: client, Projects: projects, RemoveSite: deployments.RemoveSite, Clean: c.RemoveProject, Clock: now,
	}
	webhooks := delivery.Remover{Webhooks: client.Table(cfg.Webhooks.Webhooks), Deleter: d}
	return removal.InOrder(
		members.RemoveMembers, contents.Remove, deployments.RemoveLabels, webhooks.Remove, members.RemoveRest,
	)
}
