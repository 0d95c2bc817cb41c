package awsclient_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/shared/awsclient"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if !awsclient.TakeRetry(t.Context()) {
			t.Error("without a budget: no retry is left")
		}
		outer := awsclient.WithBudget(t.Context(), 2, time.Minute)
		inner := awsclient.WithBudget(outer, 100, time.Hour) // shares the budget of outer
		if !awsclient.TakeRetry(outer) || !awsclient.TakeRetry(inner) || awsclient.TakeRetry(inner) {
			t.Error("got another number of retries than two in both layers")
		}
		timed := awsclient.WithBudget(t.Context(), 2, time.Minute)
		time.Sleep(time.Minute)
		if awsclient.TakeRetry(timed) {
			t.Error("a retry is left after the time of the budget")
		}
	})
}

// The retries of the SDK come from the budget of the operation.
func TestRetryerUsesTheBudget(t *testing.T) {
	t.Parallel()
	retryer, ok := awsclient.Retryer().(aws.RetryerV2)
	if !ok {
		t.Fatal("the retryer does not implement aws.RetryerV2, so the SDK would not pass the context of the call")
	}
	ctx := awsclient.WithBudget(t.Context(), 1, time.Minute)
	for attempt, isAllowed := range []bool{true, false} {
		if _, err := retryer.GetRetryToken(ctx, errors.New("throttled")); (err == nil) != isAllowed {
			t.Errorf("retry %d: got error %v, want a retry: %t", attempt+1, err, isAllowed)
		}
	}
}
