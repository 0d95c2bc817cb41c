package main

import (
	"crypto/rand"
	"log/slog"
	"net/http"

	"devplatform/shared/account"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/project"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// settings are the environment variables of the function.
type settings struct {
	AWS      config.AWS
	Tables   config.Tables
	Projects config.ProjectTables
	Edge     config.Edge
	Keys     string `env:"KEYS_SECRET,required,notEmpty"`
}

// newHandler builds the function's handler. The slow parts are built in the background, while the function waits for
// its first event.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	keys := config.NewKeys(config.NewSecrets(cfg.AWS).Fetch(cfg.Keys), now)
	keys.Start()
	return httpapi.Lazy(func() http.Handler {
		client := db.New(cfg.AWS, now)
		sessions := account.NewSessions(client, cfg.Tables, keys, now, logger)
		ids := id.NewGenerator(now, rand.Reader)
		outbox := event.Outbox{Events: client.Table(cfg.Projects.Events), IDs: ids}
		table, cursors := client.Table(cfg.Tables.Projects), db.NewCursors(keys)
		workspaces := workspace.New(workspace.Deps{
			DB: client, Projects: table, Outbox: outbox, Cursors: cursors, People: sessions,
			IDs: ids, Clock: now,
		})
		files := file.New(file.Deps{
			DB: client, Projects: table, Contents: client.Table(cfg.Projects.Contents), Outbox: outbox, Cursors: cursors,
			IDs: ids, Clock: now, Quotas: file.DefaultQuotas(),
		})
		projects := project.New(project.Deps{
			DB: client, Projects: table, Outbox: outbox, Cursors: cursors, Files: files, IDs: ids, Clock: now, Logger: logger,
		})
		return httpapi.NewRouter(httpapi.Config{
			Edge: cfg.Edge, Logger: logger, Auth: sessions, Clock: now,
		}, workspaces.Register, projects.Register, files.Register)
	}), nil
}
