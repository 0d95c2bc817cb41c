package npm

import (
	"bytes"
	"context"
	"time"
)

// Resolve returns the versions that an Installer selects without a lock file, by location.
func Resolve(ctx context.Context, d Deps, manifest []byte) (map[string]string, error) {
	p, err := parseProject(manifest)
	if err != nil {
		return nil, err
	}
	packages, err := resolve(ctx, New(d).registry.session(), p, nil)
	versions := map[string]string{}
	for _, s := range packages {
		versions[s.location] = s.version
	}
	return versions, err
}

// NewWithTimes returns an Installer with other limits of time: of an installation, and of a request.
func NewWithTimes(d Deps, installation, request time.Duration) *Installer {
	return &Installer{deps: d, registry: newRegistry(d.Registry, d.AllowPrivate, request), timeout: installation}
}

// Select parses a package.json and a package-lock.json, and returns the number of locked packages.
func Select(ctx context.Context, manifest, lockFile []byte) (int, error) {
	p, err := parseProject(manifest)
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

// DecodeObject decodes an object of the cache, and returns the number of files.
func DecodeObject(data []byte) int {
	_, files, _ := decodeObject(bytes.NewReader(data), int64(len(data)), newBudget())
	parsed, _ := parseFiles(data)
	return len(files) + len(parsed)
}
