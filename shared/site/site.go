// Package site serves the output of deployments to visitors. It defines the records and objects that it reads; package
// deployment writes them. It does not depend on users, projects and builds, and does not call the API's functions.
//
// An address is the first part of a host name below the domain of the sites, and names a deployment. The objects of a
// deployment are its manifest and its files. Their keys are sites/<deployment ID>/<SHA-256 of the content>, with .gz if
// they are compressed. Objects never change until the deployment is deleted.
//
// Each view reads the address with a strongly consistent read, so that changes are visible at once. It also checks that
// the workspace of the site exists, with a record that was read at most a minute before. Manifests and small
// files are cached in memory, because they never change. A file in memory is only shown while an address shows its
// deployment, so the file may stay in memory after its object was deleted.
//
// # Responses
//
//   - /a shows /a or /a.html, and redirects to /a/ if only /a/index.html exists. /a/ shows /a/index.html, and redirects
//     to /a if only /a.html exists. With the setting spa, each other path shows /index.html, even if there is a
//     404.html. The exception is a missing file in the bundler's folder.
//   - The rules of _redirects come after the files, and before /index.html and 404.html. See package rule.
//   - Headers of _headers are added to files and redirects of the site, but not to the server's own pages.
//   - A file with a hashed name of a deployment that was live in the last days is still shown: see EarlierDeployment.
//   - Files are compressed with gzip or not at all. The ETag of a compressed response is weak, so it never validates a
//     range. Ranges are always parts of the content that is not compressed. Several ranges are ignored.
//   - An address that is unknown, reserved, offline or deleted has the same response as a path without a file on a site
//     without 404.html.
//   - Every response has X-Content-Type-Options, Referrer-Policy with the browsers' own default, and, if the origin is
//     https, Strict-Transport-Security. There is no Content-Security-Policy, which would break sites. A site can set
//     its own in HTML.
//   - Responses have no Content-Length, because API Gateway streams them in chunks.
package site

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"sort"
	"strings"

	"devplatform/shared/config"
	"devplatform/shared/site/rule"
)

// Address is the record of an address, in the sites table under db.AddressKey. The attribute names are part of the data
// format.
type Address struct {
	ProjectID   string `dynamodbav:"projectId"`
	WorkspaceID string `dynamodbav:"workspaceId"`
	// AccountID is the user whose traffic is counted: the owner of the workspace when the deployment was requested.
	AccountID string `dynamodbav:"accountId"`
	// DeploymentID is the deployment that the address shows. "" if the site is offline, or if the label is only reserved.
	DeploymentID string `dynamodbav:"deploymentId"`
	// Manifest is the hash of the deployment's manifest. Empty if there is no deployment.
	Manifest []byte `dynamodbav:"manifest,omitempty"`
	// Earlier are the deployments that were live before, the latest first. Only the address of a site has any.
	Earlier []EarlierDeployment `dynamodbav:"earlier,omitempty"`
	// HashedPaths are the paths of the deployment's files with hashed names. Only the deployment's own address has them.
	HashedPaths PathSet `dynamodbav:"hashed,omitempty"`
	// Production reports that this is the address of the site, not the address of a single deployment.
	Production bool `dynamodbav:"production"`
	// SPA reports that paths without a file show /index.html.
	SPA bool `dynamodbav:"spa"`
	// Blocked reports that an operator has blocked the address.
	Blocked bool `dynamodbav:"blocked,omitempty"`
	// ReservedFor is the workspace that may claim a label that was given up, until ExpiresAt. "" if the label is in use.
	ReservedFor string `dynamodbav:"reservedFor,omitempty"`
	ExpiresAt   int64  `dynamodbav:"expiresAt,omitempty"` // Unix time in seconds
}

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

// HashedPathsOf returns the paths of the files with hashed names in a manifest.
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

// Summary is the site of a project, in the attribute "site" of the project's record. So a list of projects needs no
// further read. The attribute names are part of the data format.
type Summary struct {
	Label string `dynamodbav:"label"`
	// DeploymentID is the live deployment. "" if the site is offline.
	DeploymentID string `dynamodbav:"deploymentId"`
}

// URL returns the URL of an address by its label, "" if sites are not configured.
func URL(origin config.Origin, label string) string {
	scheme, host, ok := strings.Cut(string(origin), "://")
	if !ok {
		return ""
	}
	return scheme + "://" + label + "." + host
}

// manifestKey returns the key of the object with the manifest of the address's deployment.
func (a Address) manifestKey() string { return ManifestKey(a.DeploymentID, a.Manifest) }

// Manifest lists the files of a deployment, and the rules of its files _redirects and _headers. It is stored as JSON.
type Manifest struct {
	Files     map[string]File `json:"files"` // by path, such as "/index.html"
	Redirects []rule.Redirect `json:"redirects,omitempty"`
	Headers   []rule.Headers  `json:"headers,omitempty"`
}

// File is a file of a deployment.
type File struct {
	Size        int    `json:"size"`   // of the content, not of a compressed object
	SHA256      Hash   `json:"sha256"` // of the content
	ContentType string `json:"contentType"`
	// Hashed reports that the name of the file contains a hash of the content.
	Hashed bool `json:"hashed,omitempty"`
	// Gzip reports that the object is compressed with gzip.
	Gzip bool `json:"gzip,omitempty"`
}

// Hash is a SHA-256. JSON contains it in base64.
type Hash [sha256.Size]byte

// ObjectKey returns the key of an object of a deployment: a file, or the manifest. hash is the hash of the content, and
// isGzip whether the object is compressed with gzip. Objects with the same key have the same content, so an attempt to
// build a deployment cannot damage what another attempt stored.
func ObjectKey(deploymentID string, hash Hash, isGzip bool) string {
	key := ManifestKey(deploymentID, hash[:])
	if isGzip {
		key += ".gz"
	}
	return key
}

// ManifestKey returns the key of the object with a manifest, by the hash in the record of an address.
func ManifestKey(deploymentID string, hash []byte) string {
	return ObjectsOf(deploymentID) + hex.EncodeToString(hash)
}

// ObjectsOf returns the prefix of the keys of all objects of a deployment.
func ObjectsOf(deploymentID string) string { return "sites/" + deploymentID + "/" }
