package webhook_test

import (
	"testing"

	"devplatform/shared/config"
	"devplatform/shared/webhook"
)

// The limits of an environment that sets none are the default limits.
func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	if got, err := config.Load[webhook.Limits](); err != nil || got != webhook.DefaultLimits() {
		t.Errorf("got the limits %+v, error %v, want %+v", got, err, webhook.DefaultLimits())
	}
}
