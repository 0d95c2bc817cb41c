// Command project-cleanup is the Lambda function that reads the stream of events: it deletes the data of deleted
// projects, and sets an expiry time on file contents that were replaced. A schedule starts it every day to remove the
// objects to which no record refers. Another schedule starts it every minute to remove the data of workspaces and
// accounts that have ended.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"

	"devplatform/shared/account/deletion"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/queue"
	"devplatform/shared/removal"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/workspace"
)

func main() { lambdafn.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS           config.AWS
	Conversations config.ConversationsTable
	Webhooks      config.WebhooksTable
	Bucket        config.FilesBucket
	Metrics       config.Metrics
	Events        config.EventsTable
	Accounts      string `env:"ACCOUNTS_TABLE,required,notEmpty"`
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
	bucket := objectstore.New(cfg.AWS).Bucket(cfg.Bucket.Files)
	c := cleanup.New(cleanup.Deps{
		DB: client, Projects: projects, Contents: client.Table(cfg.Contents),
		Conversations: client.Table(cfg.Conversations.Conversations),
		Bucket:        bucket, Clock: now, Logger: logger,
	})
	removals := removal.NewWorker(removal.Deps{
		DB: client, Projects: projects, Clock: now, Logger: logger,
		Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
		Removers: map[removal.Kind]removal.Remover{
			removal.Workspace: workspaceRemover(cfg, client, c, removal.Deleter{}, now),
			removal.Account:   accountRemover(cfg, client, bucket, now),
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

// accountRemover returns the function that removes the data of accounts that have ended.
func accountRemover(
	cfg settings, client *db.Client, bucket objectstore.Bucket, now clock.Clock,
) removal.Remover {
	projects, webhooks := client.Table(cfg.Projects), client.Table(cfg.Webhooks.Webhooks)
	ids, hooks := id.NewGenerator(now, rand.Reader), revocation.Store{Webhooks: webhooks}
	workspaces := workspace.New(workspace.Deps{
		DB: client, Projects: projects, Outbox: event.Outbox{Events: client.Table(cfg.Events.Events), IDs: ids},
		DisableWebhooks: hooks.Disable, IDs: ids, Clock: now,
	})
	comments := project.Remover{DB: client, Projects: projects}
	deployments := deployment.Store{DB: client, Projects: projects}
	account := deletion.Remover{
		DB: client, Accounts: client.Table(cfg.Accounts), Projects: projects,
		Others: []db.Table{client.Table(cfg.Conversations.Conversations), webhooks},
		Bucket: bucket,
	}
	forget := func(ctx context.Context, workspaceID, userID string) error {
		return errors.Join(
			comments.ForgetAuthor(ctx, workspaceID, userID), deployments.ForgetCreator(ctx, workspaceID, userID),
			hooks.ForgetCreator(ctx, client, workspaceID, userID),
		)
	}
	return removal.InOrder(
		account.RemoveAccount, workspaces.LeaveAll, workspaces.EndUserInvitations,
		func(ctx context.Context, userID string) error { return workspaces.ForgetFormer(ctx, userID, forget) },
		account.RemoveRest,
	)
}
