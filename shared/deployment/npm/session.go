package npm

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"devplatform/shared/async"
	"devplatform/shared/deployment/failure"
)

const (
	abbreviated  = "application/vnd.npm.install-v1+json"
	maxDocument  = 32 << 20  // bytes of a document
	maxDocuments = 256 << 20 // bytes of all documents of an installation
	maxMemory    = 256 << 20 // bytes that the decoded parts of these documents can need in addition
	// maxNames is the number of packages whose documents an installation may read. It is more than maxPackages, because
	// documents are requested before it is known whether they are needed.
	maxNames = 2 * maxPackages
)

// session reads the documents of one installation, each of them once. It is safe for concurrent use.
type session struct {
	registry *registry
	bytes    *atomic.Int64 // that the documents can still have
	memory   atomic.Int64  // that their decoded parts need at most

	mu        sync.Mutex
	documents map[string]func() (*document, error)
	explored  map[string]bool // the dependencies that prefetch has followed
}

func (r *registry) session() *session {
	return &session{
		registry: r, bytes: limitOf(maxDocuments), documents: map[string]func() (*document, error){},
		explored: map[string]bool{},
	}
}

// document returns the document of a package. Errors: errTooMany; the errors of registry.get.
func (s *session) document(ctx context.Context, name string) (*document, error) {
	s.mu.Lock()
	read := s.documents[name]
	if read == nil && len(s.documents) < maxNames {
		read = sync.OnceValues(func() (*document, error) { return s.read(ctx, name) })
		s.documents[name] = read
	}
	s.mu.Unlock()
	if read == nil {
		return nil, errTooMany
	}
	return read()
}

func (s *session) read(ctx context.Context, name string) (*document, error) {
	url := s.registry.base.String() + "/" + strings.Replace(name, "/", "%2f", 1)
	var d *document
	err := s.registry.get(ctx, url, abbreviated, "The package "+name, func(body io.Reader) error {
		limited := &limitReader{reader: body, left: limitOf(maxDocument), err: fail(failure.DependencyTooLarge,
			"The list of versions of %s is too large.", name)}
		counted := &limitReader{reader: limited, left: s.bytes, err: errDocumentsTooLarge()}
		d = &document{name: name, memory: &s.memory, releases: map[string]*release{}, deprecated: map[string]bool{}}
		err := json.UnmarshalRead(counted, d, options)
		switch refused, isRefused := errors.AsType[*failure.Error](err); {
		case isRefused:
			return refused
		case errors.Is(err, errEntries):
			return limited.err
		case err != nil:
			return fail(failure.DependencyNotFound, "The npm registry sent a document about %s that cannot be read.", name)
		case s.memory.Add(entryMemory*int64(len(d.Tags)+len(d.Versions))) > maxMemory:
			return errDocumentsTooLarge()
		}
		return nil
	})
	return d, err
}

func errDocumentsTooLarge() *failure.Error {
	return fail(failure.DependencyTooLarge, "The lists of versions of the packages have more than %d MiB. Remove "+
		"dependencies from package.json.", maxDocuments>>20)
}

// prefetch reads the documents of dependencies, and of their dependencies, as far as the versions can be guessed. Then
// the versions can be selected one after the other without waiting. It ignores errors, and returns when all documents
// are read.
func (s *session) prefetch(ctx context.Context, edges []edge, preferred map[string][]string) {
	var group async.Group
	defer func() { _ = group.Wait() }()
	for _, e := range edges {
		name, spec, err := target(e)
		if err != nil || e.kind == optionalPeer || e.kind == development || ctx.Err() != nil {
			continue
		}
		s.mu.Lock()
		isDone := s.explored[name+"@"+spec] || len(s.explored) > 4*maxNames // packages can need several versions of a name
		s.explored[name+"@"+spec] = true
		s.mu.Unlock()
		if isDone {
			continue
		}
		group.Go(func() error {
			picked, err := s.pick(ctx, e, preferred)
			if err == nil && (e.kind != optional || !picked.isNative()) {
				s.prefetch(ctx, s.apply(ctx, e.rules, picked.edges), preferred)
			}
			return nil
		})
	}
}

// apply returns the dependencies with the versions that rules select. It serves one caller at a time, and returns nil
// after the end of ctx, because many rules of one package take long.
func (s *session) apply(ctx context.Context, rules *override, edges []edge) []edge {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	return rules.apply(edges)
}

// pick returns the version that a dependency selects. Errors: errMissing if there is no such package or version; the
// errors of document; *failure.Error; the error of ctx.
func (s *session) pick(ctx context.Context, e edge, preferred map[string][]string) (*release, error) {
	name, spec, invalid := target(e)
	if invalid != nil {
		return nil, errMissing // missing reports why
	}
	d, err := s.document(ctx, name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := d.pick(ctx, spec, preferred[name])
	switch {
	case ctx.Err() != nil: // the versions of a large document take long, and many dependencies can wait for them
		return nil, ctx.Err()
	case s.memory.Load() > maxMemory:
		return nil, errDocumentsTooLarge()
	case r == nil:
		return nil, errMissing
	}
	return r, nil
}
