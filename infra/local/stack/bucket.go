package stack

import (
	"regexp"
	"strings"
)

const typeBucket = "AWS::S3::Bucket"

// bucketProperties are the supported properties of a bucket. The objects of the local platform are private, have one
// owner, are not encrypted, and have only one version.
var bucketProperties = map[string]support{
	"BucketName": runs, "CorsConfiguration": runs, "LifecycleConfiguration": runs,

	"BucketEncryption": inert, "OwnershipControls": inert, "PublicAccessBlockConfiguration": inert, "Tags": inert,
	"VersioningConfiguration": inert,
}

var (
	corsProperties     = map[string]support{"CorsRules": runs}
	corsRuleProperties = map[string]support{
		"Id": runs, "AllowedOrigins": runs, "AllowedMethods": runs, "AllowedHeaders": runs, "ExposedHeaders": runs, "MaxAge": runs,
	}
	lifecycleProperties     = map[string]support{"Rules": runs}
	lifecycleRuleProperties = map[string]support{
		"Id": runs, "Status": runs, "Prefix": runs, "ExpirationInDays": runs, "AbortIncompleteMultipartUpload": runs,
		"ExpiredObjectDeleteMarker": inert, "NoncurrentVersionExpiration": inert,
	}
	abortProperties = map[string]support{"DaysAfterInitiation": runs}
)

// maxBucketName is how many characters a bucket's name may have.
const maxBucketName = 63

var bucketNamePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// bucketName returns the name of a bucket. As CloudFormation does, it makes one in lower case if the template has none.
func bucketName(r *resolver, res *resource) string {
	return r.physicalName(res, "BucketName", strings.ToLower(r.generatedName(res.id, maxBucketName)))
}

func bucketARN(r *resolver, res *resource) string {
	return "arn:" + partition(r.options.Region) + ":s3:::" + bucketName(r, res)
}

func bucketDomain(r *resolver, res *resource) string {
	return bucketName(r, res) + ".s3." + urlSuffix(r.options.Region)
}

func bucketRegionalDomain(r *resolver, res *resource) string {
	return bucketName(r, res) + ".s3." + r.options.Region + "." + urlSuffix(r.options.Region)
}

func (r *resolver) buildBucket(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), bucketProperties)
	bucket := Bucket{LogicalID: res.id, Name: bucketName(r, res), ARN: bucketARN(r, res)}
	if !bucketNamePattern.MatchString(bucket.Name) || strings.Contains(bucket.Name, "..") {
		r.add(res.at(), res.line, "%q can't be a bucket's name: 3 to 63 lower-case letters, digits, - and .", bucket.Name)
	}
	if p.has("CorsConfiguration") {
		for _, rule := range p.object("CorsConfiguration", corsProperties).objects("CorsRules", corsRuleProperties) {
			bucket.CORS = append(bucket.CORS, rule.corsRule())
		}
	}
	if p.has("LifecycleConfiguration") {
		lifecycle := p.object("LifecycleConfiguration", lifecycleProperties)
		for _, rule := range lifecycle.objects("Rules", lifecycleRuleProperties) {
			if l := rule.lifecycleRule(); l.ExpirationDays > 0 || l.AbortUploadDays > 0 { // others expire old versions
				bucket.Lifecycle = append(bucket.Lifecycle, l)
			}
		}
	}
	r.stack.Buckets = append(r.stack.Buckets, bucket)
}

// objects returns the mappings in a list, which must not be empty.
func (o object) objects(name string, known map[string]support) []object {
	items := o.items(name)
	if len(items) == 0 {
		o.problem(name, "must be a list with at least one element")
	}
	all := make([]object, 0, len(items))
	for i, item := range items {
		all = append(all, o.r.object(o.at.field(name).index(i), item, known))
	}
	return all
}

// requiredTexts returns a list of strings that must not be empty.
func (o object) requiredTexts(name string) []string {
	texts := o.texts(name)
	if len(texts) == 0 {
		o.problem(name, "must be a list with at least one element")
	}
	return texts
}

func (o object) corsRule() CORSRule {
	return CORSRule{
		ID: o.text("Id", ""), MaxAge: o.integer("MaxAge", 0, 0, 1<<31-1),
		AllowedOrigins: o.requiredTexts("AllowedOrigins"), AllowedMethods: o.requiredTexts("AllowedMethods"),
		AllowedHeaders: o.texts("AllowedHeaders"), ExposedHeaders: o.texts("ExposedHeaders"),
	}
}

func (o object) lifecycleRule() LifecycleRule {
	const mostDays = 1<<31 - 1
	rule := LifecycleRule{
		ID: o.text("Id", ""), Prefix: o.text("Prefix", ""),
		Enabled: o.required("Status") != "" && o.oneOf("Status", "", "Enabled", "Disabled") == "Enabled",
	}
	if o.has("ExpirationInDays") {
		rule.ExpirationDays = o.integer("ExpirationInDays", 1, 1, mostDays)
	}
	if o.has("AbortIncompleteMultipartUpload") {
		abort := o.object("AbortIncompleteMultipartUpload", abortProperties)
		if abort.required("DaysAfterInitiation") != "" {
			rule.AbortUploadDays = abort.integer("DaysAfterInitiation", 1, 1, mostDays)
		}
	}
	if rule.ExpirationDays == 0 && rule.AbortUploadDays == 0 && !o.has("NoncurrentVersionExpiration") {
		o.problem("ExpirationInDays", "or AbortIncompleteMultipartUpload must be there")
	}
	return rule
}
