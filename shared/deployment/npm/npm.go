// Package npm installs the npm packages that a project depends on into the tree of a build. It executes no code of
// packages. It checks each package against the hash that the registry or the lock file names.
//
// The steps of an installation, and their files:
//
//	manifest.go   package.json: which dependencies, and which forms of versions are supported
//	tools.go      the build tools that are not installed; overrides.go: the field overrides of package.json
//	lock.go       package-lock.json: which versions, and where they belong
//	resolve.go    without a lock file: which versions, as npm selects them; place.go: where they belong
//	recent.go     uses the versions of a recent installation again
//	registry.go   requests to the registry; session.go: reads its documents; document.go: selects a version
//	fetch.go      gets the packages, from the cache (cache.go) or from the registry (tarball.go)
//	unpack.go     adds the files
//
// Only what a browser can need is installed: dependencies, optionalDependencies, peerDependencies, and the
// devDependencies that the sources import. Types are not needed: packages of the scope @types are not installed, and
// files of types, source maps and documents in other packages are left out.
package npm

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
	"devplatform/shared/objectstore"
)

// Deps are the dependencies of an Installer.
type Deps struct {
	// Registry is the URL of the npm registry, such as https://registry.example.com. A user and a password in the URL are
	// sent with basic authentication. "" if none is configured.
	Registry string
	// AllowPrivate allows a registry with http or with an address that is not public, as on a laptop.
	AllowPrivate bool
	// Bucket is the cache: the objects packages/….
	Bucket objectstore.Bucket
	Clock  clock.Clock
	Logger *slog.Logger
}

// Limits of an installation. They protect the disk and the time of a build. They are larger than the limits of an
// output: many popular packages contain ten times the code that a site uses.
const (
	maxPackages = 1500
	maxUnpacked = 400 << 20 // bytes of the files of all packages
	maxFiles    = 100_000   // files in all packages
	// maxTime is less than the time of a build, so that a slow registry is reported as such.
	maxTime = 40 * time.Second
)

// Installer installs packages. It is safe for concurrent use.
type Installer struct {
	deps     Deps
	registry *registry
	limits   limits
	recent   recentResolutions
}

// limits are the limits that tests lower.
type limits struct {
	time         time.Duration
	bytes, files int64 // of all packages, unpacked
	tarballs     int64 // maximum compressed bytes of all packages that are downloaded
}

// New returns an Installer. It does no I/O.
func New(d Deps) *Installer {
	return &Installer{
		deps: d, registry: newRegistry(d.Registry, d.AllowPrivate, requestTimeout),
		limits: limits{time: maxTime, bytes: maxUnpacked, files: maxFiles, tarballs: maxTarballs},
	}
}

// Project is the input of an installation.
type Project struct {
	// Files are the manifests and lock files in the root folder, such as "/package.json" and "/package-lock.json". Other
	// files are ignored.
	Files map[string][]byte
	// Imports are the names of the packages that the sources import. Of devDependencies, only these are installed.
	Imports map[string]bool
}

// Report is a summary of an installation, for the log of the deployment.
type Report struct {
	Packages   int // number of packages
	Downloaded int // number of packages that came from the registry; the others came from the cache
	Bytes      int // unpacked
	// Warnings say which files and settings of the project are ignored, and which peers conflict.
	Warnings []string
}

// Install installs the packages of a project in a tree, as /node_modules/…. After an error, the tree can have a part of
// the files.
//
// If the lock file does not match package.json, as after a change of package.json alone, the versions are selected
// again, and the versions in the lock file are preferred. Lock files of other tools are ignored.
// Errors: *failure.Error; the error of ctx; objectstore.ErrUnavailable; an error of the disk.
func (i *Installer) Install(ctx context.Context, in Project, t *tree.Tree) (Report, error) {
	manifest, ok := in.Files[manifestPath]
	if !ok {
		return Report{}, nil
	}
	project, err := parseProject(manifest, in.Imports)
	if err != nil || len(project.edges) == 0 {
		return Report{}, err
	}
	if i.deps.Registry == "" {
		return Report{}, fail(failure.DependencyNotFound, "The project has dependencies, but no npm registry is "+
			"configured. The operator of the platform must set NPM_REGISTRY.")
	}
	if i.registry.err != nil {
		return Report{}, fail(failure.DependencyNotFound, "The npm registry cannot be used. The operator of the "+
			"platform must set NPM_REGISTRY to an https URL.")
	}
	limited, cancel := context.WithTimeout(ctx, i.limits.time)
	defer cancel()
	report, err := i.install(limited, project, in.Files, t)
	switch {
	case err == nil:
		return report, nil
	case ctx.Err() != nil:
		return Report{}, ctx.Err()
	case limited.Err() != nil:
		return Report{}, fail(failure.DependencyNotFound, "The packages were not installed within %d seconds. "+
			"Deploy again in a few minutes, or remove dependencies from package.json.", int(i.limits.time.Seconds()))
	}
	return Report{}, err
}

func (i *Installer) install(ctx context.Context, p *project, files map[string][]byte, t *tree.Tree) (Report, error) {
	lock, err := parseLock(files[lockPath])
	if err != nil {
		return Report{}, err
	}
	packages, isLocked, err := lock.selectFor(ctx, p)
	if err != nil {
		return Report{}, err
	}
	if isLocked {
		return i.fetch(ctx, packages, t)
	}
	preferred := lock.versions()
	key := keyOf(p, preferred)
	resolution, isRecent := i.recent.get(key, i.deps.Clock())
	if !isRecent {
		resolution.packages, resolution.warnings, err = resolve(ctx, i.registry.session(), p, preferred)
		if err != nil {
			return Report{}, err
		}
	}
	report, err := i.fetch(ctx, resolution.packages, t)
	if err == nil && !isRecent {
		i.recent.put(key, resolution)
	}
	report.Warnings = slices.Concat(p.warnings(files), resolution.warnings)
	return report, err
}

// selectedPackage is a package that is to be installed.
type selectedPackage struct {
	location  string // such as "node_modules/a/node_modules/b"
	name      string // in the registry
	version   string
	integrity string
	tarball   string // the URL in the registry's document; "" if it is not known
	origin    string // the dependency of the project that needs it
}

// errTooMany means that a project needs too many packages. tooManyError returns the error for its owners.
var errTooMany = errors.New("npm: too many packages")

// tooManyError returns the error for a project that needs too many packages.
func tooManyError(packages []selectedPackage) error {
	counts := map[string]int{}
	for _, p := range packages {
		counts[p.origin]++
	}
	return fail(failure.DependencyTooLarge, "The project needs more than %d packages. Most of them are needed by %s. "+
		"Remove dependencies from package.json.", maxPackages, failure.Largest(counts, strconv.Itoa))
}
