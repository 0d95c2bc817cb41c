// Command jobs is the Lambda function that does work in the background: it builds deployments, removes the output of
// deployments, and writes the exports of projects and accounts. It receives messages from JobsQueue. Every minute, a
// schedule makes it look for jobs that wait for too long.
//
// All kinds of jobs share the function, the queue and the schedule, because they need the same memory and time. Message
// groups keep a user with many jobs from delaying the jobs of others.
package main

import (
	"crypto/rand"
	"log/slog"
	"runtime/debug"

	accountexport "devplatform/shared/account/export"
	"devplatform/shared/account/user"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/worker"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/queue"
)

func main() { lambdafn.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS           config.AWS
	Tables        config.Tables
	Projects      config.ProjectTables
	Conversations config.ConversationsTable
	Webhooks      config.WebhooksTable
	Bucket        config.FilesBucket
	Metrics       config.Metrics
	Sites         string `env:"SITES_TABLE,required,notEmpty"`
	// Queue is the URL of the queue from which the function receives its messages.
	Queue string `env:"JOBS_QUEUE,required,notEmpty"`
	// SitesOrigin is the origin of the sites, such as https://example.app. Their addresses are below its host.
	SitesOrigin config.Origin `env:"SITES_ORIGIN"`
	// Registry is the URL of the npm registry. Without it, projects with packages cannot be built.
	Registry string `env:"NPM_REGISTRY"`
	// AllowPrivate allows a registry with http or a private address, as on a laptop.
	AllowPrivate bool `env:"NPM_ALLOW_PRIVATE"`
	// BuildsAccount is the maximum number of builds of an account in progress.
	BuildsAccount int `env:"LIMIT_BUILDS_ACCOUNT" envDefault:"3" min:"1"`
	Storage       deployment.StorageSettings
}

// memoryLimit is the memory of the Go runtime, in bytes, above which the garbage collector works harder. The function
// has 1,769 MB, and the process of a build can use 900 MiB of them.
const memoryLimit = 600 << 20

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.QueueHandler, error) {
	debug.SetMemoryLimit(memoryLimit)
	client := db.New(cfg.AWS, now)
	bucket := objectstore.NewTransfer(cfg.AWS).Bucket(cfg.Bucket.Files)
	projects, jobs := client.Table(cfg.Tables.Projects), queue.New(cfg.AWS).Queue(cfg.Queue)
	files := file.New(file.Deps{ // the dependencies that reads need
		DB: client, Projects: projects, Contents: client.Table(cfg.Projects.Contents), Bucket: bucket, Clock: now,
	})
	deployments := worker.New(worker.Deps{
		Store: deployment.Store{
			DB: client, Projects: projects, Sites: client.Table(cfg.Sites), Origin: cfg.SitesOrigin,
			Outbox:    event.Outbox{Events: client.Table(cfg.Projects.Events), IDs: id.NewGenerator(now, rand.Reader)},
			MaxBuilds: cfg.BuildsAccount, MaxOutput: cfg.Storage.Bytes(),
		},
		Files: files,
		Packages: npm.New(npm.Deps{
			Registry: cfg.Registry, AllowPrivate: cfg.AllowPrivate, Bucket: bucket, Clock: now, Logger: logger,
		}),
		Bucket: bucket, Clock: now, Logger: logger,
	})
	projectExports := export.NewKind(export.WorkerDeps{
		DB: client, Projects: projects, Files: files, Bucket: bucket, Clock: now, Logger: logger,
	})
	tables := accountexport.Tables{
		Accounts: client.Table(cfg.Tables.Accounts), Projects: projects, Webhooks: client.Table(cfg.Webhooks.Webhooks),
		Conversations: client.Table(cfg.Conversations.Conversations), Sites: client.Table(cfg.Sites),
	}
	accountExports := accountexport.NewKind(accountexport.WorkerDeps{
		DB: client, Tables: tables, Users: user.NewStore(client, cfg.Tables), Bucket: bucket, Clock: now, Logger: logger,
		Questions: conversation.NewStore(client, tables.Conversations).Questions,
	})
	w := job.NewWorker(job.Deps{
		Jobs:  job.Store{DB: client, Projects: projects},
		Kinds: append(deployments.Kinds(), projectExports, accountExports),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now), ReturnAfter: jobs.ReturnAfter,
		Send: jobs.SendOne,
	})
	return lambdafn.Queue(logger, w.Handle).WithSchedule(w.Sweep), nil
}
