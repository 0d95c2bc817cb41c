package assistant

import (
	"testing"

	"devplatform/shared/config"
)

// The limits of an environment that sets none are the default limits. A number of tokens can exceed 32 bits.
func TestLimits(t *testing.T) {
	if got, err := config.Load[Limits](); err != nil || got != DefaultLimits() {
		t.Errorf("got the limits %+v, error %v, want %+v", got, err, DefaultLimits())
	}
	t.Setenv("AI_GLOBAL_MONTHLY_TOKENS", "9000000000")
	if got, err := config.Load[Limits](); err != nil || got.GlobalMonthlyTokens != 9_000_000_000 {
		t.Errorf("got the limits %+v, error %v, want 9000000000 tokens", got, err)
	}
}
