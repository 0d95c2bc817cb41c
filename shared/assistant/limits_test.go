package assistant

import (
	"testing"

	"devplatform/shared/config"
)

// A number of tokens can exceed 32 bits.
func TestLimits(t *testing.T) {
	t.Setenv("AI_GLOBAL_MONTHLY_TOKENS", "9000000000")
	if got, err := config.Load[Limits](); err != nil || got.GlobalMonthlyTokens != 9_000_000_000 {
		t.Errorf("got the limits %+v, error %v, want 9000000000 tokens", got, err)
	}
}
