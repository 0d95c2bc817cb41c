package npm

import (
	"context"
	"errors"
	"io"
	"time"

	"devplatform/shared/deployment/tree"
)

// Resolve returns the versions that an Installer selects without a lock file, by location, and the warnings.
func Resolve(ctx context.Context, d Deps, in Project) (map[string]string, []string, error) {
	p, err := parseProject(in.Files[manifestPath], in.Imports)
	if err != nil {
		return nil, nil, err
	}
	packages, warnings, err := resolve(ctx, New(d).registry.session(), p, nil)
	versions := map[string]string{}
	for _, s := range packages {
		versions[s.location] = s.version
	}
	return versions, warnings, err
}

// SelectAfterEnd reads the document of a package, and ends its context. It returns the error of a selection from the
// document, and the number of dependencies to which rules are applied.
func SelectAfterEnd(d Deps, name string) (applied int, err error) {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	s := New(d).registry.session()
	if _, err := s.pick(ctx, edge{name: name, spec: "*"}, nil); err != nil {
		return 0, err
	}
	end()
	_, err = s.pick(ctx, edge{name: name, spec: "*"}, nil)
	return len(s.apply(ctx, nil, []edge{{name: name}})), err
}

// NewWithTimes returns an Installer with other limits of time: of an installation, and of a request.
func NewWithTimes(d Deps, installation, request time.Duration) *Installer {
	i := New(d)
	i.registry, i.limits.time = newRegistry(d.Registry, d.AllowPrivate, request), installation
	return i
}

// NewWithTarballs returns an Installer with another limit of the compressed bytes of all packages.
func NewWithTarballs(d Deps, bytes int64) *Installer {
	i := New(d)
	i.limits.tarballs = bytes
	return i
}

// NewWithLimits returns an Installer with other limits of the bytes and files of all packages.
func NewWithLimits(d Deps, bytes, files int64) *Installer {
	i := NewWithTimes(d, time.Hour, time.Hour)
	i.limits.bytes, i.limits.files = bytes, files
	return i
}

// Recent returns the number of projects whose versions an Installer keeps.
func Recent(i *Installer) int { return len(i.recent.all) }

// Select parses a package.json and a package-lock.json, and returns the number of locked packages.
func Select(ctx context.Context, manifest, lockFile []byte) (int, error) {
	p, err := parseProject(manifest, nil)
	if err != nil {
		return 0, err
	}
	l, err := parseLock(lockFile)
	if err != nil {
		return 0, err
	}
	l.versions()
	packages, _, err := l.selectFor(ctx, p)
	return len(packages), err
}

// Locked returns the versions in the package-lock.json of a project, and the names of their dependencies, by location.
func Locked(ctx context.Context, in Project) (versions map[string]string, names map[string][]string, err error) {
	p, err := parseProject(in.Files[manifestPath], in.Imports)
	if err != nil {
		return nil, nil, err
	}
	l, err := parseLock(in.Files[lockPath])
	if err != nil {
		return nil, nil, err
	}
	packages, ok, err := l.selectFor(ctx, p)
	if err == nil && !ok {
		err = errors.New("the lock file does not match")
	}
	versions, names = map[string]string{}, map[string][]string{}
	add := func(location string, edges []edge) {
		for _, e := range edges {
			names[location] = append(names[location], e.name)
		}
	}
	add("", p.edges)
	for _, s := range packages {
		versions[s.location] = s.version
		add(s.location, l.Packages[s.location].edges())
	}
	return versions, names, err
}

// Unpack unpacks a package into a folder.
func Unpack(ctx context.Context, dir string, archive io.Reader) error {
	files, err := tree.Create(dir)
	if err != nil {
		return err
	}
	defer files.Close()
	used := &usage{limits: limits{bytes: maxUnpacked, files: maxFiles}, sizes: map[string]int{}}
	c := &placedPackage{tree: files, locations: []string{"a"}, usage: used}
	return c.unpack(ctx, archive, nil)
}
