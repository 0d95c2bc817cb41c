// Package s3 implements the REST protocol of Amazon S3 for the local platform. It stores contents in files, and an
// index in Pebble.
//
// What belongs here: buckets, objects, multipart uploads, lists, presigned URLs, checksums, conditional requests, CORS
// and the expiry of objects, with S3's error codes and XML. Every request must have a valid signature (Signature
// Version 4) of the credentials [AccessKeyID] and [SecretKey]. An operation, query parameter or x-amz header that is
// not supported is refused with an error that names it. The file operations.go lists what is supported.
//
// An object that was acknowledged survives a kill and a power cut. Each content is a file, which is synced before the
// index refers to it. The index is synced before the response. Files to which the index does not refer are removed when
// the store is opened.
//
// What may not enter: which buckets exist and why (see stack and provision).
package s3
