// Command sites is the Lambda function behind the addresses of all sites. It streams its responses. It shares no role
// and no API with the other functions.
package main

import (
	"context"
	"log/slog"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
	"devplatform/shared/objectstore"
	"devplatform/shared/site"
)

// maxUnread is the size in bytes of the buffer between the handler and a client that reads slowly. Files can be large.
const maxUnread = 256 << 10

func main() { apigateway.StartStreaming(newHandler, maxUnread) }

// settings are the environment variables of the function.
type settings struct {
	AWS    config.AWS
	Bucket config.FilesBucket
	// Sites is the DynamoDB table of addresses and of the traffic of accounts.
	Sites string `env:"SITES_TABLE,required,notEmpty"`
	// Projects is the DynamoDB table with the records of workspaces.
	Projects string `env:"PROJECTS_TABLE,required,notEmpty"`
	// Origin is the origin of all sites. Each address is a label below its host. Without it, there are no sites.
	Origin config.Origin `env:"SITES_ORIGIN"`
	// TrafficGiB is the maximum traffic of the sites of an account in a month, in GiB. The maximum setting is a pebibyte.
	TrafficGiB int64 `env:"LIMIT_SITE_TRAFFIC_GIB" envDefault:"100" min:"1" max:"1048576"`
}

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	return httpapi.Lazy(func() http.Handler {
		client := db.New(cfg.AWS, now)
		return site.New(site.Deps{
			DB: client, Sites: client.Table(cfg.Sites), Projects: client.Table(cfg.Projects),
			Bucket: objectstore.NewDownload(cfg.AWS).Bucket(cfg.Bucket.Files),
			Origin: cfg.Origin, TrafficLimit: cfg.TrafficGiB << 30,
			Clock: now, Logger: logger,
			RequestID: func(ctx context.Context) string { return httpapi.RequestInfoFrom(ctx).RequestID },
		})
	}), nil
}
