// Package npm downloads the npm packages that a project depends on, and unpacks them in memory. It executes no code of
// packages. It checks each package against the hash that the registry or the lock file names.
//
// The steps of an installation, and their files:
//
//	manifest.go   package.json: which dependencies, and which forms of versions are supported
//	lock.go       package-lock.json: which versions, and where they belong
//	resolve.go    without a lock file: which versions, as npm selects them; place.go: where they belong
//	registry.go   requests to the registry; session.go: reads its documents; document.go: selects a version
//	tarball.go    unpacks a package within limits; cache.go: the cache of unpacked packages
//
// Only the dependencies that a project needs when it runs are installed: dependencies, optionalDependencies and
// peerDependencies, but not devDependencies. Types are not needed: packages of the scope @types are not downloaded, and
// files of types, source maps and documents in other packages are left out.
package npm

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/objectstore"
)

// Deps are the dependencies of an Installer.
type Deps struct {
	// Registry is the URL of the npm registry, such as https://registry.example.com. A user and a password in the URL are
	// sent with basic authentication. "" if none is configured.
	Registry string
	// AllowPrivate allows a registry with http or with an address that is not public, as on a laptop.
	AllowPrivate bool
	// Bucket is the cache: the objects packages/<sha512 in hexadecimal>.
	Bucket objectstore.Bucket
	Clock  clock.Clock
	Logger *slog.Logger
}

// Limits of an installation.
const (
	maxPackages = 500
	maxUnpacked = 100 << 20 // bytes of the files of all packages
	maxFiles    = 100_000   // in all packages
	// maxTime is less than the time of a build, so that a slow registry is reported as such.
	maxTime = 40 * time.Second
	// parallel is the number of packages that are downloaded or read from the cache at the same time.
	parallel = 16
)

// Installer installs packages. It is safe for concurrent use.
type Installer struct {
	deps     Deps
	registry *registry
	timeout  time.Duration
}

// New returns an Installer. It does no I/O.
func New(d Deps) *Installer {
	return &Installer{deps: d, registry: newRegistry(d.Registry, d.AllowPrivate, requestTimeout), timeout: maxTime}
}

// Report is a summary of an installation, for the log of the deployment.
type Report struct {
	Packages   int  // number of packages
	Downloaded int  // number of packages that came from the registry; the others came from the cache
	Bytes      int  // unpacked
	Locked     bool // whether package-lock.json selected the versions
	// Warnings say which files and settings of the project are ignored.
	Warnings []string
}

// Install installs the dependencies of a project. Of the project's files, it reads /package.json and
// /package-lock.json. The keys of the result are paths such as "/node_modules/react/index.js". It is empty without
// dependencies.
//
// If the lock file does not match package.json, as after a change of package.json alone, Report.Locked is false: the
// versions are resolved again, and those of the lock file are preferred. The same applies to lock files of npm 6 and
// older, but their versions are ignored.
// Errors: *failure.Error; the error of ctx; objectstore.ErrUnavailable.
func (i *Installer) Install(ctx context.Context, in map[string][]byte) (map[string][]byte, Report, error) {
	manifest, ok := in[manifestPath]
	if !ok {
		return nil, Report{}, nil
	}
	project, err := parseProject(manifest)
	if err != nil || len(project.edges) == 0 {
		return nil, Report{}, err
	}
	if i.deps.Registry == "" {
		return nil, Report{}, fail(failure.DependencyNotFound, "The project has dependencies, but no npm registry is "+
			"configured. The operator of the platform must set NPM_REGISTRY.")
	}
	if i.registry.err != nil {
		return nil, Report{}, fail(failure.DependencyNotFound, "The npm registry cannot be used. The operator of the "+
			"platform must set NPM_REGISTRY to an https URL.")
	}
	limited, cancel := context.WithTimeout(ctx, i.timeout)
	defer cancel()
	files, report, err := i.install(limited, project, in[lockPath])
	switch {
	case err == nil:
		report.Warnings = project.warnings(in, report.Locked)
		return files, report, nil
	case ctx.Err() != nil:
		return nil, Report{}, ctx.Err() //nolint:wrapcheck // part of the contract
	case limited.Err() != nil:
		return nil, Report{}, fail(failure.DependencyNotFound, "The packages were not installed within %d seconds. "+
			"Deploy again in a few minutes, or remove dependencies from package.json.", int(i.timeout.Seconds()))
	}
	return nil, Report{}, err
}

func (i *Installer) install(ctx context.Context, p *project, lockFile []byte) (map[string][]byte, Report, error) {
	lock, err := parseLock(lockFile)
	if err != nil {
		return nil, Report{}, err
	}
	packages, locked, err := lock.selectFor(ctx, p)
	if err != nil {
		return nil, Report{}, err
	}
	if !locked {
		if packages, err = resolve(ctx, i.registry.session(), p, lock.versions()); err != nil {
			return nil, Report{}, err
		}
	}
	if len(packages) > maxPackages {
		return nil, Report{}, tooMany()
	}
	files, report, err := i.fetch(ctx, packages)
	report.Locked = locked
	return files, report, err
}

// selected is a package that is to be installed.
type selected struct {
	location  string // such as "node_modules/a/node_modules/b"
	name      string // in the registry
	version   string
	integrity string
	tarball   string // the URL in the registry's document; "" if it is not known
}

// fetch returns the files of the packages.
func (i *Installer) fetch(ctx context.Context, packages []selected) (map[string][]byte, Report, error) {
	left := newBudget()
	distinct := map[string]*contents{} // by integrity
	group, groupCtx := async.WithContext(ctx)
	group.SetLimit(parallel)
	report := Report{Packages: len(packages)}
	for _, s := range packages {
		if isTypes(s.name) || distinct[s.integrity] != nil {
			continue
		}
		c := new(contents)
		distinct[s.integrity] = c
		group.Go(func() (err error) {
			*c, err = i.fetchOne(groupCtx, s, left)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, report, err
	}
	files := map[string][]byte{}
	for _, s := range packages {
		c := distinct[s.integrity]
		if c == nil {
			continue
		}
		for _, f := range c.files {
			files["/"+s.location+"/"+f.path] = f.data
			report.Bytes += len(f.data)
		}
		if report.Bytes > maxUnpacked || len(files) > maxFiles {
			return nil, report, tooLarge()
		}
	}
	for c := range maps.Values(distinct) {
		if c.downloaded {
			report.Downloaded++
		}
	}
	return files, report, nil
}

// fetchOne returns the files of a package, from the cache or from the registry.
func (i *Installer) fetchOne(ctx context.Context, s selected, left *budget) (contents, error) {
	hash, err := parseIntegrity(s)
	if err != nil {
		return contents{}, err
	}
	files, err := i.readCache(ctx, hash, left)
	if err != nil || files != nil {
		return contents{files: files}, err
	}
	files, err = i.registry.download(ctx, s, hash, left)
	if err != nil {
		return contents{}, err
	}
	i.writeCache(ctx, hash, files)
	return contents{files: files, downloaded: true}, nil
}
