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

// Earlier is a deployment that was live at the address of a site until another one went live.
type Earlier struct {
	DeploymentID string `dynamodbav:"deploymentId"`
	Label        string `dynamodbav:"label"` // of the deployment's own address
	// Until is the time until which the address of the site serves its files with hashed names, as a Unix time in seconds.
	Until int64 `dynamodbav:"until"`
}

// Names is the set of the files of a deployment with hashed names. It contains the 32-bit hash of each path, in
// ascending order. So it is small enough for the record of an address, and rarely has a path that is not in the set.
type Names []byte

const nameSize = 4 // bytes of the hash of a path

// NamesOf returns the files of a manifest with hashed names.
func NamesOf(m Manifest) Names {
	var hashes []uint32
	for path, f := range m.Files {
		if f.Hashed {
			hashes = append(hashes, hashOf(path))
		}
	}
	slices.Sort(hashes)
	names := make(Names, 0, nameSize*len(hashes))
	for _, hash := range hashes {
		names = binary.BigEndian.AppendUint32(names, hash)
	}
	return names
}

func hashOf(path string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(path)) // never fails
	return h.Sum32()
}

// has reports whether the set has a path.
func (n Names) has(path string) bool {
	hash, size := hashOf(path), len(n)/nameSize
	at := func(i int) uint32 { return binary.BigEndian.Uint32(n[nameSize*i:]) }
	i := sort.Search(size, func(i int) bool { return at(i) >= hash })
	return i < size && at(i) == hash
}

// findEarlier finds a path among the files with hashed names of the deployments that were live earlier, and returns the
// ID of the deployment, "" if none has the file. All such files are in the bundler's folder, so any other path costs
// nothing. A path in the folder costs one read, of the deployments' own addresses: a deployment that was deleted has
// none, and an operator may have blocked it. If a file is found, it also costs the read of a manifest that is not in
// memory. Errors: db.ErrUnavailable, objectstore.ErrUnavailable.
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
	own, err := v.store.addresses(v.ctx, labels)
	if err != nil {
		return "", f, err
	}
	for _, a := range own {
		if a.Blocked || !a.Hashed.has(path) {
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
