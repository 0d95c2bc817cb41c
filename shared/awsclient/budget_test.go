package awsclient_test

import (
	"testing"
	"testing/synctest"
	"time"

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
