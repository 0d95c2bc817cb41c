// Command projects is the Lambda function behind /api/workspaces, /api/invitations and /api/projects.
package main

import (
	"crypto/rand"
	"log/slog"
	"net/http"

	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn/apigateway"
	"devplatform/shared/mail"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/queue/signal"
	"devplatform/shared/webhook/notice"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/workspace"
)

func main() { apigateway.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS      config.AWS
	Tables   config.Tables
	Projects config.ProjectTables
	Bucket   config.FilesBucket
	Webhooks config.WebhooksTable
	Edge     config.Edge
	Metrics  config.Metrics
	// Keys is the name or ARN of the secret with the key ring.
	Keys   string `env:"KEYS_SECRET,required,notEmpty"`
	Quotas file.QuotaSettings
	// Jobs is the URL of the queue of builds and exports.
	Jobs string `env:"JOBS_QUEUE,required,notEmpty"`
	// ExportsPerHour is the number of exports that a user can start in one hour.
	ExportsPerHour int `env:"LIMIT_EXPORTS_HOUR" envDefault:"10" min:"1"`
	// InvitationsPerDay is the number of invitations that a user can create in one day (UTC).
	InvitationsPerDay int `env:"LIMIT_INVITATIONS_DAY" envDefault:"20" min:"1"`
	Mail              mail.Settings
	Links             workspace.Links
	Sites             siteSettings
}

// siteSettings are the settings of deployments and sites.
type siteSettings struct {
	Table string `env:"SITES_TABLE,required,notEmpty"`
	// Origin is the origin below whose host the sites have their addresses. Without it, nothing can be deployed.
	Origin  config.Origin `env:"SITES_ORIGIN"`
	Limits  deployment.Limits
	Storage deployment.StorageSettings
}

// newHandler builds the function's handler. The slow parts are built in the background, while the function waits for
// its first event.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	keys := config.NewSecrets(cfg.AWS, cfg.Metrics, now, logger).Keys(cfg.Keys)
	return httpapi.Lazy(func() http.Handler {
		client := db.New(cfg.AWS, now)
		sessions := session.New(client, cfg.Tables, keys, now, logger)
		ids := id.NewGenerator(now, rand.Reader)
		outbox := event.Outbox{Events: client.Table(cfg.Projects.Events), IDs: ids}
		table, cursors := client.Table(cfg.Tables.Projects), db.NewCursors(keys)
		mails := mail.NewOutbox(client, cfg.Tables, keys, ids, now, cfg.Mail)
		revoked := revocation.Store{
			Webhooks: client.Table(cfg.Webhooks.Webhooks), Notices: notice.New(client, cfg.Tables, mails),
		}
		workspaces := workspace.New(workspace.Deps{
			DB: client, Projects: table, InvitationsPerDay: cfg.InvitationsPerDay,
			Outbox: outbox, Cursors: cursors, People: user.NewStore(client, cfg.Tables),
			Mail: mails, Links: cfg.Links, IDs: ids, Clock: now, DisableWebhooks: revoked.Disable,
		})
		bucket := objectstore.New(cfg.AWS).Bucket(cfg.Bucket.Files)
		files := file.New(file.Deps{
			DB: client, Projects: table, Contents: client.Table(cfg.Projects.Contents), Bucket: bucket, Outbox: outbox,
			Cursors: cursors, IDs: ids, Clock: now, Quotas: cfg.Quotas.Quotas(),
		})
		send := signal.New(cfg.AWS, cfg.Jobs, now).Send
		deployments := deployment.New(deployment.Deps{
			Store: deployment.Store{
				DB: client, Projects: table, Sites: client.Table(cfg.Sites.Table), Outbox: outbox, Origin: cfg.Sites.Origin,
				MaxOutput: cfg.Sites.Storage.Bytes(),
			},
			Cursors: cursors, Bucket: bucket, Send: send, IDs: ids, Clock: now, Logger: logger, Limits: cfg.Sites.Limits,
		})
		projects := project.New(project.Deps{
			DB: client, Projects: table, Outbox: outbox, Cursors: cursors, Files: files, IDs: ids, Clock: now, Logger: logger,
			RemoveSite: deployments.RemoveSite, Sites: cfg.Sites.Origin,
		})
		exports := export.New(export.Deps{
			DB: client, Projects: table, Bucket: bucket, Send: send, Clock: now, Logger: logger,
			HourlyLimit: cfg.ExportsPerHour,
		})
		return httpapi.NewRouter(httpapi.Config{
			Edge: cfg.Edge, Logger: logger, Auth: sessions, Clock: now,
		}, workspaces.Register, projects.Register, files.Register, exports.Register, deployments.Register)
	}), nil
}
