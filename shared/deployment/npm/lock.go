package npm

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment/failure"
)

// lock is a package-lock.json with lockfileVersion 2 or 3.
type lock struct {
	// Packages are the packages by their location, such as "node_modules/a/node_modules/b". The project is "".
	Packages map[string]*locked `json:"packages"`
}

// locked is a package in a lock file. The property resolved is not used.
type locked struct {
	manifest
	Integrity string `json:"integrity"`
	Link      bool   `json:"link"`
	InBundle  bool   `json:"inBundle"`
}

// Limits of a lock file. They also limit the time of find.
const (
	maxLock     = 8 << 20 // bytes
	maxLocation = 1 << 10 // bytes of a location
	maxLevels   = 32      // node_modules folders in a location
	maxEdges    = 20_000  // dependencies of the packages that a project needs
)

// parseLock parses a package-lock.json. It returns an empty lock if there is none, or if it is of npm 6 or older.
func parseLock(raw []byte) (*lock, error) {
	l := new(lock)
	if len(raw) == 0 {
		return l, nil
	}
	if len(raw) > maxLock {
		return nil, largeLock()
	}
	if err := json.Unmarshal(raw, l, options); err != nil {
		return nil, jsonFailure(raw, lockPath, err, " Delete the file, or replace it by the output of npm install.")
	}
	for location, p := range l.Packages {
		if p == nil || strings.HasPrefix(location, "node_modules/") && !isLocation(location) {
			return nil, invalidLock()
		}
		if at := strings.LastIndex(location, "node_modules/"); p.Name == "" && at >= 0 {
			p.Name = location[at+len("node_modules/"):]
		}
	}
	return l, nil
}

var validVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$`)

func invalidLock() error {
	return &failure.Error{Code: failure.BuildFailed, Path: lockPath,
		Message: "package-lock.json names a package that is not valid. Delete the file, or run npm install again."}
}

func largeLock() error {
	f := fail(failure.DependencyTooLarge, "package-lock.json has more than %d MiB or %d dependencies. Remove "+
		"dependencies and run npm install again.", maxLock>>20, maxEdges)
	f.Path = lockPath
	return f
}

// isLocation reports whether a location has the form node_modules/<name>, repeated, within the limits.
func isLocation(location string) bool {
	if len(location) > maxLocation || strings.Count(location, "node_modules/") > maxLevels {
		return false
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(location, "node_modules/"), "/node_modules/") {
		if !isName(name) {
			return false
		}
	}
	return true
}

// selectFor returns the packages in the lock file that the project needs when it runs. ok is false if the lock file
// does not match package.json. Errors: *failure.Error; the error of ctx.
func (l *lock) selectFor(ctx context.Context, p *project) (packages []selected, ok bool, err error) {
	if len(l.Packages) == 0 {
		return nil, false, nil
	}
	found, ok, err := l.reachable(ctx, p)
	if err != nil || !ok {
		return nil, false, err
	}
	for _, location := range slices.Sorted(maps.Keys(found)) {
		p := l.Packages[location]
		if location == "" || p.InBundle {
			continue
		}
		if p.Link || !isName(p.Name) || !validVersion.MatchString(p.Version) {
			return nil, false, nil
		}
		packages = append(packages, selected{
			location: location, name: p.Name, version: p.Version, integrity: p.Integrity, origin: found[location],
		})
	}
	return packages, true, nil
}

// reachable returns the locations of the packages that the project needs, each with the dependency of the project that
// needs it, and "" for the project itself. ok and err are as in selectFor.
func (l *lock) reachable(ctx context.Context, p *project) (found map[string]string, ok bool, err error) {
	found = map[string]string{"": ""}
	installed, seen := 0, 0 // packages, without those that are in the tarballs of others; dependencies
	for queue := []string{""}; len(queue) > 0; queue = queue[1:] {
		edges := p.edges
		if queue[0] != "" {
			edges = l.Packages[queue[0]].edges()
		}
		if seen += len(edges); seen > maxEdges {
			return nil, false, largeLock()
		}
		for _, e := range edges {
			if ctx.Err() != nil {
				return nil, false, ctx.Err() //nolint:wrapcheck // Install classifies it
			}
			if e.kind == development {
				continue
			}
			if !isName(e.name) {
				return nil, false, invalidLock()
			}
			location, p := l.find(queue[0], e.name)
			if p == nil && e.kind == regular || p != nil && queue[0] == "" && !p.isFor(e) {
				return nil, false, nil
			}
			if p == nil || e.kind == optional && p.native() {
				continue
			}
			if _, known := found[location]; known {
				continue
			}
			origin := found[queue[0]]
			if origin == "" {
				origin = e.name
			}
			found[location] = origin
			queue = append(queue, location)
			if !p.InBundle {
				installed++
			}
			if installed > maxPackages || len(found) > maxNodes {
				return nil, false, tooMany(slices.Collect(maps.Values(found)))
			}
		}
	}
	return found, true, nil
}

// isFor reports whether a package is the one that a dependency of the project names, and has a suitable version.
func (p *locked) isFor(e edge) bool {
	name, _, err := target(e)
	return err == nil && name == p.Name && satisfies(e, p.Name, p.Version)
}

// find returns the package that a name means in the package at from, as Node.js finds it.
func (l *lock) find(from, name string) (location string, p *locked) {
	for {
		location = strings.TrimPrefix(from+"/node_modules/"+name, "/")
		if p = l.Packages[location]; p != nil || from == "" {
			return location, p
		}
		from = strings.TrimSuffix(from[:max(0, strings.LastIndex(from, "node_modules/"))], "/")
	}
}

// versions returns the versions of each package in the lock file, the one of the project's own dependency first.
func (l *lock) versions() map[string][]string {
	versions := map[string][]string{}
	byDepth := slices.SortedFunc(maps.Keys(l.Packages), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	for _, location := range byDepth {
		p := l.Packages[location]
		versions[p.Name] = append(versions[p.Name], p.Version)
	}
	return versions
}
