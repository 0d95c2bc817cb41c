package awsclient_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/awsclient"
)

// logged returns the attributes of CallAttrs, by name.
func logged(ctx context.Context) map[string]any {
	fields := map[string]any{}
	for _, attr := range awsclient.CallAttrs(ctx) {
		fields[attr.Key] = attr.Value.Resolve().Any()
	}
	return fields
}

func TestCallAttrs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := awsclient.CountCalls(t.Context())
		none := map[string]any{"dynamodbCalls": int64(0), "dynamodbDepth": int64(0), "dynamodbMs": 0.0}
		if diff := cmp.Diff(none, logged(ctx)); diff != "" {
			t.Errorf("without calls (-want +got):\n%s", diff)
		}
		call := func(service awsclient.Service, duration time.Duration) {
			end := awsclient.StartCall(ctx, service)
			time.Sleep(duration) // in the bubble, time passes immediately
			end()
		}
		// Two calls that run in parallel.
		end := awsclient.StartCall(ctx, awsclient.DynamoDB)
		call(awsclient.DynamoDB, 4*time.Millisecond)
		end()
		call(awsclient.DynamoDB, 2*time.Millisecond)
		call(awsclient.S3, 1500*time.Microsecond)
		want := map[string]any{
			"dynamodbCalls": int64(3), "dynamodbDepth": int64(2), "dynamodbMs": 10.0,
			"s3Calls": int64(1), "s3Depth": int64(1), "s3Ms": 1.5,
		}
		if diff := cmp.Diff(want, logged(ctx)); diff != "" {
			t.Errorf("after calls (-want +got):\n%s", diff)
		}
	})
}

func TestCallsWithAnotherContext(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	awsclient.StartCall(ctx, awsclient.S3)()
	if n, total := awsclient.Calls(ctx, awsclient.S3); n != 0 || total != 0 {
		t.Errorf("got %d calls in %v, want none", n, total)
	}
}
