package stack_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
)

// bucketUsers has buckets, and a function with all supported references to them.
const bucketUsers = `
      Environment:
        Variables: {REF: !Ref Files, ARN: !GetAtt Files.Arn}
  Files:
    Type: AWS::S3::Bucket
    DeletionPolicy: Retain
    Properties:
      BucketEncryption: {ServerSideEncryptionConfiguration: [{ServerSideEncryptionByDefault: {SSEAlgorithm: AES256}}]}
      OwnershipControls: {Rules: [{ObjectOwnership: BucketOwnerEnforced}]}
      PublicAccessBlockConfiguration: {BlockPublicAcls: true}
      VersioningConfiguration: {Status: Enabled}
      CorsConfiguration:
        CorsRules:
          - {Id: app, AllowedOrigins: !Split [',', 'https://a.example,https://b.example'], AllowedMethods: [PUT, GET], AllowedHeaders: ['*'], ExposedHeaders: [ETag], MaxAge: 600}
          - {AllowedOrigins: ['*'], AllowedMethods: [HEAD]}
      LifecycleConfiguration:
        Rules:
          - {Id: uploads, Status: Enabled, Prefix: uploads/, ExpirationInDays: 1}
  Plain: {Type: AWS::S3::Bucket}
  Policy: {Type: AWS::S3::BucketPolicy, Properties: {Bucket: !Ref Files, PolicyDocument: {Statement: []}}}
`

func TestBuckets(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+bucketUsers), stack.Options{Region: "eu-west-1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []resources.Bucket{
		{
			LogicalID: "Files", Name: "local-files",
			CORS: []resources.CORSRule{
				{
					ID: "app", AllowedOrigins: []string{"https://a.example", "https://b.example"}, AllowedMethods: []string{"PUT", "GET"},
					AllowedHeaders: []string{"*"}, ExposedHeaders: []string{"ETag"}, MaxAge: 600,
				},
				{AllowedOrigins: []string{"*"}, AllowedMethods: []string{"HEAD"}},
			},
		},
		{LogicalID: "Plain", Name: "local-plain"},
	}
	if diff := cmp.Diff(want, got.Buckets); diff != "" {
		t.Error(diff)
	}
	env := map[string]string{
		"REF": "local-files", "ARN": "arn:aws:s3:::local-files",
	}
	if diff := cmp.Diff(env, got.Functions[0].Env); diff != "" {
		t.Error(diff)
	}
}

func TestBucketErrors(t *testing.T) {
	t.Parallel()
	run(t, "Resources:\n  B:\n    Type: AWS::S3::Bucket\n    Properties:\n", map[string]errorCase{
		"property": {"      WebsiteConfiguration: {}", []string{"5: B: Properties.WebsiteConfiguration: %"}},
		"CORS rule": {"      CorsConfiguration: {CorsRules: [{AllowedOrigins: ['*'], Foo: 1}]}", []string{
			"5: B: Properties.CorsConfiguration.CorsRules[0].Foo: %",
			"5: B: Properties.CorsConfiguration.CorsRules[0].AllowedMethods: is missing",
		}},
		"name": {"      BucketName: b", []string{"5: B: Properties.BucketName: %"}},
	})
}
