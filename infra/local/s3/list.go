package s3

import (
	"encoding/base64"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// maxList is the maximum number of entries in a page.
const maxList = 1000

type (
	listResult struct {
		Name, Prefix          string
		Delimiter             string `xml:",omitempty"`
		StartAfter            string `xml:",omitempty"`
		ContinuationToken     string `xml:",omitempty"`
		NextContinuationToken string `xml:",omitempty"`
		EncodingType          string `xml:",omitempty"`
		KeyCount, MaxKeys     int
		IsTruncated           bool
		Contents              []listedObject
		CommonPrefixes        []commonPrefix
	}
	listedObject struct {
		Key, LastModified, ETag         string
		ChecksumAlgorithm, ChecksumType string `xml:",omitempty"`
		Size                            int64
		StorageClass                    string
	}
	commonPrefix struct{ Prefix string }
)

// lister collects one page of a list.
type lister struct {
	listResult

	prefix, delimiter, from string // the page begins with the first key that is not less than from
	page                    int
	encode                  func(string) string
}

// newLister reads the parameters of ListObjectsV2.
func (q *request) newLister() (*lister, error) {
	get := q.query.Get
	l := &lister{
		prefix: get("prefix"), delimiter: get("delimiter"), page: maxList, encode: func(text string) string { return text },
	}
	if get("encoding-type") == "url" {
		l.encode = escapePath
	}
	var err error
	if q.query.Has("max-keys") {
		l.page, err = strconv.Atoi(get("max-keys"))
	}
	token, tokenErr := base64.URLEncoding.DecodeString(get("continuation-token"))
	switch {
	case get("list-type") != "2":
		return nil, errInvalidArgument.with("list-type must be 2")
	case get("encoding-type") != "url" && get("encoding-type") != "":
		return nil, errInvalidArgument.with("Invalid Encoding Method specified in Request")
	case err != nil || l.page < 0 || l.page > math.MaxInt32:
		return nil, errInvalidArgument.with("Argument max-keys must be an integer between 0 and 2147483647")
	case tokenErr != nil || q.query.Has("continuation-token") && len(token) == 0:
		return nil, errInvalidArgument.with("The continuation token provided is incorrect")
	case len(token) > 0:
		l.from = string(token)
	case get("start-after") != "":
		l.from = get("start-after") + "\x00"
	}
	l.from = max(l.from, l.prefix)
	l.listResult = listResult{
		Name: q.bucket, Prefix: l.encode(l.prefix), Delimiter: l.encode(l.delimiter),
		StartAfter: l.encode(get("start-after")), ContinuationToken: get("continuation-token"),
		EncodingType: get("encoding-type"), MaxKeys: l.page,
	}
	l.page = min(l.page, maxList)
	return l, nil
}

// add adds an object or its common prefix to the page. It returns the key at which the scan continues, or "" to
// continue with the next object.
func (l *lister) add(key string, o object) (next string, err error) {
	if !strings.HasPrefix(key, l.prefix) || l.page == 0 {
		return "", fs.SkipAll
	}
	if l.KeyCount == l.page {
		l.IsTruncated, l.NextContinuationToken = true, base64.URLEncoding.EncodeToString([]byte(key))
		return "", fs.SkipAll
	}
	l.KeyCount++
	if end := strings.Index(key[len(l.prefix):], l.delimiter); l.delimiter != "" && end >= 0 {
		common := key[:len(l.prefix)+end+len(l.delimiter)]
		l.CommonPrefixes = append(l.CommonPrefixes, commonPrefix{l.encode(common)})
		return common + afterAll, nil
	}
	l.Contents = append(l.Contents, listedObject{
		Key: l.encode(key), LastModified: o.Modified.Format(documentTime), ETag: quote(o.ETag), Size: o.Size,
		StorageClass: "STANDARD", ChecksumAlgorithm: o.Checksum.Algorithm, ChecksumType: fullObject,
	})
	return "", nil
}

// listObjects handles ListObjectsV2. A continuation token is the first key of the next page.
func (s *Store) listObjects(q *request) error {
	list, err := q.newLister()
	if err != nil {
		return err
	}
	if err := scan(s, objectKey(q.bucket, ""), list.from, list.add); err != nil {
		return err
	}
	return q.sendXML("ListBucketResult", list.listResult)
}
