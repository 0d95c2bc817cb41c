package provision

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"devplatform/infra/local/resources"
)

// defaultRegion is the region whose buckets S3 creates without a location constraint.
const defaultRegion = "us-east-1"

// bucket creates a bucket if it is missing, and sets its CORS rules to the rules of the template.
func (p *provisioner) bucket(ctx context.Context, want resources.Bucket) error {
	_, err := p.buckets.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &want.Name})
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotFound {
		in := &s3.CreateBucketInput{Bucket: &want.Name}
		if p.region != defaultRegion {
			location := types.BucketLocationConstraint(p.region)
			in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: location}
		}
		if _, err = p.buckets.CreateBucket(ctx, in); err == nil {
			p.note("buckets", want.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("find or create: %w", err)
	}
	return p.setCORS(ctx, want)
}

func (p *provisioner) setCORS(ctx context.Context, want resources.Bucket) error {
	var rules []types.CORSRule
	for _, rule := range want.CORS {
		rules = append(rules, types.CORSRule{
			ID: optional(rule.ID), AllowedOrigins: rule.AllowedOrigins, AllowedMethods: rule.AllowedMethods,
			AllowedHeaders: rule.AllowedHeaders, ExposeHeaders: rule.ExposedHeaders,
			MaxAgeSeconds: optional(int32(rule.MaxAge)),
		})
	}
	var err error
	if len(rules) == 0 {
		_, err = p.buckets.DeleteBucketCors(ctx, &s3.DeleteBucketCorsInput{Bucket: &want.Name})
	} else {
		_, err = p.buckets.PutBucketCors(ctx, &s3.PutBucketCorsInput{
			Bucket: &want.Name, CORSConfiguration: &types.CORSConfiguration{CORSRules: rules},
		})
	}
	if err != nil {
		return fmt.Errorf("set CORS rules: %w", err)
	}
	return nil
}

// optional returns nil for the zero value.
func optional[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
