package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"devplatform/infra/local/stack"
)

// defaultRegion is the region whose buckets S3 creates without a location constraint.
const defaultRegion = "us-east-1"

// bucket creates a bucket if it is missing, and sets its rules to those of the template.
func (p *provisioner) bucket(ctx context.Context, want stack.Bucket) error {
	_, err := p.buckets.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &want.Name})
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotFound {
		_, err = p.buckets.CreateBucket(ctx, p.creation(want))
		var exists *types.BucketAlreadyOwnedByYou
		if errors.As(err, &exists) { // another process has created it
			err = nil
		}
		if err == nil {
			p.note(&p.made.Buckets, want.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("find or create: %w", err)
	}
	cors, err := p.setCORS(ctx, want)
	if err != nil {
		return err
	}
	lifecycle, err := p.setLifecycle(ctx, want)
	if err != nil {
		return err
	}
	if cors || lifecycle {
		p.note(&p.made.BucketRules, want.Name)
	}
	return nil
}

func (p *provisioner) creation(want stack.Bucket) *s3.CreateBucketInput {
	in := &s3.CreateBucketInput{Bucket: &want.Name}
	if p.region != defaultRegion {
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{
			LocationConstraint: types.BucketLocationConstraint(p.region),
		}
	}
	return in
}

// hasNone reports whether an error says that a bucket has no rules.
func hasNone(err error) bool {
	var failure smithy.APIError
	return errors.As(err, &failure) &&
		(failure.ErrorCode() == "NoSuchCORSConfiguration" || failure.ErrorCode() == "NoSuchLifecycleConfiguration")
}

// equal reports whether two lists of rules are the same on the wire.
func equal[T any](a, b []T) bool {
	left, leftErr := json.Marshal(a)
	right, rightErr := json.Marshal(b)
	return leftErr == nil && rightErr == nil && string(left) == string(right)
}

// setCORS sets the CORS rules of a bucket to those of the template. It reports whether they were different.
func (p *provisioner) setCORS(ctx context.Context, want stack.Bucket) (changed bool, err error) {
	var rules []types.CORSRule
	for _, rule := range want.CORS {
		rules = append(rules, types.CORSRule{
			ID: optional(rule.ID), AllowedOrigins: rule.AllowedOrigins, AllowedMethods: rule.AllowedMethods,
			AllowedHeaders: rule.AllowedHeaders, ExposeHeaders: rule.ExposedHeaders,
			MaxAgeSeconds: optional(int32(rule.MaxAge)), //nolint:gosec // stack limits it
		})
	}
	out, err := p.buckets.GetBucketCors(ctx, &s3.GetBucketCorsInput{Bucket: &want.Name})
	switch {
	case err != nil && !hasNone(err):
		return false, fmt.Errorf("get CORS rules: %w", err)
	case err == nil && equal(rules, out.CORSRules), err != nil && len(rules) == 0:
		return false, nil
	case len(rules) == 0:
		_, err = p.buckets.DeleteBucketCors(ctx, &s3.DeleteBucketCorsInput{Bucket: &want.Name})
	default:
		_, err = p.buckets.PutBucketCors(ctx, &s3.PutBucketCorsInput{
			Bucket: &want.Name, CORSConfiguration: &types.CORSConfiguration{CORSRules: rules},
		})
	}
	if err != nil {
		return false, fmt.Errorf("set CORS rules: %w", err)
	}
	return true, nil
}

// setLifecycle sets the lifecycle rules of a bucket to those of the template. It reports whether they were different.
func (p *provisioner) setLifecycle(ctx context.Context, want stack.Bucket) (changed bool, err error) {
	var rules []types.LifecycleRule
	for i, rule := range want.Lifecycle {
		rules = append(rules, lifecycleRule(i, rule))
	}
	in := &s3.GetBucketLifecycleConfigurationInput{Bucket: &want.Name}
	out, err := p.buckets.GetBucketLifecycleConfiguration(ctx, in)
	switch {
	case err != nil && !hasNone(err):
		return false, fmt.Errorf("get lifecycle rules: %w", err)
	case err == nil && equal(rules, out.Rules), err != nil && len(rules) == 0:
		return false, nil
	case len(rules) == 0:
		_, err = p.buckets.DeleteBucketLifecycle(ctx, &s3.DeleteBucketLifecycleInput{Bucket: &want.Name})
	default:
		_, err = p.buckets.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
			Bucket: &want.Name, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: rules},
		})
	}
	if err != nil {
		return false, fmt.Errorf("set lifecycle rules: %w", err)
	}
	return true, nil
}

// lifecycleRule converts a rule. A rule without an ID gets one here, because S3 would choose another each time.
func lifecycleRule(number int, rule stack.LifecycleRule) types.LifecycleRule {
	if rule.ID == "" {
		rule.ID = fmt.Sprintf("rule-%d", number)
	}
	converted := types.LifecycleRule{
		ID: &rule.ID, Status: types.ExpirationStatusDisabled,
		Filter: &types.LifecycleRuleFilter{Prefix: aws.String(rule.Prefix)},
	}
	if rule.Enabled {
		converted.Status = types.ExpirationStatusEnabled
	}
	if days := rule.ExpirationDays; days > 0 {
		converted.Expiration = &types.LifecycleExpiration{Days: aws.Int32(int32(days))} //nolint:gosec // stack limits it
	}
	if days := rule.AbortUploadDays; days > 0 {
		converted.AbortIncompleteMultipartUpload = &types.AbortIncompleteMultipartUpload{
			DaysAfterInitiation: aws.Int32(int32(days)), //nolint:gosec // as above
		}
	}
	return converted
}

// optional returns nil for the zero value.
func optional[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
