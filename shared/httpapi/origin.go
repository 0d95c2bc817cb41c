package httpapi

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/rs/cors"

	"devplatform/shared/config"
)

// trustedOrigins returns the origins whose pages may call the service.
func trustedOrigins(cfg config.Edge) []string {
	var origins []string
	for _, origin := range append([]config.Origin{cfg.AppURL}, cfg.AllowedOrigins...) {
		if origin != "" {
			origins = append(origins, string(origin))
		}
	}
	return origins
}

// newCSRF returns the check that rejects an unsafe request if the browser's headers show that it was sent by a page of
// another site.
func newCSRF(cfg config.Edge) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	for _, origin := range trustedOrigins(cfg) {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			panic(fmt.Sprintf("httpapi: %v", err)) // config.Origin accepts only valid origins
		}
	}
	return protection
}

// newCORS returns the handler that lets pages of trusted origins read responses. It does not use the library's list of
// origins, because the library allows every origin if that list is empty.
func newCORS(cfg config.Edge) *cors.Cors {
	allowed := trustedOrigins(cfg)
	return cors.New(cors.Options{
		AllowOriginFunc:  func(origin string) bool { return slices.Contains(allowed, origin) },
		AllowCredentials: true,
		AllowedMethods:   []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders:   []string{"Content-Type", "If-Match", "If-None-Match"},
		ExposedHeaders: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", "ETag",
		},
		MaxAge: 600,
	})
}
