package httpapi

import (
	"net/http"
	"sync"
)

// Lazy begins to build a handler in the background and serves with it once it is there. A function so asks
// Lambda for its first event while the schemas of its endpoints are still being made.
func Lazy(build func() http.Handler) http.Handler {
	once := sync.OnceValue(build)
	go once()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { once().ServeHTTP(w, r) })
}
