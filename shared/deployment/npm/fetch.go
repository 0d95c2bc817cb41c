package npm

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"devplatform/shared/async"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// parallel is the number of packages that are downloaded or read from the cache at the same time.
const parallel = 16

// placedPackage is a package that is added to a tree at one or more places. Packages with the same hash are one
// placedPackage.
type placedPackage struct {
	selectedPackage

	hash      sha512Hash
	locations []string
	tree      *tree.Tree
	usage     *usage
}

func (c *placedPackage) id() string { return c.name + "@" + c.version }

// fetch adds the files of the packages to a tree.
func (i *Installer) fetch(ctx context.Context, packages []selectedPackage, t *tree.Tree) (Report, error) {
	used := &usage{limits: i.limits, sizes: map[string]int{}, tarballs: limitOf(i.limits.tarballs)}
	byHash := map[sha512Hash]*placedPackage{}
	for _, s := range packages {
		hash, err := parseIntegrity(s)
		if err != nil {
			return Report{}, err
		}
		if byHash[hash] == nil {
			byHash[hash] = &placedPackage{selectedPackage: s, hash: hash, tree: t, usage: used}
		}
		byHash[hash].locations = append(byHash[hash].locations, s.location)
	}
	var downloaded atomic.Int64
	group, groupCtx := async.WithContext(ctx)
	group.SetLimit(parallel)
	for _, c := range byHash {
		group.Go(func() error {
			found, err := i.readCache(groupCtx, c)
			if err != nil || found {
				return err
			}
			downloaded.Add(1)
			return i.download(groupCtx, c)
		})
	}
	if err := group.Wait(); err != nil {
		return Report{}, err
	}
	return Report{Packages: len(packages), Downloaded: int(downloaded.Load()), Bytes: int(used.bytes)}, nil
}

// usage counts the bytes and the files of the packages of an installation. It is safe for concurrent use.
type usage struct {
	limits       limits
	mu           sync.Mutex
	bytes, files int64
	sizes        map[string]int // bytes by package
	tarballs     *atomic.Int64  // compressed bytes that can still be downloaded
}

// add counts the bytes and the files that a package adds. It returns an error if the installation has reached a limit.
func (u *usage) add(what string, bytes, files int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	bytes = min(bytes, math.MaxInt64-u.bytes) // a package can claim any size, and the sum must not overflow
	u.bytes += bytes
	u.files += files
	u.sizes[what] += int(bytes)
	if u.bytes <= u.limits.bytes && u.files <= u.limits.files {
		return nil
	}
	return fail(failure.DependencyTooLarge, "The packages have more than %d MiB or %d files when they are unpacked. "+
		"The largest are %s. Remove dependencies from package.json.", u.limits.bytes>>20, u.limits.files,
		failure.LargestSizes(u.sizes))
}
