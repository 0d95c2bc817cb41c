package s3

import (
	"regexp"
	"strings"
	"time"

	"devplatform/infra/local/datafolder"
)

// bucket is the record of a bucket.
type bucket struct {
	Created   time.Time       `json:"created"`
	CORS      []corsRule      `json:"cors,omitzero"`
	Lifecycle []lifecycleRule `json:"lifecycle,omitzero"`
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// changeBucket changes the record of the request's bucket. If the bucket does not exist, apply gets an empty record.
func (s *Store) changeBucket(q *request, apply func(*bucket)) error {
	key := indexKey(datafolder.SpaceBucket, q.bucket)
	return s.commit(func(c *change) error {
		var b bucket
		_, err := s.read(key, &b)
		apply(&b)
		c.set(key, b)
		return err
	}, key)
}

// createBucketDocument is the optional body of CreateBucket. The region in it is not checked.
type createBucketDocument struct {
	LocationConstraint string
	Unknown            []anyElement `xml:",any"`
}

func (*createBucketDocument) check() error { return nil }

// createBucket does nothing if the bucket exists, because all buckets have the same owner.
func (s *Store) createBucket(q *request) error {
	if !bucketName.MatchString(q.bucket) || strings.Contains(q.bucket, "..") {
		return errBucketName
	}
	if q.ContentLength != 0 {
		if err := q.readXML(&createBucketDocument{}); err != nil {
			return err
		}
	}
	q.w.Header().Set("Location", "/"+q.bucket)
	return s.changeBucket(q, func(b *bucket) {
		if b.Created.IsZero() {
			b.Created = q.now
		}
	})
}

func (s *Store) headBucket(q *request) error {
	q.w.Header().Set("X-Amz-Bucket-Region", s.options.Region)
	return nil
}

type (
	listBucketsResult struct {
		Buckets []listedBucket `xml:"Buckets>Bucket"`
	}
	listedBucket struct{ Name, CreationDate string }
)

func (s *Store) listBuckets(q *request) error {
	var result listBucketsResult
	err := scan(s, indexKey(datafolder.SpaceBucket), "", func(name string, b bucket) (string, error) {
		result.Buckets = append(result.Buckets, listedBucket{name, b.Created.Format(documentTime)})
		return "", nil
	})
	if err != nil {
		return err
	}
	return q.sendXML("ListAllMyBucketsResult", result)
}
