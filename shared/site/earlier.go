package site

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"sort"
	"strings"

	"devplatform/shared/objectstore"
)

// This file finds files of deployments that were live earlier. A page that was open during a deployment may still
// request them.

// EarlierDeployment is a deployment that was live at the address of a site until another one went live.
type EarlierDeployment struct {
	DeploymentID string `dynamodbav:"deploymentId"`
	Label        string `dynamodbav:"label"` // of the deployment's own address
	// Until is when the address of the site stops serving its files with hashed names, as a Unix time in seconds.
	Until int64 `dynamodbav:"until"`
}

// PathSet is a set of paths: their 32-bit checksums, in ascending order. So it is small enough for the record of an
// address, and rarely seems to have a path that was not added.
type PathSet []byte

const checksumSize = 4 // bytes

// HashedPathsOf returns the paths of the files of a manifest with hashed names.
func HashedPathsOf(m Manifest) PathSet {
	var checksums []uint32
	for path, f := range m.Files {
		if f.Hashed {
			checksums = append(checksums, checksum(path))
		}
	}
	slices.Sort(checksums)
	set := make(PathSet, 0, checksumSize*len(checksums))
	for _, sum := range checksums {
		set = binary.BigEndian.AppendUint32(set, sum)
	}
	return set
}

func checksum(path string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(path)) // never fails
	return h.Sum32()
}

// has reports whether the set has a path.
func (s PathSet) has(path string) bool {
	sum, n := checksum(path), len(s)/checksumSize
	at := func(i int) uint32 { return binary.BigEndian.Uint32(s[checksumSize*i:]) }
	i := sort.Search(n, func(i int) bool { return at(i) >= sum })
	return i < n && at(i) == sum
}

// findEarlier finds a path among the files with hashed names of the deployments that were live earlier. It returns the
// ID of the deployment, "" if none has the file. Such files are only in the bundler's folder. For a path in the folder,
// it reads the deployments' own addresses with one call: a deployment that was deleted has no address, and an operator
// may have blocked the address. If one of them has the path, it reads the manifest, unless the manifest is in memory.
// Errors: db.ErrUnavailable, objectstore.ErrUnavailable.
func (v *view) findEarlier(path string) (deploymentID string, f File, err error) {
	if !strings.HasPrefix(path, assets) {
		return "", f, nil
	}
	var labels []string
	for _, e := range v.address.Earlier {
		if v.Clock().Unix() < e.Until {
			labels = append(labels, e.Label)
		}
	}
	if len(labels) == 0 {
		return "", f, nil
	}
	addresses, err := v.store.addresses(v.ctx, labels)
	if err != nil {
		return "", f, err
	}
	for _, a := range addresses {
		if a.Blocked || !a.HashedPaths.has(path) {
			continue
		}
		m, err := v.manifests.get(v.ctx, a.manifestKey())
		if errors.Is(err, objectstore.ErrNotFound) { // the deployment was deleted meanwhile
			continue
		}
		if f, ok := m.Files[path]; err != nil || ok && f.Hashed {
			return a.DeploymentID, f, err
		}
	}
	return "", f, nil
}
