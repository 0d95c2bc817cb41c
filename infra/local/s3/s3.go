// Package s3 implements the REST protocol of Amazon S3 for the local platform. It stores contents in files, and an
// index in the data folder.
//
// What belongs here: buckets, objects, lists, presigned URLs, checksums, conditional requests and CORS, with S3's error
// codes and XML. Every request must have a valid signature (Signature Version 4) of the credentials [AccessKeyID] and
// [SecretKey]. An operation, query parameter or x-amz header that is not supported is refused with an error that names
// it. The file operations.go lists what is supported.
//
// An object that was acknowledged survives a kill and a power cut. Each content is a file, which is synced before the
// index refers to it. The index is synced before the response. Files to which the index does not refer are removed when
// the store is opened.
//
// What may not enter: which buckets exist and why (see stack and provision).
package s3

import (
	"net/http"

	"devplatform/infra/local/datafolder"
)

// AccessKeyID and SecretKey are the only credentials whose signatures are accepted.
const (
	AccessKeyID = "local"
	SecretKey   = "local"
)

// Options configure a Store.
type Options = datafolder.ServiceOptions

// Store holds the buckets of one account in one region. It is an http.Handler and is safe for concurrent use.
type Store struct {
	options Options
	folder  *datafolder.Folder // the index
	files   files              // the contents
	origins *http.CrossOriginProtection
	locks   locks
}

// Open opens the buckets in a folder. It removes the files to which the index does not refer.
func Open(options Options) (*Store, error) {
	folder, err := options.OrMemory()
	if err != nil {
		return nil, err
	}
	s := &Store{
		options: options, folder: folder, origins: http.NewCrossOriginProtection(),
		files: files{folder.FS, folder.FS.PathJoin(folder.Dir, "objects")},
	}
	if err := s.removeUnfinished(); err != nil {
		return nil, folder.DamagedError(err)
	}
	return s, nil
}

// Close does nothing to a shared folder, which waits for running requests when it is closed.
func (s *Store) Close() error { return s.folder.Leave() }
