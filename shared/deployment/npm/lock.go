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
	Packages map[string]*lockedPackage `json:"packages"`
}

// lockedPackage is a package in a lock file. The property resolved is not used.
type lockedPackage struct {
	manifest
	Integrity string `json:"integrity"`
	Link      bool   `json:"link"`
	InBundle  bool   `json:"inBundle"`
}

// Limits of a lock file. They also limit the time of node.find.
const (
	maxLock     = 4 << 20 // bytes
	maxLocation = 1 << 10 // bytes of a location
	maxLevels   = 32      // node_modules folders in a location
	maxEdges    = 20_000  // of packages; also of the dependencies of all packages that a project needs
)

// parseLock parses a package-lock.json. It returns an empty lock if there is none, or if npm 6 or older wrote it.
// Errors: *failure.Error.
func parseLock(raw []byte) (*lock, error) {
	l := new(lock)
	if len(raw) == 0 {
		return l, nil
	}
	if len(raw) > maxLock {
		return nil, errLargeLock()
	}
	if err := json.Unmarshal(raw, l, options); err != nil {
		return nil, jsonFailure(raw, lockPath, err, " Delete the file, or replace it with the output of npm install.")
	}
	if len(l.Packages) > maxEdges { // more than can be installed, and each would become a node
		return nil, errLargeLock()
	}
	for location, p := range l.Packages {
		if p == nil || strings.HasPrefix(location, "node_modules/") && !isLocation(location) {
			return nil, errInvalidLock()
		}
		if at := strings.LastIndex(location, "node_modules/"); p.Name == "" && at >= 0 {
			p.Name = location[at+len("node_modules/"):]
		}
	}
	return l, nil
}

var validVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$`)

func errInvalidLock() error {
	return &failure.Error{Code: failure.BuildFailed, Path: lockPath,
		Message: "package-lock.json names a package that is not valid. Delete the file, or run npm install again."}
}

func errLargeLock() error {
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

// selectFor returns the packages in the lock file that the project needs when it runs. isMatch is false if the lock
// file does not match package.json. Errors: *failure.Error; the error of ctx.
func (l *lock) selectFor(ctx context.Context, p *project) (packages []selectedPackage, isMatch bool, err error) {
	if len(l.Packages) == 0 {
		return nil, false, nil
	}
	var visitErr error
	isMatch = true
	edges := 0
	root := l.nodes(p)
	packages, err = root.neededPackages(func(from *node, e edge, to *node) bool {
		edges++
		switch {
		case ctx.Err() != nil:
			visitErr = ctx.Err()
		case edges > maxEdges:
			visitErr = errLargeLock()
		case !isName(e.name):
			visitErr = errInvalidLock()
		case to == nil:
			isMatch = isMatch && e.kind != regular
		case e.kind == optional && to.release.isNative():
			return false
		default:
			isMatch = isMatch && to.isValid && (from != root || isFor(e, to.release))
		}
		return visitErr == nil && isMatch
	})
	if visitErr != nil {
		err = visitErr
	}
	return packages, isMatch && err == nil, err
}

// nodes returns the node of the project, which has the packages of the lock file as its descendants.
func (l *lock) nodes(p *project) *node {
	root := &node{edges: p.edges, children: map[string]*node{}}
	all := map[string]*node{"": root}
	for _, location := range l.locations() {
		at := strings.LastIndex(location, "node_modules/")
		parent := all[strings.TrimSuffix(location[:max(0, at)], "/")]
		if at < 0 || parent == nil {
			continue
		}
		locked := l.Packages[location]
		r := &release{manifest: locked.manifest, name: locked.Name, edges: locked.edges()}
		r.Dist.Integrity = locked.Integrity
		n := newNode(edge{name: location[at+len("node_modules/"):]}, r, nil)
		n.isBundled = locked.InBundle
		n.isValid = locked.InBundle || !locked.Link && isName(locked.Name) && validVersion.MatchString(locked.Version)
		n.placeIn(parent)
		all[location] = n
	}
	return root
}

// isFor reports whether a package has the name and a suitable version for a dependency of the project.
func isFor(e edge, r *release) bool {
	name, _, err := target(e)
	return err == nil && name == r.name && satisfies(e, r.name, r.Version)
}

// locations returns the locations of the packages, parents first.
func (l *lock) locations() []string {
	return slices.SortedFunc(maps.Keys(l.Packages), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
}

// otherLocks are the lock files of other tools, and of an older command of npm. They are not used.
var otherLocks = []string{"bun.lock", "bun.lockb", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"}

// warnings returns a warning for each file and field of a project that could select versions, but is ignored.
func (p *project) warnings(files map[string][]byte) (all []string) {
	const advice = "Run npm install, and add the package-lock.json that it writes."
	if _, ok := files[lockPath]; ok {
		all = append(all, "package-lock.json does not match package.json, or was written by npm 6 or older, so the versions "+
			"were selected again. They can differ from the versions in the file. "+advice)
	} else {
		for _, name := range otherLocks {
			if _, ok := files["/"+name]; ok {
				all = append(all, name+" is ignored. The versions of the packages can differ from the versions in the file. "+
					advice)
			}
		}
	}
	if p.hasIgnoredFields {
		all = append(all, "workspaces, resolutions and pnpm.overrides in package.json are ignored: all packages come from the "+
			"npm registry, and only the field overrides changes their versions.")
	}
	return all
}

// versions returns the versions of each package in the lock file. The version of the project's own dependency is first.
func (l *lock) versions() map[string][]string {
	versions := map[string][]string{}
	for _, location := range l.locations() {
		p := l.Packages[location]
		versions[p.Name] = append(versions[p.Name], p.Version)
	}
	return versions
}
