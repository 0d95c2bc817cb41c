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

// newCSRF returns the check that rejects unsafe requests that a browser marks as sent by a page of another site.
func newCSRF(cfg config.Edge) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	for _, origin := range trustedOrigins(cfg) {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			panic(fmt.Sprintf("httpapi: %v", err)) // config.Origin accepts only valid origins
		}
	}
	return protection
}

// newCORS lets the pages of trusted origins read responses. It passes a function to the library, because the library
// would allow every origin if the list of origins were empty.
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
