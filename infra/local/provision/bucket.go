package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
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
	if err := p.setCORS(ctx, want); err != nil {
		return fmt.Errorf("set CORS rules: %w", err)
	}
	return nil
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
	out, err := p.buckets.GetBucketCors(ctx, &s3.GetBucketCorsInput{Bucket: &want.Name})
	var failure smithy.APIError
	if errors.As(err, &failure) && failure.ErrorCode() == "NoSuchCORSConfiguration" {
		out, err = &s3.GetBucketCorsOutput{}, nil
	}
	switch {
	case err != nil:
	case equal(rules, out.CORSRules):
		return nil
	case len(rules) == 0:
		_, err = p.buckets.DeleteBucketCors(ctx, &s3.DeleteBucketCorsInput{Bucket: &want.Name})
	default:
		_, err = p.buckets.PutBucketCors(ctx, &s3.PutBucketCorsInput{
			Bucket: &want.Name, CORSConfiguration: &types.CORSConfiguration{CORSRules: rules},
		})
	}
	if err == nil {
		p.note("rules of", want.Name)
	}
	return err
}

// equal reports whether two lists of rules are the same on the wire.
func equal[T any](a, b []T) bool {
	left, leftErr := json.Marshal(a)
	right, rightErr := json.Marshal(b)
	return leftErr == nil && rightErr == nil && string(left) == string(right)
}

// optional returns nil for the zero value.
func optional[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
