package stack

import "devplatform/infra/local/resources"

type (
	// bucketProperties are the properties of a bucket. On the local platform all objects are private, have one owner and
	// one version, and are not encrypted.
	bucketProperties struct {
		object `ignored:"BucketEncryption OwnershipControls PublicAccessBlockConfiguration Tags VersioningConfiguration"`

		CorsConfiguration struct {
			Rules []resources.CORSRule `cfn:"CorsRules"`
		}
		LifecycleConfiguration struct{ Rules []lifecycleProperties }
	}
	lifecycleProperties struct {
		object `ignored:"ExpiredObjectDeleteMarker NoncurrentVersionExpiration"`

		ID               string `cfn:"Id"`
		Status           string `cfn:",required,oneof=Enabled|Disabled"`
		Prefix           string
		ExpirationInDays int `cfn:",min=1,max=2147483647"`
	}
)

func (b *builder) bucket(res *resource) {
	var p bucketProperties
	b.decodeProperties(res, &p)
	bucket := resources.Bucket{LogicalID: res.id, Name: b.nameOf(res), CORS: p.CorsConfiguration.Rules}
	for _, r := range p.LifecycleConfiguration.Rules {
		rule := resources.LifecycleRule{
			ID: r.ID, Prefix: r.Prefix, Enabled: r.Status == "Enabled", ExpirationDays: r.ExpirationInDays,
		}
		if rule.ExpirationDays > 0 { // other rules expire old versions
			bucket.Lifecycle = append(bucket.Lifecycle, rule)
		}
	}
	b.stack.Buckets = append(b.stack.Buckets, bucket)
}
