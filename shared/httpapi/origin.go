package httpapi

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/rs/cors"

	"devplatform/shared/config"
)

// newCSRF returns the check that rejects an unsafe request if the browser's headers show that it was sent by a page of
// another site.
func newCSRF(cfg config.Edge) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	for _, origin := range cfg.TrustedOrigins() {
		if err := protection.AddTrustedOrigin(string(origin)); err != nil {
			panic(fmt.Sprintf("httpapi: %v", err)) // config.Origin accepts only valid origins
		}
	}
	return protection
}

// newCORS returns the handler that lets pages of trusted origins read responses. It does not use the library's list of
// origins, because the library allows every origin if that list is empty.
func newCORS(cfg config.Edge) *cors.Cors {
	allowed := cfg.TrustedOrigins()
	return cors.New(cors.Options{
		AllowOriginFunc:  func(origin string) bool { return slices.Contains(allowed, config.Origin(origin)) },
		AllowCredentials: true,
		AllowedMethods:   []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders:   []string{"Content-Type", "If-Match", "If-None-Match"},
		ExposedHeaders: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", "ETag",
		},
		MaxAge: 600,
	})
}
