package main

import (
	"log/slog"
	"net/http"

	"devplatform/infra"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/docs"
	"devplatform/shared/httpapi"
)

// settings are what the function reads from its environment: it has no table, no secret and no session.
type settings struct {
	Edge config.Edge
}

// newHandler puts the function together. Its document is the committed one, which a test holds to the code: to make it anew at every
// start would take all slices into this binary.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	service, err := docs.New(infra.OpenAPI)
	if err != nil {
		return nil, err
	}
	return httpapi.Lazy(func() http.Handler {
		return httpapi.NewRouter(httpapi.Config{
			Edge: cfg.Edge, Logger: logger, Clock: now,
		}, service.Register)
	}), nil
}
