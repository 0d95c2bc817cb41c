package s3

import (
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func TestDue(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		now  time.Time
		want bool
	}{
		{noon.Add(24 * time.Hour), false}, {noon.Add(36*time.Hour - time.Millisecond), false}, {noon.Add(36 * time.Hour), true},
	} {
		if got := due(noon, tc.now, 1); got != tc.want {
			t.Errorf("at %v: %v", tc.now, got)
		}
	}
	if midnight := noon.Truncate(24 * time.Hour); !due(midnight, midnight.Add(24*time.Hour), 1) {
		t.Error("of midnight: not due after a day")
	}
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	clock := &clock{now: time.Now()}
	s := start(t, Options{Now: clock.Now})
	rules := []types.LifecycleRule{
		{
			ID: aws.String("uploads"), Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("uploads/")},
			Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)},
		},
		{
			ID: aws.String("off"), Status: types.ExpirationStatusDisabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("contents/")},
			Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)},
		},
	}
	configure := func(rules ...types.LifecycleRule) error {
		_, err := s.PutBucketLifecycleConfiguration(t.Context(), &sdk.PutBucketLifecycleConfigurationInput{
			Bucket: aws.String("bkt"), LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: rules},
		})
		return err
	}
	get := &sdk.GetBucketLifecycleConfigurationInput{Bucket: aws.String("bkt")}
	_, err := s.GetBucketLifecycleConfiguration(t.Context(), get)
	wantCode(t, err, "NoSuchLifecycleConfiguration")
	wantCode(t, configure(rules...), "")
	got, err := s.GetBucketLifecycleConfiguration(t.Context(), get)
	if err != nil {
		t.Fatal(err)
	}
	ignore := cmpopts.IgnoreUnexported(types.LifecycleRule{}, types.LifecycleRuleFilter{}, types.LifecycleExpiration{})
	if diff := cmp.Diff(rules, got.Rules, ignore); diff != "" {
		t.Error(diff)
	}
	withTags := rules[0]
	withTags.Filter = &types.LifecycleRuleFilter{Tag: &types.Tag{Key: aws.String("a"), Value: aws.String("b")}}
	wantCode(t, configure(withTags), "NotImplemented")
	uploads := rules[0]
	uploads.AbortIncompleteMultipartUpload = &types.AbortIncompleteMultipartUpload{DaysAfterInitiation: aws.Int32(2)}
	wantCode(t, configure(uploads), "NotImplemented")
	noDays := rules[0]
	noDays.Expiration = &types.LifecycleExpiration{Days: aws.Int32(0)}
	wantCode(t, configure(noDays), "InvalidArgument")

	for _, key := range []string{"uploads/a", "uploads/b", "contents/a", "uploads"} {
		s.put(key, "x")
	}
	begin := clock.Now()
	for _, tc := range []struct {
		after time.Duration
		files int
	}{{12 * time.Hour, 4}, {48 * time.Hour, 2}, {72 * time.Hour, 2}} {
		clock.set(begin.Add(tc.after))
		if err := s.store.expire(); err != nil {
			t.Fatal(err)
		}
		s.wantFiles(tc.files)
	}
	clock.set(time.Now())
	s.wantContent("contents/a", "x")
	s.wantContent("uploads", "x")
	_, err = s.get("uploads/a")
	wantCode(t, err, "NoSuchKey")
	_, err = s.DeleteBucketLifecycle(t.Context(), &sdk.DeleteBucketLifecycleInput{Bucket: aws.String("bkt")})
	wantCode(t, err, "")
	_, err = s.GetBucketLifecycleConfiguration(t.Context(), get)
	wantCode(t, err, "NoSuchLifecycleConfiguration")
}
