package npm

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

const (
	// freshTime is how long selected versions are used again. npm also uses the documents of its registry for 5 minutes.
	freshTime = 5 * time.Minute
	maxRecent = 32 // projects, with at most maxPackages each
)

// recent is the versions that were installed in the last minutes, so that a project that is deployed again needs no
// documents of the registry. It is safe for concurrent use.
type recent struct {
	mu    sync.Mutex
	all   map[resolutionKey]resolution
	since time.Time // when all was empty
}

// resolution is the versions that were selected for a project without a lock file.
type resolution struct {
	packages []selected
	warnings []string // about peers that conflict
}

// resolutionKey is the hash of everything that resolve uses, except the documents.
type resolutionKey [sha256.Size]byte

func keyOf(p *project, preferred map[string][]string) resolutionKey {
	text := fmt.Appendf(nil, "%q%q", p.raw, preferred)
	for _, e := range p.edges { // they depend on the imports of the sources
		text = fmt.Appendf(text, "%q%d", e.name, e.kind)
	}
	return sha256.Sum256(text)
}

// get returns the resolution of a project. ok is false if there is none, or none that is fresh enough.
func (r *recent) get(key resolutionKey, now time.Time) (found resolution, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.since) >= freshTime || len(r.all) >= maxRecent {
		r.all, r.since = map[resolutionKey]resolution{}, now
	}
	found, ok = r.all[key]
	return found, ok
}

// put keeps the resolution of a project for which get was called.
func (r *recent) put(key resolutionKey, added resolution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[key] = added
}
