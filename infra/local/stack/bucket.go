package stack

import "devplatform/infra/local/resources"

// bucketProperties are the properties of a bucket. On the local platform all objects are private, have one owner and one
// version, are not encrypted, and do not expire.
type bucketProperties struct {
	object
	_ struct{} `ignored:"BucketEncryption LifecycleConfiguration OwnershipControls PublicAccessBlockConfiguration"`
	_ struct{} `ignored:"Tags VersioningConfiguration"`

	CorsConfiguration struct {
		Rules []resources.CORSRule `cfn:"CorsRules"`
	}
}

func (b *builder) bucket(res *resource) {
	var p bucketProperties
	b.decodeProperties(res, &p)
	b.stack.Buckets = append(b.stack.Buckets, resources.Bucket{
		LogicalID: res.id, Name: b.nameOf(res), CORS: p.CorsConfiguration.Rules,
	})
}
