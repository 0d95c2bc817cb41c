package stack

import (
	"regexp"
	"strings"
)

type (
	// bucketProperties are the properties of a bucket. On the local platform all objects are private, have one owner and
	// one version, and are not encrypted.
	bucketProperties struct {
		object `ignored:"BucketEncryption OwnershipControls PublicAccessBlockConfiguration Tags VersioningConfiguration"`

		BucketName        string
		CorsConfiguration *struct {
			Rules []CORSRule `cfn:"CorsRules,required"`
		}
		LifecycleConfiguration *struct {
			Rules []lifecycleProperties `cfn:",required"`
		}
	}
	lifecycleProperties struct {
		object `ignored:"ExpiredObjectDeleteMarker NoncurrentVersionExpiration"`

		ID                             string `cfn:"Id"`
		Status                         string `cfn:",required,oneof=Enabled|Disabled"`
		Prefix                         string
		ExpirationInDays               int `cfn:",min=1,max=2147483647"`
		AbortIncompleteMultipartUpload struct {
			DaysAfterInitiation int `cfn:",min=1,max=2147483647"`
		}
	}
)

var bucketNamePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func (b *builder) bucket(res *resource) {
	var p bucketProperties
	b.decodeProperties(res, &p)
	bucket := Bucket{LogicalID: res.id, Name: b.nameOf(res), ARN: b.arn(res)}
	if !bucketNamePattern.MatchString(bucket.Name) || strings.Contains(bucket.Name, "..") {
		b.add(res.at(), res.line, "%q is not a valid name: a bucket's name has 3 to 63 lower-case letters, digits, - and .",
			bucket.Name)
	}
	if p.CorsConfiguration != nil {
		bucket.CORS = p.CorsConfiguration.Rules
	}
	if p.LifecycleConfiguration != nil {
		for _, r := range p.LifecycleConfiguration.Rules {
			rule := LifecycleRule{
				ID: r.ID, Prefix: r.Prefix, Enabled: r.Status == "Enabled", ExpirationDays: r.ExpirationInDays,
				AbortUploadDays: r.AbortIncompleteMultipartUpload.DaysAfterInitiation,
			}
			if rule.ExpirationDays > 0 || rule.AbortUploadDays > 0 { // other rules expire old versions
				bucket.Lifecycle = append(bucket.Lifecycle, rule)
			} else if !r.has("ExpirationInDays") && !r.has("AbortIncompleteMultipartUpload") &&
				!r.has("NoncurrentVersionExpiration") {
				r.problem("ExpirationInDays", "or AbortIncompleteMultipartUpload must be present")
			}
		}
	}
	b.stack.Buckets = append(b.stack.Buckets, bucket)
}
