package npm

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

const (
	// freshTime is the time for which selected versions are used again. npm also uses documents of its registry again for
	// 5 minutes.
	freshTime = 5 * time.Minute
	maxRecent = 32 // maximum number of projects
	// maxResolution is the maximum number of bytes of the versions of a project. 1,500 packages have about 500 KB.
	maxResolution = 2 << 20
)

// recentResolutions are the versions that were installed in the last minutes. A project that is deployed again needs no
// documents of the registry. It is safe for concurrent use.
type recentResolutions struct {
	mu    sync.Mutex
	all   map[resolutionKey]resolution
	since time.Time // when all was last emptied
}

// resolution contains the versions that were selected for a project without a lock file.
type resolution struct {
	packages []selectedPackage
	warnings []string // about peers that conflict
}

// size returns the number of bytes of the texts, which a hostile package can make long.
func (r resolution) size() (n int) {
	for _, s := range r.packages {
		n += len(s.location) + len(s.name) + len(s.version) + len(s.integrity) + len(s.tarball) + len(s.origin)
	}
	for _, w := range r.warnings {
		n += len(w)
	}
	return n
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

// get returns the resolution of a project. ok is false if there is none. If the resolutions are too old or too many,
// get first removes all of them.
func (r *recentResolutions) get(key resolutionKey, now time.Time) (found resolution, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.since) >= freshTime || len(r.all) >= maxRecent {
		r.all, r.since = map[resolutionKey]resolution{}, now
	}
	found, ok = r.all[key]
	return found, ok
}

// put keeps a resolution for which get returned false, unless it is too large.
func (r *recentResolutions) put(key resolutionKey, added resolution) {
	if added.size() > maxResolution {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[key] = added
}
