// Command docs is the Lambda function for /api/openapi.json and /api/docs. It streams its responses, because some of
// them are compressed. API Gateway forwards compressed bodies unchanged only if the response is streamed or if binary
// media types are configured. Binary media types would change the events of all functions.
package main

import (
	"log/slog"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/docs"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

func main() { apigateway.StartStreaming(newHandler, apigateway.Unbounded) }

// settings are the environment variables of the function. The function does not use tables, secrets or sessions.
type settings struct {
	Edge config.Edge
}

// newHandler builds the function's handler.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	service, err := docs.New(docs.OpenAPI)
	if err != nil {
		return nil, err
	}
	return httpapi.Lazy(func() http.Handler {
		return httpapi.NewRouter(httpapi.Config{
			Edge: cfg.Edge, Logger: logger, Clock: now,
		}, service.Register)
	}), nil
}
